#!/usr/bin/env bash
# The packed tarballs, installed into a fresh folder and used from there. Ends with `node-package: N passed, M failed`.
set -uo pipefail
cd "$(dirname "$0")/../.."
here=$PWD passed=0 failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check() {
    local name=$1
    shift
    if output=$("$@" 2>&1); then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "node-package: FAILED $name"
        echo "$output" | tail -n 40
    fi
}

installed() {
    node scripts/pack.mjs "$work/tarballs"
    mkdir "$work/app" && cd "$work/app" && echo '{ "private": true }' >package.json
    npm install --offline --no-audit --no-fund "$work"/tarballs/*.tgz
    [ -f node_modules/agenthost-linux-x64-gnu/agenthost.node ]
}

used_from() {
    cp "$here/tests/packed/$1" "$work/app/" && cd "$work/app" && unset AGENTHOST_NATIVE_LIBRARY
    [ "$(node "$1")" = "the run is running" ]
}

used_from_typescript() {
    cd "$work/app" && cp "$here/examples/typed/runs.ts" "$here/tsconfig.base.json" .
    echo '{ "extends": "./tsconfig.base.json", "compilerOptions": { "noEmit": false, "outDir": "out", "typeRoots": ["'"$here"'/node_modules/@types"] }, "files": ["runs.ts"] }' >tsconfig.json
    echo '{ "private": true, "type": "module" }' >package.json
    "$here/node_modules/.bin/tsc" -p . && node out/runs.js | grep -q "^conflict { revision: 2 }$"
}

only_what_belongs() {
    [ "$(tar tzf "$work"/tarballs/agenthost-linux-x64-gnu-*.tgz | sort | tr '\n' ' ')" = "package/LICENSE package/agenthost.node package/package.json " ]
    ! tar tzf "$work"/tarballs/agenthost-[0-9]*.tgz | grep -vE '^package/(lib/(packed/)?[a-z-]+\.js|index\.(js|mjs|d\.ts|d\.mts)|package\.json|README\.md|LICENSE)$'
}

check "packed and installed without a registry" installed
check "used from an ES module" used_from use.mjs
check "used from CommonJS" used_from use.cjs
check "used from TypeScript" used_from_typescript
check "nothing else is packed" only_what_belongs
echo "node-package: $passed passed, $failed failed"
exit $((failed > 0))
