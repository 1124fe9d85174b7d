#!/usr/bin/env bash
# Formatting, lints and drift of everything; the types of each language are checked by its own run.sh. Each check counts as a test. Ends with `check: N passed, M failed`.
set -uo pipefail
cd "$(dirname "$0")/.."
passed=0 failed=0

# check NAME COMMAND... - shows what a check prints only when it fails.
check() {
    local name=$1 started=$SECONDS
    shift
    if output=$("$@" 2>&1); then
        passed=$((passed + 1))
        echo "check ok: $name ($((SECONDS - started)) s)"
    else
        failed=$((failed + 1))
        echo "check FAILED: $name"
        echo "$output" | tail -n 60
    fi
}

# unsafe code has four homes, fault injectors of tests, and the bindings whose framework demands it.
unsafe_in_its_place() {
    ! git grep -lE '\bunsafe\b' -- 'src/*.rs' | grep -vE '^src/(capi/|port/|host/fork\.rs|store/sqlite/locks)' | grep -v '^src/lib\.rs$'
}

# Every direct dependency has a line that says why it is there.
dependencies_have_reasons() {
    local missing=0 name
    for name in $(git ls-files '*Cargo.toml' | xargs awk '
        /^\[/ { inside = ($0 ~ /dependencies(\.[^\]]*)?\]$/) }
        inside && /^[A-Za-z0-9_-]+(\.workspace)? *=/ { sub(/[ .=].*/, "", $1); print $1 }' | sort -u); do
        case $name in agenthost | agenthost-*) continue ;; esac
        grep -q "^| \`$name\`" docs/dependencies.md || { echo "docs/dependencies.md has no line for $name" && missing=1; }
    done
    return $missing
}

# The vectors and the schemas are data; everything else says what it is for within reason.
no_unfinished_work() {
    ! git grep -nE '\b(todo|unimplemented)!\(|\b(TODO|FIXME|XXX)\b|#\[ignore|pytest\.mark\.(skip|xfail)|\b(it|test|describe)\.(only|skip)\(' \
        -- ':!tests/check.sh' ':!tests/vectors' ':!*.lock' ':!*package-lock.json'
}

# By cargo-deny, where it is installed; advisories where their database has been fetched.
dependencies_are_allowed() {
    local checks=(licenses bans sources)
    if [ -d "${CARGO_HOME:-$HOME/.cargo}/advisory-dbs" ]; then checks+=(advisories); fi
    cargo deny --offline --workspace --log-level error check "${checks[@]}"
}

readme_is_short() { [ "$(wc -l <README.md)" -lt 200 ]; }

# Clippy looks for what is younger than the oldest compiler that is promised; where that compiler is installed it is tried.
oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
oldest_compiler() { cargo "+$oldest" check -q --workspace --target-dir "target/$oldest"; }

shell_parses() {
    local script
    for script in build.sh .ci/run $(git ls-files '*.sh'); do bash -n "$script" || return 1; done
}

check "rustfmt" cargo fmt --all -- --check
check "clippy" cargo clippy -q --workspace --all-targets --features agenthost/schema -- -D warnings
check "clippy: core without the C ABI" cargo clippy -q -p agenthost --no-default-features -- -D warnings
check "rustdoc" env RUSTDOCFLAGS="-D warnings" cargo doc -q -p agenthost --no-deps
check "unsafe code in its place" unsafe_in_its_place
check "dependencies have reasons" dependencies_have_reasons
check "no unfinished work" no_unfinished_work
check "shell scripts parse" shell_parses
check "pages name what exists" python3 tests/docs/names.py
check "README.md under 200 lines" readme_is_short
check "no import cycles" python3 tests/import_cycles.py
# What the machine does not have is not counted.
if cargo deny --version >/dev/null 2>&1; then
    check "licences and duplicates of dependencies" dependencies_are_allowed
else
    echo "check not run: cargo-deny is not on this machine"
fi
if rustup toolchain list 2>/dev/null | grep -q "^$oldest"; then
    check "the oldest compiler" oldest_compiler
else
    echo "check not run: the toolchain $oldest is not on this machine"
fi
echo "check: $passed passed, $failed failed"
exit $((failed > 0))
