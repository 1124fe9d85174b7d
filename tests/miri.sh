#!/usr/bin/env bash
# What has `unsafe` code in it or below it, under Miri, which knows Rust's rules of aliasing, of uninitialized memory and of data races,
# and finds leaks: the C exports, whose callbacks may free the handle that the export was called with, and the host with the layer for
# bindings. Needs a nightly toolchain with Miri, and installs the component where rustup can. For `torture`. Arguments are a filter of
# the exports' tests, which alone run then.
#
# Miri runs no C, no fork and no SQLite: callbacks are Rust functions with C's signatures, runs live in memory, and the page that a
# fork wipes is left out. It explores one interleaving of threads in each run: for all of them see tests/loom. What copies megabytes or
# is not about memory - the fuzz bodies, the properties, the model of durable runs - is left to the other stages: Miri takes a thousand
# times as long.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! cargo +nightly miri --version >/dev/null 2>&1 && ! rustup component add --toolchain nightly miri rust-src >/dev/null 2>&1; then
    echo "no nightly compiler with Miri on this machine: nothing was run under it"
    exit 0
fi
# The clock and randomness of the machine. Backtraces of the panics that tests expect would take minutes.
export RUST_BACKTRACE=0
export MIRIFLAGS="-Zmiri-disable-isolation ${MIRIFLAGS:-}"
miri() { cargo +nightly miri test --quiet -p agenthost --no-default-features --features capi --target-dir target/miri "$@"; }
miri --test capi -- "$@"
[ $# = 0 ] || exit 0
miri --test host
miri --lib -- binding:: host:: service:: protocol::json::slot
