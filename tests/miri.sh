#!/usr/bin/env bash
# The C exports under Miri, which knows Rust's rules of aliasing: a callback may free the handle that the export below it was called
# with. Needs a nightly toolchain with Miri. For `torture`.
#
# Miri runs no C, no fork and no SQLite: callbacks are Rust functions with C's signatures, runs live in memory, and the page that a
# fork wipes is left out. It explores one interleaving of threads in each run.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! cargo +nightly miri --version >/dev/null 2>&1; then
    echo "no nightly compiler with Miri on this machine: nothing was run under it"
    exit 0
fi
# The clock and randomness of the machine. Backtraces of the panics that tests expect would take minutes.
export RUST_BACKTRACE=0
export MIRIFLAGS="-Zmiri-disable-isolation ${MIRIFLAGS:-}"
cargo +nightly miri test --quiet -p agenthost --no-default-features --features capi --target-dir target/miri --test capi -- "$@"
