#!/usr/bin/env bash
# The vectors, answered in the slot and from another thread, under ThreadSanitizer: the library by the nightly compiler, the program
# by gcc, one runtime in both. Needs a nightly toolchain. For `torture`: the build takes longer than a test may.
# Not the lifecycle tests: the standard library is not instrumented, so a lock that it takes on its slow path is not seen, and with
# eight threads on one mutex everything behind it would be reported.
# Ends with `c-tsan: N passed, M failed`.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=x86_64-unknown-linux-gnu
out=.build/c/tsan
if [ "$(uname -m)" != x86_64 ] || ! rustc +nightly --version >/dev/null 2>&1; then
    echo "no nightly compiler for $target on this machine: nothing was run under ThreadSanitizer"
    exit 0
fi
mkdir -p $out

RUSTFLAGS="-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer" cargo +nightly build --quiet -p agenthost \
    --no-default-features --features capi --target $target --target-dir target/tsan \
    --config 'profile.dev.opt-level=1' --config 'profile.dev.debug="line-tables-only"'

runtime=$(rustc +nightly --print sysroot)/lib/rustlib/$target/lib/librustc-nightly_rt.tsan.a
flags=(-D_DEFAULT_SOURCE -g -O1 -fsanitize=thread -Iinclude -Itests/c)
objects=()
for name in conformance show play json text words; do
    gcc -std=c11 "${flags[@]}" -c tests/c/$name.c -o $out/$name.o
    objects+=("$out/$name.o")
done
# Without gcc's own runtime: the library's is linked whole.
g++ "${objects[@]}" target/tsan/$target/debug/libagenthost.a -Wl,--whole-archive "$runtime" -Wl,--no-whole-archive \
    -o $out/conformance -rdynamic -lgcc_s -lpthread -lm -ldl -lrt

export TSAN_OPTIONS="exitcode=66 suppressions=$PWD/tests/c/tsan.supp ${TSAN_OPTIONS:-}"
# Without randomized addresses, which the tool does not get along with everywhere.
setarch -R $out/conformance "${AGENTHOST_VECTORS:-tests/vectors}" 2>&1 | sed -E 's/^c: ([0-9]+ passed)/c-tsan: \1/'
