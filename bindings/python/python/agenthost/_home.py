"""Where the ``async def`` methods of a host run when they are dispatched synchronously: one event loop per host."""

from __future__ import annotations

import asyncio
import contextlib
import threading

from ._log import logger

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
            if self._own is None:
                self._own = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_run, args=(self._own,), name="agenthost-loop", daemon=True)
                self._thread.start()
            return self._own

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


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.wait(tasks, timeout=1))
        loop.run_until_complete(loop.shutdown_asyncgens())
    except BaseException:
        logger.exception("the host's loop thread failed")
    finally:
        asyncio.set_event_loop(None)
        loop.close()
