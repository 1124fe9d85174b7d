"""Services with ``async def`` methods: awaited, at home, cancelled, timed out, closed."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import agenthost
import pytest
from agenthost import Host
from services import CONTEXT, Plain, code, get_run, ok, reason, serving

VIEW = agenthost.RunView("run-1", 1, "running", CONTEXT)
#: A bound for what has to happen at all, in seconds.
SOON = 10.0


async def at_once(request: agenthost.GetRun, call: agenthost.Call) -> Any:
    return VIEW


class Waiting(Plain):
    """Waits for ever, and says what became of that."""

    def __init__(self) -> None:
        self.started = threading.Semaphore(0)
        self.cancelled = threading.Semaphore(0)

    async def get_run(self, request: agenthost.GetRun, call: agenthost.Call) -> Any:
        self.started.release()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.release()
            raise


def in_thread(work: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, outcome


def finished(thread: threading.Thread, outcome: list[Any]) -> Any:
    thread.join(SOON)
    assert not thread.is_alive()
    return outcome[0]


async def test_a_method_that_never_awaits_is_awaited() -> None:
    assert ok(await Host(serving(at_once)).dispatch_json_async(get_run()))["runId"] == "run-1"


async def test_a_method_that_awaits_is_awaited() -> None:
    async def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        await asyncio.sleep(0.001)
        return {"runId": request.run_id, "revision": 1, "status": "running", "context": {}}

    host = Host(serving(get))
    responses = await asyncio.gather(*(host.dispatch_json_async(get_run(f"run-{n}")) for n in range(50)))
    assert [ok(response)["runId"] for response in responses] == [f"run-{n}" for n in range(50)]


async def test_a_def_method_is_dispatched_with_await_too() -> None:
    assert ok(await Host(Plain()).dispatch_json_async(get_run()))["runId"] == "run-1"
    assert code(await Host(Plain()).dispatch_json_async(b"{")) == "invalid_request"


async def test_an_awaitable_that_is_no_coroutine_is_awaited() -> None:
    def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        future = asyncio.get_running_loop().create_future()
        future.set_result(VIEW)
        return future

    assert ok(await Host(serving(get)).dispatch_json_async(get_run()))


async def test_a_coroutine_that_returns_a_coroutine_is_internal(caplog: pytest.LogCaptureFixture) -> None:
    async def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        return asyncio.sleep(0)

    assert code(await Host(serving(get)).dispatch_json_async(get_run())) == "internal"
    assert "something to await from what was awaited" in caplog.text


async def test_cancelling_the_task_cancels_the_coroutine() -> None:
    service = Waiting()
    host = Host(service)
    for timeout in (None, 60.0):
        task = asyncio.ensure_future(host.dispatch_json_async(get_run(), timeout=timeout))
        while not service.started.acquire(blocking=False):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0)
        assert service.cancelled.acquire(blocking=False)
    await host.aclose()


async def test_a_timeout_answers_and_cancels_the_coroutine() -> None:
    service = Waiting()
    host = Host(service)
    assert reason(await host.dispatch_json_async(get_run(), timeout=0.01)) == "timeout"
    await asyncio.sleep(0)
    assert service.cancelled.acquire(blocking=False)
    assert reason(await Host(service, timeout=0.01).dispatch_json_async(get_run())) == "timeout"
    for wrong in (0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="timeout"):
            await host.dispatch_json_async(get_run(), timeout=wrong)
    assert ok(await Host(serving(at_once)).dispatch_json_async(get_run(), timeout=SOON))


async def test_an_outer_wait_for_works() -> None:
    host = Host(Waiting())
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(host.dispatch_json_async(get_run()), 0.01)


def test_a_sync_dispatch_waits_for_a_coroutine() -> None:
    with Host(serving(at_once)) as host:
        for _ in range(20):
            assert ok(host.dispatch_json(get_run()))["runId"] == "run-1"
        threads = [thread for thread in threading.enumerate() if thread.name == "agenthost-loop"]
        assert len(threads) == 1, "one loop, not one for each call"
    assert not [thread for thread in threading.enumerate() if thread.name == "agenthost-loop"]


def test_a_host_of_def_methods_has_no_loop_thread() -> None:
    with Host(Plain()) as host:
        ok(host.dispatch_json(get_run()))
        assert not [thread for thread in threading.enumerate() if thread.name == "agenthost-loop"]


async def test_a_sync_dispatch_under_a_running_loop_is_refused_with_advice() -> None:
    called: list[int] = []

    async def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        called.append(1)
        return VIEW

    host = Host(serving(get))
    with pytest.raises(RuntimeError, match=r"await host\.dispatch_json_async"):
        host.dispatch_json(get_run())
    assert not called
    response = await asyncio.to_thread(host.dispatch_json, get_run())
    assert ok(response), "from another thread it runs on the home loop"


async def test_the_home_loop_is_the_one_that_runs_at_creation() -> None:
    loops: list[Any] = []

    async def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        loops.append(asyncio.get_running_loop())
        return VIEW

    host = Host(serving(get))
    ok(await asyncio.to_thread(host.dispatch_json, get_run()))
    assert loops == [asyncio.get_running_loop()]


def test_a_home_loop_that_does_not_run_is_a_runtime_error_with_advice() -> None:
    loop = asyncio.new_event_loop()
    for given in (Host(serving(at_once), loop=loop), loop.run_until_complete(_made_inside())):
        with pytest.raises(RuntimeError, match="home loop is not running.*dispatch_json_async"):
            given.dispatch_json(get_run())
        assert ok(loop.run_until_complete(given.dispatch_json_async(get_run())))
    loop.close()
    with pytest.raises(RuntimeError, match="home loop is not running"):
        Host(serving(at_once), loop=loop).dispatch_json(get_run())


async def _made_inside() -> Host:
    return Host(serving(at_once))


def test_a_given_loop_in_another_thread_is_used() -> None:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    threads: list[int] = []

    async def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        threads.append(threading.get_ident())
        return VIEW

    host = Host(serving(get), loop=loop)
    assert ok(host.dispatch_json(get_run()))
    assert threads == [thread.ident]
    host.close()
    assert loop.is_running(), "a given loop is the caller's"
    loop.call_soon_threadsafe(loop.stop)
    thread.join(SOON)
    loop.close()


def test_a_loop_that_is_closed_under_a_waiting_call_answers_it(caplog: pytest.LogCaptureFixture) -> None:
    loop = asyncio.new_event_loop()
    runner = threading.Thread(target=loop.run_forever, daemon=True)
    runner.start()
    service = Waiting()
    host = Host(service, loop=loop)
    thread, outcome = in_thread(lambda: host.dispatch_json(get_run()))
    assert service.started.acquire(timeout=SOON)
    loop.call_soon_threadsafe(loop.stop)
    runner.join(SOON)
    leftover = asyncio.all_tasks(loop)
    assert reason(finished(thread, outcome)) == "dropped"
    assert "home loop ended" in caplog.text
    # Not left to the collector, which would warn of a task that was destroyed pending.
    for task in leftover:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*leftover, return_exceptions=True))
    loop.close()


def test_a_loop_that_cancels_its_tasks_answers_the_waiting_call() -> None:
    service = Waiting()
    hosts: list[Host] = []
    made = threading.Event()

    async def main() -> None:
        hosts.append(Host(service))
        made.set()
        await asyncio.to_thread(service.started.acquire, timeout=SOON)

    runner = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    runner.start()
    assert made.wait(SOON)
    thread, outcome = in_thread(lambda: hosts[0].dispatch_json(get_run()))
    assert reason(finished(thread, outcome)) in ("dropped", "cancelled")
    runner.join(SOON)


def test_a_sync_timeout_answers_and_cancels_the_coroutine() -> None:
    service = Waiting()
    with Host(service) as host:
        assert reason(host.dispatch_json(get_run(), timeout=0.02)) == "timeout"
        assert service.cancelled.acquire(timeout=SOON)
        with pytest.raises(ValueError, match="timeout"):
            host.dispatch_json(get_run(), timeout=-1)


variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")


def test_contextvars_are_kept() -> None:
    async def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        return agenthost.RunView("run-1", 1, "running", CONTEXT, result=variable.get())

    def get_now(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        return agenthost.RunView("run-1", 1, "running", CONTEXT, result=variable.get())

    with Host(serving(get)) as host, Host(serving(get_now)) as now:
        token = variable.set("mine")
        try:
            assert ok(host.dispatch_json(get_run()))["result"] == "mine"
            assert ok(now.dispatch_json(get_run()))["result"] == "mine"
            assert ok(asyncio.run(host.dispatch_json_async(get_run())))["result"] == "mine"
            assert ok(asyncio.run(host.dispatch_json_async(get_run(), timeout=SOON)))["result"] == "mine"
        finally:
            variable.reset(token)


def test_close_waits_for_what_is_in_flight() -> None:
    go = threading.Event()
    entered = threading.Event()

    def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        entered.set()
        assert go.wait(SOON)
        return VIEW

    host = Host(serving(get))
    thread, outcome = in_thread(lambda: host.dispatch_json(get_run()))
    assert entered.wait(SOON)
    closer, closed = in_thread(host.close)
    deadline = time.monotonic() + SOON
    while code_or_none(host.dispatch_json(get_run())) != "unavailable":
        assert time.monotonic() < deadline
    assert closer.is_alive()
    go.set()
    assert ok(finished(thread, outcome))
    assert finished(closer, closed) is None
    assert reason(host.dispatch_json(get_run())) == "closed"


def code_or_none(response: bytes) -> str | None:
    return code(response) if b'"ok":false' in response else None


@pytest.mark.parametrize("ways", ["threads", "tasks"])
def test_close_while_50_calls_wait_answers_them_all(ways: str) -> None:
    service = Waiting()
    if ways == "threads":
        host = Host(service)
        calls = [in_thread(lambda: host.dispatch_json(get_run())) for _ in range(50)]
        for _ in calls:
            assert service.started.acquire(timeout=SOON)
        host.close(timeout=0.01)
        responses = [finished(*call) for call in calls]
    else:

        async def main() -> list[bytes]:
            host = Host(service)
            tasks = [asyncio.ensure_future(host.dispatch_json_async(get_run())) for _ in range(50)]
            await asyncio.sleep(0)
            await host.aclose(timeout=0.01)
            return list(await asyncio.gather(*tasks))

        responses = asyncio.run(main())
    assert [reason(response) for response in responses] == ["closed"] * 50
    for _ in range(50):
        assert service.cancelled.acquire(timeout=SOON)


def test_a_coroutine_that_ignores_close_is_answered_all_the_same() -> None:
    go = threading.Event()
    started = threading.Event()

    async def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            go.set()
        return VIEW

    host = Host(serving(get))
    thread, outcome = in_thread(lambda: host.dispatch_json(get_run()))
    assert started.wait(SOON)
    host.close(timeout=0)
    assert go.wait(SOON)
    assert reason(finished(thread, outcome)) == "closed"


def test_closing_from_inside_a_method_is_refused() -> None:
    caught: list[BaseException] = []

    def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        with pytest.raises(RuntimeError, match="could only wait for itself") as error:
            host.close()
        caught.append(error.value)
        return VIEW

    async def get_later(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="could only wait for itself") as error:
            await host.aclose()
        with pytest.raises(RuntimeError, match="could only wait for itself"):
            host.close()
        caught.append(error.value)
        return VIEW

    for method in (get, get_later):
        with Host(serving(method)) as host:
            assert ok(host.dispatch_json(get_run()))
            assert ok(asyncio.run(host.dispatch_json_async(get_run())))
    assert len(caught) == 4


async def test_closing_in_the_loop_that_calls_wait_on_is_refused_with_advice() -> None:
    host = Host(Waiting())
    task = asyncio.ensure_future(host.dispatch_json_async(get_run()))
    await asyncio.sleep(0)
    with pytest.raises(RuntimeError, match="await aclose"):
        host.close()
    await host.aclose(timeout=0)
    assert reason(await task) == "closed"


async def test_a_host_is_an_async_context_manager() -> None:
    async with Host(serving(at_once)) as host:
        assert ok(await host.dispatch_json_async(get_run()))
    assert reason(await host.dispatch_json_async(get_run())) == "closed"
    host.close()
    await host.aclose()


def test_a_host_is_a_context_manager_and_closing_twice_is_closing_once() -> None:
    with Host(serving(at_once)) as host:
        assert ok(host.dispatch_json(get_run()))
    assert reason(host.dispatch_json(get_run())) == "closed"
    host.close()
    with pytest.raises(ValueError, match="timeout"):
        host.close(timeout=-1)


async def test_a_cancelled_close_can_be_done_again() -> None:
    host = Host(Waiting())
    task = asyncio.ensure_future(host.dispatch_json_async(get_run()))
    await asyncio.sleep(0)
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(host.aclose(), 0.02)
    await host.aclose(timeout=0)
    assert reason(await task) == "closed"


async def test_a_coroutine_that_is_closed_before_its_end_lets_go_of_the_call(caplog: pytest.LogCaptureFixture) -> None:
    host = Host(Waiting())
    coroutine = host.dispatch_json_async(get_run())
    coroutine.send(None)
    coroutine.close()
    host.close(timeout=0)
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
