"""The host that :meth:`agenthost.Host.open` opens: durable runs serve its calls, and commit elsewhere while Python waits."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterable

from ._arguments import check_count, check_seconds, check_timeout, names
from ._bells import bell_of
from ._exit import hosts
from ._host import Host
from ._native import NativeDurableHost, Opening
from ._waits import Deadline

__all__ = ["DurableHost"]

#: How often a thread that waits looks for an interrupt, in seconds.
_LOOK = 0.05


class DurableHost(Host):
    """A host of durable runs."""

    __slots__ = ("_durable", "_kind")

    def __init__(
        self,
        url: str,
        *,
        max_message_bytes: int,
        sensitive_names: Iterable[str],
        require_principal: bool,
        timeout: float | None,
        lease: float,
        max_attempts: int,
        key_ttl: float,
    ) -> None:
        if not isinstance(url, str):
            raise TypeError(f'url: expected a string such as "sqlite:runs.db", found {type(url).__name__}')
        check_count("max_message_bytes", max_message_bytes, 1)
        check_timeout(timeout)
        check_seconds("lease", lease)
        check_count("max_attempts", max_attempts, 0)
        check_seconds("key_ttl", key_ttl)
        opening = Opening(url, max_message_bytes, names(sensitive_names), require_principal, lease, max_attempts, key_ttl)
        self._durable = _opened(opening)
        self._native = self._durable
        self._kind = url.partition(":")[0]
        self._timeout = timeout
        self._waiting = set()
        hosts.add(self)

    def dispatch_json(
        self, data: bytes | bytearray | memoryview | str, *, principal: str | None = None, timeout: float | None = None
    ) -> bytes:
        if timeout is not None:
            check_timeout(timeout)
        waiting = self._durable.start(data, principal)
        if isinstance(waiting, bytes):
            return waiting
        until = Deadline(self._timeout if timeout is None else timeout)
        thread = threading.current_thread()
        self._waiting.add(thread)
        try:
            while (response := waiting.wait(until.at_most(_LOOK))) is None:
                if until.passed():
                    # Then the response is there, this one or a better one.
                    waiting.give_up("timeout")
                    until = Deadline(None)
            return response
        except BaseException:
            waiting.give_up("cancelled")
            raise
        finally:
            self._waiting.discard(thread)

    async def dispatch_json_async(
        self, data: bytes | bytearray | memoryview | str, *, principal: str | None = None, timeout: float | None = None
    ) -> bytes:
        if timeout is not None:
            check_timeout(timeout)
        loop = asyncio.get_running_loop()
        bell = bell_of(loop)
        key = next(bell.keys)
        waiting = self._durable.start(data, principal, bell.bell, key)
        if isinstance(waiting, bytes):
            return waiting
        answered: asyncio.Future[bytes] = loop.create_future()
        bell.calls[key] = waiting, answered
        seconds = self._timeout if timeout is None else timeout
        timer = None if seconds is None else loop.call_later(seconds, waiting.give_up, "timeout")
        try:
            return await answered
        except BaseException:
            waiting.give_up("cancelled")
            raise
        finally:
            bell.calls.pop(key, None)
            if timer is not None:
                timer.cancel()

    def __repr__(self) -> str:
        return f"<agenthost.Host of durable runs, {self._kind}>"

    def _abandon(self) -> None:
        while not self._native.close():
            time.sleep(0.0005)

    def _end(self, *, exiting: bool = False) -> None:
        """Closes the runs; what they have accepted is finished."""
        closing = self._durable.close_runs()
        until = Deadline(1 if exiting else None)
        while not closing.wait(_LOOK) and not until.passed():
            pass

    def _refuse_inside(self) -> None:
        """No Python code runs inside a call."""

    def _refuse_blocking(self) -> None:
        """The calls need no event loop to be answered."""


def _opened(opening: Opening) -> NativeDurableHost:
    while (host := opening.wait(_LOOK)) is None:
        pass
    return host
