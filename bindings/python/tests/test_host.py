"""A host with a service of ``def`` methods: messages, principals, limits, misuse."""

from __future__ import annotations

import array
import asyncio
import json
import pickle
import re
import sys
import threading
from typing import Any, cast

import agenthost
import pytest
from agenthost import Host
from services import CONTEXT, OPERATIONS, Plain, code, create_run, envelope, get_run, ok, parsed, serving


def test_bytes_bytearray_memoryview_and_str_are_messages() -> None:
    host = Host(Plain())
    message = get_run()
    for data in (message, bytearray(message), memoryview(message), message.decode()):
        assert ok(host.dispatch_json(data))["runId"] == "run-1"


def test_a_memoryview_that_is_not_contiguous_is_read_as_it_looks() -> None:
    message = get_run()
    spread = bytearray(b"x" * (2 * len(message)))
    spread[::2] = message
    view = memoryview(spread)[::2]
    assert not view.contiguous
    assert ok(Host(Plain()).dispatch_json(view))["runId"] == "run-1"


def test_a_message_that_changes_during_the_call_is_the_one_that_came() -> None:
    message = bytearray(create_run({"n": 1}))
    seen: list[Any] = []

    class Changing(Plain):
        def create_run(self, request: agenthost.CreateRun, call: agenthost.Call) -> Any:
            message[:] = b"\0" * len(message)
            seen.append((request.input, request.context.run_id))
            return super().create_run(request, call)

    assert ok(Host(Changing()).dispatch_json(message))["runId"] == "run-1"
    assert seen == [({"n": 1}, "run-1")]


@pytest.mark.parametrize("data", [{}, {"operation": "get_run"}, None, 7, [b""], array.array("b", b"{}")])
def test_anything_else_is_a_type_error_that_says_what_to_pass(data: Any) -> None:
    with pytest.raises(TypeError, match=r"bytes, bytearray, memoryview or str, found \w+: pass .*json\.dumps"):
        Host(Plain()).dispatch_json(data)


def test_any_text_gets_a_response() -> None:
    host = Host(Plain())
    for data in (b"", b"\xff", b"{", "[]", "\ud800", b'{"a":1}' * 2, "null", b"[" * 200_000, get_run() + b"\0"):
        assert code(host.dispatch_json(data)) == "invalid_request"


def test_ids_with_a_nul_are_refused_and_emoji_pass() -> None:
    host = Host(Plain())
    assert code(host.dispatch_json(get_run("a\0b"))) == "invalid_request"
    assert ok(host.dispatch_json(get_run("run-🦀")))["runId"] == "run-🦀"
    assert ok(host.dispatch_json(json.dumps(json.loads(get_run("run-🦀")), ensure_ascii=False)))["runId"] == "run-🦀"


def test_a_lone_surrogate_in_a_message_is_refused_with_a_response() -> None:
    host = Host(Plain())
    text = '{"protocolVersion":"2026-07-01","requestId":"\ud800","operation":"get_run","body":{"runId":"a"}}'
    assert code(host.dispatch_json(text)) == "invalid_request"
    assert code(host.dispatch_json(text.replace("\ud800", "\\ud800"))) == "invalid_request"


def test_the_call_says_what_stands_around_the_request() -> None:
    seen: list[agenthost.Call] = []

    class Looking(Plain):
        def create_run(self, request: agenthost.CreateRun, call: agenthost.Call) -> Any:
            seen.append(call)
            return super().create_run(request, call)

    message = envelope("create_run", {"context": {"runId": "a"}}, idempotencyKey="k", metadata={"region": "eu"})
    Host(Looking()).dispatch_json(message, principal="user-1")
    Host(Looking()).dispatch_json(message)
    call = seen[0]
    assert (call.request_id, call.idempotency_key, call.metadata, call.principal) == ("r-1", "k", {"region": "eu"}, "user-1")
    assert call.operation is agenthost.Operation.CREATE_RUN
    assert seen[1].principal is None


def test_every_method_gets_the_request_and_then_the_call() -> None:
    seen: list[tuple[str, ...]] = []

    class Looking:
        def __getattr__(self, operation: str) -> Any:
            return lambda *arguments: seen.append((operation, *(type(argument).__name__ for argument in arguments)))

    host = Host(cast("agenthost.Service", Looking()))
    requests = [
        agenthost.CreateRun(CONTEXT),
        agenthost.GetRun("run-1"),
        agenthost.CancelRun("run-1", 1),
        agenthost.ResolveApproval("run-1", 1, "a", "approved"),
        agenthost.ResumeRun("run-1", 1, "a"),
        agenthost.ListEvents("run-1"),
    ]
    for request in requests:
        host.dispatch_json(agenthost.encode_request(request).data)
        asyncio.run(host.dispatch_json_async(agenthost.encode_request(request).data))
    wanted = [(operation, type(request).__name__, "OpenCall") for operation, request in zip(OPERATIONS, requests, strict=True)]
    assert seen == [each for each in wanted for _ in range(2)]


def test_a_principal_is_a_string_that_is_not_empty() -> None:
    host = Host(Plain())
    with pytest.raises(ValueError, match="empty principal"):
        host.dispatch_json(get_run(), principal="")
    with pytest.raises(TypeError, match="principal: expected a string, found int"):
        host.dispatch_json(get_run(), principal=7)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="principal: .*surrogate"):
        host.dispatch_json(get_run(), principal="\ud800")
    with pytest.raises(ValueError, match=r"principal.*U\+0000"):
        host.dispatch_json(get_run(), principal="alice\0root")


@pytest.mark.parametrize("make", [lambda: Host(Plain()), lambda: Host.open("memory:")], ids=["service", "durable"])
def test_a_principal_that_is_missing_by_mistake_is_never_a_call_without_one(make: Any) -> None:
    with make() as host:
        for dispatch in (host.dispatch_json, lambda *data, **given: asyncio.run(host.dispatch_json_async(*data, **given))):
            with pytest.raises(TypeError, match="principal: expected a string, found None: leave it out"):
                dispatch(get_run(), principal=None)
            for wrong, why in (("", "empty"), ("\0", "U\\+0000"), ("a\0b", "U\\+0000")):
                with pytest.raises(ValueError, match=why):
                    dispatch(get_run(), principal=wrong)
    for wrong in ("", "\0", "a\0b"):
        with pytest.raises(ValueError, match="principal: expected a string that is not empty and has no U"):
            agenthost.Call("get_run", "r-1", principal=wrong)
    assert agenthost.Call("get_run", "r-1").principal is None


def test_a_host_can_require_a_principal() -> None:
    host = Host(Plain(), require_principal=True)
    assert code(host.dispatch_json(get_run())) == "unauthorized"
    assert ok(host.dispatch_json(get_run(), principal="user-1"))


def test_a_missing_method_fails_when_the_host_is_made() -> None:
    for operation in OPERATIONS:
        service = Plain()
        setattr(service, operation, None)
        with pytest.raises(TypeError, match=rf"expected the methods {operation} on Plain, found none"):
            Host(service)
    with pytest.raises(TypeError, match="create_run, get_run, cancel_run, resolve_approval, resume_run, list_events on object"):
        Host(object())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"found the class Plain: pass Plain\(\)"):
        Host(Plain)  # type: ignore[arg-type]


def test_a_subclass_of_service_that_lacks_a_method_cannot_be_made() -> None:
    class Some(agenthost.Service):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Some()  # type: ignore[abstract]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"max_message_bytes": 0}, ValueError, "at least 1"),
        ({"max_message_bytes": True}, TypeError, "found bool"),
        ({"max_message_bytes": "1"}, TypeError, "found str"),
        ({"sensitive_names": "session"}, TypeError, "several strings"),
        ({"sensitive_names": ["日本"]}, ValueError, "ASCII letter or digit"),
        ({"timeout": 0}, ValueError, "more than 0"),
        ({"timeout": -1}, ValueError, "more than 0"),
        ({"timeout": float("nan")}, ValueError, "more than 0"),
        ({"timeout": "1"}, TypeError, "found str"),
    ],
)
def test_options_are_checked(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Host(Plain(), **options)


def test_the_limit_holds_for_messages_and_for_responses() -> None:
    message = get_run()
    assert ok(Host(Plain(), max_message_bytes=max(len(message), 1000)).dispatch_json(message))
    assert code(Host(Plain(), max_message_bytes=len(message) - 1).dispatch_json(message)) == "invalid_request"
    large = serving(lambda request, call: agenthost.RunView("run-1", 1, "running", CONTEXT, result="x" * 2000))
    assert code(Host(large, max_message_bytes=1000).dispatch_json(message)) == "internal"


def test_an_input_of_20_mb_goes_in_and_out() -> None:
    text = "é" * 10_000_000

    class Keeping(Plain):
        def create_run(self, request: agenthost.CreateRun, call: agenthost.Call) -> Any:
            assert request.input == {"text": text}
            self.kept = request.input_json
            return super().create_run(request, call)

        def get_run(self, request: agenthost.GetRun, call: agenthost.Call) -> Any:
            return agenthost.RunView("run-1", 1, "running", CONTEXT, result_json=self.kept)

    body = {"context": {"runId": "run-1"}, "input": {"text": text}}
    message = {"protocolVersion": "2026-07-01", "requestId": "r", "operation": "create_run", "body": body, "idempotencyKey": "k"}
    data = json.dumps(message, ensure_ascii=False)
    assert code(Host(Keeping()).dispatch_json(data)) == "invalid_request"
    host = Host(Keeping(), max_message_bytes=32 << 20)
    ok(host.dispatch_json(data))
    assert ok(host.dispatch_json(get_run()))["result"] == {"text": text}


@pytest.mark.parametrize("size", [1, 10_000])
@pytest.mark.parametrize("form", [bytes, bytearray, lambda message: message.decode()])
def test_an_input_is_the_same_whether_it_stays_in_its_message_or_not(size: int, form: Any) -> None:
    value = {"text": "ä" * size, "number": 2**70}
    seen: list[Any] = []

    class Keeping(Plain):
        def create_run(self, request: agenthost.CreateRun, call: agenthost.Call) -> Any:
            seen.append(request)
            return super().create_run(request, call)

        def resume_run(self, request: agenthost.ResumeRun, call: agenthost.Call) -> Any:
            seen.append(request)
            return super().resume_run(request, call)

    host = Host(Keeping())
    body = {"runId": "run-1", "expectedRevision": 1, "approvalId": "a-1", "input": value}
    ok(host.dispatch_json(form(create_run(value))))
    ok(host.dispatch_json(form(envelope("resume_run", body, idempotencyKey="k"))))
    text = json.dumps(value).encode()
    created = agenthost.CreateRun(seen[0].context, value)
    resumed = agenthost.ResumeRun("run-1", 1, "a-1", input_json=text)
    assert seen[1] == resumed != agenthost.ResumeRun("run-1", 1, "a-1")
    assert seen[0] != created
    for request, again in zip(seen, (agenthost.CreateRun(seen[0].context, input_json=text), resumed), strict=True):
        assert request == again == pickle.loads(pickle.dumps(request))
        assert request != object()
        assert request.input == value
        assert request.input_json == text
        assert f"input=<{len(text)} bytes>" in repr(request)
        sent = agenthost.encode_request(request, request_id="r", idempotency_key="k")
        assert sent.data == agenthost.encode_request(again, request_id="r", idempotency_key="k").data


@pytest.mark.parametrize("size", [0, 1, 10_000])
@pytest.mark.parametrize("pairs", [0, 4, 5, 40])
@pytest.mark.parametrize("escaped", [False, True])
@pytest.mark.parametrize("form", [bytes, bytearray, lambda message: message.decode()])
def test_a_call_is_the_same_whether_its_texts_stay_in_their_message_or_not(
    size: int, pairs: int, escaped: bool, form: Any
) -> None:
    metadata = {f"näme-{n}": f"välue {n}" for n in range(pairs)} | {"note": "ä" * size}
    run_id, key = "rün", "kéy"
    seen: list[Any] = []

    class Keeping(Plain):
        def get_run(self, request: agenthost.GetRun, call: agenthost.Call) -> Any:
            seen.append((request, call))
            return super().get_run(request, call)

        def list_events(self, request: agenthost.ListEvents, call: agenthost.Call) -> Any:
            seen.append((request, call))
            return super().list_events(request, call)

    host = Host(Keeping())
    wanted = [
        ("get_run", {"runId": run_id}, agenthost.GetRun(run_id)),
        ("list_events", {"runId": run_id, "afterSequence": 4, "limit": 5}, agenthost.ListEvents(run_id, 4, 5)),
    ]
    for operation, body, _ in wanted:
        message = json.loads(envelope(operation, body, idempotencyKey=key, metadata=metadata))
        host.dispatch_json(form(json.dumps(message, ensure_ascii=escaped).encode()), principal="p")
    for (operation, _, other), (request, call) in zip(wanted, seen, strict=True):
        again = agenthost.Call(operation, call.request_id, idempotency_key=key, metadata=metadata, principal="p")
        assert call == again == pickle.loads(pickle.dumps(call))
        assert (call.operation, call.idempotency_key, call.metadata, call.principal) == (operation, key, metadata, "p")
        assert repr(call) == repr(again)
        assert list(call.metadata) == list(metadata)
        less = {name: value for name, value in metadata.items() if name != "note"}
        for changed in ({"metadata": less}, {"metadata": metadata | {"note": "x"}}, {"idempotency_key": ""}, {"principal": None}):
            same: dict[str, Any] = {"idempotency_key": key, "metadata": metadata, "principal": "p"}
            assert call != agenthost.Call(operation, call.request_id, **same | changed)
        assert request == other == pickle.loads(pickle.dumps(request))
        assert request.run_id == run_id
        assert repr(request) == repr(other)
        assert request != object()
        assert request != type(request)("run")
        sent = agenthost.encode_request(request, request_id="r")
        assert sent.data == agenthost.encode_request(other, request_id="r").data


@pytest.mark.parametrize("size", [0, 1, 10_000])
@pytest.mark.parametrize("pairs", [0, 4, 5])
@pytest.mark.parametrize("escaped", [False, True])
def test_a_context_is_the_same_whether_its_texts_stay_in_their_message_or_not(size: int, pairs: int, escaped: bool) -> None:
    texts = ("traceId", "requestId", "tenantId", "userId", "applicationId", "workspaceId", "conversationId", "agentId", "locale")
    members = {name: f"{name} ü" for name in texts if name != "userId"} | {"runId": "rün", "agentId": "a" * size}
    metadata = {f"näme-{n}": f"välue {n}" for n in range(pairs)}
    seen: list[Any] = []

    class Keeping(Plain):
        def create_run(self, request: agenthost.CreateRun, call: agenthost.Call) -> Any:
            seen.append(request)
            return super().create_run(request, call)

    context = members | {"deadlineUnixMs": -5, "metadata": metadata}
    message = envelope("create_run", {"context": context, "input": 1, "metadata": metadata}, idempotencyKey="k")
    Host(Keeping()).dispatch_json(json.dumps(json.loads(message), ensure_ascii=escaped).encode())
    named: dict[str, Any] = {re.sub("[A-Z]", lambda one: "_" + one[0].lower(), name): text for name, text in members.items()}
    other = agenthost.ExecutionContext(**named, deadline_unix_ms=-5, metadata=metadata)
    (request,) = seen
    assert request == agenthost.CreateRun(other, 1, metadata=metadata) == pickle.loads(pickle.dumps(request))
    assert request != agenthost.CreateRun(other, 1, metadata={**metadata, "more": ""})
    assert request.context == other == pickle.loads(pickle.dumps(request.context))
    assert {name: getattr(request.context, name) for name in named} == named
    assert (request.context.user_id, request.context.deadline_unix_ms) == ("", -5)
    assert (request.context.metadata, request.metadata) == (metadata, metadata)
    assert repr(request.context) == repr(other)
    for changed in ({"locale": "x"}, {"metadata": {"x": "y"}}, {"deadline_unix_ms": None}):
        same: dict[str, Any] = {**named, "deadline_unix_ms": -5, "metadata": metadata}
        assert request.context != agenthost.ExecutionContext(**same | changed)
    assert agenthost.RunView("r", 1, "running", request.context).context == other
    again = agenthost.CreateRun(other, 1, metadata=metadata)
    sent = [agenthost.encode_request(one, request_id="r", idempotency_key="k") for one in (request, again)]
    assert sent[0].data == sent[1].data


@pytest.mark.parametrize("size", [100, 10_000])
def test_a_call_keeps_no_large_message(size: int) -> None:
    seen: list[Any] = []

    def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        seen.extend([call, request])
        return Plain().get_run(request, call)

    message = get_run(metadata={"note": "x" * size})
    before = sys.getrefcount(message)
    Host(serving(get)).dispatch_json(message)
    assert sys.getrefcount(message) - before == (2 if size == 100 else 0)
    del seen[:]
    assert sys.getrefcount(message) == before


def test_a_host_adds_sensitive_names_and_removes_none() -> None:
    metadata = {"sessionId": "1", "accessToken": "2", "region": "eu"}
    view = agenthost.RunView("run-1", 1, "running", CONTEXT, metadata=metadata)
    host = Host(serving(lambda request, call: view), sensitive_names=["session-id"])
    assert ok(host.dispatch_json(get_run()))["metadata"] == {"region": "eu"}
    assert host.is_sensitive_name("my_session_id")
    assert host.is_sensitive_name("password")
    assert not host.is_sensitive_name("session")


def test_a_method_may_dispatch() -> None:
    host: Host

    def get(request: agenthost.GetRun, call: agenthost.Call) -> agenthost.RunView:
        if request.run_id != "inner":
            assert ok(host.dispatch_json(get_run("inner")))["runId"] == "inner"
        return agenthost.RunView(request.run_id, 1, "running", agenthost.ExecutionContext(request.run_id))

    host = Host(serving(get))
    assert ok(host.dispatch_json(get_run("outer")))["runId"] == "outer"


def test_many_threads_dispatch_at_once() -> None:
    host = Host(Plain())
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(300):
                run = f"run-{number}-{turn}"
                assert ok(host.dispatch_json(get_run(run, run)))["runId"] == run
                assert parsed(host.dispatch_json(create_run([number, turn], run)))["requestId"] == "r-1"
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_repr_tells_no_secret() -> None:
    shown = repr(Host(Plain(), sensitive_names=["hidden"]))
    assert shown == "<agenthost.Host of a Plain>"
    call = agenthost.Call("get_run", "r-1", metadata={"a": "hidden"}, principal="hidden", idempotency_key="hidden")
    request = agenthost.CreateRun(agenthost.ExecutionContext("r", user_id="hidden"), {"hidden": 1}, metadata={"a": "hidden"})
    view = agenthost.RunView("r", 1, "failed", CONTEXT, result="hidden", error="hidden", metadata={"a": "hidden"})
    error = agenthost.NotFound("no", details="hidden", metadata={"a": "hidden"})
    prepared = agenthost.encode_request(request)
    for value in (call, request, request.context, view, error, prepared):
        assert "hidden" not in repr(value)
