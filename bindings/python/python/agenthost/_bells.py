"""How a task learns that its call is answered: its event loop watches a pipe, into which whoever answers writes a byte.

The thread that answers may be the one that commits for everybody, so it must not wait for the GIL, nor for a loop; and a loop
that is closed meanwhile must not matter to it.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
import weakref

from ._native import Bell, Waiting


class LoopBell:
    """The calls that tasks of one event loop wait for."""

    __slots__ = ("bell", "calls", "keys")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.bell = Bell()
        self.keys = itertools.count(1)
        self.calls: dict[int, tuple[Waiting, asyncio.Future[bytes]]] = {}
        loop.add_reader(self.bell.fileno(), self._rung)

    def _rung(self) -> None:
        for key in self.bell.answered():
            # It may be gone: answered before it waited, or cancelled.
            waiting, future = self.calls.pop(key, (None, None))
            if waiting is None or future is None or future.done():
                continue
            response = waiting.wait(0)
            if response is not None:
                future.set_result(response)


_bells: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, LoopBell] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def bell_of(loop: asyncio.AbstractEventLoop) -> LoopBell:
    """The bell that this loop, which runs in this thread, watches."""
    bell = _bells.get(loop)
    if bell is None:
        bell = LoopBell(loop)
        with _lock:
            for other in list(_bells):
                # A call that was never answered would keep it.
                if other.is_closed():
                    del _bells[other]
            _bells[loop] = bell
    return bell
