"""The exit of the interpreter closes every host: whoever waits is answered, and no thread stands in native code any more."""

from __future__ import annotations

import atexit
import contextlib
import importlib
import threading
import time
import weakref
from typing import Protocol

from ._native import exiting
from ._waiting import Deadline

#: How long threads that got an answer may go on, in seconds.
_LAST_WORDS = 0.5


class ExitingHost(Protocol):
    """What the exit needs of a host."""

    def is_forked(self) -> bool:
        """Whether it is the parent's, in a fork."""
        ...

    def answer_all(self) -> set[threading.Thread]:
        """Answers every call in flight; the threads that wait for one."""
        ...

    def end_at_exit(self) -> None:
        """Lets go of what the host has of its own."""
        ...


_hosts: weakref.WeakSet[ExitingHost] = weakref.WeakSet()


def close_at_exit(host: ExitingHost) -> None:
    """Remembers a host for as long as it lives."""
    _hosts.add(host)


def _close_all() -> None:
    """Answers every caller that still waits, and lets its thread go on for a moment."""
    hosts = [host for host in list(_hosts) if not host.is_forked()]
    threads: set[threading.Thread] = set()
    for host in hosts:
        threads |= host.answer_all()
    until = Deadline(_LAST_WORDS)
    for thread in threads:
        # The interpreter waits for the others itself.
        if thread.daemon and thread is not threading.current_thread():
            thread.join(until.at_most(_LAST_WORDS))
    for host in hosts:
        host.end_at_exit()


def _leave() -> None:
    """After the threads that the interpreter waits for: the hosts that they made, and who is still in native code."""
    _close_all()
    while exiting():
        time.sleep(0.001)


atexit.register(_leave)
# The exit handler of this module waits for its threads, which may wait for a host. Handlers run in the reverse order of their
# registration, so its own comes first.
importlib.import_module("concurrent.futures.thread")
# Before threads are joined, as `concurrent.futures` does it: one of them may wait for a host. Importing at exit is too late.
with contextlib.suppress(AttributeError, RuntimeError):
    threading._register_atexit(_close_all)  # type: ignore[attr-defined]
