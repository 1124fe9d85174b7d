#!/usr/bin/env bash
# The C++ face: run.sh tools | check | test | quick | conformance | bench | demo. Uses target/release/libagenthost.so.
#   check        each header compiles alone and twice, and everything written with it, with g++ and clang, in C++17, 20 and 23,
#                without a warning; where the compiler lacks what they need, the headers say so in one error
#   test         unit and lifecycle tests, the examples, the vectors, the trials, the committed ABI; the first and the vectors under
#                memcheck and AddressSanitizer too
#   quick        the unit and lifecycle tests, once
#   conformance  the vectors; AGENTHOST_VECTORS names another folder
#   bench        the core's benchmark: C++ adds nothing to it that could be measured apart
#   demo         the examples
set -euo pipefail
cd "$(dirname "$0")/../.."
out=.build/cpp
# AGENTHOST_LIBRARY: a folder with another build of the library.
library=${AGENTHOST_LIBRARY:-target/release}
mkdir -p "$out"

warnings=(-Wall -Wextra -pedantic -Wshadow -Wold-style-cast -Wconversion -Wsign-conversion -Werror)
vectors="$PWD/tests/vectors"
unit=tests/cpp/unit.cpp
examples=(bindings/cpp/examples/{durable,runtime}.cpp)

need_library() {
    if [ -z "${AGENTHOST_LIBRARY:-}" ]; then cargo build --quiet --release -p agenthost-capi; fi
    # Programs ask for the SONAME.
    ln -sf libagenthost.so "$library/libagenthost.so.0"
}

# compile NAME FLAG... SOURCE - into $out/NAME.
compile() {
    local name=$1
    shift
    g++ -std=c++17 -g1 "${warnings[@]}" -Iinclude -DAGENTHOST_TESTS_VECTORS="\"$vectors\"" "$@" \
        -o "$out/$name" -L"$library" -lagenthost -Wl,-rpath,"$(realpath "$library")" -pthread
}

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
    local passed=0 failed=0 header source standard compiler
    # counted NAME COMMAND... - shows what a command prints only when it fails.
    counted() {
        local name=$1 output
        shift
        if output=$("$@" 2>&1); then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "cpp-compile: FAILED $name"
            echo "$output" | head -40
        fi
    }
    parses() {
        local output=(-fsyntax-only)
        # ziglang's always makes an object.
        if [ "$1" = clang ]; then output=(-c -o "$out/parsed.o"); fi
        "$1" -std="$2" "${warnings[@]}" "${output[@]}" -Iinclude -DAGENTHOST_TESTS_VECTORS='""' "${@:3}"
    }
    alone() { printf '#include <%s>\n#include <%s>\n' "$2" "$2" | parses g++ "$1" -x c++ -; }
    # refuses COMMAND... - one error, which says what is needed.
    refuses() {
        echo '#include <agenthost.hpp>' >"$out/refused.cpp"
        "$@" -Iinclude -c -o "$out/refused.o" "$out/refused.cpp" >"$out/refused.log" 2>&1 && return 1
        cat "$out/refused.log"
        [ "$(grep -c ' error: ' "$out/refused.log")" -eq 1 ] && grep -q 'needs C++17 or later with exceptions' "$out/refused.log"
    }
    for header in include/agenthost/*.hpp; do
        header=${header#include/}
        for standard in c++17 c++20 c++23; do counted "$header alone in $standard" alone "$standard" "$header"; done
    done
    for standard in c++17 c++20 c++23; do
        for compiler in g++ clang; do counted "the header with $compiler in $standard" parses "$compiler" "$standard" tests/cpp/header_alone.cpp; done
    done
    for source in tests/cpp/conformance.cpp tests/cpp/trials.cpp "$unit" "${examples[@]}"; do
        counted "$source with clang" parses clang c++17 "$source"
        counted "$source with g++" parses g++ c++23 "$source"
    done
    for compiler in g++ clang; do
        counted "C++14 is refused in one error by $compiler" refuses "$compiler" -std=c++14
        counted "a compiler without exceptions is refused in one error by $compiler" refuses "$compiler" -std=c++17 -fno-exceptions
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

# The examples run; what the one over durable runs prints is a run's life.
run_examples() {
    local source name passed=0 failed=0
    for source in "${examples[@]}"; do
        name=$(basename "$source" .cpp)
        if compile "$name" "$source" && "$out/$name" >"$out/$name.log" 2>&1; then
            passed=$((passed + 1))
        else
            cat "$out/$name.log"
            failed=$((failed + 1))
        fi
    done
    if diff - "$out/durable.log" <<'EVENTS'; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
1 run_created
2 run_started
3 draft
4 approval_required
5 approval_granted
6 run_resumed
7 run_completed
{"published":true}
EVENTS
    echo "cpp-example: $passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}

test_all() {
    local status=0
    need_library
    tests/abi/abidiff.sh || status=1
    compile unit "$unit"
    compile conformance -O1 tests/cpp/conformance.cpp
    compile trials -O1 tests/cpp/trials.cpp
    "$out/unit" || status=1
    "$out/conformance" || status=1
    "$out/trials" || status=1
    run_examples || status=1
    # "Possibly lost" is what a table of the process holds by a pointer into its middle, as Rust's hash tables do.
    local memcheck=(valgrind --quiet --fair-sched=yes --error-exitcode=9 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite)
    under memcheck "${memcheck[@]}" "$out/unit" || status=1
    under memcheck "${memcheck[@]}" "$out/conformance" || status=1
    # Not optimized: with the sanitizers that takes three times as long to compile, and makes gcc 12 see values that are not
    # initialized where there are none.
    local sanitizers=(-fsanitize=address,undefined -fno-sanitize-recover=all -O0)
    compile unit-asan "${sanitizers[@]}" "$unit"
    compile conformance-asan "${sanitizers[@]}" tests/cpp/conformance.cpp
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
        compile unit "$unit"
        "$out/unit"
        ;;
    conformance)
        need_library
        compile conformance -O1 tests/cpp/conformance.cpp
        "$out/conformance"
        ;;
    bench) benches/core/run.sh "${@:2}" ;;
    demo)
        need_library
        for source in "${examples[@]}"; do
            compile example "$source"
            "$out/example"
        done
        ;;
    *)
        echo "usage: $0 tools | check | test | quick | conformance | bench | demo" >&2
        exit 2
        ;;
esac
