#!/usr/bin/env bash
# The C side: tests/c/run.sh test | conformance | demo. Builds the shared library when it is missing or stale.
set -euo pipefail
cd "$(dirname "$0")/../.."

out=.build/c
strict=(-g -O1 -D_DEFAULT_SOURCE -Wall -Wextra -pedantic -Werror -Iinclude -Itests/c)
support=(tests/c/json.c tests/c/text.c tests/c/words.c)
vectors=${AGENTHOST_VECTORS:-tests/vectors}

# What a program links with, under the two names that it asks for: at link time, and by its SONAME.
library() {
    cargo build --quiet --release -p agenthost
    mkdir -p $out/lib
    ln -sf ../../../target/release/libagenthost.so $out/lib/libagenthost.so
    ln -sf libagenthost.so $out/lib/libagenthost.so.0
}

# compile NAME COMPILER FLAG... - into .build/c/NAME
compile() {
    local name=$1
    shift
    "$@" "${strict[@]}" -o "$out/$name" -L$out/lib -lagenthost -pthread -Wl,-rpath,"$PWD/$out/lib"
}

conformance() {
    compile conformance gcc -std=c11 tests/c/{conformance,show,play}.c "${support[@]}"
    "$out/conformance" "$vectors"
}

example() {
    compile host gcc -std=c99 bindings/c/examples/host.c
    "$out/host" "$@"
}

example_checked() {
    compile example gcc -std=c11 tests/c/example.c tests/c/words.c
    example bindings/c/examples/request.json | "$out/example" running@1 view:waiting_for_approval@2 waiting_for_approval@3 \
        running@4 cancelled@5 events:3:3:more events:2:5:last invalid_request not_found
}

case ${1:-} in
    test) library; example_checked; conformance ;;
    conformance) library; conformance ;;
    demo) library; shift; example "${@:-bindings/c/examples/request.json}" ;;
    *) echo "usage: $0 test | conformance | demo [REQUEST.json]" >&2; exit 2 ;;
esac
