"""The contract's names as enums. A member equals its name on the wire, and every function takes either.

The core owns the names; a test compares these with it.
"""

from enum import Enum


class _Name(str, Enum):
    """What ``enum.StrEnum`` is from Python 3.11 on."""

    def __str__(self) -> str:
        return str(self.value)

    def __format__(self, spec: str) -> str:
        return format(str(self.value), spec)


class Operation(_Name):
    """One of the six operations."""

    CREATE_RUN = "create_run"
    GET_RUN = "get_run"
    CANCEL_RUN = "cancel_run"
    RESOLVE_APPROVAL = "resolve_approval"
    RESUME_RUN = "resume_run"
    LIST_EVENTS = "list_events"


class RunStatus(_Name):
    """The state of a run. The last four are terminal."""

    CREATED = "created"
    RUNNING = "running"
    WAITING_FOR_APPROVAL = "waiting_for_approval"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed_out"


class Resolution(_Name):
    """What became of an approval."""

    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"


class ErrorCode(_Name):
    """The codes of the contract. Nothing else is ever written."""

    INVALID_REQUEST = "invalid_request"
    UNSUPPORTED_PROTOCOL_VERSION = "unsupported_protocol_version"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"


class ConflictReason(_Name):
    """Why durable runs answer ``conflict``."""

    REVISION_MISMATCH = "revision_mismatch"
    INVALID_STATE = "invalid_state"
    APPROVAL_MISMATCH = "approval_mismatch"
    RUN_EXISTS = "run_exists"
    IDEMPOTENCY_MISMATCH = "idempotency_mismatch"
    CLAIM_HELD = "claim_held"
    CLAIM_LOST = "claim_lost"
    CURSOR_EXPIRED = "cursor_expired"
    CURSOR_AHEAD = "cursor_ahead"
