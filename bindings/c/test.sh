#!/usr/bin/env bash
# Installs the C package, moves it, and builds tiny programs with it: by pkg-config (shared and static) and by CMake.
# Ends with `c-packages: N passed, M failed`.
set -uo pipefail
cd "$(dirname "$0")/../.."
out="$PWD/.build/c/packages"
prefix="$out/moved"
version=$(sed -n 's/^#define AGENTHOST_VERSION "\(.*\)"$/\1/p' include/agenthost.h)
passed=0 failed=0
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"

check() {
    local name=$1 output
    shift
    if output=$("$@" 2>&1); then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "c-packages: FAILED $name"
        echo "$output" | tail -40
    fi
}

installed() { rm -rf "$out" && bindings/c/install.sh "$out/first" && mv "$out/first" "$prefix"; }

prints() { "$@" | grep "^$version .*\"protocolVersion\":\"2026-07-01\""; }

shared() {
    # shellcheck disable=SC2046
    cc bindings/c/consumer/main.c $(pkg-config --cflags --libs agenthost) -o "$out/shared" -Wl,-rpath,"$prefix/lib" &&
        readelf -d "$out/shared" | grep -q 'NEEDED.*libagenthost\.so\.0' && prints "$out/shared"
}

static() {
    # shellcheck disable=SC2046
    cc bindings/c/consumer/main.c $(pkg-config --cflags agenthost) "$prefix/lib/libagenthost.a" \
        $(pkg-config --static --libs-only-l agenthost | sed 's/-lagenthost//') -o "$out/static" &&
        ! readelf -d "$out/static" | grep -q 'NEEDED.*libagenthost' && prints "$out/static"
}

# Nothing of the system at run time: what pkg-config says for a static program is enough for one.
entirely_static() {
    # shellcheck disable=SC2046
    cc -static bindings/c/consumer/main.c $(pkg-config --static --cflags --libs agenthost) -o "$out/entirely-static" &&
        ! readelf -d "$out/entirely-static" | grep -q 'NEEDED' && prints "$out/entirely-static"
}

cpp() {
    # shellcheck disable=SC2046
    c++ -std=c++17 bindings/c/consumer/main.cpp $(pkg-config --cflags --libs agenthost) -o "$out/cpp" -Wl,-rpath,"$prefix/lib" &&
        prints "$out/cpp"
}

version() { [ "$(pkg-config --modversion agenthost)" = "$version" ]; }

# A cmake of our own: the machine need not have one.
tools() {
    if [ ! -x .build/cmake/bin/ctest ]; then
        python3 -m venv .build/cmake && .build/cmake/bin/pip install --quiet --disable-pip-version-check cmake
    fi
}

cmake_consumer() {
    .build/cmake/bin/cmake -S bindings/c/consumer -B "$out/cmake" -DCMAKE_PREFIX_PATH="$prefix" &&
        .build/cmake/bin/cmake --build "$out/cmake" && .build/cmake/bin/ctest --test-dir "$out/cmake" --output-on-failure
}

# Another minor version, and a later one, are not this package.
refuses_version() {
    mkdir -p "$out/asks-$1" &&
        printf 'cmake_minimum_required(VERSION 3.16)\nproject(asks C CXX)\nfind_package(agenthost %s REQUIRED)\n' "$1" >"$out/asks-$1/CMakeLists.txt"
    ! .build/cmake/bin/cmake -S "$out/asks-$1" -B "$out/asks-$1/build" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null 2>&1
}

if [ "${1:-}" = tools ]; then
    tools
    exit
fi
check "installs, and can be moved" installed
check "pkg-config: the version is the header's" version
check "pkg-config: a C program with the shared library" shared
check "pkg-config: a C program with the static library" static
check "pkg-config: a C program of which everything is static" entirely_static
check "pkg-config: a C++ program" cpp
check "cmake is there" tools
check "CMake: programs with the shared library, the static one, and the C++ header" cmake_consumer
check "CMake: another minor version is refused" refuses_version 0.2
check "CMake: a later version is refused" refuses_version 0.1.99
echo "c-packages: $passed passed, $failed failed"
[ $failed -eq 0 ]
