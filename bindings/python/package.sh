#!/usr/bin/env bash
# One manylinux2014 wheel for Python 3.10 and later, and the source with its lock file, into dist/. The wheel is then installed into
# a fresh environment and used there, and the source is built once more from what is in it alone.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
dist="$root/dist"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

mkdir -p "$dist"
rm -f "$dist"/agenthost-*.whl "$dist"/agenthost-*.tar.gz
cd "$here"
# Symbols of glibc 2.17 and no later, whatever this machine has.
maturin build --quiet --locked --release --zig --compatibility manylinux2014 --out "$dist"
maturin sdist --out "$dist"

wheel=$(ls "$dist"/agenthost-*-cp310-abi3-manylinux*.whl)
sdist=$(ls "$dist"/agenthost-*.tar.gz)
tar -tzf "$sdist" >"$scratch/names"
grep -q '/Cargo.lock$' "$scratch/names" || { echo "the source has no lock file" >&2 && exit 1; }

use='
import agenthost
class Runs:
    def get_run(self, request, call): raise agenthost.NotFound("no " + request.run_id)
    create_run = cancel_run = resolve_approval = resume_run = list_events = get_run
print("package: agenthost", agenthost.__version__, "answers", len(agenthost.Host(Runs()).dispatch_json(b"{}")), "bytes")
with agenthost.Host.open("sqlite:runs.db") as host:
    print("package:", agenthost.Client(host.dispatch_json).create_run(agenthost.ExecutionContext("run-1")))
'
python3 -m venv "$scratch/wheel"
"$scratch/wheel/bin/python" -m pip install --quiet --no-index "$wheel"
(cd "$scratch" && "$scratch/wheel/bin/python" -I -c "$use")

# From the source alone, with the versions of its lock file (--locked would also refuse to drop what other members need). A debug
# build shows that all is there.
tar -xzf "$sdist" -C "$scratch"
(cd "$scratch"/agenthost-*/ && maturin build --quiet --offline --out "$scratch/again" --target-dir "$root/target" --profile dev)
python3 -m venv "$scratch/source"
"$scratch/source/bin/python" -m pip install --quiet --no-index "$scratch"/again/agenthost-*.whl
(cd "$scratch" && "$scratch/source/bin/python" -I -c "$use")
ls -l "$wheel" "$sdist"
