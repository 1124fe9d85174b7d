#!/usr/bin/env bash
# Changes the core in every small way that cargo-mutants knows, and looks whether a test notices: unit tests first (of the host
# those in tests/host), and for what they leave the properties and the vectors too. It goes on where it was stopped; delete
# target/mutants to begin anew.
# Usage: tests/mutants.sh [protocol|service|dispatch|host|client]...
set -euo pipefail
cd "$(dirname "$0")/.."

if ! cargo mutants --version >/dev/null 2>&1; then cargo install --locked cargo-mutants; fi

# The tests are run for every mutant: without debug information and with few random cases each. Mutants are made in a copy of the
# tree, but built here, so that what they have in common is built once.
export CARGO_PROFILE_TEST_DEBUG=0 CARGO_PROFILE_DEV_DEBUG=0 PROPTEST_CASES=24 CARGO_TARGET_DIR="$PWD/target/mutants/build"

# run MODULE TARGET... -- ARGUMENT... - builds and runs these test targets for every mutant of the module that nothing has noticed
# yet. A size hint is no promise: it says how much room a buffer reserves.
run() {
    local module=$1 targets=() status=0
    shift
    while [ "$1" != -- ]; do targets+=("--cargo-arg=$1") && shift; done
    mkdir -p "target/mutants/$module"
    cargo mutants --package agenthost --no-default-features --iterate --no-shuffle --timeout 10 --output "target/mutants/$module" \
        --file "src/$module.rs" --file "src/$module/**" --exclude '**/tests/**' --exclude '**/tests.rs' --exclude '**/schema.rs' \
        --exclude-re size_hint "${targets[@]}" -- "$@" --skip runs:: --skip store:: || status=$?
    # 2: some were missed; 3: some ran out of time, which is noticing them.
    [ "$status" -eq 0 ] || [ "$status" -eq 2 ] || [ "$status" -eq 3 ]
}

modules=("$@")
[ ${#modules[@]} -gt 0 ] || modules=(protocol service dispatch host client)
for module in "${modules[@]}"; do
    if [ "$module" = host ]; then first=(--test host); else first=(--lib); fi
    # The one slow test is left to the second round.
    run "$module" "${first[@]}" -- --skip the_default_limit_is_16_mib
    run "$module" --lib --test properties --test conformance --
done
echo "== not noticed"
for module in "${modules[@]}"; do cat "target/mutants/$module/mutants.out/missed.txt"; done
