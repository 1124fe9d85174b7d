#!/usr/bin/env bash
# Changes the core in every small way that cargo-mutants knows, and looks whether a test notices: unit tests first, and for
# what they leave the properties and the vectors. It goes on where it was stopped; delete target/mutants to begin anew.
# Usage: tests/mutants.sh [protocol|service|dispatch|host|client]...
set -euo pipefail
cd "$(dirname "$0")/.."

if ! cargo mutants --version >/dev/null 2>&1; then cargo install --locked cargo-mutants; fi

# The tests are run for every mutant: without debug information and with few random cases each.
export CARGO_PROFILE_TEST_DEBUG=0 CARGO_PROFILE_DEV_DEBUG=0 PROPTEST_CASES=24

modules=("$@")
[ ${#modules[@]} -gt 0 ] || modules=(protocol service dispatch host client)
files=()
for module in "${modules[@]}"; do files+=(--file "src/$module.rs" --file "src/$module/**"); done

# run TARGET... -- ARGUMENT... - builds and runs these test targets for every mutant that nothing has noticed yet. One run for all
# modules: each begins with a build of everything.
run() {
    local targets=() status=0
    while [ "$1" != -- ]; do targets+=("--cargo-arg=$1") && shift; done
    cargo mutants --package agenthost --no-default-features --iterate --no-shuffle --timeout 20 --output target/mutants \
        "${files[@]}" --exclude '**/tests/**' --exclude '**/tests.rs' --exclude '**/schema.rs' "${targets[@]}" "$@" || status=$?
    # 2: some were missed; 3: some ran out of time, which is noticing them.
    [ "$status" -eq 0 ] || [ "$status" -eq 2 ] || [ "$status" -eq 3 ]
}

mkdir -p target/mutants
run --lib --test host -- -- --skip runs:: --skip store::
run --test properties --test conformance --
echo "== not noticed"
cat target/mutants/mutants.out/missed.txt
