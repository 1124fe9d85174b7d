"""A call whose service is awaited, and how the host ends the wait: by cancelling the task that awaits it."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import Any

from ._native import OpenCall


class AwaitedCall:
    """A call on which a task waits. Everything but :meth:`cancel_from_any_thread` is for the thread of the task's loop."""

    __slots__ = ("_cancellations", "_ended", "_task", "call")

    def __init__(self, call: OpenCall, task: asyncio.Task[Any]) -> None:
        self.call = call
        self._task = task
        self._ended = False
        # How often the host has cancelled the task.
        self._cancellations = 0

    def loop(self) -> asyncio.AbstractEventLoop:
        return self._task.get_loop()

    def expire(self) -> None:
        """Answers that time is up, and cancels the task."""
        self.call.give_up("timeout")
        self._cancel()

    def cancel_from_any_thread(self) -> None:
        """Cancels the task, if it still waits for this call when its loop gets to that."""
        with contextlib.suppress(RuntimeError):
            self.loop().call_soon_threadsafe(self._cancel)

    def end(self) -> None:
        """The wait is over: from now on the host leaves the task alone, and its own cancellations are taken back."""
        if not self._ended:
            self._ended = True
            _uncancel(self._task, self._cancellations)

    def is_cancelled_by_host(self) -> bool:
        return self._cancellations > 0

    def is_cancelled_by_others(self) -> bool:
        """Whether the caller has cancelled the task. Ask once the wait is over."""
        return _is_cancelled(self._task, self._cancellations)

    def _cancel(self) -> None:
        if not self._ended:
            self._cancellations += 1
            self._task.cancel()


if sys.version_info >= (3, 11):

    def _is_cancelled(task: asyncio.Task[Any], by_host: int) -> bool:
        return task.cancelling() > 0

    def _uncancel(task: asyncio.Task[Any], times: int) -> None:
        for _ in range(times):
            task.uncancel()

else:

    def _is_cancelled(task: asyncio.Task[Any], by_host: int) -> bool:
        """Python 3.10 does not count cancellations: what the host did not do, the caller did."""
        return by_host == 0

    def _uncancel(task: asyncio.Task[Any], times: int) -> None:
        """Python 3.10 does not count cancellations."""
