"""Responses as a client reads them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from . import _native
from ._enums import Operation
from ._errors import BadResponse, HostError, received
from ._native import EventPage, PreparedRequest, Refusal, RunSubmission, RunView


@dataclass(frozen=True, eq=False)
class Response:
    """A response that was checked (protocol, "The client's side"). Made by :func:`decode_response`."""

    #: The version in which it is written.
    protocol_version: str
    #: Whose response it is; empty in a refusal whose request could not be read.
    request_id: str
    #: None in a refusal of a version and an operation that this library does not know.
    operation: Operation | None
    #: None when there is an error.
    result: RunSubmission | RunView | EventPage | None
    #: What the other side refused; it is no exception until somebody raises it.
    error: HostError | None
    _refusal: Refusal | None = field(default=None, repr=False)

    def next_version(self, tried: str) -> str | None:
        """The version to try next after an ``unsupported_protocol_version`` error, or None when negotiation fails."""
        return None if self._refusal is None else self._refusal.next_version(tried)

    def unwrap(self) -> RunSubmission | RunView | EventPage:
        """The result; raises the error when there is one."""
        if self.error is not None:
            raise self.error
        if self.result is None:
            raise TypeError("the response has neither a result nor an error")
        return self.result

    def __repr__(self) -> str:
        return f"Response(request_id={self.request_id!r}, ok={self.error is None})"


def decode_response(data: bytes | bytearray | memoryview | str, *, request: PreparedRequest | None = None) -> Response:
    """Takes a response apart and checks it: that it answers ``request``, when that is given, and else everything but that.

    Raises:
        BadResponse: It is no valid response, or none to the request.
        TypeError: ``data`` is something else, a dict for example.

    An error that the other side answered is no exception here: it is :attr:`Response.error`.
    """
    decoded = _native.decode(data, request)
    if len(decoded) == 2:
        raise BadResponse(*decoded)
    if len(decoded) == 4:
        return Response(*decoded, error=None)
    version, request_id, operation, error, refusal = decoded
    return Response(version, request_id, operation, None, received(*error), refusal)


def negotiate_version(offered: Iterable[str]) -> str | None:
    """The most preferred protocol version that this library and the other side speak, or None."""
    if isinstance(offered, str):
        raise TypeError("offered: expected several versions, found one string")
    return _native.negotiate_version(list(offered))
