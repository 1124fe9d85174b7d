"""What a service may return, and what becomes of what it may not."""

from __future__ import annotations

import logging
from typing import Any

import agenthost
import pytest
from agenthost import Event, EventPage, Host, RunSubmission, RunView
from services import CONTEXT, Plain, code, create_run, get_run, list_events, ok, serving


def answering(result: Any) -> Host:
    return Host(serving(lambda request, call: result))


def test_dicts_with_the_contracts_names_are_results() -> None:
    host = answering({"runId": "run-1", "revision": 3, "status": agenthost.RunStatus.RUNNING, "context": {}, "result": [1.5]})
    body = ok(host.dispatch_json(get_run()))
    assert (body["revision"], body["status"], body["result"], body["createdAtUnixMs"]) == (3, "running", [1.5], 0)


@pytest.mark.parametrize(
    "result",
    [None, 7, "text", b"{}", [], object(), RunSubmission("run-1", 1, "created"), EventPage([], 0), RunView],
    ids=lambda result: type(result).__name__,
)
def test_a_wrong_type_is_internal_and_its_traceback_is_in_the_log(result: Any, caplog: pytest.LogCaptureFixture) -> None:
    assert code(answering(result).dispatch_json(get_run())) == "internal"
    record = caplog.records[-1]
    assert record.name == "agenthost"
    assert record.levelno == logging.ERROR
    if not isinstance(result, (RunSubmission, EventPage)):
        assert record.exc_info is not None
        assert "get_run returned" in caplog.text
        assert "expected RunView, or a dict" in caplog.text


@pytest.mark.parametrize(
    "change",
    [
        {"revision": True},
        {"revision": 1.0},
        {"revision": 0},
        {"revision": -1},
        {"revision": 2**53},
        {"revision": 2**70},
        {"revision": "1"},
        {"status": "sleeping"},
        {"status": None},
        {"runId": ""},
        {"runId": "other"},
        {"runId": "a\0b"},
        {"runId": 7},
        {"result": float("nan")},
        {"result": {1: 2}},
        {"result": {1, 2}},
        {"result": "\ud800"},
        {"createdAtUnixMs": 8_640_000_000_000_001},
        {"createdAtUnixMs": 1.5},
        {"approval": {}},
        {"metadata": {"a": 1}},
        {"context": None},
    ],
    ids=repr,
)
def test_a_dict_that_breaks_a_rule_is_internal(change: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    result = {"runId": "run-1", "revision": 1, "status": "running", "context": {}, **change}
    assert code(answering(result).dispatch_json(get_run())) == "internal"
    assert caplog.records


def test_the_log_names_the_member_and_not_its_value(caplog: pytest.LogCaptureFixture) -> None:
    view = RunView("run-1", 1, "running", CONTEXT, created_at_unix_ms=8_640_000_000_000_001)
    assert code(answering(view).dispatch_json(get_run())) == "internal"
    assert "createdAtUnixMs" in caplog.text
    assert "8640000000000001" not in caplog.text


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: RunSubmission("a", True, "created"), TypeError, "revision: expected an integer, found bool"),
        (lambda: RunSubmission("a", 1.0, "created"), TypeError, "revision: expected an integer, found float"),
        (lambda: RunSubmission("a", -1, "created"), ValueError, "revision: expected an integer of 0 or more"),
        (lambda: RunSubmission("a", 2**64, "created"), ValueError, "revision: .*64 bits"),
        (lambda: RunSubmission("a", "1", "created"), TypeError, "revision: expected an integer, found str"),
        (lambda: RunSubmission(b"a", 1, "created"), TypeError, "run_id: expected a string, found bytes"),
        (lambda: RunSubmission("\ud800", 1, "created"), ValueError, "run_id: .*lone surrogate"),
        (lambda: RunSubmission("a", 1, "sleeping"), ValueError, "status: expected one of created, .*found 'sleeping'"),
        (lambda: RunSubmission("a", 1, 7), TypeError, "status: expected a string, found int"),
        (lambda: RunView("a", 1, "created", {}), TypeError, "context"),
        (lambda: RunView("a", 1, "created", CONTEXT, result={1}), TypeError, "result: .*found set"),
        (lambda: RunView("a", 1, "created", CONTEXT, result=float("inf")), ValueError, "result: .*infinity"),
        (lambda: RunView("a", 1, "created", CONTEXT, result={1: 2}), TypeError, "result: expected strings as the keys"),
        (lambda: RunView("a", 1, "created", CONTEXT, result="\udc00"), ValueError, "result: .*lone surrogate"),
        (lambda: RunView("a", 1, "created", CONTEXT, result=1, result_json="1"), TypeError, "found both"),
        (lambda: RunView("a", 1, "created", CONTEXT, result_json="{"), ValueError, "result_json"),
        (lambda: RunView("a", 1, "created", CONTEXT, result_json=b"\xff"), ValueError, "result_json: expected UTF-8"),
        (lambda: RunView("a", 1, "created", CONTEXT, result_json={}), TypeError, "result_json: .*found dict"),
        (lambda: RunView("a", 1, "created", CONTEXT, metadata={"a": 1}), TypeError, r'metadata\["a"\]: expected a string'),
        (lambda: RunView("a", 1, "created", CONTEXT, metadata={1: "a"}), TypeError, "a name in metadata"),
        (lambda: RunView("a", 1, "created", CONTEXT, metadata=[("a", "b")]), TypeError, "metadata: .*found list"),
        (lambda: RunView("a", 1, "created", CONTEXT, created_at_unix_ms=True), TypeError, "created_at_unix_ms: .*found bool"),
        (lambda: EventPage([CONTEXT], 0), TypeError, "events: expected an Event, found ExecutionContext"),
        (lambda: EventPage(7, 0), TypeError, "not iterable"),
    ],
)
def test_an_object_cannot_be_made_of_wrong_values(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_nesting_is_limited_and_a_cycle_is_no_crash() -> None:
    deep: Any = []
    for _ in range(99):
        deep = [deep]
    assert RunView("a", 1, "created", CONTEXT, result=deep).result == deep
    with pytest.raises(ValueError, match="result: expected at most 100 levels"):
        RunView("a", 1, "created", CONTEXT, result=[deep])
    cycle: list[Any] = []
    cycle.append(cycle)
    with pytest.raises(ValueError, match="cycle"):
        RunView("a", 1, "created", CONTEXT, result=cycle)


def test_a_result_that_is_changed_after_it_was_returned_stays_what_it_was() -> None:
    data: dict[str, Any] = {"n": [1]}
    metadata = {"region": "eu"}
    kept: list[Any] = []

    class Sly(Plain):
        def get_run(self, request: agenthost.GetRun, call: agenthost.Call) -> Any:
            view = RunView("run-1", 1, "running", CONTEXT, result=data, metadata=metadata)
            data["n"].append(2)
            metadata["zone"] = "b"
            return view

        async def create_run(self, request: agenthost.CreateRun, call: agenthost.Call) -> Any:
            result = {"runId": "run-1", "revision": 1, "status": "created"}
            kept.append(result)
            return result

    with Host(Sly()) as host:
        body = ok(host.dispatch_json(get_run()))
        assert (body["result"], body["metadata"]) == ({"n": [1]}, {"region": "eu"})
        response = host.dispatch_json(create_run())
        kept[0]["runId"] = "other"
        assert ok(response)["runId"] == "run-1"


def test_objects_are_frozen() -> None:
    view = RunView("run-1", 1, "running", CONTEXT, result={"n": 1}, metadata={"a": "b"})
    for name in ("run_id", "revision", "result", "metadata", "other"):
        with pytest.raises(AttributeError):
            setattr(view, name, "x")
    view.result["n"] = 2
    view.metadata["a"] = "c"
    assert (view.result, view.metadata) == ({"n": 1}, {"a": "b"})


def test_integers_of_any_size_and_floats_pass_through_free_json() -> None:
    values = [0, -1, 2**53, 2**63, 2**64, -(2**70), 10**30, 1.5, -0.0, 1e300, True, None, 'é\n"\\\u2028🦀', {"": []}]
    view = RunView("run-1", 1, "running", CONTEXT, result=values)
    assert view.result == values
    assert [type(value) for value in view.result] == [type(value) for value in values]
    assert ok(answering(view).dispatch_json(get_run()))["result"] == values
    assert RunView("a", 1, "created", CONTEXT, result_json="-0").result == 0
    assert type(RunView("a", 1, "created", CONTEXT, result_json="[-0, -0.0]").result[0]) is int


def test_an_integer_beyond_a_double_in_free_json_is_internal(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ValueError, match="result"):
        RunView("run-1", 1, "running", CONTEXT, result=10**400)
    result = {"runId": "run-1", "revision": 1, "status": "running", "context": {}, "result": 10**400}
    assert code(answering(result).dispatch_json(get_run())) == "internal"


def test_a_page_is_checked_against_its_request(caplog: pytest.LogCaptureFixture) -> None:
    def page(*sequences: int, next_sequence: int, more: bool = False) -> bytes:
        class Paging(Plain):
            def list_events(self, request: agenthost.ListEvents, call: agenthost.Call) -> Any:
                events = [Event("run-1", sequence, "step", "running", data={"n": sequence}) for sequence in sequences]
                return EventPage(events, next_sequence, more)

        return Host(Paging()).dispatch_json(list_events(after=2, limit=2))

    body = ok(page(3, 5, next_sequence=5, more=True))
    assert [event["data"] for event in body["events"]] == [{"n": 3}, {"n": 5}]
    assert ok(page(next_sequence=2))["hasMore"] is False
    for broken in (
        page(2, next_sequence=2),
        page(4, 3, next_sequence=3),
        page(3, 4, 5, next_sequence=5),
        page(3, next_sequence=4),
        page(next_sequence=3),
        page(next_sequence=2, more=True),
    ):
        assert code(broken) == "internal"


def test_words_are_strings_and_equal_the_cores() -> None:
    from agenthost import _native

    for name, words in _native.contract_names().items():
        enum = getattr(agenthost, name)
        assert [member.value for member in enum] == words
        for member in enum:
            assert member == member.value
            assert str(member) == f"{member}" == member.value
            assert enum(member.value) is member
    submission = RunSubmission("a", 1, "created")
    assert submission.status is agenthost.RunStatus.CREATED
    assert submission == RunSubmission("a", 1, agenthost.RunStatus.CREATED)
