"""A small object can be a large text. It is refused at the limit, with little memory, and the process goes on."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import agenthost
import pytest
from agenthost import Host
from programs import script
from services import code, get_run, ok, serving


def shared(levels: int) -> Any:
    """Four times itself, as often as there are levels."""
    value: Any = "x"
    for _ in range(levels):
        value = [value] * 4
    return value


def as_dict(value: Any) -> Any:
    return {"runId": "run-1", "revision": 1, "status": "running", "context": {"runId": "run-1"}, "result": value}


@pytest.mark.parametrize(
    "answer",
    [
        "as_dict(value)",
        "RunView('run-1', 1, 'running', CONTEXT, result=value)",
        "EventPage([Event('run-1', 1, 't', 'running', data=value)], 1)",
        "refuse(NotFound('no', details=value))",
        "refuse(NotFound('no', details={'a': {'b': value}}))",
    ],
)
@pytest.mark.parametrize(
    "limit", ["", "resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))"], ids=["", "little memory"]
)
def test_a_result_of_shared_lists_is_internal_and_costs_no_more_than_the_limit(answer: str, limit: str) -> None:
    out = script(
        f"""
        import asyncio, resource
        {limit}
        value = "x"
        for _ in range(14): value = [value] * 4
        def as_dict(value):
            return {{"runId": "run-1", "revision": 1, "status": "running", "context": {{"runId": "run-1"}}, "result": value}}
        def refuse(error): raise error
        def get(request, call): return {answer}
        async def later(request, call): return {answer}
        for method in (get, later):
            host = Host(serving(method), max_message_bytes=1 << 20)
            print(code(host.dispatch_json(get_run())))
            print(code(asyncio.run(host.dispatch_json_async(get_run()))))
            host.close()
        """,
        # The loop says so when a step is slow.
        clean=False,
    )
    assert out.split() == ["internal"] * 4


def test_a_result_of_a_dict_stops_at_the_limit_of_its_host() -> None:
    """However many references there are: this would take longer than the universe has been there."""
    host = Host(serving(lambda request, call: as_dict(shared(90))), max_message_bytes=1 << 20)
    began = time.monotonic()
    assert code(host.dispatch_json(get_run())) == "internal"
    assert time.monotonic() - began < 10


def test_an_input_that_is_larger_than_any_hosts_limit_is_a_value_error() -> None:
    out = script(
        """
        value = "x"
        for _ in range(90): value = [value] * 4
        def refused(make):
            try: make()
            except ValueError as error: print(error)
        refused(lambda: CreateRun(CONTEXT, value))
        refused(lambda: ResumeRun("run-1", 1, "a-1", value))
        Host(Plain(), max_message_bytes=17 << 20)
        refused(lambda: CreateRun(CONTEXT, value))
        long = "x" * (18 << 20)
        refused(lambda: CreateRun(CONTEXT, long))
        print(len(CreateRun(CONTEXT, input_json='"' + long + '"').input))
        """
    )
    rule = "input: expected at most {} bytes of JSON, the largest limit of a host, found more"
    assert out.splitlines() == [rule.format(16 << 20)] * 2 + [rule.format(17 << 20)] * 2 + [str(18 << 20)]


def test_a_result_of_exactly_the_limit_is_answered() -> None:
    def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
        return as_dict(text)

    text = ""
    length = len(Host(serving(get)).dispatch_json(get_run()))
    text = "x" * 1000
    assert ok(Host(serving(get), max_message_bytes=length + 1000).dispatch_json(get_run()))["result"] == text
    assert code(Host(serving(get), max_message_bytes=length + 999).dispatch_json(get_run())) == "internal"
    assert code(asyncio.run(Host(serving(get), max_message_bytes=length + 999).dispatch_json_async(get_run()))) == "internal"


def test_an_input_without_memory_for_it_is_a_memory_error() -> None:
    out = script(
        """
        import resource
        Host(Plain(), max_message_bytes=1 << 30)
        value = "x" * (100 << 20)
        resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))
        try: CreateRun(CONTEXT, [value] * 2)
        except MemoryError as error: print(error)
        """
    )
    assert out.strip() == "input: there is no memory for its JSON"
