"""The host that :meth:`agenthost.Host.open` opens: durable runs serve its calls, and commit elsewhere while Python waits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable

from ._arguments import ABSENT, check_count, checked_seconds, checked_timeout, string_list
from ._base_host import BaseHost
from ._log import forward_log
from ._native import NativeDurableHost, Opening
from ._notifier import notifier_of
from ._waiting import Deadline, no_asyncio

__all__ = ["DurableHost"]

#: How often a thread that waits checks for an interrupt, in seconds.
_POLL_INTERVAL = 0.05


class DurableHost(BaseHost):
    """A host of durable runs. :meth:`Host.open` makes one, and says what its arguments are."""

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
        operators: Iterable[str],
    ) -> None:
        if not isinstance(url, str):
            raise TypeError(f'url: expected a string such as "sqlite:runs.db", found {type(url).__name__}')
        check_count("max_message_bytes", max_message_bytes, 1)
        seconds = checked_timeout(timeout)
        lease = checked_seconds("lease", lease)
        check_count("max_attempts", max_attempts, 0)
        key_ttl = checked_seconds("key_ttl", key_ttl)
        sensitive, seeing_all = string_list("sensitive_names", sensitive_names), string_list("operators", operators)
        opening = Opening(url, max_message_bytes, sensitive, require_principal, lease, max_attempts, key_ttl, seeing_all)
        self._durable = _opened(opening)
        self._kind = url.partition(":")[0]
        super().__init__(self._durable, seconds)

    def dispatch_json(
        self, data: bytes | bytearray | memoryview | str, *, principal: str = ABSENT, timeout: float | None = None
    ) -> bytes:
        """The response to a message, when it is committed; see :meth:`BaseHost.dispatch_json`."""
        seconds = self._timeout if timeout is None else checked_timeout(timeout)
        waiting = self._durable.start(data, principal)
        if isinstance(waiting, bytes):
            forward_log(self._native)
            return waiting
        until = Deadline(seconds)
        thread = threading.current_thread()
        self._waiting.add(thread)
        try:
            while (response := waiting.wait(until.at_most(_POLL_INTERVAL))) is None:
                if until.passed():
                    # Then the response is there, this one or a better one.
                    waiting.give_up("timeout")
                    until = Deadline(None)
        except BaseException:
            waiting.give_up("cancelled")
            raise
        finally:
            self._waiting.discard(thread)
        forward_log(self._native)
        return response

    async def dispatch_json_async(
        self, data: bytes | bytearray | memoryview | str, *, principal: str = ABSENT, timeout: float | None = None
    ) -> bytes:
        """The response to a message, when it is committed; see :meth:`BaseHost.dispatch_json_async`."""
        loop = asyncio._get_running_loop()
        if loop is None:
            raise no_asyncio()
        seconds = self._timeout if timeout is None else checked_timeout(timeout)
        notifier = notifier_of(loop)
        key = next(notifier.keys)
        waiting = self._durable.start(data, principal, notifier.native, key)
        if isinstance(waiting, bytes):
            forward_log(self._native)
            return waiting
        answered: asyncio.Future[bytes] = loop.create_future()
        notifier.calls[key] = waiting, answered
        timer = None if seconds is None else loop.call_later(seconds, waiting.give_up, "timeout")
        try:
            response = await answered
        except BaseException:
            waiting.give_up("cancelled")
            raise
        finally:
            notifier.calls.pop(key, None)
            if timer is not None:
                timer.cancel()
        forward_log(self._native)
        return response

    def __repr__(self) -> str:
        return f"<agenthost.DurableHost, {self._kind}>"

    def _end(self, seconds: float | None = None) -> None:
        """Closes the runs; what they have accepted is finished."""
        closing = self._durable.close_runs()
        until = Deadline(seconds)
        while not closing.wait(until.at_most(_POLL_INTERVAL)) and not until.passed():
            pass
        forward_log(self._native)


def _opened(opening: Opening) -> NativeDurableHost:
    while (host := opening.wait(_POLL_INTERVAL)) is None:
        pass
    return host
