"""Failures of the protocol as exceptions: a service raises them, and a client raises what it received."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ._enums import ConflictReason, ErrorCode

__all__ = [
    "BadResponse",
    "Conflict",
    "Forbidden",
    "HostError",
    "Internal",
    "InvalidRequest",
    "NotFound",
    "Unauthorized",
    "Unavailable",
    "UnsupportedProtocolVersion",
]


class HostError(Exception):
    """A failure of the protocol.

    A service raises it, or one of its subclasses, to answer with an error. ``message``, ``details`` and ``metadata`` leave the
    host as they are, except that sensitive names are dropped from ``metadata``: no secrets. Of an ``internal`` error only
    ``retryable`` leaves the host.

    A client raises it for an error that it received. After a mutation ``unavailable`` and ``internal`` mean that the outcome is
    not known: send the same bytes again.

    Args:
        code: One of :class:`ErrorCode`, or its string.
        message: For people.
        retryable: Whether the same request may succeed later.
        details: For programs: anything that JSON can hold; ``{}`` when left out.
        metadata: Strings for programs.

    Raises:
        ValueError: The code is none of the contract's.
        TypeError: An argument has another type.
    """

    #: What kind of failure it is.
    code: ErrorCode
    #: For people.
    message: str
    #: Whether the same request may succeed later.
    retryable: bool
    #: For programs, any JSON.
    details: Any
    #: Strings for programs.
    metadata: dict[str, str]
    #: Client: the code that was received when the contract has no such code, and ``code`` reads as ``internal``. Else empty.
    original_code: str

    def __init__(
        self,
        code: ErrorCode | str,
        message: str,
        *,
        retryable: bool = False,
        details: Any = None,  # noqa: ANN401 - any JSON
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        if not isinstance(message, str):
            raise TypeError(f"message: expected a string, found {type(message).__name__}")
        if not isinstance(retryable, bool):
            raise TypeError(f"retryable: expected a bool, found {type(retryable).__name__}")
        super().__init__(message)
        try:
            self.code = ErrorCode(code)
        except ValueError:
            known = ", ".join(word.value for word in ErrorCode)
            raise ValueError(f"code: expected one of {known}, found {code!r}") from None
        self.message = message
        self.retryable = retryable
        self.details = {} if details is None else details
        self.metadata = {} if metadata is None else dict(metadata)
        self.original_code = ""

    def __reduce__(self) -> tuple[Any, ...]:
        state = dict(self.__dict__)
        return (_restored, (type(self), state))

    def __repr__(self) -> str:
        name = type(self).__name__
        code = f"{self.code.value!r}, " if type(self) is HostError else ""
        return f"{name}({code}{self.message!r})"


class _Coded(HostError):
    """A :class:`HostError` whose class says the code."""

    _code: ErrorCode

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = False,
        details: Any = None,  # noqa: ANN401 - any JSON
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(self._code, message, retryable=retryable, details=details, metadata=metadata)


class InvalidRequest(_Coded):
    """The request breaks a rule of the contract or of the service."""

    _code = ErrorCode.INVALID_REQUEST


class UnsupportedProtocolVersion(_Coded):
    """The host does not speak the request's version; ``details["supportedVersions"]`` says which it speaks."""

    _code = ErrorCode.UNSUPPORTED_PROTOCOL_VERSION


class Unauthorized(_Coded):
    """Nobody was authenticated."""

    _code = ErrorCode.UNAUTHORIZED


class Forbidden(_Coded):
    """The principal may not do that."""

    _code = ErrorCode.FORBIDDEN


class NotFound(_Coded):
    """There is no such run for this principal."""

    _code = ErrorCode.NOT_FOUND


class Conflict(_Coded):
    """The run is in another state or revision than the request expects.

    Durable runs say in ``details`` which conflict it is, and the properties read it there. They are None for what a conflict of
    that reason does not bring, and for services that say nothing.
    """

    _code = ErrorCode.CONFLICT

    @property
    def reason(self) -> ConflictReason | None:
        """Why durable runs refuse the call."""
        reason = self._detail("reason")
        return ConflictReason(reason) if isinstance(reason, str) and reason in _REASONS else None

    @property
    def current_revision(self) -> int | None:
        """``REVISION_MISMATCH``: the run's revision. Read it again and decide anew."""
        return self._number("currentRevision")

    @property
    def first_sequence(self) -> int | None:
        """``CURSOR_EXPIRED``: the first event that has not been compacted away. Go on from ``after_sequence`` one less."""
        return self._number("firstSequence")

    @property
    def head_sequence(self) -> int | None:
        """``CURSOR_AHEAD`` and ``CURSOR_EXPIRED``: the run's last event.

        A cursor ahead of it belongs to a run of that id that was purged since: read from ``after_sequence`` 0.
        """
        return self._number("headSequence")

    @property
    def retry_after_ms(self) -> int | None:
        """``CLAIM_HELD``: in how many milliseconds the run may be free."""
        return self._number("retryAfterMs")

    def _detail(self, name: str) -> object:
        details: Any = self.details
        return cast("dict[str, Any]", details).get(name) if isinstance(details, dict) else None

    def _number(self, name: str) -> int | None:
        number = self._detail(name) if self.reason is not None else None
        return number if isinstance(number, int) and not isinstance(number, bool) else None


class Unavailable(_Coded):
    """Not now. After a mutation the outcome is not known: send the same bytes again."""

    _code = ErrorCode.UNAVAILABLE


class Internal(_Coded):
    """A fault of the host. After a mutation the outcome is not known: send the same bytes again."""

    _code = ErrorCode.INTERNAL


class BadResponse(ValueError):
    """What came back is not a valid response, or not one to the request. The outcome of a mutation is not known.

    Args:
        expected: What the contract expects.
        path: The member, dotted from the root of the message; empty for the message itself.
    """

    #: What the contract expects.
    expected: str
    #: The member, dotted from the root of the message.
    path: str

    def __init__(self, expected: str, path: str = "") -> None:
        super().__init__(f"not a valid response: {path}: {expected}" if path else f"not a valid response: {expected}")
        self.expected = expected
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.expected, self.path), dict(self.__dict__))


_REASONS = frozenset(reason.value for reason in ConflictReason)
_CLASSES: dict[ErrorCode, type[_Coded]] = {
    subclass._code: subclass
    for subclass in (
        InvalidRequest,
        UnsupportedProtocolVersion,
        Unauthorized,
        Forbidden,
        NotFound,
        Conflict,
        Unavailable,
        Internal,
    )
}


def received(
    code: str,
    message: str,
    retryable: bool,
    details: Any,  # noqa: ANN401 - any JSON
    metadata: dict[str, str],
    original_code: str,
) -> HostError:
    """The exception for an error that a client received."""
    error = _CLASSES[ErrorCode(code)](message, retryable=retryable, metadata=metadata)
    error.details = details
    error.original_code = original_code
    return error


def _restored(cls: type[HostError], state: dict[str, Any]) -> HostError:
    """An exception from a pickle. Subclasses may have constructors of their own, so none is called."""
    error = cls.__new__(cls, state["message"])
    error.args = (state["message"],)
    error.__dict__.update(state)
    return error
