#!/usr/bin/env bash
# The lifecycle tests and the vectors under ThreadSanitizer: the library by the nightly compiler, the programs by gcc, one runtime in
# both. Needs a nightly toolchain. For `torture`: the build takes longer than a test may.
# Ends with `c-tsan: N passed, M failed` and `c-lifecycle-tsan: N passed, M failed`.
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
for source in tests/c/*.c; do gcc -std=c11 "${flags[@]}" -c "$source" -o "$out/$(basename "$source" .c).o"; done
g++ -std=c++11 "${flags[@]}" -c tests/c/throwing.cpp -o $out/throwing.o

# link NAME OBJECT... - without gcc's own runtime: the library brought one.
link() {
    local name=$1
    shift
    g++ "${@/#/$out/}" target/tsan/$target/debug/libagenthost.a -Wl,--whole-archive "$runtime" -Wl,--no-whole-archive \
        -o "$out/$name" -rdynamic -lgcc_s -lpthread -lm -ldl -lrt
}
tests=$(cd tests/c && ls ./*_tests.c | sed 's|^\./||; s|\.c$|.o|')
# shellcheck disable=SC2086
link lifecycle harness.o answers.o json.o throwing.o $tests
link conformance conformance.o show.o play.o json.o text.o words.o

export TSAN_OPTIONS="halt_on_error=0 exitcode=66 suppressions=$PWD/tests/c/tsan.supp ${TSAN_OPTIONS:-}" TESTS_SLOW=1
status=0
setarch -R "$out/conformance" "${AGENTHOST_VECTORS:-tests/vectors}" 2>&1 | sed -E 's/^c: ([0-9]+ passed)/c-tsan: \1/' || status=1
setarch -R "$out/lifecycle" 2>&1 | sed -E 's/^c-lifecycle: ([0-9]+ passed)/c-lifecycle-tsan: \1/' || status=1
exit $status
