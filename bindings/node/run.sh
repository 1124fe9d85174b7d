#!/usr/bin/env bash
# The Node binding: tools | build | check | test | conformance | bench [--json] | package | demo.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
platform=agenthost-linux-x64-gnu

# stage NAME COMMAND... - runs it and shows its seconds. Inside, a failing command does not end the script by itself
# (it runs in a condition), so the functions below say where they give up.
stage() {
    local name=$1 started=$SECONDS status=0
    shift
    "$@" || status=$?
    echo "node: $name took $((SECONDS - started)) s" >&2
    return "$status"
}

# What checks and tests need from npm, by the lock file.
tools() {
    if ! cmp -s package-lock.json node_modules/.installed-lock; then
        npm ci --no-audit --no-fund --loglevel=error || return
        cp package-lock.json node_modules/.installed-lock
    fi
    ln -sfn ../package node_modules/agenthost
}

# The native library, where the loader looks for it. Cargo says where it has put it.
library() {
    (cd "$root" && cargo build --quiet --release -p agenthost-node) || return
    local built=${CARGO_TARGET_DIR:-$root/target}/release/libagenthost_node.so home=node_modules/$platform
    mkdir -p "$home" && cp platform/package.json "$home/package.json" || return
    # A new file: a process that has loaded the old one keeps it.
    cmp -s "$built" "$home/agenthost.node" || { rm -f "$home/agenthost.node" && cp "$built" "$home/agenthost.node"; }
}

prepare() {
    stage "npm packages" tools && stage "library" library
}

tests() {
    local status=0
    prepare || return
    stage "tests" node --test --test-reporter=./tests/reporter.mjs tests/*.test.mjs || status=1
    stage "conformance" node tests/conformance/main.mjs || status=1
    stage "packed tarballs" tests/packed/run.sh || status=1
    return "$status"
}

case ${1:-} in
    build) prepare ;;
    tools) stage "npm packages" tools ;;
    check) prepare && tests/check.sh ;;
    test) tests ;;
    conformance) prepare && node tests/conformance/main.mjs ;;
    bench) prepare && node bench/main.mjs "${@:2}" ;;
    package) prepare && node scripts/pack.mjs "$root/dist" ;;
    demo) prepare && node examples/demo.mjs ;;
    *)
        echo "usage: run.sh tools | build | check | test | conformance | bench [--json] | package | demo" >&2
        exit 2
        ;;
esac
