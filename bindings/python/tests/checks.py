"""Formatting, lints and types of the Python code; the Rust code is checked with the rest of the workspace. Each check counts as
one test; ends with ``python-check: N passed, M failed``."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
TYPED = ["python", "tests/typed_example.py", "examples"]
# The project's own scripts and its workflow are checked here too: the tools are here.
SCRIPTS = "../../tests/docs"
WORKFLOW = "../../.github/workflows/ci.yml"
CHECKS = {
    "ruff": ["ruff", "check", ".", SCRIPTS],
    "ruff format": ["ruff", "format", "--check", ".", SCRIPTS],
    "mypy": ["mypy", *TYPED, SCRIPTS],
    "pyright": ["pyright", *TYPED],
    "workflow": ["check-jsonschema", "--builtin-schema", "vendor.github-workflows", WORKFLOW],
    "stubtest": [sys.executable, "-m", "mypy.stubtest", "agenthost._native"],
}


def main() -> int:
    passed = failed = 0
    for name, command in CHECKS.items():
        began = time.monotonic()
        done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
        seconds = time.monotonic() - began
        if done.returncode == 0:
            passed += 1
            print(f"python-check ok: {name} ({seconds:.1f} s)", flush=True)
        else:
            failed += 1
            print(f"python-check FAILED: {name}\n{done.stdout}{done.stderr}", flush=True)
    print(f"python-check: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
