#!/usr/bin/env bash
# The vectors and the lifecycle tests under ThreadSanitizer: the library by the nightly compiler, with locks that are built with it
# (src/host/lock.rs), the programs by gcc, one runtime in both. Needs a nightly toolchain. For `torture`: the build takes longer than
# a test may.
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

RUSTFLAGS="--cfg agenthost_tsan -Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer" cargo +nightly build --quiet -p agenthost-capi \
    --target $target --target-dir target/tsan \
    --config 'profile.dev.opt-level=1' --config 'profile.dev.debug="line-tables-only"'

runtime=$(rustc +nightly --print sysroot)/lib/rustlib/$target/lib/librustc-nightly_rt.tsan.a
flags=(-D_DEFAULT_SOURCE -g -O1 -fsanitize=thread -Iinclude -Itests/c)
# program NAME SOURCE... - without gcc's own runtime: the library's is linked whole.
program() {
    local name=$1 source objects=()
    shift
    for source in "$@"; do
        local compiler=(gcc -std=c11)
        [[ $source == *.cpp ]] && compiler=(g++ -std=c++11)
        "${compiler[@]}" "${flags[@]}" -c "tests/c/$source" -o "$out/$source.o"
        objects+=("$out/$source.o")
    done
    g++ "${objects[@]}" target/tsan/$target/debug/libagenthost.a -Wl,--whole-archive "$runtime" -Wl,--no-whole-archive \
        -o "$out/$name" -rdynamic -lgcc_s -lpthread -lm -ldl -lrt
}

program conformance {conformance,show,play,json,text,names}.c
program lifecycle {harness,answers,json}.c $(cd tests/c && ls ./*_tests.c) throwing.cpp

export TSAN_OPTIONS="exitcode=66 die_after_fork=0 suppressions=$PWD/tests/c/tsan.supp ${TSAN_OPTIONS:-}"
# Without randomized addresses, which the tool does not get along with everywhere.
status=0
setarch -R $out/conformance "${AGENTHOST_VECTORS:-tests/vectors}" 2>&1 | sed -E 's/^c: ([0-9]+ passed)/c-tsan: \1/' || status=1
TESTS_SLOW=1 setarch -R $out/lifecycle "$@" 2>&1 | sed -E 's/^c-lifecycle: ([0-9]+ passed)/c-lifecycle-tsan: \1/' || status=1
exit $status
