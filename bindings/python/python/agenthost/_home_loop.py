"""Where the ``async def`` methods of a host run when they are dispatched synchronously: one event loop per host."""

from __future__ import annotations

import asyncio
import contextlib
import threading

from ._log import log_error

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

    def running(self) -> asyncio.AbstractEventLoop:
        """The loop, which runs.

        Raises:
            RuntimeError: It does not.
        """
        if self._given is not None:
            if not self._given.is_running():
                raise RuntimeError(_ADVICE)
            return self._given
        with self._lock:
            if self._stopped:
                raise RuntimeError("the host is closed")
            if self._own is None or self._own_has_ended():
                self._own = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._run, args=(self._own,), name="agenthost-loop", daemon=True)
                self._thread.start()
            return self._own

    def has_ended(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Whether a loop that was the home loop runs no more."""
        if loop is self._given:
            return not loop.is_running()
        return loop is not self._own or self._own_has_ended()

    def _own_has_ended(self) -> bool:
        """Between two runs the host's own loop does not run for a moment, so what counts is its thread."""
        return self._thread is None or not self._thread.is_alive()

    def stop(self, join: float = 0) -> None:
        """Ends a loop thread of its own, and waits up to ``join`` seconds for it."""
        with self._lock:
            self._stopped = True
            loop, thread = self._own, self._thread
        if loop is None or thread is None:
            return
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(loop.stop)
        if join and thread is not threading.current_thread():
            thread.join(join)

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        for step in (self._run_until_closed, _finish):
            try:
                step(loop)
            except BaseException as error:
                log_error("the host's loop thread failed", cause=error)
        asyncio.set_event_loop(None)
        loop.close()

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
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.wait(tasks, timeout=1))
    loop.run_until_complete(loop.shutdown_asyncgens())
