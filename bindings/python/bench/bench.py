"""Dispatch in Python, in microseconds a call: this package beside the same host in pure Python.

Contenders take turns in one process, so that all see the same machine; a figure is the median of the rounds, in time of the
processor, all threads together, so that it says what a call costs whatever else the machine does. ``--json`` prints
the figures for programs; ``--rounds N`` takes more time. ``threshold`` is about the GIL: held or released while the core works,
alone, in two threads, and beside a thread that is busy, in time of the clock; ``--threshold`` measures only that.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import platform
import statistics
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import agenthost
import orjson
import pure
import pydantic_host
from agenthost import _native

CONTEXT = {
    "runId": "run-0123456789",
    "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
    "requestId": "request-42",
    "tenantId": "tenant-7",
    "userId": "user-1234",
    "locale": "en-US",
    "deadlineUnixMs": 1_893_456_000_123,
    "metadata": {"region": "eu-central-1", "zone": "b"},
}
VIEW = {
    "runId": CONTEXT["runId"],
    "revision": 9,
    "status": "running",
    "context": {**dict.fromkeys(pure.STRINGS, ""), **CONTEXT},
    "createdAtUnixMs": 1_750_000_000_001,
    "updatedAtUnixMs": 1_750_000_000_002,
    "completedAtUnixMs": None,
    "approval": None,
    "result": {"answer": 42},
    "error": "",
    "metadata": {"agent_type": "general"},
}
NAMES = {"traceId": "trace_id", "requestId": "request_id", "tenantId": "tenant_id", "userId": "user_id",
         "deadlineUnixMs": "deadline_unix_ms"}  # fmt: skip


def event(sequence: int) -> dict[str, Any]:
    return {
        "runId": CONTEXT["runId"],
        "sequence": sequence,
        "type": "tool.called",
        "status": "running",
        "stepId": f"step-{sequence}",
        "toolCallId": f"call-{sequence}",
        "timestampUnixMs": 1_750_000_000_000 + sequence,
        "data": {"tool": "read_file", "arguments": {"path": f"/srv/data/{sequence}.txt", "limit": 100}, "attempt": 1},
        "metadata": {"region": "eu-central-1"},
    }


PAGE = {"events": [event(sequence) for sequence in range(1, 257)], "nextSequence": 256, "hasMore": True}


def tree(size: int) -> list[dict[str, Any]]:
    """Objects that take about ``size`` bytes as JSON."""
    items: list[dict[str, Any]] = []
    while len(json.dumps(items, separators=(",", ":"))) < size:
        n = len(items)
        items += [{"id": n, "name": f"item number {n}", "price": n * 1.25, "tags": ["a", "b"], "done": n % 2 == 0}] * 4
    return items


def envelope(operation: str, body: dict[str, Any]) -> bytes:
    message: dict[str, Any] = {
        "protocolVersion": "2026-07-01",
        "requestId": "req-0123456789abcdef",
        "idempotencyKey": "key-0123456789abcdef",
        "operation": operation,
        "metadata": {"client": "bench", "note": "x" * 300},
        "body": body,
    }
    return json.dumps(message, separators=(",", ":")).encode()


MESSAGES = {
    "get_run": ("get_run", envelope("get_run", {"runId": CONTEXT["runId"]})),
    "create_run 1 KiB": ("create_run", envelope("create_run", {"context": CONTEXT, "input": tree(1 << 10)})),
    "create_run 64 KiB": ("create_run", envelope("create_run", {"context": CONTEXT, "input": tree(64 << 10)})),
    "page of 256 events": ("list_events", envelope("list_events", {"runId": CONTEXT["runId"]})),
}


def context() -> agenthost.ExecutionContext:
    return agenthost.ExecutionContext(**{NAMES.get(name, "run_id" if name == "runId" else name): value
                                         for name, value in CONTEXT.items()})  # fmt: skip


def view(around: agenthost.ExecutionContext) -> agenthost.RunView:
    return agenthost.RunView(
        "run-0123456789",
        9,
        "running",
        around,
        created_at_unix_ms=1_750_000_000_001,
        updated_at_unix_ms=1_750_000_000_002,
        result={"answer": 42},
        metadata={"agent_type": "general"},
    )


def page() -> agenthost.EventPage:
    events = [
        agenthost.Event(
            one["runId"],
            one["sequence"],
            one["type"],
            one["status"],
            step_id=one["stepId"],
            tool_call_id=one["toolCallId"],
            timestamp_unix_ms=one["timestampUnixMs"],
            data=one["data"],
            metadata=one["metadata"],
        )
        for one in PAGE["events"]
    ]
    return agenthost.EventPage(events, 256, True)


class Kept:
    """Answers with what it holds already, and reads inputs or does not."""

    def __init__(self, *, read: bool, make: bool) -> None:
        self._context = context()
        self._view, self._page = view(self._context), page()
        self._submission = agenthost.RunSubmission("run-0123456789", 1, "created")
        self._read, self._make = read, make

    def create_run(self, request: agenthost.CreateRun, call: agenthost.Call) -> Any:
        self.seen = request.input if self._read else request
        return self._submission

    def get_run(self, request: agenthost.GetRun, call: agenthost.Call) -> Any:
        return view(self._context) if self._make else self._view

    def list_events(self, request: agenthost.ListEvents, call: agenthost.Call) -> Any:
        return page() if self._make else self._page

    cancel_run = resolve_approval = resume_run = create_run


class KeptLater(Kept):
    """The same with coroutines."""

    async def create_run(self, request: agenthost.CreateRun, call: agenthost.Call) -> Any:
        return super().create_run(request, call)

    async def get_run(self, request: agenthost.GetRun, call: agenthost.Call) -> Any:
        return super().get_run(request, call)

    async def list_events(self, request: agenthost.ListEvents, call: agenthost.Call) -> Any:
        return super().list_events(request, call)

    cancel_run = resolve_approval = resume_run = create_run


def pure_service(operation: str, body: Any) -> Any:
    if operation == "create_run":
        return {"runId": "run-0123456789", "revision": 1, "status": "created"}
    return VIEW if operation == "get_run" else PAGE


def contenders(operation: str, *, read: bool) -> dict[str, Callable[[bytes], bytes]]:
    found: dict[str, Callable[[bytes], bytes]] = {
        "agenthost": agenthost.Host(Kept(read=read, make=False)).dispatch_json,
    }
    if operation != "create_run":
        found["agenthost, result made per call"] = agenthost.Host(Kept(read=read, make=True)).dispatch_json
    for check in (False, True):
        suffix = " + checks" if check else ""
        found[f"msgspec{suffix}"] = pure.over_msgspec(pure_service, check=check, read_input=read, operation=operation)
        found[f"pydantic v2{suffix}"] = pydantic_host.over_pydantic(pure_service, check=check, operation=operation)
        found[f"orjson{suffix}"] = pure.over_dicts(orjson.loads, orjson.dumps, pure_service, check=check)
        found[f"json{suffix}"] = pure.over_dicts(json.loads, pure.json_dumps, pure_service, check=check)
    return found


def awaited(message: bytes, *, read: bool) -> Callable[[int], float]:
    """Seconds for so many dispatches of an async service, awaited one after the other in one task."""
    host = agenthost.Host(KeptLater(read=read, make=False))

    async def many(count: int) -> float:
        dispatch = host.dispatch_json_async
        began = time.process_time()
        for _ in range(count):
            await dispatch(message)
        return time.process_time() - began

    return lambda count: asyncio.run(many(count))


def at_home(message: bytes, *, read: bool) -> Callable[[int], float]:
    """The same, dispatched synchronously: each waits for the home loop's thread."""
    host = agenthost.Host(KeptLater(read=read, make=False))
    host.dispatch_json(message)
    return timed(host.dispatch_json, message)


def timed(dispatch: Callable[[bytes], bytes], message: bytes) -> Callable[[int], float]:
    def run(count: int) -> float:
        began = time.process_time()
        for _ in range(count):
            dispatch(message)
        return time.process_time() - began

    return run


def measure(runs: dict[str, Callable[[int], float]], rounds: int, seconds: float = 0.03) -> dict[str, float]:
    """Medians in microseconds. The contenders take turns."""
    counts = {}
    for name, run in runs.items():
        count = 1
        while (took := run(count)) < seconds / 4:
            count *= 2
        counts[name] = max(1, int(count * seconds / took))
    samples: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            samples[name].append(run(counts[name]) / counts[name] * 1e6)
    return {name: statistics.median(values) for name, values in samples.items()}


def check_fairness(operation: str, message: bytes, found: dict[str, Callable[[bytes], bytes]]) -> None:
    """All contenders say the same."""
    answers = {name: json.loads(dispatch(message)) for name, dispatch in found.items()}
    for name, answer in answers.items():
        if answer != answers["agenthost"]:
            raise AssertionError(f"{operation}: {name} answers otherwise")


def cases(rounds: int) -> dict[str, dict[str, float]]:
    figures: dict[str, dict[str, float]] = {}
    for title, (operation, message) in MESSAGES.items():
        for read in (False, True) if operation == "create_run" else (False,):
            found = contenders(operation, read=read)
            check_fairness(operation, message, found)
            runs = {name: timed(dispatch, message) for name, dispatch in found.items()}
            runs["agenthost, async, awaited"] = awaited(message, read=read)
            runs["agenthost, async, at home"] = at_home(message, read=read)
            name = title + (", input read" if read else ", input not read" if operation == "create_run" else "")
            figures[name] = measure(runs, rounds)
    return figures


def opening(message: bytes, large: int) -> Callable[[int], float]:
    """Seconds of the clock for so many messages opened, the GIL released for those of ``large`` bytes or more."""
    host = _native.NativeHost(1 << 30, [], False, large)

    def run(count: int) -> float:
        began = time.perf_counter()
        for _ in range(count):
            host.open(message, ...)
        return time.perf_counter() - began

    return run


def in_two_threads(run: Callable[[int], float]) -> Callable[[int], float]:
    """The same count shared by two threads at once."""

    def run_both(count: int) -> float:
        halves = [threading.Thread(target=run, args=((count + 1) // 2,)) for _ in range(2)]
        began = time.perf_counter()
        for half in halves:
            half.start()
        for half in halves:
            half.join()
        return time.perf_counter() - began

    return run_both


def threshold(rounds: int) -> dict[str, dict[str, float]]:
    """Opening messages of several sizes with the GIL held and released: where giving it up begins to pay.

    Alone it only costs. In two threads at once it pays from the size on at which both processors are busy with the core's work.
    Beside a thread of pure Python it costs up to a switch interval (5 ms) to get it back; that is what the other thread gains.
    """
    figures: dict[str, dict[str, float]] = {}
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            sum(range(100))

    for size in (1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20):
        message = envelope("create_run", {"context": CONTEXT, "input": tree(size)})
        runs = {"held": opening(message, sys.maxsize), "released": opening(message, 0)}
        alone = measure(runs, rounds)
        shared = measure({name: in_two_threads(run) for name, run in runs.items()}, rounds)
        thread = threading.Thread(target=busy)
        thread.start()
        beside = measure(runs, min(rounds, 3))
        stop.set()
        thread.join()
        stop.clear()
        figures[f"{size >> 10} KiB"] = {
            f"{name}, {where}": value
            for where, values in {"alone": alone, "in two threads": shared, "beside a busy thread": beside}.items()
            for name, value in values.items()
        }
    return figures


def gil_verdict(gil: dict[str, dict[str, float]]) -> str:
    pays = [size for size, values in gil.items() if values["released, in two threads"] < values["held, in two threads"]]
    first = f"from {pays[0]} on, of the sizes measured" if pays else "at none of the sizes measured"
    large = _native.LARGE_MESSAGE_BYTES >> 10
    return f"GIL: releasing it pays in two threads {first}; it is released from {large} KiB on"


def verdicts(figures: dict[str, dict[str, float]]) -> list[str]:
    """What the goals come to, and where pure Python is faster."""
    get = figures["get_run"]
    passed = figures["create_run 64 KiB, input not read"]
    lines = [
        f"get_run: {get['agenthost']:.2f} us; msgspec without checks {get['msgspec']:.2f} us (goal: no slower)",
        f"get_run: pydantic v2 takes {get['pydantic v2'] / get['agenthost']:.1f} times as long (goal: 5 times)",
        f"64 KiB passed through: {passed['agenthost']:.1f} us; msgspec Raw {passed['msgspec']:.1f} us (goal: no slower)",
    ]
    for case, values in figures.items():
        ours = values["agenthost"]
        faster = sorted(name for name, value in values.items() if not name.startswith("agenthost") and value < ours)
        if faster:
            shown = ", ".join(f"{name} ({values[name]:.1f})" for name in faster)
            lines.append(f"pure Python is faster at {case} ({ours:.1f} us): {shown}")
    return lines


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", action="store_true", help="figures for programs")
    options.add_argument("--rounds", type=int, default=7, help="rounds of each contender")
    options.add_argument("--threshold", action="store_true", help="only about the GIL")
    given = options.parse_args()
    figures = {} if given.threshold else cases(given.rounds)
    gil = threshold(given.rounds)
    lines = [*(verdicts(figures) if figures else []), gil_verdict(gil)]
    if given.json:
        about = {
            "python": platform.python_version(),
            "machine": platform.machine(),
            "unit": "us of processor time per call (threshold: of the clock), median",
        }
        print(json.dumps({"about": about, "cases": figures, "threshold": gil, "verdicts": lines}, indent=1))
        return
    for title, values in {**figures, **{f"GIL, {size}": value for size, value in gil.items()}}.items():
        print(f"\n{title}")
        for name, value in sorted(values.items(), key=lambda item: item[1]):
            print(f"  {value:10.2f} us  {name}")
    print()
    for line in lines:
        print(line)


if __name__ == "__main__":
    main()
