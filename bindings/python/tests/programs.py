"""Programs of their own, for what a test cannot do in its own process."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

HERE = Path(__file__).parent
#: A bound for what has to happen at all, in seconds.
SOON = 30.0


def script(body: str, *, expect: int = 0, timeout: float = SOON) -> str:
    """Runs a program of its own; its output, when it ends as expected."""
    # A shell starts what it runs in the background with SIGINT ignored.
    interrupt = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    source = (
        interrupt
        + "import sys; sys.path.insert(0, sys.argv[1])\nfrom services import *\nfrom agenthost import *\nfrom durable import *\n"
        + textwrap.dedent(body)
    )
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", source, str(HERE)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == expect, (done.returncode, done.stdout, done.stderr)
    assert "Fatal" not in done.stderr, done.stderr
    assert "panicked" not in done.stderr, done.stderr
    if expect == 0:
        assert done.stderr == ""
    return done.stdout
