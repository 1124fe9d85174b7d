"""Small things about waiting: deadlines, and what asyncio leaves to its users."""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
from collections.abc import Awaitable, Iterator
from types import CoroutineType
from typing import Any

#: The first pause of who polls, in seconds; it doubles up to the last one.
_FIRST_PAUSE, _LAST_PAUSE = 0.0005, 0.05


class Deadline:
    """A point in time, or never."""

    __slots__ = ("_at",)

    def __init__(self, seconds: float | None) -> None:
        self._at = None if seconds is None else time.monotonic() + seconds

    def passed(self) -> bool:
        return self._at is not None and time.monotonic() >= self._at

    def at_most(self, seconds: float) -> float:
        return seconds if self._at is None else max(0.0, min(seconds, self._at - time.monotonic()))

    def pauses(self) -> Iterator[float]:
        """How many seconds to pause each time, until the deadline."""
        pause = _FIRST_PAUSE
        while not self.passed():
            yield self.at_most(pause)
            pause = min(pause * 2, _LAST_PAUSE)


def refuse_running_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError(
        "an event loop runs in this thread, and waiting for an async method would block it: use 'await "
        "host.dispatch_json_async(...)', or dispatch from another thread, for example with asyncio.to_thread"
    )


def no_asyncio() -> RuntimeError:
    return RuntimeError(
        "dispatch_json_async and aclose have to be awaited in a task of asyncio, and none runs here: under another framework "
        "call dispatch_json or close in a thread, for example with trio.to_thread.run_sync"
    )


def discard(awaitable: Awaitable[Any]) -> None:
    """A coroutine that never starts says so in a warning, unless it is closed."""
    if isinstance(awaitable, CoroutineType):
        awaitable.close()


def cancel(future: concurrent.futures.Future[Any], loop: asyncio.AbstractEventLoop) -> None:
    if not loop.is_closed():
        future.cancel()
