"""What the application's logging does changes no response, and is not lost either."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import agenthost
import pytest
from agenthost import Host, NotFound
from programs import script
from services import CONTEXT, Plain, code, get_run, ok, serving

FAILURES = [ValueError("no disk"), SystemExit(3), GeneratorExit(), MemoryError()]
LOGGER = logging.getLogger("agenthost")


class FailingHandler(logging.Handler):
    def __init__(self, failure: BaseException) -> None:
        super().__init__()
        self.failure = failure

    def emit(self, record: logging.LogRecord) -> None:
        raise self.failure


class FailingFilter(logging.Filter):
    def __init__(self, failure: BaseException) -> None:
        super().__init__()
        self.failure = failure

    def filter(self, record: logging.LogRecord) -> bool:
        raise self.failure


@contextmanager
def unraisable() -> Iterator[list[BaseException | None]]:
    """What went to ``sys.unraisablehook``."""
    seen: list[BaseException | None] = []
    hook, sys.unraisablehook = sys.unraisablehook, lambda shown: seen.append(shown.exc_value)
    try:
        yield seen
    finally:
        sys.unraisablehook = hook


@contextmanager
def failing_logging(kind: str, failure: BaseException) -> Iterator[None]:
    handler, check = FailingHandler(failure), FailingFilter(failure)
    add, remove = (LOGGER.addHandler, LOGGER.removeHandler) if kind == "handler" else (LOGGER.addFilter, LOGGER.removeFilter)
    one: Any = handler if kind == "handler" else check
    add(one)
    try:
        yield
    finally:
        remove(one)


def raising(error: BaseException) -> Any:
    def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        raise error

    return get


def raising_later(error: BaseException) -> Any:
    async def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        raise error

    return get


WRONG = agenthost.RunView("other", 1, "running", CONTEXT)


class Unshowable(Exception):
    def __str__(self) -> str:
        raise SystemExit(4)


class Leaving(NotFound):
    """A property of an error runs the application's code, which may raise anything."""

    def __getattribute__(self, name: str) -> Any:
        if name in object.__getattribute__(self, "__dict__").get("leaving", ()):
            raise SystemExit(5)
        return object.__getattribute__(self, name)


@pytest.mark.parametrize("kind", ["handler", "filter"])
@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
@pytest.mark.parametrize(
    "method",
    [
        raising(ValueError("secret")),
        raising(SystemExit(1)),
        raising(agenthost.Internal("gone")),
        raising_later(ValueError("secret")),
        lambda request, call: WRONG,
        lambda request, call: 7,
    ],
    ids=["raises", "exits", "internal", "async raises", "breaks a rule", "no result"],
)
def test_logging_that_fails_changes_no_response_and_is_shown_as_unraisable(
    method: Any, failure: BaseException, kind: str
) -> None:
    with Host(serving(method)) as host, failing_logging(kind, failure), unraisable() as seen:
        assert code(host.dispatch_json(get_run())) == "internal"
        assert code(asyncio.run(host.dispatch_json_async(get_run()))) == "internal"
    assert seen
    assert all(one is failure for one in seen)


def test_an_exception_that_cannot_be_shown_is_answered_all_the_same() -> None:
    def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        raise Unshowable

    handler = logging.StreamHandler()
    LOGGER.addHandler(handler)
    try:
        with Host(serving(get)) as host, unraisable() as seen:
            assert code(host.dispatch_json(get_run())) == "internal"
    finally:
        LOGGER.removeHandler(handler)
    assert [type(one) for one in seen] in ([SystemExit], [])


@pytest.mark.parametrize("member", ["code", "message", "retryable", "details", "metadata"])
def test_an_error_whose_members_raise_is_internal(member: str, caplog: pytest.LogCaptureFixture) -> None:
    error = Leaving("no")
    error.__dict__["leaving"] = (member,)
    host = Host(serving(raising(error)))
    assert code(host.dispatch_json(get_run())) == "internal"
    assert code(asyncio.run(host.dispatch_json_async(get_run()))) == "internal"
    assert "cannot be written" in caplog.text


def test_an_error_that_claims_another_class_is_judged_by_its_own() -> None:
    out = script(
        """
        class Claiming(Exception):
            @property
            def __class__(self): raise SystemExit(6)
        def get(request, call): raise Claiming
        print(code(Host(serving(get)).dispatch_json(get_run())))
        """
    )
    assert out.strip() == "internal"


def test_an_interrupt_while_logging_reaches_whoever_waits() -> None:
    host = Host(serving(raising(ValueError("x"))))
    with failing_logging("handler", KeyboardInterrupt()), pytest.raises(KeyboardInterrupt):
        host.dispatch_json(get_run())
    assert ok(Host(Plain()).dispatch_json(get_run()))


def test_a_handler_that_dispatches_gets_its_answer() -> None:
    class Dispatching(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            answers.append(code(fine.dispatch_json(get_run("\0"))))

    answers: list[str] = []
    fine = Host(Plain())
    broken = Host(serving(lambda request, call: WRONG))
    handler = Dispatching()
    LOGGER.addHandler(handler)
    try:
        assert code(broken.dispatch_json(get_run())) == "internal"
    finally:
        LOGGER.removeHandler(handler)
    assert answers == ["invalid_request"]
