#!/usr/bin/env bash
# What durable runs cost on this machine: benches/runs/run.sh [--json] [--quick]
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo run --release --quiet -p agenthost-bench-runs -- "$@"
