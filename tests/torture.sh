#!/usr/bin/env bash
# What takes longer than a test may: processes killed 1,000 times (or as often as the argument says) with a second SQLite in them;
# the large model of durable runs; the vectors and lifecycle tests in C under ThreadSanitizer.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo test --quiet -p agenthost --test durability_sqlite -- torture "${1:-1000}"
# The model alone is optimized: all that it depends on would take longer than it saves.
AGENTHOST_MODEL=large cargo test --quiet -p agenthost --lib --config 'profile.dev.package.agenthost.opt-level=1' -- \
    --nocapture runs::model
tests/c/tsan.sh
tests/miri.sh
