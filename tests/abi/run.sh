#!/usr/bin/env bash
# The binary interface: header, symbols, layouts, SONAME, an old program. Uses what tests/c/run.sh has built.
# Ends with `c-abi: N passed, M failed`. AGENTHOST_UPDATE=1 writes symbols.txt and layout.txt.
set -uo pipefail
cd "$(dirname "$0")/../.."
out=.build/c/abi
library=target/release/libagenthost.so
mkdir -p $out
passed=0 failed=0

check() {
    local name=$1 output
    shift
    if output=$("$@" 2>&1); then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "c-abi: FAILED $name"
        echo "$output" | head -40
    fi
}

# The header and all its macros, included as often as the fourth argument says, before anything else, with further warnings.
header() {
    local compiler=$1 language=$2 standard=$3 times=$4 i
    {
        for ((i = 0; i < times; i++)); do echo '#include "agenthost.h"'; done
        echo 'int main(void) {'
        echo '    agenthost_service service;'
        echo '    AGENTHOST_INIT(&service);'
        echo '    return agenthost_text("").len != 0 || !AGENTHOST_HAS(&service, agenthost_service, list_events);'
        echo '}'
    } >$out/header.c
    "$compiler" -x "$language" -std="$standard" -Wall -Wextra -pedantic -Werror "${@:5}" -Iinclude -c -o $out/header.o $out/header.c
}

# What programs in C++ may turn on.
strict=(-Wshadow -Wold-style-cast -Wconversion -Wsign-conversion -Wcast-qual)

# clang, as it comes with ziglang.
clang++() {
    local zig=.build/cpp/zig
    if [ ! -x $zig/bin/python ]; then
        python3 -m venv $zig && $zig/bin/pip install --quiet --disable-pip-version-check ziglang || return 1
    fi
    $zig/bin/python -m ziglang c++ "$@"
}

same() { diff -u "$1" "$2"; }

symbols() {
    nm -D --defined-only $library | awk '{ print $3 }' | LC_ALL=C sort >$out/symbols.txt
    if [ -n "${AGENTHOST_UPDATE:-}" ]; then cp $out/symbols.txt tests/abi/symbols.txt; fi
    same tests/abi/symbols.txt $out/symbols.txt
}

# Every symbol is declared in the header.
declared() {
    local symbol missing=0
    while read -r symbol; do
        grep -qw "$symbol(" include/agenthost.h || grep -q "$symbol(" include/agenthost.h || { echo "$symbol is not in the header" && missing=1; }
    done <$out/symbols.txt
    return $missing
}

layout() {
    gcc -std=c99 -Wall -Wextra -pedantic -Werror -Iinclude tests/abi/layout.c -o $out/layout && $out/layout >$out/layout.txt || return 1
    if [ -n "${AGENTHOST_UPDATE:-}" ]; then cp $out/layout.txt tests/abi/layout.txt; fi
    same tests/abi/layout.txt $out/layout.txt
}

# Every struct of the header is in the layout.
layout_is_whole() {
    diff <(grep -oP '^typedef struct agenthost_\w+(?= \{)' include/agenthost.h | awk '{ print $3 }' | sort) \
        <(awk '!/^ / { print $1 }' tests/abi/layout.txt | sort)
}

soname() { readelf -d $library | grep -q 'SONAME.*\[libagenthost\.so\.0\]'; }

# A program that was compiled with the first release's header, and knows nothing else, still works.
first_release() {
    gcc -std=c99 -Wall -Wextra -pedantic -Werror -Itests/abi/v0.1.0 tests/abi/v0.1.0/program.c -o $out/program \
        -L.build/c/lib -lagenthost -Wl,-rpath,"$PWD/.build/c/lib" || return 1
    $out/program bindings/c/examples/request.json >$out/program.txt || return 1
    diff <(.build/c/host bindings/c/examples/request.json) $out/program.txt
}

# Structs only grow, at their end: what the first release's header says of a member holds.
first_layout_is_a_prefix() {
    gcc -std=c99 -Itests/abi/v0.1.0 tests/abi/layout.c -o $out/first-layout || return 1
    $out/first-layout | grep '^ ' >$out/first-layout.txt
    diff <(grep -Fxf $out/first-layout.txt $out/layout.txt) $out/first-layout.txt
}

no_symbols_without_capi() {
    cargo build --quiet --manifest-path tests/abi/no-capi/Cargo.toml --target-dir target || return 1
    nm -D --defined-only target/debug/libno_capi.so | grep -q no_capi_probe || return 1
    ! nm -D --defined-only target/debug/libno_capi.so | grep agenthost_
}

# A core that is built with other features must not take the place of the library that programs link with.
one_package_makes_the_library() {
    diff <(echo agenthost-capi) <(cargo metadata --format-version 1 --no-deps | python3 -c '
import json, sys
for package in json.load(sys.stdin)["packages"]:
    for target in package["targets"]:
        if target["name"] == "agenthost" and {"cdylib", "staticlib", "dylib"} & set(target["crate_types"]):
            print(package["name"])')
}

for times in 1 2; do
    check "header in C99, $times times" header gcc c c99 $times
    check "header in C11, $times times" header gcc c c11 $times
    check "header in C++11, $times times" header g++ c++ c++11 $times
    check "header in C++17, $times times" header g++ c++ c++17 $times
    for compiler in g++ clang++; do
        for standard in c++11 c++17; do
            check "header for $compiler -std=$standard ${strict[*]}, $times times" header $compiler c++ $standard $times "${strict[@]}"
        done
    done
done
check "exported symbols are the committed ones" symbols
check "exported symbols are declared" declared
check "struct layouts are the committed ones, without padding" layout
check "every struct has a layout" layout_is_whole
check "SONAME" soname
check "a program of the first release" first_release
check "the first release's members keep their places" first_layout_is_a_prefix
check "only the C package makes a library of the C library's name" one_package_makes_the_library
check "no agenthost_ symbol without the feature capi" no_symbols_without_capi
echo "c-abi: $passed passed, $failed failed"
[ $failed -eq 0 ]
