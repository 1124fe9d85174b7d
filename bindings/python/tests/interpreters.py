"""The Pythons on this machine that the wheel is for: one of each version, this one first."""

from __future__ import annotations

import functools
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import agenthost

#: The versions that the package promises, and those after them.
VERSIONS = range(10, 16)
_SHOW = "import sys, sysconfig; print(sys.version.split()[0], sysconfig.get_config_var('Py_GIL_DISABLED') or 0)"


@functools.cache
def interpreters() -> dict[str, str]:
    """Version to executable."""
    found = {sys.version.split()[0]: sys.executable}
    known = {sys.version_info.minor}
    for minor in VERSIONS:
        candidates = [shutil.which(f"python3.{minor}"), *map(str, _pyenv(minor))]
        for candidate in candidates:
            version = _version(candidate) if candidate and minor not in known else None
            if candidate and version and version.startswith(f"3.{minor}."):
                found[version] = candidate
                known.add(minor)
    return found


@functools.cache
def package_path() -> str:
    """A folder with the installed package and nothing else, for interpreters that it is not installed for."""
    folder = Path(tempfile.mkdtemp(prefix="agenthost-package-"))
    (folder / "agenthost").symlink_to(Path(agenthost.__file__).parent)
    return str(folder)


def _pyenv(minor: int) -> list[Path]:
    return sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python3"))


def _version(executable: str) -> str | None:
    done = subprocess.run([executable, "-c", _SHOW], capture_output=True, text=True, timeout=60, check=False)
    version, _, free_threaded = done.stdout.strip().partition(" ")
    return version if done.returncode == 0 and free_threaded == "0" else None
