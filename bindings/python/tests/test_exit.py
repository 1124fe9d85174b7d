"""The exit of the interpreter: clean with whatever threads still do, on every Python of this machine, and soon."""

from __future__ import annotations

import textwrap
import time
from pathlib import Path

import pytest
from interpreters import interpreters
from programs import script

PYTHONS = pytest.mark.parametrize("python", [pytest.param(path, id=version) for version, path in interpreters().items()])
#: How often a race is given the chance to show itself.
TURNS = 3

#: Four daemon threads dispatch while the main thread ends.
UNDER_LOAD = """
import collections, logging, random, threading, time
from types import SimpleNamespace
class Handler(logging.Handler):
    def emit(self, record): self.format(record)
logging.getLogger("agenthost").addHandler(Handler())
{service}
host = Host(serving(get))
def load():
    while True: host.dispatch_json(get_run())
for _ in range(4): threading.Thread(target=load, daemon=True).start()
time.sleep(0.1 + random.random() / 10)
"""

LOADS = {
    "answers that break a rule": """
        def get(request, call): return RunView("other", 1, "running", CONTEXT)
        """,
    "metadata of the application's own mapping": """
        def get(request, call): return RunView("run-1", 1, "running", CONTEXT, metadata=collections.UserDict(a="b", c="d"))
        """,
    "errors of the application's own": """
        class Own(NotFound):
            @property
            def details(self): return {"a": [1]}
            @details.setter
            def details(self, value): pass
        def get(request, call): raise Own("no")
        """,
    "integers of the application's own": """
        class Number:
            def __index__(self): return sum(range(1, 2))
        def get(request, call): return RunView("run-1", Number(), "running", CONTEXT)
        """,
    "results with numbers of any size": """
        VIEW = RunView("run-1", 1, "running", CONTEXT, result=[2**70] * 100)
        def get(request, call): VIEW.result; return VIEW
        """,
    "responses that a client reads": """
        def get(request, call):
            decode_response(REFUSAL)
            try: decode_response(b"{}")
            except BadResponse: pass
            raise NotFound("no")
        REFUSAL = b'{"protocolVersion":"2026-07-01","requestId":"r","operation":"get_run","ok":false,"error":{"code":"conflict"}}'
        """,
}


@PYTHONS
@pytest.mark.parametrize("load", LOADS)
def test_exit_while_threads_dispatch_is_clean(python: str, load: str) -> None:
    for _ in range(TURNS):
        script(UNDER_LOAD.format(service=textwrap.dedent(LOADS[load])), python=python, clean=False)


#: The application's code sleeps where the package asks it something, and the main thread ends.
ASLEEP = {
    "__getattr__": """
        class Odd:
            def __getattr__(self, name): sleep(); raise AttributeError(name)
        def get(request, call): return Odd()
        """,
    "__bool__": """
        class Odd:
            def __bool__(self): sleep(); return True
        def get(request, call):
            error = NotFound("no"); error.retryable = Odd(); raise error
        """,
    "__index__": """
        class Odd:
            def __index__(self): sleep(); return 1
        def get(request, call): return RunView("run-1", Odd(), "running", CONTEXT)
        """,
    "mapping": """
        import collections
        class Odd(collections.UserDict):
            def __iter__(self): sleep(); return super().__iter__()
        def get(request, call): return RunView("run-1", 1, "running", CONTEXT, metadata=Odd(a="b"))
        """,
    "keys": """
        import collections
        class Odd(collections.UserDict):
            def keys(self): sleep(); return super().keys()
        def get(request, call):
            error = NotFound("no"); error.metadata = Odd(a="b"); raise error
        """,
    "property of an error": """
        class Odd(NotFound):
            @property
            def details(self): sleep(); return {}
            @details.setter
            def details(self, value): pass
        def get(request, call): raise Odd("no")
        """,
    "iterator of events": """
        def events():
            sleep(); yield Event("run-1", 1, "t", "running")
        def get(request, call): return EventPage(events(), 1)
        """,
    "iterator of versions": """
        def versions():
            sleep(); yield "2026-07-01"
        def get(request, call): negotiate_version(versions())
        """,
    "name of a metaclass": """
        class Meta(type):
            @property
            def __name__(self): sleep(); return "Odd"
        class Odd(metaclass=Meta): pass
        def get(request, call): return {"runId": Odd()} if wait_in_vain() else RunView("run-1", Odd(), "running", CONTEXT)
        def wait_in_vain(): threading.Timer(0.2, started.set).start(); return False
        """,
    "repr of a string": """
        class Odd(str):
            def __repr__(self): sleep(); return "odd"
        def get(request, call): threading.Timer(0.2, started.set).start(); return RunView("run-1", 1, Odd("none"), CONTEXT)
        """,
    "handler": """
        import logging
        class Odd(logging.Handler):
            # Without the lock of `emit`: the exit of `logging` would wait for it, whoever logs.
            def handle(self, record): sleep()
        logging.getLogger("agenthost").addHandler(Odd())
        def get(request, call): return RunView("other", 1, "running", CONTEXT)
        """,
    "end of garbage": """
        import gc
        class Odd:
            def __init__(self): self.me = self
            def __del__(self): sleep()
        VIEW = RunView("run-1", 1, "running", CONTEXT, result=[[], {}] * 500)
        def get(request, call):
            threading.Timer(1, started.set).start()
            gc.set_threshold(100, 1, 1)
            Odd()
            while True: VIEW.result
        """,
    "end of a message": """
        class Odd(bytes):
            def __del__(self): sleep()
        message = [Odd(get_run())]
        def get(request, call): return message.clear() or RunView("run-1", 1, "running", CONTEXT)
        def dispatch(host): host.dispatch_json(message[0]); started.set()
        """,
}


@PYTHONS
@pytest.mark.parametrize("where", ASLEEP)
def test_exit_while_the_applications_code_sleeps_is_clean_and_soon(python: str, where: str) -> None:
    began = time.monotonic()
    script(
        f"""
import threading, time
def sleep():
    if threading.current_thread() is not threading.main_thread():
        started.set(); time.sleep(1.5); time.sleep(60)
started = threading.Event()
def dispatch(host): host.dispatch_json(get_run())
{textwrap.dedent(ASLEEP[where])}
host = Host(serving(get))
threading.Thread(target=dispatch, args=(host,), daemon=True).start()
assert started.wait(20)
class Late:
    # The interpreter is still on its way out when the sleeper wakes up.
    def __del__(self, sleep=time.sleep): sleep(2)
late = Late()
""",
        python=python,
        clean=False,
    )
    assert time.monotonic() - began < 40


WAITS = {
    "a thread": "threading.Thread(target=call).start()",
    "an executor": "concurrent.futures.ThreadPoolExecutor().submit(call)",
    "asyncio.to_thread": """
        loop = asyncio.new_event_loop()
        loop.run_until_complete(asyncio.wait([loop.create_task(asyncio.to_thread(call))], timeout=0.2))
    """,
}


@PYTHONS
@pytest.mark.parametrize("where", WAITS)
def test_exit_answers_a_call_on_which_the_interpreter_would_wait(python: str, where: str) -> None:
    out = script(
        f"""
import asyncio, concurrent.futures, threading
class Waiting(Plain):
    async def get_run(self, request, call):
        started.set()
        await asyncio.Event().wait()
def call(): sys.stdout.write(reason(host.dispatch_json(get_run())) + "\\n"); sys.stdout.flush()
started = threading.Event()
host = Host(Waiting())
{textwrap.dedent(WAITS[where])}
started.wait()
""",
        python=python,
        clean=False,
    )
    assert out.split() == ["closed"]


def test_exit_closes_hosts_that_threads_make_after_the_main_thread_ended() -> None:
    out = script(
        """
        import asyncio, threading, time
        class Waiting(Plain):
            async def get_run(self, request, call):
                await asyncio.Event().wait()
        def late():
            threading.main_thread().join()
            host = Host(Waiting())
            threading.Thread(target=lambda: print(reason(host.dispatch_json(get_run())), flush=True), daemon=True).start()
            time.sleep(0.2)
        threading.Thread(target=late).start()
        """
    )
    assert out.split() in (["closed"], [])


@pytest.mark.parametrize("begin", ["IMMEDIATE", "EXCLUSIVE"])
def test_exit_gives_durable_hosts_whose_file_another_process_keeps_a_second(tmp_path: Path, begin: str) -> None:
    out = script(
        f"""
        import subprocess, threading, time
        from agenthost import _native
        file = "{tmp_path}/runs.db"
        host = Host.open("sqlite:" + file)
        ok(host.dispatch_json(create()))
        keep = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('BEGIN {begin}'); "
        keep += "print('kept', flush=True); sys.stdin.read()"
        other = subprocess.Popen([sys.executable, "-c", keep, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        other.stdout.readline()
        threading.Thread(target=lambda: host.dispatch_json(create("run-2", "k-2")), daemon=True).start()
        while _native.live()["calls"] < 1: time.sleep(0.01)
        print(time.time())
        """,
        clean=False,
    )
    assert time.time() - float(out) < 5, "a second, not the ten that a commit may wait"
