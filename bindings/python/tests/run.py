"""Conformance, tests, and the type-checked example. Each runner ends with a line ``NAME: N passed, M failed``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from interpreters import interpreters

HERE = Path(__file__).parent


class Tally:
    """Counts what pytest reports; an error in a fixture or at collection counts as a failure."""

    def __init__(self) -> None:
        self.passed: set[str] = set()
        self.failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed or report.skipped:
            self.failed.add(report.nodeid)
        elif report.when == "call":
            self.passed.add(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed or report.skipped:
            self.failed.add(report.nodeid)


def main() -> int:
    conformance = subprocess.run([sys.executable, str(HERE / "conformance.py")], check=False).returncode
    tally = Tally()
    status = pytest.main(
        ["--rootdir", str(HERE.parent), "-c", str(HERE.parent / "pyproject.toml"), *sys.argv[1:], str(HERE)], [tally]
    )
    for test in sorted(tally.failed):
        print(f"python-tests: FAILED {test}")
    failed = len(tally.failed) or int(status != 0)
    print(f"python-tests: what depends on the interpreter ran on {', '.join(interpreters())}")
    print(f"python-tests: {len(tally.passed - tally.failed)} passed, {failed} failed")
    return 1 if failed or conformance else 0


if __name__ == "__main__":
    sys.exit(main())
