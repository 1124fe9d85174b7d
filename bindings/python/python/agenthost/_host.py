"""The host of a service: bytes in, bytes out, from any number of threads and tasks.

The native half only takes messages apart and puts responses together. Everything that waits or runs a service's code is here,
in Python, so that interrupts, cancellation, contextvars and tracebacks are Python's own.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import inspect
import threading
import weakref
from collections.abc import Awaitable, Iterable
from typing import Any, Literal

from ._answers import decided, failed, response_or_awaitable
from ._arguments import ABSENT, check_count, checked_timeout, string_list
from ._awaited import AwaitedCall
from ._base_host import BaseHost
from ._durable import DurableHost
from ._home_loop import HomeLoop
from ._log import forward_log, log_error
from ._native import DEFAULT_MAX_MESSAGE_BYTES, NativeHost, OpenCall
from ._service import Service, methods_of
from ._waiting import Deadline, cancel, discard, no_asyncio, refuse_running_loop

__all__ = ["Host"]

#: How often a thread that waits for a coroutine checks whether its loop still runs, in seconds.
_POLL_INTERVAL = 0.25
#: How long :meth:`Host.close` waits for the host's own loop, in seconds.
_LOOP_END = 5.0
#: Looked up once: the interpreter would look for a method of a native object at each call.
_complete = OpenCall.complete
_running_loop = asyncio._get_running_loop


class Host(BaseHost):
    """Takes messages, gives each to a service, and answers each once. :meth:`open` makes one that needs no service.

    Any number of threads and tasks may dispatch at the same time. Close it when the work is done, or use it as a context
    manager; at the exit of the interpreter all hosts are closed.

    Args:
        service: An object with the six methods of :class:`Service`, each ``def`` or ``async def``.
        max_message_bytes: The most bytes that a message, and a response, may have; exactly as many are allowed.
        sensitive_names: Names that are kept out of metadata, beside the contract's own. None of those can be removed.
        require_principal: Whether a call without a principal is answered ``unauthorized``.
        timeout: How many seconds a dispatch waits for an ``async def`` method when it is not told otherwise; for ever when None.
        loop: The home loop: where ``async def`` methods run when they are dispatched synchronously. Left out it is the loop that
            runs in this thread, and if there is none, a loop in a thread of the host's own, started when it is needed.

    Raises:
        TypeError: A method is missing, or an argument has another type.
        ValueError: A sensitive name has no ASCII letter or digit; a limit or a time is not positive.
    """

    __slots__ = ("_abandoned", "_awaited", "_home", "_methods", "_open", "_service")

    def __init__(
        self,
        service: Service,
        *,
        max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES,
        sensitive_names: Iterable[str] = (),
        require_principal: bool = False,
        timeout: float | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self._methods = methods_of(service)
        self._service = type(service).__name__
        check_count("max_message_bytes", max_message_bytes, 1)
        seconds = checked_timeout(timeout)
        if loop is None:
            with contextlib.suppress(RuntimeError):
                loop = asyncio.get_running_loop()
        native = NativeHost(max_message_bytes, string_list("sensitive_names", sensitive_names), require_principal)
        super().__init__(native, seconds)
        self._open = native.open
        self._home = HomeLoop(loop)
        self._abandoned = False
        # The calls on which a task waits, by the call's id.
        self._awaited: dict[int, AwaitedCall] = {}
        weakref.finalize(self, self._home.stop).atexit = False

    @staticmethod
    def open(
        url: str,
        *,
        max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES,
        sensitive_names: Iterable[str] = (),
        require_principal: bool = False,
        timeout: float | None = None,
        lease: float = 30.0,
        max_attempts: int = 10,
        key_ttl: float = 86_400.0,
        operators: Iterable[str] = (),
    ) -> DurableHost:
        """A host of durable runs, for who has no service: safe retries, approvals, cancellation, deadlines and events.

        What is overdue is ended before this returns. Dispatching waits for the commit, without the GIL; the methods are those of
        every host. A call that is given up (timeout, cancelled task, Ctrl-C) leaves the run alone: what it asked for is done.

        Args:
            url: ``sqlite:PATH`` for a file, which is made where there is none (its directory is not), or ``memory:`` for runs
                that end with the host. Any number of processes may have the file open.
            max_message_bytes: As in :class:`Host`.
            sensitive_names: As in :class:`Host`; they are refused in what is stored, too.
            require_principal: As in :class:`Host`.
            timeout: How many seconds a dispatch waits when it is not told otherwise; for ever when None.
            lease: How many seconds a worker may be silent before somebody else may take over its run, unless its claim says
                otherwise: 0.001 to 86,400.
            max_attempts: How often a run may be taken over from a silent worker before it fails.
            key_ttl: How many seconds an idempotency key is remembered from its request on.
            operators: Principals that see every run. Others see their own, and a call without a principal sees every run.

        Raises:
            TypeError: An argument has another type.
            ValueError: The URL names no store, or an option is out of its range.
            OSError: The file cannot be opened: it belongs to another application, was written by a newer version or is damaged,
                its directory does not exist, or other processes kept it for 10 seconds.
        """
        return DurableHost(
            url,
            max_message_bytes=max_message_bytes,
            sensitive_names=sensitive_names,
            require_principal=require_principal,
            timeout=timeout,
            lease=lease,
            max_attempts=max_attempts,
            key_ttl=key_ttl,
            operators=operators,
        )

    def dispatch_json(
        self, data: bytes | bytearray | memoryview | str, *, principal: str = ABSENT, timeout: float | None = None
    ) -> bytes:
        """The response to a message.

        ``def`` methods run on this thread. ``async def`` methods run on the host's home loop while this thread waits; Ctrl-C ends
        the wait and cancels the coroutine.

        Args:
            data: The message. What can change while it is read is copied.
            principal: Whom the transport authenticated; it reaches the service as ``call.principal``, which is None when it is
                left out. None is refused, so that a principal that is missing by mistake does not turn into a call without one.
            timeout: How many seconds to wait for an ``async def`` method; the host's when None. Then the answer is
                ``unavailable`` and the coroutine is cancelled. A ``def`` method is never cut short.

        Returns:
            One response envelope. Failures of the protocol are responses too.

        Raises:
            TypeError: ``data`` is something else, a dict for example; ``principal`` is None.
            ValueError: ``principal`` is empty or has U+0000 in it, or ``timeout`` is not positive.
            RuntimeError: The method is ``async def`` and an event loop runs in this thread (await :meth:`dispatch_json_async`
                instead), or the home loop does not run; or this process is a fork of the one that made the host.
        """
        if timeout is not None:
            timeout = checked_timeout(timeout)
        opening = self._open
        call, operation, request = opening(data, principal)
        if call is None:
            forward_log(self._native)
            answer: bytes = request
            return answer
        try:
            result = self._methods[operation](request, call)
            response = _complete(call, result)
        except BaseException as error:
            return failed(call, error)
        if response is not None:
            return response
        try:
            response = response_or_awaitable(call, result)
        except BaseException as error:
            return failed(call, error)
        return self._wait(call, result, timeout) if response is None else response

    async def dispatch_json_async(
        self, data: bytes | bytearray | memoryview | str, *, principal: str = ABSENT, timeout: float | None = None
    ) -> bytes:
        """The response to a message, awaited in a task of asyncio.

        ``async def`` methods run in the task that awaits; cancelling it cancels them, and so does ``timeout``, which ends the
        wait when the method has ended. ``def`` methods run on the loop's thread and block it meanwhile. Arguments, result and
        errors are those of :meth:`dispatch_json`.
        """
        if _running_loop() is None:
            raise no_asyncio()
        if timeout is not None:
            timeout = checked_timeout(timeout)
        opening = self._open
        call, operation, request = opening(data, principal)
        if call is None:
            forward_log(self._native)
            answer: bytes = request
            return answer
        try:
            result = self._methods[operation](request, call)
            response = _complete(call, result)
        except BaseException as error:
            return failed(call, error)
        if response is not None:
            return response
        try:
            response = response_or_awaitable(call, result)
        except BaseException as error:
            return failed(call, error)
        if response is None:
            return await self._answer(call, result, self._timeout if timeout is None else timeout)
        return response

    def __repr__(self) -> str:
        return f"<agenthost.Host of a {self._service}>"

    def answer_all(self) -> set[threading.Thread]:
        """Answers every call in flight, and wakes those who wait for one. For the package's own use."""
        self._abandoned = True
        threads = super().answer_all()
        for awaited in list(self._awaited.values()):
            awaited.cancel_from_any_thread()
        return threads

    async def _answer(self, call: OpenCall, awaitable: Awaitable[Any], seconds: float | None) -> bytes:
        """Awaits the service in this task, for some seconds at the most."""
        task = asyncio.current_task()
        if task is None:
            discard(awaitable)
            call.give_up("cancelled")
            raise no_asyncio()
        awaited = AwaitedCall(call, task)
        self._awaited[id(call)] = awaited
        timer = None if seconds is None else task.get_loop().call_later(seconds, awaited.expire)
        response: bytes | None
        try:
            if self._abandoned:
                discard(awaitable)
                return decided(call.give_up("cancelled"))
            result = await awaitable
            response = call.complete(result)
            if response is None:
                response = response_or_awaitable(call, result)
            if response is None:
                discard(result)
                raise TypeError(f"{call.operation.value} returned something to await from what was awaited: expected a result")
        except asyncio.CancelledError as error:
            awaited.end()
            if awaited.is_cancelled_by_others():
                call.give_up("cancelled")
                raise
            response = call.give_up("cancelled") if awaited.is_cancelled_by_host() else failed(call, error)
        except GeneratorExit as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is None:
                # Not the service's: this coroutine is being closed.
                call.give_up("dropped")
                raise
            response = failed(call, error)
        except BaseException as error:
            response = failed(call, error)
        finally:
            if timer is not None:
                timer.cancel()
            awaited.end()
            self._awaited.pop(id(call), None)
        return decided(response)

    def _wait(self, call: OpenCall, awaitable: Awaitable[Any], timeout: float | None) -> bytes:
        """Lets the service run on the home loop, and waits for it in this thread."""
        until = Deadline(self._timeout if timeout is None else timeout)
        at_home = self._answer_at_home(call, awaitable)
        try:
            refuse_running_loop()
            future, loop = self._home.submit(at_home)
        except RuntimeError:
            at_home.close()
            discard(awaitable)
            closed = call.is_abandoned()
            response = call.give_up("cancelled")
            if closed and response is not None:
                return response
            raise
        thread = threading.current_thread()
        self._waiting.add(thread)
        try:
            return self._wait_for(future, loop, call, until)
        except BaseException:
            call.give_up("cancelled")
            cancel(future, loop)
            raise
        finally:
            self._waiting.discard(thread)

    def _wait_for(
        self,
        future: concurrent.futures.Future[bytes | KeyboardInterrupt],
        loop: asyncio.AbstractEventLoop,
        call: OpenCall,
        until: Deadline,
    ) -> bytes:
        while True:
            try:
                outcome = future.result(until.at_most(_POLL_INTERVAL))
            except concurrent.futures.CancelledError:
                return decided(call.give_up("dropped"))
            except concurrent.futures.TimeoutError:
                why: Literal["timeout", "dropped"]
                if until.passed():
                    why = "timeout"
                elif self._home.has_ended(loop):
                    why = "dropped"
                    log_error("the host's home loop ended under a call; it is answered as dropped")
                else:
                    continue
                response = call.give_up(why)
                if response is not None:
                    cancel(future, loop)
                    return response
            else:
                if isinstance(outcome, KeyboardInterrupt):
                    raise outcome
                return outcome

    async def _answer_at_home(self, call: OpenCall, awaitable: Awaitable[Any]) -> bytes | KeyboardInterrupt:
        """Like :meth:`_answer`, with an interrupt handed over to the thread that waits: it must not end the loop."""
        try:
            return await self._answer(call, awaitable, None)
        except KeyboardInterrupt as interrupt:
            return interrupt

    def _is_drained(self) -> bool:
        for key, awaited in list(self._awaited.items()):
            if awaited.loop().is_closed():
                # Nothing runs in that task any more, not even what would take the call from the list.
                awaited.call.give_up("dropped")
                self._awaited.pop(key, None)
        return super()._is_drained()

    def _end(self, seconds: float | None = None) -> None:
        self._home.stop(join=_LOOP_END if seconds is None else seconds)

    def _refuse_inside(self) -> None:
        frame = inspect.currentframe()
        while frame is not None:
            if frame.f_code in _DISPATCHING and frame.f_locals.get("self") is self:
                raise RuntimeError("closing a host from a method of its own service could only wait for itself")
            frame = frame.f_back

    def _refuse_blocking(self) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        if any(awaited.loop() is loop for awaited in list(self._awaited.values())):
            raise RuntimeError("close() would block the event loop on which calls of the host are waiting: await aclose()")


_DISPATCHING = frozenset({Host.dispatch_json.__code__, Host.dispatch_json_async.__code__, Host._answer.__code__})
