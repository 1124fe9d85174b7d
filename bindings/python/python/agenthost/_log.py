"""The logger of the package, and what becomes of an exception that a service raised."""

from __future__ import annotations

import logging

from ._errors import HostError
from ._native import Call, OpenCall
from ._words import ErrorCode

logger = logging.getLogger("agenthost")
logger.addHandler(logging.NullHandler())


def failed(call: OpenCall, error: BaseException) -> bytes:
    """The response to what a service raised.

    ``KeyboardInterrupt`` is raised again: it is the caller's. Of everything else but a :class:`HostError` nothing gets into the
    response, and all of it into the log.
    """
    if isinstance(error, KeyboardInterrupt):
        call.give_up("cancelled")
        raise error
    if isinstance(error, HostError):
        try:
            response = call.refuse(error)
        except Exception as broken:
            broken.__cause__ = error
            _log(call, "raised a HostError that cannot be written", broken)
            return decided(call.internal())
        if error.code is ErrorCode.INTERNAL:
            _log(call, "failed", error)
        return decided(response)
    _log(call, "failed", error)
    return decided(call.internal())


def decided(response: bytes | None) -> bytes:
    """The response, which is there."""
    if response is None:
        raise RuntimeError("another thread is answering this call")
    return response


def _log(call: Call, what: str, error: BaseException) -> None:
    logger.error("%s %s, request %r", call.operation.value, what, call.request_id, exc_info=error)
