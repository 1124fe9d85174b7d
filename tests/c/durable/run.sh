#!/usr/bin/env bash
# Durable runs from C, plain, under AddressSanitizer and under memcheck. AGENTHOST_LIB names another folder of the library.
set -euo pipefail
cd "$(dirname "$0")/../../.."
out=.build/c-durable
lib=${AGENTHOST_LIB:-target/release}
[ -n "${AGENTHOST_LIB:-}" ] || cargo build --quiet --release -p agenthost-capi
mkdir -p $out
strict=(-std=c99 -D_DEFAULT_SOURCE -g -O1 -Wall -Wextra -pedantic -Werror -Iinclude -Itests/c/durable tests/c/durable/{runs,options}.c)
link=("$lib/libagenthost.a" -pthread -ldl -lm)

# each COMMAND... - in a folder of its own.
each() {
    local folder
    folder=$(mktemp -d)
    "$@" "$folder" || { rm -rf "$folder" && return 1; }
    rm -rf "$folder"
}

gcc "${strict[@]}" -o $out/runs "${link[@]}"
each $out/runs
if echo 'int main(void) { return 0; }' | gcc -fsanitize=address -x c - -o $out/probe 2>/dev/null; then
    gcc -fsanitize=address -fno-omit-frame-pointer "${strict[@]}" -o $out/runs-asan "${link[@]}"
    each $out/runs-asan | sed 's/^c-durable/c-durable-asan/'
fi
if command -v valgrind >/dev/null; then
    # "Possibly lost" is what a table of the process holds by a pointer into its middle, as Rust's hash tables do.
    each valgrind --quiet --fair-sched=yes --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite --show-leak-kinds=definite \
        --child-silent-after-fork=yes $out/runs | sed 's/^c-durable/c-durable-memcheck/'
fi
