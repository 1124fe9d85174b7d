#!/usr/bin/env bash
# The one entry. It calls cargo, pip, npm and the compilers; what belongs to one language stands in that language's run.sh.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p .build
log=.build/last-test.log

usage() {
    cat <<'TEXT'
./build.sh demo                      hosts in every language, real envelopes, a durable run
./build.sh test                      everything that is checked and tested; ends with "N passed, M failed"
./build.sh test LANG                 the tests of rust, c, cpp, python or node
./build.sh test --changed            what the files that differ from the upstream can break: for the loop while editing
./build.sh check                     formatting, lints, types, drift
./build.sh docs [LANGUAGE...]        the code blocks of every page, run
./build.sh conformance [LANG|all]    the contract's vectors; AGENTHOST_VECTORS names another folder
./build.sh bench [core|python|node|runs] [--json]
./build.sh fuzz [SECONDS]            cargo-fuzz on the nightly compiler, each target for as long
./build.sh mutants [MODULE]          cargo-mutants over the core
./build.sh torture                   what takes longer than a test may
./build.sh package                   wheels, tarballs and libraries into dist/
TEXT
}

# stage NAME COMMAND... - runs it, and shows what it printed and its seconds when it has ended. Stages that run at once stay apart.
stage() {
    local name=$1 started=$SECONDS status=0 output
    shift
    output=$(mktemp .build/stage.XXXXXX)
    echo "== $name: begins"
    "$@" >"$output" 2>&1 || status=$?
    if [ "$status" -ne 0 ]; then echo "stage $name: exit status $status" >>"$output"; fi
    echo "== $name: $((SECONDS - started)) s" >>"$output"
    flock .build cat "$output"
    rm "$output"
}

# at_once FUNCTION... - each runs its stages in order, beside the others: most tests use one core, and the machine has more.
at_once() {
    local lane
    for lane in "$@"; do "$lane" & done
    wait
}

# Adds up the closing lines of all runners. A stage that failed without saying so counts as a failure.
sum() {
    awk '
        /^test result: / { passed += $4; failed += $6; if ($6 > 0) told = 1; next }
        /^[a-z0-9-]+: [0-9]+ passed, [0-9]+ failed$/ { passed += $2; failed += $4; if ($4 > 0) told = 1; next }
        /^stage .*: exit status [0-9]+$/ { if (!told) failed++ }
        /^== .* s$/ { told = 0 }
        END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 || passed == 0 }
    ' "$log"
}

library() { cargo build --release -p agenthost-capi; }

# What is downloaded, before the stages that need it: it waits for the network while the compiler works.
tools() {
    local language
    for language in c cpp python node; do "$(runner $language)" tools; done
}

runner() { if [ "$1" = c ]; then echo tests/c/run.sh; else echo "bindings/$1/run.sh"; fi; }

rust_tests() {
    local status=0
    # The Node binding's own tests need no Node.
    cargo test -p agenthost -p agenthost-node --features agenthost/schema --no-fail-fast -- --quiet || status=1
    cargo test --manifest-path tests/loom/Cargo.toml --target-dir target/loom --release --quiet || status=1
    return "$status"
}

rust() {
    stage check tests/check.sh
    stage core rust_tests
}
c() {
    stage library library
    stage c tests/c/run.sh test
    stage c-durable tests/c/durable/run.sh
}
# What builds on the C library or on the core alone: check, then test.
language() {
    stage "$1-check" "bindings/$1/run.sh" check
    stage "$1" "bindings/$1/run.sh" test
}

rust_and_python() { rust && language python; }
c_cpp_and_node() {
    stage tools tools
    c && language cpp && language node
}

# Everything, in two lanes; or the stages of one language; or what the changed files can break.
tests() {
    case "${1:-}" in
        "")
            at_once rust_and_python c_cpp_and_node
            stage docs tests/docs/run.sh
            ;;
        --changed) tests/changed.sh ;;
        rust | c) "$1" ;;
        cpp | python | node) language "$1" ;;
        *) usage ;;
    esac
}

# logged COMMAND... - runs it, and ends with the sum of what it printed.
logged() {
    "$@" 2>&1 | tee "$log" || true
    sum
}

conformance() {
    case "$1" in
        rust) cargo test -q -p agenthost --features schema --test conformance ;;
        c) library && tests/c/run.sh conformance ;;
        cpp) library && bindings/cpp/run.sh conformance ;;
        python | node) "bindings/$1/run.sh" conformance ;;
        all)
            logged every_conformance
            ;;
        *) usage && exit 2 ;;
    esac
}

every_conformance() {
    for language in rust c cpp python node; do stage "$language" conformance "$language"; done
}

demo() {
    library
    tests/c/run.sh demo "$@"
    cargo run --quiet -p agenthost --features schema --example durable
    bindings/cpp/run.sh demo
    bindings/python/run.sh demo
    bindings/node/run.sh demo
}

bench() {
    case "${1:-core}" in
        core | --json) benches/core/run.sh "$@" ;;
        python | node) "bindings/$1/run.sh" bench "${@:2}" ;;
        runs) benches/runs/run.sh "${@:2}" ;;
        *) usage && exit 2 ;;
    esac
}

command=${1:-help}
[ $# -gt 0 ] && shift
case "$command" in
    demo) demo "$@" ;;
    test) logged tests "$@" ;;
    check) tests/check.sh ;;
    docs) tests/docs/run.sh "$@" ;;
    conformance) conformance "${1:-all}" ;;
    bench) bench "$@" ;;
    fuzz) fuzz/run.sh "${1:-60}" ;;
    mutants) tests/mutants.sh "$@" ;;
    torture) tests/torture.sh "$@" ;;
    package)
        bindings/python/run.sh package
        bindings/node/run.sh package
        ;;
    *) usage && exit 2 ;;
esac
