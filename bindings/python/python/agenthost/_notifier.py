"""How a task learns that its call is answered: its event loop watches a pipe, into which whoever answers writes a byte.

The thread that answers may be the one that commits for everybody, so it must not wait for the GIL, nor for a loop; and a loop
that is closed meanwhile must not matter to it.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
import weakref

from ._native import Notifier, Waiting


class LoopNotifier:
    """The calls that tasks of one event loop wait for."""

    __slots__ = ("calls", "keys", "native")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.native = Notifier()
        self.keys = itertools.count(1)
        self.calls: dict[int, tuple[Waiting, asyncio.Future[bytes]]] = {}
        loop.add_reader(self.native.fileno(), self._notified)

    def _notified(self) -> None:
        for key in self.native.answered():
            # It may be gone: answered before it waited, or cancelled.
            waiting, future = self.calls.pop(key, (None, None))
            if waiting is None or future is None or future.done():
                continue
            response = waiting.wait(0)
            if response is not None:
                future.set_result(response)


_notifiers: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, LoopNotifier] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def notifier_of(loop: asyncio.AbstractEventLoop) -> LoopNotifier:
    """The notifier that this loop, which runs in this thread, watches."""
    notifier = _notifiers.get(loop)
    if notifier is None:
        notifier = LoopNotifier(loop)
        with _lock:
            for other in list(_notifiers):
                # A call that was never answered would keep it.
                if other.is_closed():
                    del _notifiers[other]
            _notifiers[loop] = notifier
    return notifier
