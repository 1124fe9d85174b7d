"""The logger of the package. Nothing that a handler or a filter of the application raises changes what a dispatch answers."""

from __future__ import annotations

import logging
from typing import NoReturn, Protocol

logger = logging.getLogger("agenthost")
logger.addHandler(logging.NullHandler())


class LogSource(Protocol):
    """Something of the core that has log records to fetch."""

    def take_log(self) -> list[tuple[str, str]]:
        """Each record as the name of the logger's method for its level, and its text."""
        ...


def forward_log(source: LogSource) -> None:
    """Gives the core's records to the logger."""
    for method, text in source.take_log():
        try:
            getattr(logger, method)("%s", text)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            show_unraisable(error)


def log_error(message: str, *arguments: object, cause: BaseException | None = None) -> None:
    """Logs an error, with the traceback of its cause."""
    try:
        logger.error(message, *arguments, exc_info=cause)
    except KeyboardInterrupt:
        # It is the interrupt of whoever waits here.
        raise
    except BaseException as error:
        show_unraisable(error)


def show_unraisable(error: BaseException) -> None:
    """Gives an exception that concerns no caller to ``sys.unraisablehook``."""
    _Unraisable(error)


class _Unraisable:
    """Raises when it is let go, which is at once: CPython gives that to the hook, and offers no other way to do so."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __del__(self) -> NoReturn:
        raise self._error
