#!/usr/bin/env bash
# Changes the core in every small way that cargo-mutants knows, and looks whether a test notices: unit tests first, and for
# what they leave the properties and the vectors. It goes on where it was stopped; delete target/mutants to begin anew.
# Usage: tests/mutants.sh [protocol|service|dispatch|host|client]...
set -euo pipefail
cd "$(dirname "$0")/.."

if ! cargo mutants --version >/dev/null 2>&1; then cargo install --locked cargo-mutants; fi

# The tests are run for every mutant: without debug information and with few random cases each.
export CARGO_PROFILE_TEST_DEBUG=0 CARGO_PROFILE_DEV_DEBUG=0 PROPTEST_CASES=24

# run MODULE TESTS... - what `missed.txt` lists then, no test has noticed.
run() {
    local module=$1 status=0
    shift
    mkdir -p "target/mutants/$module"
    cargo mutants --package agenthost --no-default-features --iterate --no-shuffle --timeout 60 \
        --output "target/mutants/$module" --file "src/$module.rs" --file "src/$module/**" \
        --exclude '**/tests/**' --exclude '**/tests.rs' --exclude '**/schema.rs' -- "$@" || status=$?
    # 2: some were missed; 3: some ran out of time, which is noticing them.
    [ "$status" -eq 0 ] || [ "$status" -eq 2 ] || [ "$status" -eq 3 ]
}

modules=("$@")
[ ${#modules[@]} -gt 0 ] || modules=(protocol service dispatch host client)
for module in "${modules[@]}"; do
    run "$module" --lib -- protocol:: service:: dispatch:: host:: client::
    run "$module" --test properties --test conformance
done
for module in "${modules[@]}"; do
    echo "== $module: not noticed"
    cat "target/mutants/$module/mutants.out/missed.txt"
done
