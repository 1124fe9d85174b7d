"""How the package behaves in a process that it shares: forks, exits, signals, collection, logging, subinterpreters."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import agenthost
import pytest
from agenthost import Host, _native
from interpreters import interpreters, package_path
from programs import SOON, script
from services import CONTEXT, Plain, create_run, get_run, list_events, ok, serving


def test_a_host_of_the_parent_is_refused_in_a_fork_and_a_new_one_works() -> None:
    out = script(
        """
        import asyncio, os
        class Both(Plain):
            async def get_run(self, request, call):
                return await super_get(self, request, call)
        async def super_get(self, request, call):
            return Plain.get_run(self, request, call)
        host = Host(Both())
        ok(host.dispatch_json(get_run()))
        child = os.fork()
        if child == 0:
            for dispatch in (host.dispatch_json, lambda data: asyncio.run(host.dispatch_json_async(data))):
                try:
                    dispatch(get_run())
                except RuntimeError as error:
                    print("child:", error, flush=True)
            host.close()
            with Host(Both()) as mine:
                print("child:", ok(mine.dispatch_json(get_run()))["runId"], flush=True)
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        print("parent:", ok(host.dispatch_json(get_run()))["runId"])
        """
    )
    refusal = "child: this process is a fork of the one that made the host: make a new host in this process"
    assert out.splitlines() == [refusal, refusal, "child: run-1", "parent: run-1"]


def test_a_call_that_forks_is_answered_by_the_parent_alone() -> None:
    out = script(
        """
        import os
        class Forking(Plain):
            def get_run(self, request, call):
                self.child = os.fork()
                return Plain.get_run(self, request, call)
        service = Forking()
        host = Host(service)
        response = host.dispatch_json(get_run())
        if service.child == 0:
            print("child:", code(response), flush=True)
            sys.exit(0)
        assert os.waitpid(service.child, 0)[1] == 0
        print("parent:", ok(response)["runId"])
        """
    )
    assert out.splitlines() == ["child: unavailable", "parent: run-1"]


def test_workers_forked_under_load_serve_with_hosts_of_their_own() -> None:
    out = script(
        """
        import os, threading
        host = Host(Plain())
        stop = threading.Event()
        def load():
            while not stop.is_set():
                ok(host.dispatch_json(get_run()))
        threads = [threading.Thread(target=load) for _ in range(4)]
        for thread in threads: thread.start()
        children = []
        for _ in range(8):
            child = os.fork()
            if child == 0:
                mine = Host(Plain())
                for _ in range(100): ok(mine.dispatch_json(get_run()))
                try: host.dispatch_json(get_run())
                except RuntimeError: os._exit(7)
                os._exit(1)
            children.append(child)
        print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
        stop.set()
        for thread in threads: thread.join()
        """
    )
    assert out.strip() == str([7] * 8)


def test_exit_with_calls_in_flight_answers_every_waiting_caller() -> None:
    out = script(
        """
        import asyncio, threading
        class Waiting(Plain):
            async def get_run(self, request, call):
                started.release()
                await asyncio.Event().wait()
        started = threading.Semaphore(0)
        host = Host(Waiting())
        def call(): sys.stdout.write(reason(host.dispatch_json(get_run())) + "\\n"); sys.stdout.flush()
        for _ in range(5): threading.Thread(target=call, daemon=True).start()
        for _ in range(5): started.acquire()
        """
    )
    assert out.split() == ["closed"] * 5


def test_exit_while_a_def_method_sleeps_in_a_daemon_thread_is_clean() -> None:
    script(
        """
        import threading, time
        class Slow(Plain):
            def get_run(self, request, call):
                started.set()
                time.sleep(0.6)
                return super().get_run(request, call)
        started = threading.Event()
        host = Host(Slow())
        threading.Thread(target=lambda: host.dispatch_json(get_run()), daemon=True).start()
        started.wait()
        """
    )


@pytest.mark.parametrize("turn", range(3))
def test_exit_under_load_is_clean(turn: int) -> None:
    script(
        """
        import threading, time
        host = Host(Plain(), max_message_bytes=1 << 30)
        large = create_run("x" * 400_000)
        def load():
            while True:
                host.dispatch_json(get_run()); host.dispatch_json(large)
        for _ in range(4): threading.Thread(target=load, daemon=True).start()
        time.sleep(0.3)
        """
    )


def test_exit_with_a_host_that_was_never_closed_is_clean() -> None:
    script(
        """
        class Later(Plain):
            async def get_run(self, request, call): return Plain.get_run(self, request, call)
        host = Host(Later())
        ok(host.dispatch_json(get_run()))
        service = Later(); service.host = Host(service)
        """
    )


@pytest.mark.parametrize(
    "blocking",
    [
        "host.dispatch_json(get_run())",
        "threading.Thread(target=host.dispatch_json, args=(get_run(),), daemon=True).start(); started.acquire(); host.close()",
        "asyncio.run(host.dispatch_json_async(get_run()))",
        "Host(serving(lambda request, call: time.sleep(60))).dispatch_json(get_run())",
        "Client(lost, retry=Retry(first_delay=60, max_delay=60)).get_run('run-1')",
    ],
    ids=["dispatch", "close", "await", "def method", "retry"],
)
def test_ctrl_c_interrupts_every_wait(blocking: str) -> None:
    source = f"""
        import asyncio, os, signal, threading, time
        class Waiting(Plain):
            async def get_run(self, request, call):
                started.release()
                try: await asyncio.Event().wait()
                except asyncio.CancelledError: cancelled.release(); raise
        started, cancelled = threading.Semaphore(0), threading.Semaphore(0)
        def lost(data): raise ConnectionError
        host = Host(Waiting())
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        try:
            {blocking}
        except KeyboardInterrupt:
            assert time.monotonic() - began < 20
            print("interrupted")
        """
    assert script(source).strip() == "interrupted"


def test_ctrl_c_cancels_the_coroutine_that_the_call_waits_for() -> None:
    out = script(
        """
        import asyncio, os, signal, threading
        class Waiting(Plain):
            async def get_run(self, request, call):
                threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
                try: await asyncio.Event().wait()
                except asyncio.CancelledError: cancelled.set(); raise
        cancelled = threading.Event()
        host = Host(Waiting())
        try: host.dispatch_json(get_run())
        except KeyboardInterrupt: print("interrupted", cancelled.wait(10))
        host.close()
        """
    )
    assert out.strip() == "interrupted True"


def test_a_cycle_of_host_and_service_is_collected() -> None:
    class Owner(Plain):
        host: Host

        async def get_run(self, request: agenthost.GetRun, call: agenthost.Call) -> Any:
            return agenthost.RunView("run-1", 1, "running", CONTEXT)

    gc.collect()
    before = _native.live()["hosts"]
    service = Owner()
    service.host = Host(service)
    ok(service.host.dispatch_json(get_run()))
    gone = weakref.ref(service)
    assert _native.live()["hosts"] == before + 1
    del service
    gc.collect()
    assert gone() is None
    assert _native.live()["hosts"] == before
    deadline = time.monotonic() + SOON
    while [thread for thread in threading.enumerate() if thread.name == "agenthost-loop"]:
        assert time.monotonic() < deadline, "the loop thread of a collected host ends"
        time.sleep(0.01)


def resident() -> int:
    """The bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_100_000_dispatches_leave_nothing_behind() -> None:
    events = [agenthost.Event("run-1", n, "t", "running", data={"n": n}) for n in range(1, 9)]

    class Busy(Plain):
        def list_events(self, request: agenthost.ListEvents, call: agenthost.Call) -> Any:
            return agenthost.EventPage(events, 8)

        def cancel_run(self, request: agenthost.CancelRun, call: agenthost.Call) -> Any:
            raise agenthost.NotFound("no", details={"a": 1}, metadata={"b": "c"})

        def create_run(self, request: agenthost.CreateRun, call: agenthost.Call) -> Any:
            assert request.input["a"] == ["x" * 100]
            return {"runId": request.context.run_id, "revision": 1, "status": "created"}

    host = Host(Busy())
    cancel = agenthost.encode_request(agenthost.CancelRun("run-1", 1)).data
    messages = [get_run(), create_run({"a": ["x" * 100]}), list_events(), cancel, b"{"]

    def rounds(count: int) -> None:
        for _ in range(count):
            for message in messages:
                host.dispatch_json(message)

    rounds(2_000)
    gc.collect()
    before = resident()
    rounds(20_000)
    gc.collect()
    grown = resident() - before
    assert grown < 4 << 20, f"{grown} bytes more after 100,000 dispatches"
    assert _native.live()["calls"] == 0


def test_failures_on_all_threads_reach_logging(caplog: pytest.LogCaptureFixture) -> None:
    view = agenthost.RunView("other", 1, "running", CONTEXT)
    host = Host(serving(lambda request, call: view))
    threads = [threading.Thread(target=lambda: [host.dispatch_json(get_run()) for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    records = [record for record in caplog.records if record.name == "agenthost"]
    assert len(records) == 200
    assert all("breaks a rule of the contract" in record.getMessage() for record in records)
    assert all("runId" in record.getMessage() for record in records)


def test_importing_and_dispatching_leave_signals_and_environment_alone() -> None:
    out = script(
        """
        import os, signal, threading
        print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, signal.getsignal(signal.SIGPIPE) is signal.SIG_IGN)
        before = dict(os.environ)
        ok(Host(Plain()).dispatch_json(get_run()))
        print(os.environ == before, threading.active_count())
        """
    )
    assert out.split() == ["True", "True", "True", "1"]


@pytest.mark.parametrize("python", [pytest.param(path, id=version) for version, path in interpreters().items()])
@pytest.mark.parametrize("first", ["import agenthost", "pass"], ids=["second", "first"])
@pytest.mark.parametrize("kind", ["isolated", "legacy"])
def test_a_subinterpreter_is_refused_clearly(python: str, first: str, kind: str) -> None:
    source = f"""
import sys
sys.path.insert(0, {package_path()!r})
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
{first}
code = '''
import sys
sys.path.insert(0, {package_path()!r})
try:
    import agenthost
    print("imported")
except ImportError as error:
    print(error, flush=True)
'''
legacy = "legacy" if sys.version_info >= (3, 13) else None
if {kind!r} == "isolated":
    interpreter = interpreters.create()
else:
    interpreter = interpreters.create("legacy") if legacy else interpreters.create(isolated=False)
interpreters.run_string(interpreter, code)
interpreters.destroy(interpreter)
import agenthost
print(agenthost.__version__)
"""
    for _ in range(3):
        done = subprocess.run([python, "-c", source], capture_output=True, text=True, timeout=SOON, check=True)
        refusal, version = done.stdout.splitlines()
        assert "subinterpreter" in refusal
        assert version == agenthost.__version__


def test_the_gil_is_released_for_large_messages() -> None:
    """While one thread has the core at a large message, another one runs Python in the middle of the call."""
    host = Host(Plain(), max_message_bytes=1 << 30)
    message = create_run("x" * (64 << 20))
    times: list[float] = []
    stop = threading.Event()

    def note() -> None:
        while not stop.is_set():
            times.append(time.perf_counter())

    interval = sys.getswitchinterval()
    thread = threading.Thread(target=note)
    thread.start()
    try:
        sys.setswitchinterval(1e-4)
        began = time.perf_counter()
        opened = host._native.open(message, ...)
        ended = time.perf_counter()
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        thread.join()
    del opened
    quarter = (ended - began) / 4
    assert any(began + quarter < moment < ended - quarter for moment in times)


def test_no_signal_is_lost_on_the_main_thread() -> None:
    """A handler runs while a dispatch waits, and the wait goes on."""
    seen: list[int] = []
    previous = signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
    try:

        async def get(request: agenthost.GetRun, call: agenthost.Call) -> Any:
            os.kill(os.getpid(), signal.SIGUSR1)
            return agenthost.RunView("run-1", 1, "running", CONTEXT)

        with Host(serving(get)) as host:
            assert ok(host.dispatch_json(get_run()))
    finally:
        signal.signal(signal.SIGUSR1, previous)
    assert seen == [signal.SIGUSR1]
