#!/usr/bin/env bash
# Tests what the changed files can break, for the loop while editing: those that differ from the upstream branch, or from the last commit
# where there is none. It is quick because it leaves out what runs everything again under a tool; `./build.sh test` has all.
set -uo pipefail
cd "$(dirname "$0")/.."

base=$(git merge-base HEAD '@{upstream}' 2>/dev/null) || base=HEAD
mapfile -t files < <({ git diff --name-only "$base"; git ls-files --others --exclude-standard; } | sort -u)
changed() { printf '%s\n' "${files[@]}" | grep -qE "$1"; }

# Without link-time optimization: the libraries are built in seconds, and what is tested is their source.
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_INCREMENTAL=true

status=0
run() {
    echo "== $*"
    "$@" || { status=1 && echo "stage $*: exit status 1"; }
}

# A module's tests: its unit tests, then the programs that hold its promises.
targets=()
if changed '^src/(protocol|service|dispatch|client)'; then targets+=(--lib --test conformance --test properties --test schema); fi
if changed '^src/host|^tests/host'; then targets+=(--lib --test host); fi
if changed '^src/(runs|store)|^tests/durability/[^/]*$'; then targets+=(--lib --test durability); fi
if changed '^src/store/sqlite|^tests/durability/sqlite'; then targets+=(--test durability_sqlite); fi
if changed '^src/capi|^bindings/c/src|^tests/capi'; then targets+=(--lib --test capi); fi
mapfile -t targets < <(printf '%s\n' "${targets[@]}" | awk '$0 == "--lib" { lib = 1; next } $0 != "--test" && $0 != "" && !seen[$0]++ { print "--test=" $0 } END { if (lib) print "--lib" }')

if changed '\.rs$'; then run cargo fmt --all -- --check; fi
if [ ${#targets[@]} -gt 0 ]; then run cargo test --quiet -p agenthost --features schema "${targets[@]}"; fi
if changed '^(src/capi|include|tests/c/|bindings/c/)'; then run tests/c/run.sh quick; fi
if changed '^(include|tests/cpp|bindings/cpp)'; then run bindings/cpp/run.sh quick; fi
if changed '^bindings/python'; then run bindings/python/run.sh check && run bindings/python/run.sh test; fi
if changed '^bindings/node'; then run bindings/node/run.sh check && run bindings/node/run.sh test; fi
if changed '\.md$|^tests/docs'; then run tests/docs/run.sh && run python3 tests/docs/names.py; fi
if changed '\.(sh|toml|md)$|\.py$'; then run python3 tests/import_cycles.py; fi
exit "$status"
