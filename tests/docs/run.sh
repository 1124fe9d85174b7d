#!/usr/bin/env bash
# Runs every code block of every page: run.sh [LANGUAGE...]. With no language also looks whether wrong blocks are noticed.
# Builds what the blocks use.
set -euo pipefail
cd "$(dirname "$0")/../.."
wants() { [ $# -eq 1 ] || [[ " ${*:2} " == *" $1 "* ]]; }

if wants c "$@" || wants cpp "$@"; then cargo build --quiet --release -p agenthost-capi; fi
if wants python "$@" || wants json "$@" || wants sql "$@" || wants sh "$@"; then bindings/python/run.sh build; fi
if wants js "$@" || wants ts "$@" || wants sh "$@"; then bindings/node/run.sh build; fi
status=0
python3 tests/docs/run.py "$@" || status=1
# Not beside the blocks: both build the demo, which must not be replaced while it runs.
if [ $# -eq 0 ]; then python3 tests/docs/notices.py || status=1; fi
exit "$status"
