"""What an application brings: six methods, each ``def`` or ``async def``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeAlias

from ._dicts import EventPageDict, RunSubmissionDict, RunViewDict
from ._enums import Operation
from ._native import (
    Call,
    CancelRun,
    CreateRun,
    EventPage,
    GetRun,
    ListEvents,
    ResolveApproval,
    ResumeRun,
    RunSubmission,
    RunView,
)

#: What the four mutations may return.
SubmissionResult: TypeAlias = RunSubmission | RunSubmissionDict | Awaitable[RunSubmission | RunSubmissionDict]
#: What ``get_run`` may return.
RunResult: TypeAlias = RunView | RunViewDict | Awaitable[RunView | RunViewDict]
#: What ``list_events`` may return.
PageResult: TypeAlias = EventPage | EventPageDict | Awaitable[EventPage | EventPageDict]


class Service(Protocol):
    """The application behind a host.

    Subclass it, or bring any object with these six methods. Each gets the request, and then the call, and may be ``def`` or
    ``async def``. ``def`` methods run on the thread that dispatches, on any number of threads at once, and on the event loop's
    thread when the dispatch is awaited: what blocks belongs into ``async def``.

    A method answers with its result, or raises :class:`HostError`. Anything else that it raises, and a result that breaks a rule
    of the contract, reaches the caller as ``internal`` without a word of its cause, and the logger ``agenthost`` with all of it.
    After a mutation ``internal`` and ``unavailable`` mean that the outcome is not known: the caller retries with the same
    ``call.idempotency_key``, so a service has to remember keys.
    """

    @abstractmethod
    def create_run(self, request: CreateRun, call: Call, /) -> SubmissionResult:
        """Accepts a run."""
        raise NotImplementedError

    @abstractmethod
    def get_run(self, request: GetRun, call: Call, /) -> RunResult:
        """Reads a run. Raises :class:`NotFound` when there is none for this principal."""
        raise NotImplementedError

    @abstractmethod
    def cancel_run(self, request: CancelRun, call: Call, /) -> SubmissionResult:
        """Cancels a run that is still at the expected revision. Raises :class:`Conflict` when it is not."""
        raise NotImplementedError

    @abstractmethod
    def resolve_approval(self, request: ResolveApproval, call: Call, /) -> SubmissionResult:
        """Approves or denies what a run waits for."""
        raise NotImplementedError

    @abstractmethod
    def resume_run(self, request: ResumeRun, call: Call, /) -> SubmissionResult:
        """Lets an approved run go on."""
        raise NotImplementedError

    @abstractmethod
    def list_events(self, request: ListEvents, call: Call, /) -> PageResult:
        """Reads the events after a cursor, at most ``request.limit`` of them."""
        raise NotImplementedError


#: A method of a service, bound.
Method: TypeAlias = Callable[[Any, Call], Any]


def methods_of(service: object) -> tuple[Method, ...]:
    """The six methods of a service, in the order of the contract.

    Raises:
        TypeError: One of them is missing.
    """
    if isinstance(service, type):
        raise TypeError(f"service: expected an object, found the class {service.__name__}: pass {service.__name__}()")
    found: list[Method] = []
    missing: list[str] = []
    for operation in Operation:
        method = getattr(service, operation.value, None)
        if callable(method):
            found.append(method)
        else:
            missing.append(operation.value)
    if missing:
        raise TypeError(f"service: expected the methods {', '.join(missing)} on {type(service).__name__}, found none")
    return tuple(found)
