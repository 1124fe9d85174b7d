"""Programs of their own, for what a test cannot do in its own process."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

from interpreters import package_path

HERE = Path(__file__).parent
#: A bound for what has to happen at all, in seconds.
SOON = 30.0


def script(
    body: str, *, expect: int = 0, timeout: float = SOON, python: str = sys.executable, imports: bool = True, clean: bool = True
) -> str:
    """Runs a program of its own; its output, when it ends as expected and, if it has to be clean, says nothing else."""
    # A shell starts what it runs in the background with SIGINT ignored.
    interrupt = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    helpers = "from services import *\nfrom agenthost import *\nfrom durable import *\n" if imports else ""
    source = interrupt + "import sys; sys.path.insert(0, sys.argv[1])\n" + helpers + textwrap.dedent(body)
    command = [python, "-X", "dev", "-W", "error", "-c", source, str(HERE)]
    environment = {**os.environ, "PYTHONPATH": package_path()} if python != sys.executable else None
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False, env=environment)
    assert done.returncode == expect, (done.returncode, done.stdout, done.stderr)
    assert "panicked" not in done.stderr, done.stderr
    if clean:
        assert "Fatal" not in done.stderr, done.stderr
        if expect == 0:
            assert done.stderr == ""
    return done.stdout
