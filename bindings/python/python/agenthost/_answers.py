"""From what a service returned or raised to the response. Its own code runs here, above every native frame."""

from __future__ import annotations

from ._enums import ErrorCode
from ._errors import HostError
from ._log import forward_log, log_error
from ._native import OpenCall


def response_or_awaitable(call: OpenCall, result: object) -> bytes | None:
    """For a result that ``call.complete`` did not make a response of at once: the response, or None for something to await.

    Raises:
        TypeError: The result is neither.
    """
    forward_log(call)
    response = call.response()
    if response is None and not hasattr(result, "__await__"):
        raise TypeError(call.no_result(result))
    return response


def failed(call: OpenCall, error: BaseException) -> bytes:
    """The response to what a service raised.

    ``KeyboardInterrupt`` is raised again: it is the caller's. Of everything else but a :class:`HostError` nothing gets into the
    response, and all of it into the log.
    """
    # By its own class: `isinstance` asks the application's `__class__`, too.
    kind = type(error)
    if issubclass(kind, KeyboardInterrupt):
        call.give_up("cancelled")
        raise error
    if issubclass(kind, HostError):
        return _refused(call, error)  # type: ignore[arg-type]
    return _internal(call, "failed", error)


def _refused(call: OpenCall, error: HostError) -> bytes:
    try:
        code = error.code
        response = call.refuse(code, error.message, bool(error.retryable), error.details, dict(error.metadata))
        failed = code == ErrorCode.INTERNAL
    except KeyboardInterrupt:
        call.give_up("cancelled")
        raise
    except BaseException as broken:
        broken.__cause__ = error
        return _internal(call, "raised a HostError that cannot be written", broken)
    if failed:
        _log(call, "failed", error)
    forward_log(call)
    return decided(response)


def _internal(call: OpenCall, what: str, error: BaseException) -> bytes:
    response = call.internal()
    _log(call, what, error)
    forward_log(call)
    return decided(response)


def decided(response: bytes | None) -> bytes:
    """The response, which is there."""
    if response is None:
        raise RuntimeError("another thread is answering this call")
    return response


def _log(call: OpenCall, what: str, error: BaseException) -> None:
    log_error("%s %s, request %r", call.operation.value, what, call.request_id, cause=error)
