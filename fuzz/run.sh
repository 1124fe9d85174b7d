#!/usr/bin/env bash
# Runs each fuzz target for so many seconds (default 60) on the nightly compiler, from the vectors and the committed corpus on.
# What it finds is kept in .build/fuzz; `fuzz/run.sh minimize` puts it, minimized, into the committed corpus. A crash ends the run
# with the file that shows it: `cargo test --features schema --test fuzz` replays it once it is in the corpus.
set -euo pipefail
cd "$(dirname "$0")/.."

targets=(dispatch differential client replies)
work=$PWD/.build/fuzz
mkdir -p "$work"
if ! cargo fuzz --version >/dev/null 2>&1; then cargo install --locked cargo-fuzz; fi
if ! rustup toolchain list | grep -q '^nightly'; then rustup toolchain install nightly --profile minimal; fi

# Nothing unsafe runs in these targets: without a sanitizer they see ten times as many inputs.
fuzz() { cargo +nightly fuzz "$1" --sanitizer none --target-dir target/fuzz "${@:2}"; }
corpus() { cargo test --quiet --features schema --test fuzz -- the_committed_corpus >/dev/null; }

if [ "${1:-}" = minimize ]; then
    for target in "${targets[@]}"; do
        fuzz cmin "$target" "$work/$target"
    done
    AGENTHOST_FUZZ_PACK=$work corpus
    exit 0
fi
AGENTHOST_FUZZ_UNPACK=$work corpus
for target in "${targets[@]}"; do
    fuzz run "$target" "$work/$target" -- -max_total_time="${1:-60}" -max_len=4096 -timeout=10 -rss_limit_mb=4096 \
        -dict=fuzz/json.dict -artifact_prefix="$work/" -print_final_stats=1
    echo "fuzz-$target: 1 passed, 0 failed"
done
