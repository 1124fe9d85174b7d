"""The host: bytes in, bytes out, from any number of threads and tasks.

The native half only takes messages apart and puts responses together. Everything that waits or runs a service's code is here,
in Python, so that interrupts, cancellation, contextvars and tracebacks are Python's own.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import inspect
import threading
import time
import weakref
from collections.abc import Awaitable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from ._arguments import check_count, check_timeout, names
from ._exit import hosts
from ._home import HomeLoop
from ._log import decided, failed, logger
from ._native import DEFAULT_MAX_MESSAGE_BYTES, NativeHost, OpenCall
from ._service import Service, methods_of
from ._waits import Deadline, cancel, discard, refuse_running_loop, still_cancelled, was_cancelled

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Host"]

#: How often a thread that waits for a coroutine looks whether its loop still runs, in seconds.
_LOOK = 0.25
#: The longest pause between two looks at whether calls are still in flight, in seconds.
_DRAIN_PAUSE = 0.05
#: Looked up once: the interpreter would look for a method of a native object at each call.
_complete = OpenCall.complete


class Host:
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

    __slots__ = (
        "__weakref__",
        "_abandoned",
        "_home",
        "_methods",
        "_native",
        "_open",
        "_service",
        "_tasks",
        "_timeout",
        "_waiting",
    )

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
        check_timeout(timeout)
        if loop is None:
            with contextlib.suppress(RuntimeError):
                loop = asyncio.get_running_loop()
        self._native = NativeHost(max_message_bytes, names(sensitive_names), require_principal)
        self._open = self._native.open
        self._timeout = timeout
        self._home = HomeLoop(loop)
        self._abandoned = False
        # Coroutines that are under way, and threads that wait for one.
        self._tasks: dict[int, asyncio.Task[Any]] = {}
        self._waiting: set[threading.Thread] = set()
        weakref.finalize(self, self._home.stop).atexit = False
        hosts.add(self)

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
    ) -> Host:
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

        Raises:
            TypeError: An argument has another type.
            ValueError: The URL names no store, or an option is out of its range.
            OSError: The file cannot be opened: it belongs to another application, was written by a newer version or is damaged,
                its directory does not exist, or other processes kept it for 10 seconds.
        """
        from ._durable import DurableHost

        return DurableHost(
            url,
            max_message_bytes=max_message_bytes,
            sensitive_names=sensitive_names,
            require_principal=require_principal,
            timeout=timeout,
            lease=lease,
            max_attempts=max_attempts,
            key_ttl=key_ttl,
        )

    def dispatch_json(
        self, data: bytes | bytearray | memoryview | str, *, principal: str | None = None, timeout: float | None = None
    ) -> bytes:
        """The response to a message.

        ``def`` methods run on this thread. ``async def`` methods run on the host's home loop while this thread waits; Ctrl-C ends
        the wait and cancels the coroutine.

        Args:
            data: The message. What can change while it is read is copied.
            principal: Whom the transport authenticated; it reaches the service as ``call.principal``.
            timeout: How many seconds to wait for an ``async def`` method; the host's when None. Then the answer is
                ``unavailable`` and the coroutine is cancelled. A ``def`` method is never cut short.

        Returns:
            One response envelope. Failures of the protocol are responses too.

        Raises:
            TypeError: ``data`` is something else, a dict for example.
            ValueError: ``principal`` is empty, or ``timeout`` is not positive.
            RuntimeError: The method is ``async def`` and an event loop runs in this thread (await :meth:`dispatch_json_async`
                instead), or the home loop does not run; or this process is a fork of the one that made the host.
        """
        if timeout is not None:
            check_timeout(timeout)
        opening = self._open
        call, operation, request = opening(data, principal)
        if call is None:
            answer: bytes = request
            return answer
        try:
            result = self._methods[operation](request, call)
            response = _complete(call, result)
        except BaseException as error:
            return failed(call, error)
        if response is None:
            return self._wait(call, result, timeout)
        return response

    async def dispatch_json_async(
        self, data: bytes | bytearray | memoryview | str, *, principal: str | None = None, timeout: float | None = None
    ) -> bytes:
        """The response to a message, awaited.

        ``async def`` methods run in the task that awaits; cancelling it cancels them. ``def`` methods run on the loop's thread
        and block it meanwhile. Arguments, result and errors are those of :meth:`dispatch_json`.
        """
        if timeout is not None:
            check_timeout(timeout)
        opening = self._open
        call, operation, request = opening(data, principal)
        if call is None:
            answer: bytes = request
            return answer
        try:
            result = self._methods[operation](request, call)
            response = _complete(call, result)
        except BaseException as error:
            return failed(call, error)
        if response is not None:
            return response
        seconds = self._timeout if timeout is None else timeout
        if seconds is None:
            return await self._answer(call, result)
        return await self._answer_within(call, result, seconds)

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
        self._refuse_inside()
        self._refuse_blocking()
        check_timeout(timeout, zero=True)
        until = Deadline(timeout)
        pause = 0.0005
        while not self._native.drain() and not until.passed():
            # A sleep is what Ctrl-C ends; the native wait would not be.
            time.sleep(until.at_most(pause))
            pause = min(pause * 2, _DRAIN_PAUSE)
        self._abandon()
        self._end()

    async def aclose(self, timeout: float | None = None) -> None:
        """Like :meth:`close`, without blocking the event loop."""
        if self._native.is_forked():
            return
        self._refuse_inside()
        check_timeout(timeout, zero=True)
        until = Deadline(timeout)
        pause = 0.0005
        while not self._native.drain() and not until.passed():
            await asyncio.sleep(until.at_most(pause))
            pause = min(pause * 2, _DRAIN_PAUSE)
        self._abandon()
        await asyncio.to_thread(self._end)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<agenthost.Host of a {self._service}>"

    async def _answer(self, call: OpenCall, awaitable: Awaitable[Any]) -> bytes:
        """Awaits the service in this task."""
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("dispatch_json_async: expected to be awaited in an asyncio task")
        self._tasks[id(call)] = task
        response: bytes | None
        try:
            if self._abandoned:
                discard(awaitable)
                return decided(call.give_up("cancelled"))
            response = call.complete(await awaitable)
            if response is None:
                raise TypeError(f"{call.operation.value} returned something to await from what was awaited: expected a result")
        except asyncio.CancelledError as error:
            if call.is_abandoned():
                response = call.give_up("cancelled")
                if response is None or still_cancelled(task):
                    raise
            elif was_cancelled(task):
                call.give_up("cancelled")
                raise
            else:
                response = failed(call, error)
        except GeneratorExit as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is None:
                # Not the service's: this coroutine is being closed.
                call.give_up("dropped")
                raise
            response = failed(call, error)
        except BaseException as error:
            response = failed(call, error)
        finally:
            self._tasks.pop(id(call), None)
        return decided(response)

    async def _answer_within(self, call: OpenCall, awaitable: Awaitable[Any], seconds: float) -> bytes:
        """Awaits the service in a task of its own, for some seconds at the most."""
        task = asyncio.ensure_future(self._answer(call, awaitable))
        try:
            await asyncio.wait({task}, timeout=seconds)
        except asyncio.CancelledError:
            call.give_up("cancelled")
            task.cancel()
            raise
        if task.done():
            return task.result()
        response = call.give_up("timeout")
        task.cancel()
        return await task if response is None else response

    def _wait(self, call: OpenCall, awaitable: Awaitable[Any], timeout: float | None) -> bytes:
        """Lets the service run on the home loop, and waits for it in this thread."""
        until = Deadline(self._timeout if timeout is None else timeout)
        at_home = self._answer_at_home(call, awaitable)
        try:
            refuse_running_loop()
            loop = self._home.running()
            future = asyncio.run_coroutine_threadsafe(at_home, loop)
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
                outcome = future.result(until.at_most(_LOOK))
            except concurrent.futures.CancelledError:
                return decided(call.give_up("dropped"))
            except concurrent.futures.TimeoutError:
                why: Literal["timeout", "dropped"]
                if until.passed():
                    why = "timeout"
                elif loop.is_closed() or not loop.is_running():
                    why = "dropped"
                    logger.error("the host's home loop ended under a call; it is answered as dropped")
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
            return await self._answer(call, awaitable)
        except KeyboardInterrupt as interrupt:
            return interrupt

    def _abandon(self) -> None:
        """Answers every call in flight, and wakes those who wait for one."""
        self._abandoned = True
        while not self._native.close():
            time.sleep(0.0005)
        for task in list(self._tasks.values()):
            with contextlib.suppress(RuntimeError):
                task.get_loop().call_soon_threadsafe(task.cancel)

    def _end(self, *, exiting: bool = False) -> None:
        """Lets go of what the host has of its own, and waits for it; not for long when the interpreter exits."""
        self._home.stop(join=1 if exiting else 5)

    def _refuse_inside(self) -> None:
        """Closing from a method of the own service could only wait for itself."""
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
        if any(task.get_loop() is loop for task in list(self._tasks.values())):
            raise RuntimeError("close() would block the event loop on which calls of the host are waiting: await aclose()")


_DISPATCHING = frozenset({Host.dispatch_json.__code__, Host.dispatch_json_async.__code__, Host._answer.__code__})
