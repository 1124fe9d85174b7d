"""The contract's words as enums. A member equals its name on the wire, and every function takes either.

The core owns the words; a test compares these with it.
"""

from enum import Enum


class _Word(str, Enum):
    """What ``enum.StrEnum`` is from Python 3.11 on."""

    def __str__(self) -> str:
        return str(self.value)

    def __format__(self, spec: str) -> str:
        return format(str(self.value), spec)


class Operation(_Word):
    """One of the six operations."""

    CREATE_RUN = "create_run"
    GET_RUN = "get_run"
    CANCEL_RUN = "cancel_run"
    RESOLVE_APPROVAL = "resolve_approval"
    RESUME_RUN = "resume_run"
    LIST_EVENTS = "list_events"


class RunStatus(_Word):
    """The state of a run. The last four are terminal."""

    CREATED = "created"
    RUNNING = "running"
    WAITING_FOR_APPROVAL = "waiting_for_approval"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed_out"


class Resolution(_Word):
    """What became of an approval."""

    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"


class ErrorCode(_Word):
    """The codes of the contract. Nothing else is ever written."""

    INVALID_REQUEST = "invalid_request"
    UNSUPPORTED_PROTOCOL_VERSION = "unsupported_protocol_version"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"
