"""The caller's side, over any transport: a function that sends a request's bytes and brings the response's bytes back."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from ._enums import ErrorCode, Resolution
from ._native import (
    CancelRun,
    CreateRun,
    EventPage,
    ExecutionContext,
    GetRun,
    ListEvents,
    PreparedRequest,
    ResolveApproval,
    ResumeRun,
    RunSubmission,
    RunView,
    encode_request,
)
from ._responses import decode_response

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["AsyncClient", "Client", "Retry"]

_Request = CreateRun | GetRun | CancelRun | ResolveApproval | ResumeRun | ListEvents
_Result = TypeVar("_Result", RunSubmission, RunView, EventPage)


@dataclass(frozen=True)
class Retry:
    """When a client sends the same bytes again, so with the same idempotency key: when an error says ``retryable``, when it is
    ``unavailable`` or ``internal``, after which the outcome of a mutation is not known, and when the transport raised one of
    ``exceptions``.

    Raises:
        ValueError: ``attempts`` is less than 1, or a delay is negative.
    """

    #: How often a request is sent at the most, the first time included.
    attempts: int = 3
    #: The pause before the second attempt, in seconds; it doubles each time. Half of each pause is random.
    first_delay: float = 0.1
    #: The longest pause, in seconds.
    max_delay: float = 5.0
    #: What of the transport's exceptions is worth another attempt.
    exceptions: tuple[type[Exception], ...] = field(default=(ConnectionError, TimeoutError))

    def __post_init__(self) -> None:
        """Checks the numbers."""
        if self.attempts < 1:
            raise ValueError(f"attempts: expected at least 1, found {self.attempts}")
        if self.first_delay < 0 or self.max_delay < 0:
            raise ValueError("first_delay, max_delay: expected 0 seconds or more")

    def delay(self, attempt: int) -> float:
        """The pause after the attempt of that number, in seconds."""
        longest = min(self.max_delay, self.first_delay * 2.0 ** min(attempt - 1, 60))
        return longest * (0.5 + random.random() / 2)


_ONCE = Retry(attempts=1)
#: Stands for an argument that was left out: None is JSON's null.
_ABSENT: Any = object()


class _Options(TypedDict, total=False):
    """What may be said about any request."""

    request_id: str
    idempotency_key: str
    request_metadata: Mapping[str, str]


class _Exchange:
    """One request, from the first attempt to its result. It sends nothing itself."""

    def __init__(self, request: _Request, retry: Retry, version: str | None, options: _Options) -> None:
        self._request = request
        self._retry = retry
        self._options = _checked(options)
        self._attempt = 1
        self._tried: list[str] = []
        self.version = version
        self.delay = 0.0
        self.prepared = self._encoded(options.get("request_id"), options.get("idempotency_key"))

    def lost(self, error: Exception) -> None:
        """The transport failed: raises, or sets the pause before the next attempt."""
        if not isinstance(error, self._retry.exceptions) or not self._again():
            raise error

    def read(self, data: bytes, kind: type[_Result]) -> _Result | None:
        """The result, or None when there is another attempt to make. Raises what a client raises."""
        response = decode_response(data, request=self.prepared)
        error = response.error
        if error is None:
            if not isinstance(response.result, kind):
                raise TypeError(f"expected a {kind.__name__}")
            return response.result
        unsupported = error.code is ErrorCode.UNSUPPORTED_PROTOCOL_VERSION
        if unsupported and self._negotiated(response.next_version(self.prepared.protocol_version)):
            return None
        unknown = error.code in (ErrorCode.UNAVAILABLE, ErrorCode.INTERNAL)
        if (error.retryable or unknown) and self._again():
            return None
        raise error

    def _negotiated(self, version: str | None) -> bool:
        """The same request in another version; none is tried twice."""
        self._tried.append(self.prepared.protocol_version)
        if version is None or version in self._tried:
            return False
        self.version = version
        self.prepared = self._encoded(self.prepared.request_id, self.prepared.idempotency_key or None)
        self.delay = 0.0
        return True

    def _encoded(self, request_id: str | None, key: str | None) -> PreparedRequest:
        metadata = self._options.get("request_metadata")
        return encode_request(
            self._request, request_id=request_id, idempotency_key=key, protocol_version=self.version, metadata=metadata
        )

    def _again(self) -> bool:
        if self._attempt >= self._retry.attempts:
            return False
        self.delay = self._retry.delay(self._attempt)
        self._attempt += 1
        return True


def _checked(options: _Options) -> _Options:
    unknown = options.keys() - _Options.__annotations__.keys()
    if unknown:
        raise TypeError(f"unexpected keyword arguments: {', '.join(sorted(unknown))}")
    return options


def _given(input: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    return {} if input is _ABSENT else {"input": input}


class Client:
    """The six operations over ``send(data: bytes) -> bytes``, for any number of threads if ``send`` is.

    Each method takes ``request_id``, ``idempotency_key`` and ``request_metadata`` as further keywords. Ids, and keys for
    mutations, are made when they are left out. To continue a mutation whose outcome is not known, call the method again with the
    key of the first call.

    Args:
        send: Sends a request and returns the response. What it raises is raised to the caller, unless ``retry`` says otherwise.
        retry: When to send the same bytes again; never when None.
        protocol_version: The version to begin with; the library's preferred one when None. When the other side does not speak
            it, the client goes on with one that both speak.

    Raises:
        HostError: From each method: the error that was received, as the subclass of its code.
        BadResponse: From each method: what came back does not answer the request.
        ValueError: From each method: an argument breaks a rule of the contract. Nothing was sent.
        TypeError: From each method: an argument has another type. Nothing was sent.
    """

    def __init__(
        self, send: Callable[[bytes], bytes], *, retry: Retry | None = None, protocol_version: str | None = None
    ) -> None:
        self._send = send
        self._retry = retry or _ONCE
        self._version = protocol_version

    def create_run(
        self,
        context: ExecutionContext,
        input: Any = _ABSENT,  # noqa: ANN401 - any JSON
        *,
        input_json: bytes | str | None = None,
        metadata: Mapping[str, str] | None = None,
        **options: Unpack[_Options],
    ) -> RunSubmission:
        """Submits a run; ``context.run_id`` names it."""
        request = CreateRun(context, **_given(input), input_json=input_json, metadata=metadata)
        return self._call(request, RunSubmission, options)

    def get_run(
        self,
        run_id: str,
        **options: Unpack[_Options],
    ) -> RunView:
        """Reads a run."""
        request = GetRun(run_id)
        return self._call(request, RunView, options)

    def cancel_run(
        self,
        run_id: str,
        expected_revision: int,
        reason: str | None = None,
        **options: Unpack[_Options],
    ) -> RunSubmission:
        """Cancels a run that is still at ``expected_revision``."""
        request = CancelRun(run_id, expected_revision, reason)
        return self._call(request, RunSubmission, options)

    def resolve_approval(
        self,
        run_id: str,
        expected_revision: int,
        approval_id: str,
        resolution: Resolution | str,
        reason: str | None = None,
        *,
        metadata: Mapping[str, str] | None = None,
        **options: Unpack[_Options],
    ) -> RunSubmission:
        """Approves or denies what a run waits for."""
        request = ResolveApproval(run_id, expected_revision, approval_id, resolution, reason, metadata=metadata)
        return self._call(request, RunSubmission, options)

    def resume_run(
        self,
        run_id: str,
        expected_revision: int,
        approval_id: str,
        input: Any = _ABSENT,  # noqa: ANN401 - any JSON
        *,
        input_json: bytes | str | None = None,
        **options: Unpack[_Options],
    ) -> RunSubmission:
        """Lets an approved run go on."""
        request = ResumeRun(run_id, expected_revision, approval_id, **_given(input), input_json=input_json)
        return self._call(request, RunSubmission, options)

    def list_events(
        self,
        run_id: str,
        after_sequence: int | None = None,
        limit: int | None = None,
        **options: Unpack[_Options],
    ) -> EventPage:
        """Reads the events after a cursor; from the first on when None, up to the contract's limit when None."""
        request = ListEvents(run_id, after_sequence, limit)
        return self._call(request, EventPage, options)

    def _call(self, request: _Request, kind: type[_Result], options: _Options) -> _Result:
        exchange = _Exchange(request, self._retry, self._version, options)
        while True:
            try:
                data = self._send(exchange.prepared.data)
            except Exception as error:
                exchange.lost(error)
            else:
                result = exchange.read(data, kind)
                self._version = exchange.version
                if result is not None:
                    return result
            time.sleep(exchange.delay)


class AsyncClient:
    """The six operations over ``async def send(data: bytes) -> bytes``, for any number of tasks.

    Everything else is as in :class:`Client`.
    """

    def __init__(
        self, send: Callable[[bytes], Awaitable[bytes]], *, retry: Retry | None = None, protocol_version: str | None = None
    ) -> None:
        self._send = send
        self._retry = retry or _ONCE
        self._version = protocol_version

    async def create_run(
        self,
        context: ExecutionContext,
        input: Any = _ABSENT,  # noqa: ANN401 - any JSON
        *,
        input_json: bytes | str | None = None,
        metadata: Mapping[str, str] | None = None,
        **options: Unpack[_Options],
    ) -> RunSubmission:
        """Submits a run; ``context.run_id`` names it."""
        request = CreateRun(context, **_given(input), input_json=input_json, metadata=metadata)
        return await self._call(request, RunSubmission, options)

    async def get_run(
        self,
        run_id: str,
        **options: Unpack[_Options],
    ) -> RunView:
        """Reads a run."""
        request = GetRun(run_id)
        return await self._call(request, RunView, options)

    async def cancel_run(
        self,
        run_id: str,
        expected_revision: int,
        reason: str | None = None,
        **options: Unpack[_Options],
    ) -> RunSubmission:
        """Cancels a run that is still at ``expected_revision``."""
        request = CancelRun(run_id, expected_revision, reason)
        return await self._call(request, RunSubmission, options)

    async def resolve_approval(
        self,
        run_id: str,
        expected_revision: int,
        approval_id: str,
        resolution: Resolution | str,
        reason: str | None = None,
        *,
        metadata: Mapping[str, str] | None = None,
        **options: Unpack[_Options],
    ) -> RunSubmission:
        """Approves or denies what a run waits for."""
        request = ResolveApproval(run_id, expected_revision, approval_id, resolution, reason, metadata=metadata)
        return await self._call(request, RunSubmission, options)

    async def resume_run(
        self,
        run_id: str,
        expected_revision: int,
        approval_id: str,
        input: Any = _ABSENT,  # noqa: ANN401 - any JSON
        *,
        input_json: bytes | str | None = None,
        **options: Unpack[_Options],
    ) -> RunSubmission:
        """Lets an approved run go on."""
        request = ResumeRun(run_id, expected_revision, approval_id, **_given(input), input_json=input_json)
        return await self._call(request, RunSubmission, options)

    async def list_events(
        self,
        run_id: str,
        after_sequence: int | None = None,
        limit: int | None = None,
        **options: Unpack[_Options],
    ) -> EventPage:
        """Reads the events after a cursor; from the first on when None, up to the contract's limit when None."""
        request = ListEvents(run_id, after_sequence, limit)
        return await self._call(request, EventPage, options)

    async def _call(self, request: _Request, kind: type[_Result], options: _Options) -> _Result:
        exchange = _Exchange(request, self._retry, self._version, options)
        while True:
            try:
                data = await self._send(exchange.prepared.data)
            except Exception as error:
                exchange.lost(error)
            else:
                result = exchange.read(data, kind)
                self._version = exchange.version
                if result is not None:
                    return result
            await asyncio.sleep(exchange.delay)
