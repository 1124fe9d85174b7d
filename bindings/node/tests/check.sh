#!/usr/bin/env bash
# Types, lints, the package's shape. Each check counts as a test. Ends with `node-check: N passed, M failed`.
set -uo pipefail
cd "$(dirname "$0")/.."
passed=0 failed=0

# check NAME COMMAND... - shows what a check prints only when it fails.
check() {
    local name=$1
    shift
    if output=$("$@" 2>&1); then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "node-check: FAILED $name"
        echo "$output" | tail -n 40
    fi
}

# A script must parse, without a warning; what it does is tested.
scripts_parse() {
    npx esbuild package/index.js package/lib/*.js package/lib/*/*.js bench/*.mjs scripts/*.mjs examples/*.mjs examples/*/*.mjs tests/*.mjs tests/*/*.mjs \
        --outdir=node_modules/.parsed --log-level=warning --log-override:empty-import-meta=silent 2>&1 | { ! grep .; }
}

# The platform package is required by its exact version, and all three versions are the library's.
versions_agree() {
    local cargo
    cargo=$(sed -n '/^\[workspace.package\]/,/^\[/ s/^version = "\(.*\)"/\1/p' ../../Cargo.toml)
    node -e '
        const [main, platform] = [require("./package/package.json"), require("./platform/package.json")];
        for (const found of [main.version, platform.version, main.optionalDependencies[platform.name]]) {
            if (found !== process.argv[1]) throw new Error(`found version ${found}, expected ${process.argv[1]}`);
        }' "$cargo"
}

check "scripts parse" scripts_parse
check "tsc --strict: ES module entry" npx tsc -p types/tsconfig.esm.json
check "tsc --strict: CommonJS entry" npx tsc -p types/tsconfig.cjs.json
check "tsc --strict: the typed example" npx tsc -p examples/typed
check "declarations and exports agree" node types/exports.mjs
check "publint" npx publint --strict package
check "versions agree" versions_agree
echo "node-check: $passed passed, $failed failed"
exit $((failed > 0))
