#!/usr/bin/env bash
# Everything about the Python package: build | check | test | conformance | bench | package | demo. Arguments after the verb go on to
# the stage. Installs what it needs into .build/, and says how long each stage took.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build="$root/.build"
venv="$build/python"
python="$venv/bin/python"
export PATH="$venv/bin:$PATH" VIRTUAL_ENV="$venv" PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1

stage() { # NAME COMMAND...: runs it, and says how long it took
    local name=$1 from=$SECONDS status=0
    shift
    "$@" || status=$?
    echo "python $name: $((SECONDS - from)) s" >&2 # what a stage prints may be data
    return "$status"
}

environment() { # a virtual environment with the pinned tools
    local pins="$here/requirements-dev.txt"
    if ! cmp -s "$pins" "$venv/pins.txt"; then
        python3 -m venv --clear "$venv"
        "$python" -m pip install --quiet --requirement "$pins"
        cp "$pins" "$venv/pins.txt"
    fi
}

wheel() { # the wheel for this machine, in .build/wheel
    rm -rf "$build/wheel"
    (cd "$here" && maturin build --quiet --locked --release --out "$build/wheel")
}

installed() { # the package in the environment, if it changed
    environment
    wheel
    "$python" -m pip install --quiet --force-reinstall --no-deps "$build"/wheel/agenthost-*.whl
}

verb=${1:-}
shift || true
case "$verb" in
build)
    stage build installed
    ;;
tools)
    stage "tools" environment
    ;;
check)
    stage "check build" installed
    stage check "$python" "$here/tests/checks.py" "$@"
    ;;
test)
    stage "test build" installed
    stage test "$python" "$here/tests/run.py" "$@"
    ;;
conformance)
    stage "conformance build" installed
    (cd "$here/tests" && stage conformance "$python" conformance.py "$@")
    ;;
bench)
    stage "bench build" installed
    stage bench "$python" "$here/bench/bench.py" "$@"
    ;;
package)
    stage "package environment" environment
    stage package "$here/package.sh" "$@"
    ;;
demo)
    stage "demo build" installed
    stage demo "$python" "$here/examples/demo.py" "$@"
    ;;
*)
    echo "usage: $0 tools | build | check | test | conformance | bench | package | demo" >&2
    exit 2
    ;;
esac
