#!/usr/bin/env bash
# What takes longer than a test may: processes killed 1,000 times (or as often as the argument says) with a second SQLite in them;
# the vectors in C under ThreadSanitizer.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo test --quiet -p agenthost --test durability_sqlite -- torture "${1:-1000}"
tests/c/tsan.sh
