"""Where the ``async def`` methods of a host run when they are dispatched synchronously: one event loop per host."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from ._log import log_error

_T = TypeVar("_T")

_ADVICE = (
    "the host's home loop is not running, so the service's coroutine cannot run there: dispatch while the loop runs, await "
    "dispatch_json_async() instead, or make the host outside of any loop, with no loop=, so that it has a loop thread of its own"
)


class HomeLoop:
    """The given loop, or else a loop in a thread of its own, which starts when it is first needed."""

    def __init__(self, loop: asyncio.AbstractEventLoop | None) -> None:
        self._given = loop
        self._own: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stopped = False
        self._lock = threading.Lock()

    def submit(self, coroutine: Coroutine[Any, Any, _T]) -> tuple[concurrent.futures.Future[_T], asyncio.AbstractEventLoop]:
        """Lets a coroutine run on the loop, and says on which one.

        Raises:
            RuntimeError: The loop does not run; the coroutine is left as it is.
        """
        if self._given is not None:
            if not self._given.is_running():
                raise RuntimeError(_ADVICE)
            return asyncio.run_coroutine_threadsafe(coroutine, self._given), self._given
        # A loop that ends takes itself away under the same lock, so that nothing is handed to it afterwards.
        with self._lock:
            if self._stopped:
                raise RuntimeError("the host is closed")
            if self._own is None:
                loop = asyncio.new_event_loop()
                thread = threading.Thread(target=self._run, args=(loop,), name="agenthost-loop", daemon=True)
                thread.start()
                self._own, self._thread = loop, thread
            return asyncio.run_coroutine_threadsafe(coroutine, self._own), self._own

    def has_ended(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Whether a loop that was the home loop runs no more."""
        # The host's own loop rests for a moment between two runs, so what counts is that it is closed.
        return not loop.is_running() if loop is self._given else loop.is_closed()

    def stop(self, join: float = 0) -> None:
        """Ends a loop thread of its own, and waits up to ``join`` seconds for it."""
        with self._lock:
            self._stopped = True
            loop, thread = self._own, self._thread
        if loop is not None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(loop.stop)
        if thread is not None and join and thread is not threading.current_thread():
            thread.join(join)

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        for step in (self._run_until_closed, self._withdraw, _finish):
            try:
                step(loop)
            except BaseException as error:
                log_error("the host's loop thread failed", cause=error)
        asyncio.set_event_loop(None)
        loop.close()

    def _withdraw(self, loop: asyncio.AbstractEventLoop) -> None:
        with self._lock:
            if self._own is loop and not self._stopped:
                self._own = None

    def _run_until_closed(self, loop: asyncio.AbstractEventLoop) -> None:
        while not self._stopped:
            _run_until_stopped(loop)


def _run_until_stopped(loop: asyncio.AbstractEventLoop) -> None:
    """The service may stop the loop, and tasks of its own may end it by what they raise; other calls still need it."""
    try:
        loop.run_forever()
    except (SystemExit, KeyboardInterrupt) as error:
        log_error("a task of the service raised %s, which ends no loop of a host", type(error).__name__, cause=error)


def _finish(loop: asyncio.AbstractEventLoop) -> None:
    """Gives what still waits a second to end."""
    # What was submitted last becomes a task only now.
    loop.run_until_complete(asyncio.sleep(0))
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.wait(tasks, timeout=1))
    loop.run_until_complete(loop.shutdown_asyncgens())
