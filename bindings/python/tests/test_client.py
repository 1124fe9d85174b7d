"""The client, over a host in the same process and over transports that fail."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Callable
from typing import Any

import agenthost
import pytest
from agenthost import AsyncClient, Client, Host, Retry
from services import CONTEXT, Plain, get_run, serving

QUICK = Retry(attempts=3, first_delay=0)


def recording(send: Callable[[bytes], bytes]) -> tuple[list[bytes], Callable[[bytes], bytes]]:
    sent: list[bytes] = []

    def recorded(data: bytes) -> bytes:
        sent.append(data)
        return send(data)

    return sent, recorded


def failing(times: int, error: BaseException | agenthost.HostError) -> tuple[list[bytes], Client]:
    """A client of a host that fails so many times."""
    left = [times]

    class Sometimes(Plain):
        def create_run(self, request: agenthost.CreateRun, call: agenthost.Call) -> Any:
            left[0] -= 1
            if left[0] >= 0 and isinstance(error, agenthost.HostError):
                raise error
            return super().create_run(request, call)

    host = Host(Sometimes())

    def send(data: bytes) -> bytes:
        if left[0] > 0 and not isinstance(error, agenthost.HostError):
            left[0] -= 1
            raise error
        return host.dispatch_json(data)

    sent, recorded = recording(send)
    return sent, Client(recorded, retry=QUICK)


def test_six_typed_methods() -> None:
    client = Client(Host(Plain()).dispatch_json)
    assert client.create_run(CONTEXT, {"a": 1}, metadata={"b": "c"}) == agenthost.RunSubmission("run-1", 1, "created")
    view = client.get_run("run-1")
    assert (view.run_id, view.status, view.result) == ("run-1", agenthost.RunStatus.RUNNING, None)
    assert client.cancel_run("run-1", 1, "enough").status == "cancelled"
    assert client.resolve_approval("run-1", 1, "a-1", agenthost.Resolution.APPROVED, "fine", metadata={"by": "me"}).revision == 2
    assert client.resume_run("run-1", 1, "a-1", [1]).revision == 2
    page = client.list_events("run-1", 7, 8)
    assert (page.events, page.next_sequence, page.has_more) == ((), 7, False)


async def test_six_awaited_methods() -> None:
    client = AsyncClient(Host(Plain()).dispatch_json_async)
    assert (await client.create_run(CONTEXT, None)).revision == 1
    assert (await client.get_run("run-1")).run_id == "run-1"
    assert (await client.cancel_run("run-1", 1)).status == "cancelled"
    assert (await client.resolve_approval("run-1", 1, "a-1", "denied")).revision == 2
    assert (await client.resume_run("run-1", 1, "a-1", input_json=b"[]")).revision == 2
    assert (await client.list_events("run-1")).next_sequence == 0


def test_requests_are_what_the_methods_say() -> None:
    sent, send = recording(Host(Plain()).dispatch_json)
    client = Client(send)
    client.create_run(CONTEXT, input_json='{"a": 1}', request_id="r", idempotency_key="k", request_metadata={"x": "y"})
    client.cancel_run("run-1", 2)
    client.list_events("run-1")
    first, second, third = map(json.loads, sent)
    assert (first["requestId"], first["idempotencyKey"], first["metadata"]) == ("r", "k", {"x": "y"})
    assert first["body"]["input"] == {"a": 1}
    assert second["body"]["reason"] == "agent run cancelled"
    assert third["body"]["limit"] == 256
    assert "idempotencyKey" not in third
    for generated in (second["requestId"], second["idempotencyKey"], third["requestId"]):
        assert uuid.UUID(generated).version == 7


@pytest.mark.parametrize("name", [str(code) for code in agenthost.ErrorCode])
def test_errors_are_raised_as_their_class(name: str) -> None:
    def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        raise agenthost.HostError(name, "why", retryable=True, details={"a": 1}, metadata={"b": "c", "apiKey": "s"})

    expected = getattr(agenthost, "".join(word.title() for word in name.split("_")))
    with pytest.raises(expected) as caught:
        Client(Host(serving(get)).dispatch_json).get_run("run-1")
    error = caught.value
    assert (error.code, error.retryable, error.original_code) == (name, True, "")
    if name != "internal":
        assert (error.message, error.details, error.metadata) == ("why", {"a": 1}, {"b": "c"})


def test_a_code_that_is_not_known_reads_as_internal_and_is_kept() -> None:
    def send(data: bytes) -> bytes:
        envelope = json.loads(data)
        error = {"code": "teapot", "message": "short", "details": None}
        return json.dumps({**envelope, "ok": False, "error": error, "body": {}}).encode()

    with pytest.raises(agenthost.Internal) as caught:
        Client(send).get_run("run-1")
    assert (caught.value.original_code, caught.value.details) == ("teapot", None)


@pytest.mark.parametrize(
    "answer", [b"", b"<html>", b"{}", b"\xff", json.dumps({"protocolVersion": "2026-07-01"}).encode()], ids=repr
)
def test_what_is_no_response_is_a_bad_response(answer: bytes) -> None:
    with pytest.raises(agenthost.BadResponse, match="not a valid response"):
        Client(lambda data: answer).get_run("run-1")


def test_a_response_to_another_request_is_a_bad_response() -> None:
    host = Host(Plain())
    with pytest.raises(agenthost.BadResponse) as caught:
        Client(lambda data: host.dispatch_json(get_run("run-1", "another"))).get_run("run-1")
    assert caught.value.path == "requestId"
    with pytest.raises(agenthost.BadResponse):
        Client(lambda data: host.dispatch_json(data.replace(b"run-1", b"run-2"))).get_run("run-1")


@pytest.mark.parametrize(
    "error",
    [
        agenthost.Unavailable("later"),
        agenthost.Internal("broken"),
        agenthost.Conflict("again", retryable=True),
        ConnectionResetError("gone"),
        TimeoutError("slow"),
    ],
    ids=repr,
)
def test_a_retry_sends_the_same_bytes(error: Exception) -> None:
    sent, client = failing(2, error)
    assert client.create_run(CONTEXT).revision == 1
    assert len(sent) == 3
    assert sent[0] == sent[1] == sent[2]
    sent, client = failing(3, error)
    with pytest.raises(type(error)):
        client.create_run(CONTEXT)
    assert len(sent) == 3


@pytest.mark.parametrize("error", [agenthost.NotFound("no"), agenthost.Conflict("no"), ValueError("no"), OSError("no")], ids=repr)
def test_what_will_not_change_is_not_sent_again(error: Exception) -> None:
    sent, client = failing(1, error)
    with pytest.raises(type(error)):
        client.create_run(CONTEXT)
    assert len(sent) == 1


def test_without_retry_nothing_is_sent_twice() -> None:
    def send(data: bytes) -> bytes:
        sent.append(data)
        raise ConnectionError("gone")

    sent: list[bytes] = []
    with pytest.raises(ConnectionError):
        Client(send).get_run("run-1")
    assert len(sent) == 1


async def test_an_async_client_retries_and_can_be_cancelled() -> None:
    sent: list[bytes] = []

    async def send(data: bytes) -> bytes:
        sent.append(data)
        await asyncio.sleep(0)
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError):
        await AsyncClient(send, retry=QUICK).get_run("run-1")
    assert len(sent) == 3
    task = asyncio.ensure_future(AsyncClient(send, retry=Retry(first_delay=60, max_delay=60)).get_run("run-1"))
    while len(sent) == 3:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_delays_double_up_to_a_limit_and_are_checked() -> None:
    retry = Retry(attempts=9, first_delay=1, max_delay=4)
    for attempt, most in ((1, 1), (2, 2), (3, 4), (8, 4), (10_000, 4)):
        assert most / 2 <= retry.delay(attempt) <= most
    for wrong in ({"attempts": 0}, {"first_delay": -1}, {"max_delay": -1}):
        with pytest.raises(ValueError):
            Retry(**wrong)


def test_a_version_is_negotiated_once() -> None:
    sent, send = recording(Host(Plain()).dispatch_json)
    client = Client(send, protocol_version="2099-01-01")
    assert client.cancel_run("run-1", 1).revision == 2
    assert client.get_run("run-1").run_id == "run-1"
    first, second, third = map(json.loads, sent)
    assert [message["protocolVersion"] for message in (first, second, third)] == ["2099-01-01", "2026-07-01", "2026-07-01"]
    assert {**first, "protocolVersion": "2026-07-01"} == second, "the same request, the same key"


@pytest.mark.parametrize("offered", [{}, {"supportedVersions": []}, {"supportedVersions": ["2026-07-01", "2098-01-01"]}, []])
def test_negotiation_that_fails_ends(offered: Any) -> None:
    sent: list[bytes] = []

    def send(data: bytes) -> bytes:
        sent.append(data)
        error = {"code": "unsupported_protocol_version", "details": offered}
        return json.dumps({"protocolVersion": "2099-01-01", "operation": "get_run", "error": error}).encode()

    with pytest.raises(agenthost.UnsupportedProtocolVersion):
        Client(send).get_run("run-1")
    assert len(sent) == 1


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda client: client.get_run(""), ValueError, "body.runId"),
        (lambda client: client.get_run("a\0b"), ValueError, "body.runId"),
        (lambda client: client.get_run(7), TypeError, "run_id: expected a string, found int"),
        (lambda client: client.cancel_run("a", 0), ValueError, "body.expectedRevision"),
        (lambda client: client.cancel_run("a", True), TypeError, "expected_revision: expected an integer, found bool"),
        (lambda client: client.cancel_run("a", 2**53), ValueError, "body.expectedRevision"),
        (lambda client: client.resolve_approval("a", 1, "b", "pending"), ValueError, "body.resolution"),
        (lambda client: client.resolve_approval("a", 1, "b", "maybe"), ValueError, "resolution: expected one of"),
        (lambda client: client.list_events("a", limit=1001), ValueError, "body.limit"),
        (lambda client: client.get_run("a", request_id=""), ValueError, "requestId"),
        (lambda client: client.get_run("a", typo=1), TypeError, "unexpected keyword arguments: typo"),
        (
            lambda client: client.create_run(agenthost.ExecutionContext("a", metadata={"password": "hidden"})),
            ValueError,
            "password.*secret store",
        ),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_sent(call: Any, error: type[Exception], message: str) -> None:
    def send(data: bytes) -> bytes:
        raise AssertionError("sent")

    with pytest.raises(error, match=message) as caught:
        call(Client(send))
    assert "hidden" not in str(caught.value)


def test_functions() -> None:
    prepared = agenthost.encode_request(agenthost.GetRun("run-1"), request_id="r", metadata={"a": "b"})
    assert bytes(prepared) == prepared.data
    assert (prepared.operation, prepared.request_id, prepared.idempotency_key) == ("get_run", "r", "")
    data = Host(Plain()).dispatch_json(prepared.data)
    response = agenthost.decode_response(data, request=prepared)
    assert (response.protocol_version, response.request_id, response.operation) == ("2026-07-01", "r", "get_run")
    assert response.error is None
    assert response.result == response.unwrap() == agenthost.decode_response(bytearray(data)).result
    refused = agenthost.decode_response(Host(Plain()).dispatch_json(b"{"))
    assert refused.result is None
    with pytest.raises(agenthost.InvalidRequest):
        refused.unwrap()
    with pytest.raises(TypeError, match="request: expected one of the six requests, found dict"):
        agenthost.encode_request({})  # type: ignore[arg-type]
    assert agenthost.negotiate_version(["2099-01-01", "2026-07-01"]) == "2026-07-01"
    assert agenthost.negotiate_version([]) is None
    with pytest.raises(TypeError, match="several versions"):
        agenthost.negotiate_version("2026-07-01")
    assert agenthost.is_sensitive_name("X-Api-Key")
    assert not agenthost.is_sensitive_name("max_tokens")
    assert agenthost.SUPPORTED_VERSIONS == ("2026-07-01",)


def test_a_large_response_is_read() -> None:
    text = "x" * 1_000_000
    events = [agenthost.Event("run-1", n, "t", "running", data={"n": n}) for n in range(1, 1001)]

    class Large(Plain):
        def get_run(self, request: agenthost.GetRun, call: agenthost.Call) -> Any:
            return agenthost.RunView("run-1", 1, "running", CONTEXT, result=text)

        def list_events(self, request: agenthost.ListEvents, call: agenthost.Call) -> Any:
            return agenthost.EventPage(events, 1000)

    client = Client(Host(Large()).dispatch_json)
    assert client.get_run("run-1").result == text
    assert client.list_events("run-1", limit=1000).events == tuple(events)
