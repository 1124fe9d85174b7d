#!/usr/bin/env bash
# The core's benchmark: run.sh [core] [--json] [--rounds N] [--only CASE]. What the cases mean: docs/performance.md.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=.build/bench
mkdir -p "$out"
if [ "${1:-}" = core ]; then shift; fi

{
    # AGENTHOST_LIBRARY: a folder with another build of the library, to compare two of them.
    library=${AGENTHOST_LIBRARY:-target/release}
    if [ -z "${AGENTHOST_LIBRARY:-}" ]; then cargo build --release --quiet -p agenthost-capi; fi
    ln -sf libagenthost.so "$library/libagenthost.so.0"
    cargo build --release --quiet --manifest-path benches/core/beside/Cargo.toml --target-dir target/bench
    # -rdynamic: the program's allocation functions count for the library too.
    gcc -std=gnu11 -O2 -Wall -Wextra -Werror -rdynamic -Iinclude benches/core/bench.c -o "$out/core" \
        target/bench/release/libagenthost_bench_beside.a -L"$library" -lagenthost -Wl,-rpath,"$(realpath "$library")" -pthread -lm -ldl
} >&2
exec "$out/core" "$@"
