"""Hosts that are opened by URL: what opens, what does not, and what runs in them come to."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import agenthost
import pytest
from agenthost import Client, Host
from durable import cancel, create
from services import code, envelope, get_run, list_events, ok, parsed, reason

MEMORY = "memory:"


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path / 'runs.db'}"


def conflict(response: bytes) -> str:
    error = parsed(response)["error"]
    assert error["code"] == "conflict"
    return str(error["details"]["reason"])


@pytest.mark.parametrize(
    ("url", "error", "message"),
    [
        ("", ValueError, 'url: expected "memory:" or "sqlite:path", found no scheme'),
        ("runs.db", ValueError, "found no scheme before a colon"),
        ("memory:runs", ValueError, 'url: expected "memory:" and nothing behind it'),
        ("sqlite:", ValueError, 'url: expected a path behind "sqlite:", as in "sqlite:runs.db"'),
        ("sqlite:///runs.db", ValueError, 'found "//": write "sqlite:runs.db"'),
        ("mysql://root:hunter2@db/runs", ValueError, 'found a URL "mysql:"'),
        ("sqlite:a\0b", OSError, r"holds U\+0000"),
        ("sqlite:\ud800", ValueError, "url: .*lone surrogate"),
        (b"memory:", TypeError, "url: expected a string such as .*found bytes"),
        (None, TypeError, "found NoneType"),
    ],
)
def test_a_url_that_names_no_store_says_what_was_expected(url: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        Host.open(url)
    assert "hunter2" not in str(caught.value)


def test_a_file_that_cannot_be_opened_says_why_and_is_left_alone(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=rf"sqlite:{tmp_path}/no/runs.db: the directory .* does not exist: make it first"):
        Host.open(f"sqlite:{tmp_path}/no/runs.db")
    with pytest.raises(OSError, match="is a directory: name a file in it"):
        Host.open(f"sqlite:{tmp_path}")
    notes = tmp_path / "notes.txt"
    notes.write_text("these are notes, and no database" * 10)
    with pytest.raises(OSError, match="not a SQLite database"):
        Host.open(f"sqlite:{notes}")
    assert notes.read_text().startswith("these are notes")
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE theirs (a)")
    connection.close()
    with pytest.raises(OSError, match="of another application: give agenthost a file of its own"):
        Host.open(f"sqlite:{foreign}")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["foreign.db", "notes.txt"]


def test_a_file_of_a_newer_version_is_refused(tmp_path: Path, url: str) -> None:
    Host.open(url).close()
    connection = sqlite3.connect(tmp_path / "runs.db")
    connection.execute("PRAGMA user_version = 1000")
    connection.close()
    with pytest.raises(OSError, match="newer agenthost .*update agenthost"):
        Host.open(url)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"max_message_bytes": 0}, ValueError, "max_message_bytes: expected at least 1"),
        ({"sensitive_names": "session"}, TypeError, "several strings"),
        ({"sensitive_names": ["日本"]}, ValueError, "ASCII letter or digit"),
        ({"timeout": 0}, ValueError, "more than 0"),
        ({"lease": 0}, ValueError, "lease: expected 1 ms to 24 hours"),
        ({"lease": 90_000}, ValueError, "lease: expected 1 ms to 24 hours"),
        ({"lease": -1}, ValueError, "lease: expected seconds that a clock can count"),
        ({"lease": True}, TypeError, "lease: expected seconds, found bool"),
        ({"max_attempts": -1}, ValueError, "max_attempts: expected at least 0"),
        ({"max_attempts": 2.5}, TypeError, "max_attempts: expected an integer, found float"),
        ({"key_ttl": float("nan")}, ValueError, "key_ttl: expected seconds"),
        ({"key_ttl": "1"}, TypeError, "key_ttl: expected seconds, found str"),
    ],
)
def test_options_are_checked(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Host.open(MEMORY, **options)


def test_misuse_of_a_dispatch_is_raised() -> None:
    host = Host.open(MEMORY)
    for dispatch in (host.dispatch_json, lambda *a, **k: asyncio.run(host.dispatch_json_async(*a, **k))):
        with pytest.raises(TypeError, match=r"found dict: pass .*json\.dumps"):
            dispatch({})
        with pytest.raises(ValueError, match="empty principal"):
            dispatch(get_run(), principal="")
        with pytest.raises(TypeError, match="principal: expected a string"):
            dispatch(get_run(), principal=7)
        with pytest.raises(ValueError, match="timeout: expected more than 0"):
            dispatch(get_run(), timeout=0)


def test_a_closed_host_answers_unavailable_and_its_file_is_free(tmp_path: Path, url: str) -> None:
    host = Host.open(url)
    ok(host.dispatch_json(create()))
    host.close()
    assert [file.name for file in tmp_path.glob("runs.db-wal")] == []
    host.close(timeout=1)
    assert reason(host.dispatch_json(get_run())) == "closed"
    assert reason(asyncio.run(host.dispatch_json_async(create()))) == "closed"
    assert code(host.dispatch_json(b"{}")) == "invalid_request"
    with Host.open(url) as again:
        assert ok(again.dispatch_json(get_run()))["status"] == "created"
    assert reason(again.dispatch_json(get_run())) == "closed"


async def test_an_async_host_is_a_context_manager(url: str) -> None:
    async with Host.open(url) as host:
        assert ok(await host.dispatch_json_async(create()))["revision"] == 1
        assert ok(await host.dispatch_json_async(bytearray(get_run())))["runId"] == "run-1"
    assert reason(await host.dispatch_json_async(get_run())) == "closed"
    await host.aclose()


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_the_six_operations(kind: str, url: str) -> None:
    with Host.open(MEMORY if kind == "memory" else url) as host:
        client = Client(host.dispatch_json)
        context = agenthost.ExecutionContext("run-1", agent_id="writer", metadata={"region": "eu"})
        assert client.create_run(context, {"topic": "otters"}) == agenthost.RunSubmission("run-1", 1, "created")
        view = client.get_run("run-1")
        assert (view.status, view.revision, view.context) == (agenthost.RunStatus.CREATED, 1, context)
        page = client.list_events("run-1")
        assert [event.type for event in page.events] == ["run_created"]
        for work in (
            lambda: client.resolve_approval("run-1", 1, "a-1", "approved"),
            lambda: client.resume_run("run-1", 1, "a-1"),
        ):
            with pytest.raises(agenthost.Conflict) as refused:
                work()
            assert refused.value.details["reason"] in {"invalid_state", "approval_mismatch"}
        with pytest.raises(agenthost.NotFound):
            client.get_run("run-2")
        assert client.cancel_run("run-1", 1, "enough") == agenthost.RunSubmission("run-1", 2, "cancelled")
        assert client.get_run("run-1").error == "enough"
        assert [event.type for event in client.list_events("run-1", 1).events] == ["run_cancelled"]


def test_conflicts_say_why() -> None:
    host = Host.open(MEMORY)
    ok(host.dispatch_json(create(input={"n": 1})))
    assert ok(host.dispatch_json(create(input={"n": 1.0})))["revision"] == 1
    assert conflict(host.dispatch_json(create(input={"n": 2}))) == "idempotency_mismatch"
    assert conflict(host.dispatch_json(create(input={"n": 2}, key="k-2"))) == "run_exists"
    assert conflict(host.dispatch_json(cancel(revision=7))) == "revision_mismatch"
    assert ok(host.dispatch_json(cancel(key="c-2")))["status"] == "cancelled"
    assert conflict(host.dispatch_json(cancel(revision=2, key="c-3"))) == "invalid_state"


def test_a_conflict_is_typed_and_brings_its_numbers() -> None:
    with Host.open(MEMORY) as host:
        client = Client(host.dispatch_json)
        client.create_run(agenthost.ExecutionContext("run-1"))
        with pytest.raises(agenthost.Conflict) as ahead:
            client.list_events("run-1", after_sequence=7)
        assert ahead.value.reason is agenthost.ConflictReason.CURSOR_AHEAD
        assert (ahead.value.head_sequence, ahead.value.first_sequence) == (1, None)
        with pytest.raises(agenthost.Conflict) as stale:
            client.cancel_run("run-1", 7)
        assert stale.value.reason is agenthost.ConflictReason.REVISION_MISMATCH
        assert (stale.value.current_revision, stale.value.head_sequence, stale.value.retry_after_ms) == (1, None, None)


@pytest.mark.parametrize(
    "details",
    [None, {}, [], 7, {"reason": 1}, {"reason": "another", "headSequence": 3}, {"reason": "cursor_ahead", "headSequence": "3"}],
)
def test_a_conflict_of_another_service_has_no_numbers(details: Any) -> None:
    error = agenthost.Conflict("no", details=details)
    assert error.head_sequence is None
    assert error.reason in (None, agenthost.ConflictReason.CURSOR_AHEAD)


def test_a_run_belongs_to_the_principal_that_created_it() -> None:
    host = Host.open(MEMORY, require_principal=True)
    assert code(host.dispatch_json(create())) == "unauthorized"
    ok(host.dispatch_json(create(), principal="alice"))
    assert ok(host.dispatch_json(get_run(), principal="alice"))
    assert code(host.dispatch_json(get_run(), principal="bob")) == "not_found"
    assert conflict(host.dispatch_json(create(), principal="bob")) == "run_exists"


def test_operators_see_every_run_and_others_their_own() -> None:
    with Host.open(MEMORY, require_principal=True, operators=["ops"]) as host:
        assert ok(host.dispatch_json(create(), principal="ada"))
        assert ok(host.dispatch_json(get_run(), principal="ops"))["runId"] == "run-1"
        assert code(host.dispatch_json(get_run(), principal="bob")) == "not_found"
    with pytest.raises(TypeError, match="operators: expected several strings"):
        Host.open(MEMORY, operators="ops")


def test_limits_and_sensitive_names_hold() -> None:
    host = Host.open(MEMORY, max_message_bytes=len(create()), sensitive_names=["session-id"])
    assert host.is_sensitive_name("my_session_id")
    assert code(host.dispatch_json(create(input="x" * 100))) == "invalid_request"
    body = {"context": {"runId": "r"}, "metadata": {"sessionId": "1"}}
    message = envelope("create_run", body, idempotencyKey="k")
    assert code(Host.open(MEMORY, sensitive_names=["session-id"]).dispatch_json(message)) == "invalid_request"
    assert ok(Host.open(MEMORY).dispatch_json(message))


def test_nothing_of_a_url_but_its_kind_is_in_the_repr(url: str) -> None:
    with Host.open(url) as host:
        assert repr(host) == "<agenthost.DurableHost, sqlite>"
    assert isinstance(host, agenthost.DurableHost)
    assert isinstance(host, agenthost.BaseHost)
    assert repr(Host.open(MEMORY)) == "<agenthost.DurableHost, memory>"


def test_runs_in_memory_end_with_their_host() -> None:
    first, second = Host.open(MEMORY), Host.open(MEMORY)
    ok(first.dispatch_json(create()))
    assert code(second.dispatch_json(get_run())) == "not_found"


def test_two_hosts_on_one_file_see_the_same_runs(url: str) -> None:
    with Host.open(url) as first, Host.open(url) as second:
        ok(first.dispatch_json(create()))
        assert ok(second.dispatch_json(get_run()))["revision"] == 1
        assert ok(second.dispatch_json(create()))["revision"] == 1
        assert ok(second.dispatch_json(cancel()))["revision"] == 2
        assert conflict(first.dispatch_json(cancel(key="c-2"))) == "revision_mismatch"
        assert ok(first.dispatch_json(create()))["revision"] == 1


def test_keys_outlive_the_host_unless_their_time_is_up(url: str) -> None:
    with Host.open(url, key_ttl=0.001) as host:
        ok(host.dispatch_json(create("run-1", "short", {"n": 1})))
    with Host.open(url) as host:
        ok(host.dispatch_json(create("run-2", "long", {"n": 1})))
    with Host.open(url) as host:
        assert ok(host.dispatch_json(create("run-2", "long", {"n": 1})))["runId"] == "run-2"
        assert conflict(host.dispatch_json(create("run-3", "long", {"n": 1}))) == "idempotency_mismatch"
        assert ok(host.dispatch_json(create("run-4", "short", {"n": 1})))["runId"] == "run-4"


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_64_identical_creates_on_one_loop_make_one_run(kind: str, url: str) -> None:
    async def main(host: Host) -> list[bytes]:
        return await asyncio.gather(*(host.dispatch_json_async(create()) for _ in range(64)))

    with Host.open(MEMORY if kind == "memory" else url) as host:
        assert len(set(asyncio.run(main(host)))) == 1
        assert len(ok(host.dispatch_json(list_events()))["events"]) == 1


def test_64_identical_creates_on_as_many_threads_make_one_run(url: str) -> None:
    answers: list[bytes] = []
    with Host.open(url) as host:
        threads = [threading.Thread(target=lambda: answers.append(host.dispatch_json(create()))) for _ in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(answers) == 64
        assert len(set(answers)) == 1
        assert ok(host.dispatch_json(list_events()))["nextSequence"] == 1


def test_a_deadline_ends_a_run_without_anybody_asking_for_it() -> None:
    host = Host.open(MEMORY)
    ok(host.dispatch_json(create(deadlineUnixMs=1)))
    until = time.monotonic() + 10
    while (view := ok(host.dispatch_json(get_run())))["status"] != "timed_out":
        assert time.monotonic() < until
        time.sleep(0.005)
    assert (view["revision"], view["error"]) == (2, "deadline exceeded")
