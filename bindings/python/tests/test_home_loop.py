"""The loop that a host has of its own survives what a service does to it."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import agenthost
import pytest
from agenthost import Host
from services import CONTEXT, get_run, ok, reason, serving
from test_async import SOON, finished, in_thread

VIEW = agenthost.RunView("run-1", 1, "running", CONTEXT)


async def leave(error: BaseException) -> None:
    raise error


def in_a_task(error: BaseException) -> Any:
    async def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        background.add(asyncio.ensure_future(leave(error)))
        await asyncio.sleep(0.01)
        return VIEW

    background: set[Any] = set()
    return get


def in_a_callback(error: BaseException) -> Any:
    def raise_it() -> None:
        raise error

    async def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        asyncio.get_running_loop().call_soon(raise_it)
        await asyncio.sleep(0.01)
        return VIEW

    return get


async def stopping(request: agenthost.GetRun, call: agenthost.Call) -> Any:
    asyncio.get_running_loop().stop()
    await asyncio.sleep(0.01)
    return VIEW


@pytest.mark.parametrize(
    "get",
    [
        in_a_task(SystemExit(1)),
        in_a_task(KeyboardInterrupt()),
        in_a_callback(SystemExit(1)),
        in_a_callback(KeyboardInterrupt()),
        stopping,
    ],
    ids=["task exits", "task interrupts", "callback exits", "callback interrupts", "stop"],
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_service_that_ends_the_hosts_own_loop_gets_its_answer_and_so_do_later_calls(get: Any) -> None:
    with Host(serving(get)) as host:
        for _ in range(3):
            assert ok(host.dispatch_json(get_run()))["runId"] == "run-1"
        calls = [in_thread(lambda: host.dispatch_json(get_run())) for _ in range(8)]
        assert [ok(finished(*call))["runId"] for call in calls] == ["run-1"] * 8
    assert not [thread for thread in threading.enumerate() if thread.name == "agenthost-loop"]


def test_a_call_under_way_survives_another_one_that_ends_the_loop() -> None:
    entered = threading.Event()
    go: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        if request.run_id == "ends":
            return await stopping(request, call)
        waiting = asyncio.Event()
        go.append((asyncio.get_running_loop(), waiting))
        entered.set()
        await waiting.wait()
        return VIEW

    with Host(serving(get)) as host:
        thread, outcome = in_thread(lambda: host.dispatch_json(get_run()))
        assert entered.wait(SOON)
        assert b'"ok":false' in host.dispatch_json(get_run("ends"))
        loop, waiting = go[0]
        loop.call_soon_threadsafe(waiting.set)
        assert ok(finished(thread, outcome))["runId"] == "run-1"


def breaking(loop: Any) -> None:
    """The loop's next look at its descriptors fails, as it does when there are none left."""
    select = loop._selector.select

    def fail(timeout: float | None = None) -> Any:
        loop._selector.select = select
        raise OSError("no descriptors")

    loop._selector.select = fail


def test_a_loop_that_cannot_go_on_is_replaced() -> None:
    async def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        if request.run_id == "breaks":
            breaking(asyncio.get_running_loop())
            await asyncio.sleep(60)
        return VIEW

    with Host(serving(get)) as host:
        for _ in range(20):
            assert reason(host.dispatch_json(get_run("breaks"))) in ("dropped", "cancelled")
            assert ok(host.dispatch_json(get_run()))["runId"] == "run-1"


def test_a_call_that_comes_while_a_loop_ends_is_not_given_to_it() -> None:
    async def lingers() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ending.set()
            await asyncio.sleep(60)

    async def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        if request.run_id == "breaks":
            background.add(asyncio.ensure_future(lingers()))
            await asyncio.sleep(0)
            breaking(asyncio.get_running_loop())
        else:
            await asyncio.sleep(1.5)
        return VIEW

    ending = threading.Event()
    background: set[Any] = set()
    with Host(serving(get)) as host:
        thread, _ = in_thread(lambda: host.dispatch_json(get_run("breaks")))
        assert ending.wait(SOON)
        assert ok(host.dispatch_json(get_run()))["runId"] == "run-1"
        thread.join(SOON)
