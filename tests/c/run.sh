#!/usr/bin/env bash
# The C side: run.sh tools | test | quick | quick | conformance | demo. Builds the shared library when it is missing or stale.
#   test         the example, the vectors, the lifecycle tests; all again under memcheck and AddressSanitizer; the binary interface;
#                the pkg-config and CMake packages
#   quick        the vectors and the lifecycle tests, once
#   conformance  the vectors; AGENTHOST_VECTORS names another folder
#   demo         the example: a run's whole life as envelopes, then the request in the file that is given
set -euo pipefail
cd "$(dirname "$0")/../.."

out=.build/c
strict=(-D_DEFAULT_SOURCE -g -O1 -Wall -Wextra -pedantic -Werror -Iinclude -Itests/c)
link=(-L$out/lib -lagenthost -pthread -Wl,-rpath,"$PWD/$out/lib")
vectors=${AGENTHOST_VECTORS:-tests/vectors}
status=0

stage() {
    local name=$1 started=$SECONDS
    shift
    "$@" || { status=1 && echo "$name: failed"; }
    echo "-- $name: $((SECONDS - started)) s"
}

# What a program links with, under the two names that it asks for: at link time, and by its SONAME.
library() {
    cargo build --quiet --release -p agenthost-capi
    mkdir -p $out/lib
    ln -sf ../../../target/release/libagenthost.so $out/lib/libagenthost.so
    ln -sf libagenthost.so $out/lib/libagenthost.so.0
}

# conformance_program NAME FLAG... - and lifecycle_program: into .build/c/NAME
conformance_program() {
    local name=$1
    shift
    gcc -std=c11 "${strict[@]}" "$@" tests/c/{conformance,show,play,json,text,names}.c -o "$out/$name" "${link[@]}"
}

lifecycle_program() {
    local name=$1
    shift
    g++ -std=c++11 -c "${strict[@]}" "$@" tests/c/throwing.cpp -o "$out/$name-throwing.o" &&
        gcc -std=c11 "${strict[@]}" "$@" tests/c/{harness,answers,json}.c tests/c/*_tests.c "$out/$name-throwing.o" \
            -o "$out/$name" "${link[@]}" -lstdc++
}

example_program() { gcc -std=c99 -Wall -Wextra -pedantic -Werror -Iinclude bindings/c/examples/host.c -o $out/host "${link[@]}"; }

example() {
    example_program && gcc -std=c11 "${strict[@]}" tests/c/{example,names}.c -o $out/example "${link[@]}" &&
        $out/host bindings/c/examples/request.json | $out/example running@1 view:waiting_for_approval@2 \
            waiting_for_approval@3 running@4 cancelled@5 events:3:3:more events:2:5:last invalid_request not_found
}

conformance() {
    conformance_program conformance && $out/conformance "$vectors"
}

lifecycle() {
    lifecycle_program lifecycle && $out/lifecycle
}

# under NAME COMMAND... - a runner whose closing line gets another name, so that each is counted apart.
under() {
    local name=$1
    shift
    TESTS_SLOW=1 "$@" 2>&1 | sed -E "s/^c(-lifecycle)?: ([0-9]+ passed)/c\1-$name: \2/"
}

# both NAME TOOL... - the vectors and the lifecycle tests under a tool; without one, the programs that are made for it.
both() {
    local name=$1 prefix= failed=0
    shift
    if [ $# -eq 0 ]; then prefix=$name-; fi
    under "$name" "$@" "$out/${prefix}conformance" "$vectors" || failed=1
    under "$name" "$@" "$out/${prefix}lifecycle" || failed=1
    return $failed
}

memcheck() {
    if ! command -v valgrind >/dev/null; then
        echo "valgrind is not on this machine: nothing was run under memcheck"
        return
    fi
    # Fair: without it threads that dispatch without a pause starve the one that closes the host.
    local checked=(valgrind --quiet --fair-sched=yes --error-exitcode=99 --leak-check=full --child-silent-after-fork=yes)
    both memcheck "${checked[@]}"
}

asan() {
    if ! echo 'int main(void) { return 0; }' | gcc -fsanitize=address -x c - -o $out/asan-probe 2>/dev/null; then
        echo "gcc has no AddressSanitizer on this machine: nothing was run under it"
        return
    fi
    local flags=(-fsanitize=address -fno-omit-frame-pointer)
    conformance_program asan-conformance "${flags[@]}" && lifecycle_program asan-lifecycle "${flags[@]}" && both asan
}

case ${1:-} in
    tools) bindings/c/test.sh tools ;;
    test)
        library
        stage "c example" example
        stage "c conformance" conformance
        stage "c lifecycle" lifecycle
        stage "c memcheck" memcheck
        stage "c AddressSanitizer" asan
        stage "c binary interface" tests/abi/run.sh
        stage "c packages" bindings/c/test.sh
        ;;
    quick)
        library
        stage "c conformance" conformance
        stage "c lifecycle" lifecycle
        ;;
    conformance)
        library
        conformance || status=$?
        ;;
    demo)
        shift
        library
        example_program
        $out/host "${@:-bindings/c/examples/request.json}" || status=$?
        ;;
    *)
        echo "usage: $0 tools | test | conformance | demo [REQUEST.json]" >&2
        status=2
        ;;
esac
exit $status
