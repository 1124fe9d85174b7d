"""The exit of the interpreter closes every host: whoever waits is answered, and no thread stands in native code any more."""

from __future__ import annotations

import atexit
import threading
import time
import weakref
from typing import TYPE_CHECKING

from . import _native
from ._waits import Deadline

if TYPE_CHECKING:
    from ._host import Host

#: Every host that is alive.
hosts: weakref.WeakSet[Host] = weakref.WeakSet()


def _close_all() -> None:
    """Answers every caller that still waits, and lets its thread go on for a moment."""
    open_hosts = [host for host in list(hosts) if not host._native.is_forked()]
    threads: set[threading.Thread] = set()
    for host in open_hosts:
        threads |= host._waiting
        host._abandon()
    until = Deadline(0.5)
    for thread in threads:
        if thread is not threading.current_thread():
            thread.join(until.at_most(0.5))
    for host in open_hosts:
        host._end(exiting=True)
    while _native.exiting():
        time.sleep(0.001)


atexit.register(_close_all)
