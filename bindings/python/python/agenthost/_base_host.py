"""What all hosts have: dispatching, closing, and their end at the exit of the interpreter."""

from __future__ import annotations

import asyncio
import threading
import time
from abc import ABC, abstractmethod
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn

from ._arguments import ABSENT, checked_timeout
from ._exit import close_at_exit
from ._log import forward_log
from ._native import NativeHost
from ._waiting import Deadline, no_asyncio

if TYPE_CHECKING:
    from typing_extensions import Self


class BaseHost(ABC):
    """What :class:`Host`, which serves a service of yours, and :class:`DurableHost` have in common.

    Any number of threads and tasks may dispatch at the same time. Close a host when the work is done, or use it as a context
    manager; at the exit of the interpreter all hosts are closed.
    """

    __slots__ = ("__weakref__", "_native", "_timeout", "_waiting")

    def __init__(self, native: NativeHost, timeout: float | None) -> None:
        """For the package's own classes."""
        self._native = native
        self._timeout = timeout
        # Threads that wait for an answer.
        self._waiting: set[threading.Thread] = set()
        close_at_exit(self)

    @abstractmethod
    def dispatch_json(
        self, data: bytes | bytearray | memoryview | str, *, principal: str = ABSENT, timeout: float | None = None
    ) -> bytes:
        """The response to a message.

        Args:
            data: The message. What can change while it is read is copied.
            principal: Whom the transport authenticated. Left out the call has none; None is refused, so that a principal that is
                missing by mistake does not turn into a call that may see everything.
            timeout: How many seconds to wait; the host's when None. Then the answer is ``unavailable``.

        Returns:
            One response envelope. Failures of the protocol are responses too.

        Raises:
            TypeError: ``data`` is something else, a dict for example; ``principal`` is None.
            ValueError: ``principal`` is empty or has U+0000 in it, or ``timeout`` is not positive.
            RuntimeError: This process is a fork of the one that made the host.
        """
        raise NotImplementedError

    @abstractmethod
    async def dispatch_json_async(
        self, data: bytes | bytearray | memoryview | str, *, principal: str = ABSENT, timeout: float | None = None
    ) -> bytes:
        """The response to a message, awaited in a task of asyncio.

        Arguments, result and errors are those of :meth:`dispatch_json`.
        """
        raise NotImplementedError

    def is_sensitive_name(self, name: str) -> bool:
        """Whether this host keeps ``name`` out of metadata."""
        return self._native.is_sensitive_name(name)

    def close(self, timeout: float | None = None) -> None:
        """Refuses new calls, which are answered ``unavailable``, and waits for those in flight.

        Args:
            timeout: How many seconds to wait; for as long as it takes when None. What is in flight then is answered
                ``unavailable``, and its coroutine cancelled.

        Raises:
            RuntimeError: Called from a method of the host's own service, or in the thread of a loop on which calls of the host
                are waiting: use :meth:`aclose` there.

        Closing twice is closing once. In a fork it only forgets: the calls are the parent's.
        """
        if self._native.is_forked():
            return
        until = Deadline(checked_timeout(timeout, zero=True))
        self._refuse_inside()
        self._refuse_blocking()
        for pause in until.pauses():
            if self._is_drained():
                break
            # A sleep is what Ctrl-C ends; the native wait would not be.
            time.sleep(pause)
        self.answer_all()
        self._end()

    async def aclose(self, timeout: float | None = None) -> None:
        """Like :meth:`close`, without blocking the event loop."""
        if asyncio._get_running_loop() is None:
            raise no_asyncio()
        if self._native.is_forked():
            return
        until = Deadline(checked_timeout(timeout, zero=True))
        self._refuse_inside()
        for pause in until.pauses():
            if self._is_drained():
                break
            await asyncio.sleep(pause)
        self.answer_all()
        await asyncio.to_thread(self._end)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.aclose()

    def __reduce__(self) -> NoReturn:
        """A copy could not be closed by itself."""
        raise TypeError("a host cannot be copied or pickled: share it, or make another one")

    def is_forked(self) -> bool:
        """Whether this process is a fork of the one that made the host."""
        return self._native.is_forked()

    def answer_all(self) -> set[threading.Thread]:
        """Answers every call in flight; the threads that wait for one. For the package's own use."""
        # False when a thread is inside the core at this moment.
        while not self._native.close():
            time.sleep(0.0005)
        forward_log(self._native)
        return set(self._waiting)

    def end_at_exit(self) -> None:
        """Lets go of what the host has of its own, for a second at the most. For the package's own use."""
        self._end(1)

    def _is_drained(self) -> bool:
        """Refuses new calls. True when none is in flight."""
        return self._native.drain()

    @abstractmethod
    def _end(self, seconds: float | None = None) -> None:
        """Lets go of what the host has of its own, and waits for it, up to so many seconds."""

    def _refuse_inside(self) -> None:
        """Raises when closing could only wait for its own caller."""
        return

    def _refuse_blocking(self) -> None:
        """Raises when closing would block a loop that calls need to be answered."""
        return
