"""Waiting for a commit: without the GIL, without blocking a loop, and never longer than anybody wants."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from agenthost import Host, _native
from durable import cancel, commits_wait, create
from services import code, get_run, ok, reason

#: A bound for what has to happen at all, in seconds.
SOON = 10.0


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def host(file: Path) -> Iterator[Host]:
    with Host.open(f"sqlite:{file}") as host:
        yield host


def arrives(host: Host, run_id: str = "run-1") -> None:
    """What was asked for is done, whoever has stopped waiting for it."""
    until = time.monotonic() + SOON
    while code_of(host, run_id) != "":
        assert time.monotonic() < until
        time.sleep(0.01)


def code_of(host: Host, run_id: str) -> str:
    response = host.dispatch_json(get_run(run_id))
    return "" if b'"ok":true' in response else code(response)


def test_the_gil_is_released_while_a_dispatch_waits(host: Host, file: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        with commits_wait(file):
            waiting = pool.submit(host.dispatch_json, create())
            for _ in range(100):
                # This thread gets on, and reads are answered meanwhile.
                assert code_of(host, "run-1") == "not_found"
            assert not waiting.done()
        assert ok(waiting.result(SOON))["revision"] == 1


def test_a_thread_that_waits_leaves_the_processor_alone(host: Host, file: Path) -> None:
    with commits_wait(file):
        began = time.process_time()
        assert reason(host.dispatch_json(create(), timeout=1)) == "timeout"
        assert time.process_time() - began < 0.5


async def test_an_event_loop_goes_on_while_a_task_waits(host: Host, file: Path) -> None:
    with commits_wait(file):
        waiting = asyncio.create_task(host.dispatch_json_async(create()))
        for _ in range(100):
            await asyncio.sleep(0)
            assert code(await host.dispatch_json_async(get_run())) == "not_found"
        assert not waiting.done()
    assert ok(await asyncio.wait_for(waiting, SOON))["revision"] == 1


async def test_a_timeout_answers_and_leaves_the_run_alone(host: Host, file: Path) -> None:
    with commits_wait(file):
        assert reason(host.dispatch_json(create("run-1", "k-1"), timeout=0.05)) == "timeout"
        assert reason(await host.dispatch_json_async(create("run-2", "k-2"), timeout=0.05)) == "timeout"
    for run_id, key in (("run-1", "k-1"), ("run-2", "k-2")):
        await asyncio.to_thread(arrives, host, run_id)
        assert ok(await host.dispatch_json_async(create(run_id, key), timeout=SOON))["revision"] == 1


def test_a_host_has_a_timeout_of_its_own(file: Path) -> None:
    with Host.open(f"sqlite:{file}", timeout=0.05) as host:
        ok(host.dispatch_json(create("run-0", "k-0"), timeout=SOON))
        with commits_wait(file):
            assert reason(host.dispatch_json(create())) == "timeout"
            assert reason(asyncio.run(host.dispatch_json_async(create()))) == "timeout"


async def test_cancelling_the_task_cancels_the_wait_and_not_the_command(host: Host, file: Path) -> None:
    with commits_wait(file):
        task = asyncio.create_task(host.dispatch_json_async(create()))
        await asyncio.sleep(0.02)
        assert task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(host.dispatch_json_async(create("run-2", "k-2")), 0.02)
    await asyncio.to_thread(arrives, host)
    await asyncio.to_thread(arrives, host, "run-2")


async def test_a_task_group_gives_all_its_waits_up_together(host: Host, file: Path) -> None:
    async def failing() -> None:
        await asyncio.sleep(0.02)
        raise LookupError

    with commits_wait(file):
        work = [asyncio.ensure_future(host.dispatch_json_async(create(f"run-{n}", f"k-{n}"))) for n in range(20)]
        with pytest.raises(LookupError):
            await asyncio.gather(failing(), *work)
        for task in work:
            task.cancel()
        assert all(isinstance(outcome, asyncio.CancelledError) for outcome in await asyncio.gather(*work, return_exceptions=True))


def test_closing_answers_whoever_waits(host: Host, file: Path) -> None:
    async def twenty() -> list[bytes]:
        return await asyncio.gather(*(host.dispatch_json_async(create(f"a-{n}", f"a-{n}")) for n in range(20)))

    with ThreadPoolExecutor(32) as pool:
        with commits_wait(file):
            threads = [pool.submit(host.dispatch_json, create(f"t-{n}", f"t-{n}")) for n in range(20)]
            loop = pool.submit(asyncio.run, twenty())
            until = time.monotonic() + SOON
            while _native.live()["calls"] < 40:
                assert time.monotonic() < until
                time.sleep(0.01)
            closing = pool.submit(host.close, 0.05)
            assert [reason(one.result(SOON)) for one in threads] == ["closed"] * 20
            assert [reason(one) for one in loop.result(SOON)] == ["closed"] * 20
        closing.result(SOON)
    # What was accepted is done all the same.
    with Host.open(f"sqlite:{file}") as again:
        assert {code_of(again, f"{kind}-{n}") for kind in "at" for n in range(20)} == {""}


async def test_closing_in_the_loop_whose_tasks_wait_does_not_hang(host: Host, file: Path) -> None:
    waiting = asyncio.create_task(host.dispatch_json_async(create()))
    await asyncio.sleep(0)
    await host.aclose()
    assert b"run-1" in await waiting or reason(await waiting) == "closed"
    host.close()


def test_close_waits_for_the_calls_in_flight(host: Host, file: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        with commits_wait(file):
            waiting = pool.submit(host.dispatch_json, create())
            until = time.monotonic() + SOON
            while _native.live()["calls"] < 1:
                assert time.monotonic() < until
                time.sleep(0.01)
            closing = pool.submit(host.close)
            until = time.monotonic() + SOON
            while reason_of(host) != "closed":
                assert time.monotonic() < until
            assert not waiting.done()
        assert ok(waiting.result(SOON))["revision"] == 1
        closing.result(SOON)


def reason_of(host: Host) -> str:
    response = host.dispatch_json(get_run("run-0"))
    return reason(response) if b'"unavailable"' in response else ""


def test_a_loop_that_ends_under_a_call_harms_nobody(host: Host, file: Path) -> None:
    with commits_wait(file):
        loop = asyncio.new_event_loop()
        task = loop.create_task(host.dispatch_json_async(create()))
        loop.run_until_complete(asyncio.sleep(0.02))
        loop.close()
    arrives(host)
    assert ok(asyncio.run(host.dispatch_json_async(create())))["revision"] == 1
    # Its coroutine ends with it; asyncio says that it was never finished.
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    del task, loop
    gc.collect()


def test_many_loops_and_threads_share_a_host(host: Host) -> None:
    async def work(name: str) -> int:
        revisions = 0
        for n in range(10):
            run_id = f"{name}-{n}"
            revisions += ok(await host.dispatch_json_async(create(run_id, run_id)))["revision"]
            revisions += ok(await host.dispatch_json_async(cancel(run_id, key=run_id)))["revision"]
        return revisions

    async def main(name: str) -> list[int]:
        return await asyncio.gather(*(work(f"{name}-{n}") for n in range(4)))

    with ThreadPoolExecutor(4) as pool:
        for outcome in [pool.submit(asyncio.run, main(f"loop-{n}")) for n in range(4)]:
            assert outcome.result(SOON * 3) == [30] * 4


def test_a_commit_that_fails_is_unavailable_and_said_in_the_log(host: Host, file: Path, caplog: pytest.LogCaptureFixture) -> None:
    with commits_wait(file):
        # SQLite waits 5 s for the lock.
        response = host.dispatch_json(create(input="hunter2"), timeout=60)
        assert code(response) == "unavailable"
    assert b"locked" not in response
    records = [record.getMessage() for record in caplog.records if record.name == "agenthost"]
    assert any("a store failed" in record and "locked" in record for record in records)
    assert "hunter2" not in "".join(records)
    assert ok(host.dispatch_json(create(input="hunter2")))["revision"] == 1


def test_a_host_that_is_forgotten_is_closed(file: Path) -> None:
    gc.collect()
    before = _native.live()["hosts"]
    host = Host.open(f"sqlite:{file}")
    ok(host.dispatch_json(create()))
    assert file.with_name("runs.db-wal").exists()
    del host
    gc.collect()
    assert _native.live()["hosts"] == before
    assert not file.with_name("runs.db-wal").exists()
    names = [task.joinpath("comm").read_text() for task in Path("/proc/self/task").iterdir()]
    assert not [name for name in names if name.startswith(("agenthost-write", "agenthost-timer"))]
