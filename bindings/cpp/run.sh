#!/usr/bin/env bash
# The C++ face: run.sh tools | check | test | quick | conformance | bench | demo. Uses target/release/libagenthost.so.
#   check        the header and everything written with it compiles with g++ and clang, in C++17, 20 and 23, without a warning
#   test         unit and lifecycle tests, the example, the vectors, the trials, the committed ABI; the first and the vectors under
#                memcheck and AddressSanitizer too
#   quick        the unit and lifecycle tests, once
#   conformance  the vectors; AGENTHOST_VECTORS names another folder
#   bench        the core's benchmark: C++ adds nothing to it that could be measured apart
#   demo         the example
set -euo pipefail
cd "$(dirname "$0")/../.."
out=.build/cpp
# AGENTHOST_LIBRARY: a folder with another build of the library.
library=${AGENTHOST_LIBRARY:-target/release}
mkdir -p "$out"

warnings=(-Wall -Wextra -pedantic -Werror)
vectors="$PWD/tests/vectors"
unit=(tests/cpp/durable.cpp tests/cpp/exceptions.cpp tests/cpp/lifecycle.cpp tests/cpp/values.cpp)
example=bindings/cpp/examples/runtime.cpp

need_library() {
    if [ -z "${AGENTHOST_LIBRARY:-}" ]; then cargo build --quiet --release -p agenthost-capi; fi
    # Programs ask for the SONAME.
    ln -sf libagenthost.so "$library/libagenthost.so.0"
}

# compile NAME SOURCE... - into $out/NAME, with the flags in `extra`.
compile() {
    local name=$1
    shift
    g++ -std=c++17 -g -O1 "${warnings[@]}" "${extra[@]}" -Iinclude -DAGENTHOST_TESTS_VECTORS="\"$vectors\"" "$@" \
        -o "$out/$name" -L"$library" -lagenthost -Wl,-rpath,"$(realpath "$library")" -pthread
}
extra=()

# What is downloaded: ziglang, which has a clang.
tools() {
    if [ ! -x "$out/zig/bin/python" ]; then
        python3 -m venv "$out/zig"
        "$out/zig/bin/pip" install --quiet --disable-pip-version-check ziglang
    fi
}

clang() {
    tools
    "$out/zig/bin/python" -m ziglang c++ "$@"
}

check() {
    local passed=0 failed=0 source standard compiler
    for source in tests/cpp/header_alone.cpp tests/cpp/conformance.cpp tests/cpp/trials.cpp "${unit[@]}" "$example"; do
        for standard in c++17 c++20 c++23; do
            for compiler in g++ clang; do
                # Only the header itself in every combination: the rest costs time and tells nothing new.
                if [ "$source" != tests/cpp/header_alone.cpp ] && [ "$standard-$compiler" != c++17-clang ] &&
                    [ "$standard-$compiler" != c++23-g++ ]; then continue; fi
                if "$compiler" -std="$standard" "${warnings[@]}" -Iinclude -DAGENTHOST_TESTS_VECTORS='""' -c -o "$out/compiled.o" "$source"; then
                    passed=$((passed + 1))
                else
                    failed=$((failed + 1))
                    echo "cpp-compile: FAILED $source with $compiler -std=$standard"
                fi
            done
        done
    done
    echo "cpp-compile: $passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}

# Runs a program and gives its closing line another name: the same tests count once for each tool.
under() {
    local suffix=$1 status=0
    shift
    "$@" >"$out/under.log" 2>&1 || status=$?
    if [ "$status" -ne 0 ]; then cat "$out/under.log"; fi
    sed -nE "s/^(cpp[a-z-]*): ([0-9]+ passed, [0-9]+ failed)$/\1-$suffix: \2/p" "$out/under.log" | tail -n 1
    return "$status"
}

test_all() {
    local status=0
    need_library
    tests/abi/abidiff.sh || status=1
    compile unit "${unit[@]}"
    compile conformance tests/cpp/conformance.cpp
    compile trials tests/cpp/trials.cpp
    compile runtime "$example"
    "$out/unit" || status=1
    "$out/conformance" || status=1
    "$out/trials" || status=1
    if "$out/runtime" >"$out/runtime.log" 2>&1; then
        echo "cpp-example: 1 passed, 0 failed"
    else
        cat "$out/runtime.log"
        echo "cpp-example: 0 passed, 1 failed"
        status=1
    fi
    local memcheck=(valgrind --quiet --fair-sched=yes --error-exitcode=9 --leak-check=full --show-leak-kinds=definite,possible --errors-for-leak-kinds=definite)
    under memcheck "${memcheck[@]}" "$out/unit" || status=1
    under memcheck "${memcheck[@]}" "$out/conformance" || status=1
    # Not optimized: with the sanitizers that takes three times as long to compile, and makes gcc 12 see values that are not
    # initialized where there are none.
    extra=(-fsanitize=address,undefined -fno-sanitize-recover=all -O0)
    compile unit-asan "${unit[@]}"
    compile conformance-asan tests/cpp/conformance.cpp
    under asan "$out/unit-asan" || status=1
    under asan "$out/conformance-asan" || status=1
    return "$status"
}

verb=${1:-test}
trap 'echo "cpp $verb: $SECONDS s"' EXIT
case "$verb" in
    tools) tools ;;
    check) check ;;
    test) test_all ;;
    quick)
        need_library
        compile unit "${unit[@]}"
        "$out/unit"
        ;;
    conformance)
        need_library
        compile conformance tests/cpp/conformance.cpp
        "$out/conformance"
        ;;
    bench) benches/core/run.sh "${@:2}" ;;
    demo)
        need_library
        compile runtime "$example"
        "$out/runtime"
        ;;
    *)
        echo "usage: $0 tools | check | test | conformance | bench | demo" >&2
        exit 2
        ;;
esac
