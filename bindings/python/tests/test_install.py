"""The wheel as a user gets it: installed into a fresh virtual environment, and used there."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def wheel() -> Path:
    found = sorted((ROOT / ".build" / "wheel").glob("agenthost-*.whl"))
    assert len(found) == 1, "run.sh builds one wheel before the tests"
    return found[0]


def test_one_wheel_serves_3_10_and_later(wheel: Path) -> None:
    assert "-cp310-abi3-" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in ("agenthost/__init__.py", "agenthost/_native.abi3.so", "agenthost/_native.pyi", "agenthost/py.typed"):
        assert wanted in names
    assert not [name for name in names if "test" in name or name.endswith(".rs")]


def test_the_library_exports_its_module_and_nothing_of_the_c_abi(wheel: Path, tmp_path: Path) -> None:
    library = zipfile.ZipFile(wheel).extract("agenthost/_native.abi3.so", tmp_path)
    listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    symbols = {line.split()[-1] for line in listed.splitlines()}
    assert "PyInit__native" in symbols
    assert not [symbol for symbol in symbols if symbol.startswith("agenthost_")]


def test_the_wheel_works_in_a_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "fresh", with_pip=True)
    python = tmp_path / "fresh" / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel]
    subprocess.run(install, check=True)
    code = """
import agenthost, sys
class Runs:
    def get_run(self, request, call): raise agenthost.NotFound("no " + request.run_id)
    create_run = cancel_run = resolve_approval = resume_run = list_events = get_run
with agenthost.Host(Runs()) as host:
    try: agenthost.Client(host.dispatch_json).get_run("run-1")
    except agenthost.NotFound as error: print(error, agenthost.__version__)
assert "typing_extensions" not in sys.modules
"""
    out = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    assert out.startswith("no run-1 0.")
    assert sys.prefix != str(tmp_path / "fresh")
