"""Small things about waiting: deadlines, and what asyncio leaves to its users."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import sys
import time
from collections.abc import Awaitable
from typing import Any


class Deadline:
    """A point in time, or never."""

    __slots__ = ("_at",)

    def __init__(self, seconds: float | None) -> None:
        self._at = None if seconds is None else time.monotonic() + seconds

    def passed(self) -> bool:
        return self._at is not None and time.monotonic() >= self._at

    def at_most(self, seconds: float) -> float:
        return seconds if self._at is None else max(0.0, min(seconds, self._at - time.monotonic()))


def refuse_running_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError(
        "an event loop runs in this thread, and waiting for an async method would block it: use 'await "
        "host.dispatch_json_async(...)', or dispatch from another thread, for example with asyncio.to_thread"
    )


def discard(awaitable: Awaitable[Any]) -> None:
    """A coroutine that never starts says so in a warning, unless it is closed."""
    if inspect.iscoroutine(awaitable):
        awaitable.close()


def cancel(future: concurrent.futures.Future[Any], loop: asyncio.AbstractEventLoop) -> None:
    if not loop.is_closed():
        future.cancel()


if sys.version_info >= (3, 11):

    def was_cancelled(task: asyncio.Task[Any]) -> bool:
        """Whether somebody has cancelled the task, or the service raised ``CancelledError`` by itself."""
        return task.cancelling() > 0

    def still_cancelled(task: asyncio.Task[Any]) -> bool:
        """Takes back the cancellation by which the host woke the task. True when there was another."""
        return task.uncancel() > 0

else:

    def was_cancelled(task: asyncio.Task[Any]) -> bool:
        """Python 3.10 does not say who cancelled."""
        return True

    def still_cancelled(task: asyncio.Task[Any]) -> bool:
        """Python 3.10 does not say who cancelled."""
        return False
