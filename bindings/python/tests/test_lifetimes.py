"""Loops that go away, tasks that are cancelled, other frameworks, copies: on every Python of this machine where it matters."""

from __future__ import annotations

import asyncio
import copy
import pickle
from typing import Any

import agenthost
import pytest
from agenthost import Host
from interpreters import interpreters
from programs import script
from services import CONTEXT, Plain, get_run, ok, serving

PYTHONS = pytest.mark.parametrize("python", [pytest.param(path, id=version) for version, path in interpreters().items()])


@PYTHONS
@pytest.mark.parametrize("closing", ["host.close()", "with host: pass", "asyncio.run(host.aclose())"])
def test_closing_ends_calls_whose_loop_was_closed(python: str, closing: str) -> None:
    out = script(
        f"""
        import asyncio, time
        class Waiting(Plain):
            async def get_run(self, request, call): await asyncio.Event().wait()
        host = Host(Waiting())
        loop = asyncio.new_event_loop()
        task = loop.create_task(host.dispatch_json_async(get_run()))
        loop.run_until_complete(asyncio.sleep(0.01))
        task._log_destroy_pending = False
        loop.close()
        began = time.monotonic()
        {closing}
        from agenthost import _native
        print(time.monotonic() - began < 20, _native.live()["calls"])
        """,
        python=python,
        clean=False,
    )
    assert out.split() == ["True", "0"]


@PYTHONS
@pytest.mark.parametrize("timeout", ["None", "60"])
def test_an_awaited_method_runs_in_its_callers_task(python: str, timeout: str) -> None:
    out = script(
        f"""
        import asyncio, contextvars
        variable = contextvars.ContextVar("variable", default="unset")
        order = []
        class Own(Plain):
            async def get_run(self, request, call):
                tasks.append(asyncio.current_task())
                variable.set("set by the service")
                if request.run_id == "waits":
                    try: await asyncio.Event().wait()
                    finally:
                        await asyncio.sleep(0.01)
                        order.append("finally")
                return Plain.get_run(self, request, call)
        tasks = []
        async def cancelled(host):
            try: await host.dispatch_json_async(get_run("waits"), timeout={timeout})
            except asyncio.CancelledError: order.append("caller"); raise
        async def main():
            host = Host(Own())
            ok(await host.dispatch_json_async(get_run(), timeout={timeout}))
            print(tasks[0] is asyncio.current_task(), variable.get())
            task = asyncio.ensure_future(cancelled(host))
            await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.wait([task])
            print(task.cancelled(), order)
        asyncio.run(main())
        """,
        python=python,
    )
    assert out.splitlines() == ["True set by the service", "True ['finally', 'caller']"]


@PYTHONS
def test_a_timeout_ends_the_method_and_leaves_its_callers_task_alone(python: str) -> None:
    out = script(
        """
        import asyncio
        order = []
        class Own(Plain):
            async def get_run(self, request, call):
                try: await asyncio.Event().wait()
                finally: order.append("finally")
        async def main():
            host = Host(Own())
            for _ in range(3): order.append(reason(await host.dispatch_json_async(get_run(), timeout=0.01)))
            await asyncio.sleep(0.01)
            task = asyncio.current_task()
            print(order, task.cancelling() if hasattr(task, "cancelling") else 0)
        asyncio.run(main())
        """,
        python=python,
    )
    assert out.strip() == f"{['finally', 'timeout'] * 3} 0"


@pytest.mark.parametrize("timeout", [10**400, float("nan"), 0, -1, True, "1"])
def test_a_timeout_is_checked_before_the_service_is_called(timeout: Any) -> None:
    called: list[int] = []

    async def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        called.append(1)
        return agenthost.RunView("run-1", 1, "running", CONTEXT)

    with Host(serving(get)) as host, Host.open("memory:") as durable:
        for one in (host, durable):
            with pytest.raises((ValueError, TypeError), match="timeout"):
                one.dispatch_json(get_run(), timeout=timeout)
            with pytest.raises((ValueError, TypeError), match="timeout"):
                asyncio.run(one.dispatch_json_async(get_run(), timeout=timeout))
            with pytest.raises((ValueError, TypeError), match="timeout"):
                one.close(timeout=-1 if timeout == 0 else timeout)
        with pytest.raises((ValueError, TypeError), match="timeout"):
            Host(Plain(), timeout=timeout)
    assert not called


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_host_is_neither_copied_nor_pickled(copied: Any) -> None:
    with Host(Plain()) as host, Host.open("memory:") as durable:
        for one in (host, durable):
            with pytest.raises(TypeError, match="a host cannot be copied or pickled: share it"):
                copied(one)
        assert ok(host.dispatch_json(get_run()))


def test_without_asyncio_there_is_one_clear_error() -> None:
    """What another framework does with a coroutine is to send to it; no loop of asyncio runs."""
    called: list[int] = []

    async def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        called.append(1)

    with Host(serving(get)) as host, Host.open("memory:") as durable:
        for one in (host, durable):
            for awaited in (one.dispatch_json_async(get_run()), one.aclose()):
                with pytest.raises(RuntimeError, match="a task of asyncio.*trio.to_thread.run_sync"):
                    awaited.send(None)
    assert not called


@pytest.mark.parametrize(
    ("make", "other"),
    [
        (lambda: agenthost.RunSubmission("a", 1, "created"), agenthost.RunSubmission("a", 2, "created")),
        (lambda: agenthost.GetRun("a"), agenthost.GetRun("b")),
        (lambda: agenthost.CancelRun("a", 1, "no"), agenthost.CancelRun("a", 1, "yes")),
        (lambda: agenthost.ListEvents("a", 1, 2), agenthost.ListEvents("a", 2, 1)),
    ],
    ids=["RunSubmission", "GetRun", "CancelRun", "ListEvents"],
)
def test_frozen_values_are_hashable_where_their_parts_are(make: Any, other: Any) -> None:
    assert len({make(), make(), copy.copy(make()), other}) == 2
    assert hash(make()) != hash(other)


@pytest.mark.parametrize(
    "value", [CONTEXT, agenthost.CreateRun(CONTEXT), agenthost.Call("get_run", "r-1"), agenthost.EventPage([], 0)]
)
def test_frozen_values_with_a_dict_in_them_are_not_hashable(value: Any) -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(value)
