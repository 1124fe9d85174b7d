"""Formatting, lints and types. Each check counts as one test; ends with ``python-check: N passed, M failed``."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from documentation import PAGES, programs

HERE = Path(__file__).resolve().parents[1]
TYPED = ["python", "tests/typed_example.py", "examples"]
CHECKS = {
    "rustfmt": ["cargo", "fmt", "-p", "agenthost-python", "--", "--check"],
    "clippy": ["cargo", "clippy", "-q", "-p", "agenthost-python", "--no-deps", "--", "-D", "warnings"],
    "ruff": ["ruff", "check", "."],
    "ruff format": ["ruff", "format", "--check", "."],
    "mypy": ["mypy", *TYPED],
    "pyright": ["pyright", *TYPED],
    "stubtest": [sys.executable, "-m", "mypy.stubtest", "agenthost._native"],
}


def documented(folder: Path) -> list[str]:
    """Checks the types in the documentation's code, which is written as users write it: most of it without annotations."""
    for page in PAGES:
        for section, source in programs(page).items():
            name = "".join(letter if letter.isalnum() else "_" for letter in f"{page.parent.name}_{page.stem}_{section}")
            (folder / f"{name}.py").write_text(source, encoding="utf-8")
    return ["mypy", "--config-file=", "--check-untyped-defs", "--cache-dir", str(folder / "cache"), str(folder)]


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        return checked(CHECKS | {"types in the documentation": documented(Path(folder))})


def checked(checks: dict[str, list[str]]) -> int:
    passed = failed = 0
    for name, command in checks.items():
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
