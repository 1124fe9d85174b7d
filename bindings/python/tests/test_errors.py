"""A service that raises in every way, and exceptions as values."""

from __future__ import annotations

import asyncio
import copy
import logging
import pickle
from typing import Any

import agenthost
import pytest
from agenthost import Host, HostError, NotFound
from services import Plain, code, get_run, ok, parsed, serving

CLASSES = {
    "invalid_request": agenthost.InvalidRequest,
    "unsupported_protocol_version": agenthost.UnsupportedProtocolVersion,
    "unauthorized": agenthost.Unauthorized,
    "forbidden": agenthost.Forbidden,
    "not_found": agenthost.NotFound,
    "conflict": agenthost.Conflict,
    "unavailable": agenthost.Unavailable,
    "internal": agenthost.Internal,
}


class OwnBase(BaseException):
    """Not even an ``Exception``."""


class OwnNotFound(NotFound):
    """A subclass with a constructor of its own."""

    def __init__(self, run_id: str, count: int) -> None:
        super().__init__(f"no {run_id}", details={"runId": run_id})
        self.count = count


def raising(error: BaseException) -> Plain:
    def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        raise error

    return serving(get)


def raising_later(error: BaseException, turns: int = 0) -> Plain:
    async def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        for _ in range(turns):
            await asyncio.sleep(0)
        raise error

    return serving(get)


ANYTHING = [
    ValueError("the secret"),
    SystemExit("the secret"),
    GeneratorExit("the secret"),
    OwnBase("the secret"),
    StopIteration("the secret"),
    asyncio.CancelledError("the secret"),
    RecursionError("the secret"),
    MemoryError("the secret"),
    TimeoutError("the secret"),
    asyncio.TimeoutError("the secret"),
    HostError("internal", "the secret", details={"a": "the secret"}, metadata={"a": "the secret"}),
]


@pytest.mark.parametrize("error", ANYTHING, ids=lambda error: type(error).__name__)
def test_anything_raised_is_internal_with_nothing_of_it(error: BaseException, caplog: pytest.LogCaptureFixture) -> None:
    response = Host(raising(error)).dispatch_json(get_run())
    assert code(response) == "internal"
    assert b"secret" not in response
    assert "the secret" in caplog.text
    record = caplog.records[-1]
    assert (record.name, record.levelno) == ("agenthost", logging.ERROR)
    assert record.exc_info is not None
    assert record.exc_info[1] is error


@pytest.mark.parametrize("turns", [0, 2])
@pytest.mark.parametrize("error", ANYTHING, ids=lambda error: type(error).__name__)
async def test_anything_raised_by_a_coroutine_is_internal(
    error: BaseException, turns: int, caplog: pytest.LogCaptureFixture
) -> None:
    host = Host(raising_later(error, turns))
    response = await host.dispatch_json_async(get_run())
    assert code(response) == "internal"
    assert b"secret" not in response
    assert "the secret" in caplog.text or isinstance(error, StopIteration)


@pytest.mark.parametrize("error", ANYTHING, ids=lambda error: type(error).__name__)
def test_anything_raised_on_the_home_loop_is_internal(error: BaseException, caplog: pytest.LogCaptureFixture) -> None:
    with Host(raising_later(error)) as host:
        assert code(host.dispatch_json(get_run())) == "internal"
        assert code(host.dispatch_json(get_run())) == "internal", "the loop goes on"
    assert caplog.records


def test_an_interrupt_reaches_the_caller() -> None:
    host = Host(raising(KeyboardInterrupt("now")))
    with pytest.raises(KeyboardInterrupt, match="now") as caught:
        host.dispatch_json(get_run())
    assert any(entry.name == "get" for entry in caught.traceback), "the traceback leads to the service"


def test_an_interrupt_on_the_home_loop_reaches_the_caller_and_the_loop_goes_on() -> None:
    errors: list[BaseException] = [KeyboardInterrupt("now"), NotFound("no")]

    async def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        raise errors.pop(0)

    with Host(serving(get)) as host:
        with pytest.raises(KeyboardInterrupt, match="now"):
            host.dispatch_json(get_run())
        assert code(host.dispatch_json(get_run())) == "not_found"


@pytest.mark.parametrize("name", CLASSES)
def test_a_host_error_stays_what_it_is(name: str) -> None:
    said: dict[str, Any] = {"retryable": True, "details": {"a": [1]}, "metadata": {"region": "eu", "accessToken": "s"}}
    for error in (HostError(name, "why", **said), CLASSES[name]("why", **said)):
        found = parsed(Host(raising(error)).dispatch_json(get_run()))["error"]
        if name == "internal":
            assert (found["code"], found["retryable"], found["details"]) == ("internal", True, {})
            assert found["message"] != "why"
        else:
            assert found == {
                "code": name,
                "message": "why",
                "retryable": True,
                "details": {"a": [1]},
                "metadata": {"region": "eu"},
            }


def test_what_an_error_is_made_of_is_checked() -> None:
    with pytest.raises(ValueError, match="code: expected one of invalid_request, .*found 'teapot'"):
        HostError("teapot", "short and stout")
    with pytest.raises(TypeError, match="message: expected a string, found int"):
        NotFound(7)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="retryable: expected a bool, found int"):
        NotFound("no", retryable=1)  # type: ignore[arg-type]
    assert isinstance(NotFound("no"), HostError)
    assert HostError("not_found", "no").code is agenthost.ErrorCode.NOT_FOUND
    assert (NotFound("no").details, NotFound("no").metadata, NotFound("no").original_code) == ({}, {}, "")
    assert str(NotFound("no")) == "no"


@pytest.mark.parametrize(
    "broken",
    [
        NotFound("\ud800"),
        NotFound("no", details={1}),
        NotFound("no", details=float("nan")),
        NotFound("no", metadata={"a": 1}),  # type: ignore[dict-item]
    ],
    ids=["message", "set", "nan", "metadata"],
)
def test_an_error_that_cannot_be_written_is_internal(broken: HostError, caplog: pytest.LogCaptureFixture) -> None:
    assert code(Host(raising(broken)).dispatch_json(get_run())) == "internal"
    assert "raised a HostError that cannot be written" in caplog.text
    broken.code = "teapot"  # type: ignore[assignment]
    assert code(Host(raising(broken)).dispatch_json(get_run())) == "internal"


@pytest.mark.parametrize("name", CLASSES)
def test_every_exception_can_be_pickled_and_copied(name: str) -> None:
    said: dict[str, Any] = {"retryable": True, "details": {"a": [1]}, "metadata": {"region": "eu"}}
    for error in (HostError(name, "why", **said), CLASSES[name]("why", **said)):
        error.original_code = "teapot"
        for again in (*(pickle.loads(pickle.dumps(error, protocol)) for protocol in range(6)), copy.copy(error)):
            assert type(again) is type(error)
            assert (str(again), again.args, repr(again)) == (str(error), error.args, repr(error))
            assert again.__dict__ == error.__dict__


def test_an_exception_with_a_constructor_of_its_own_can_be_pickled() -> None:
    again = pickle.loads(pickle.dumps(OwnNotFound("run-1", 3)))
    assert (type(again), again.count, again.message, again.details) == (OwnNotFound, 3, "no run-1", {"runId": "run-1"})
    bad = pickle.loads(pickle.dumps(agenthost.BadResponse("expected a string", "body.runId")))
    assert (bad.expected, bad.path) == ("expected a string", "body.runId")
    assert str(bad) == "not a valid response: body.runId: expected a string"


def test_a_request_and_a_result_can_be_copied_and_pickled() -> None:
    context = agenthost.ExecutionContext("r", tenant_id="t", locale="en", deadline_unix_ms=-5, metadata={"a": "b"})
    approval = agenthost.ApprovalView("a", "c", "t", "approved", reason="x", created_at_unix_ms=1, resolved_at_unix_ms=2)
    event = agenthost.Event("r", 1, "t", "running", step_id="s", timestamp_unix_ms=4, data={"a": 2**70}, metadata={"a": "b"})
    values: list[Any] = [
        context,
        agenthost.Call("get_run", "r", idempotency_key="k", metadata={"a": "b"}, principal="p"),
        agenthost.CreateRun(context, [1, 2.5], metadata={"a": "b"}),
        agenthost.GetRun("r"),
        agenthost.CancelRun("r", 3),
        agenthost.ResolveApproval("r", 3, "a", "denied", "why", metadata={"a": "b"}),
        agenthost.ResumeRun("r", 3, "a", None),
        agenthost.ListEvents("r", 4, 5),
        agenthost.RunSubmission("r", 1, "created"),
        approval,
        agenthost.RunView("r", 1, "failed", context, completed_at_unix_ms=3, approval=approval, result=[1], error="e"),
        event,
        agenthost.EventPage([event], 1, True),
    ]
    for value in values:
        for again in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
            assert type(again) is type(value)
            assert again == value
            assert again.__getnewargs_ex__() == value.__getnewargs_ex__()
        assert value != object()
    assert agenthost.CancelRun("r", 3).reason == "agent run cancelled"
    assert agenthost.ListEvents("r").limit == 256
    assert agenthost.CreateRun(context).input == {}


def test_the_request_that_a_service_got_can_be_copied() -> None:
    seen: list[Any] = []

    def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        seen.extend([copy.deepcopy(call), copy.copy(request), call, request])
        raise NotFound("no")

    assert code(Host(serving(get)).dispatch_json(get_run())) == "not_found"
    assert seen[:2] == seen[2:]
    assert type(seen[0]) is agenthost.Call
    assert ok(Host(Plain()).dispatch_json(get_run()))
