"""Durable hosts and the process around them: killed, forked, interrupted, at its exit, several at once."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from agenthost import Host, _native
from durable import create
from programs import HERE, SOON, script
from services import get_run, list_events, ok


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


CREATING = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from agenthost import Host
from durable import create
from services import ok
host = Host.open("sqlite:" + sys.argv[2])
async def work(number):
    for n in range(100_000):
        run_id = f"run-{number}-{n}"
        ok(await host.dispatch_json_async(create(run_id, run_id)))
        print(run_id, flush=True)
async def main():
    await asyncio.gather(*(work(number) for number in range(8)))
asyncio.run(main())
"""


def creating(file: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CREATING, str(HERE), str(file)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def lines(process: subprocess.Popen[str], count: int) -> list[str]:
    assert process.stdout is not None
    return [process.stdout.readline().strip() for _ in range(count)]


def test_what_was_acknowledged_outlives_kill_9(file: Path) -> None:
    for _ in range(3):
        process = creating(file)
        acknowledged = lines(process, 40)
        os.kill(process.pid, signal.SIGKILL)
        assert process.stdout is not None
        rest = process.stdout.read().split("\n")
        process.stdout.close()
        assert process.wait(SOON) == -signal.SIGKILL
        # The last line may be half.
        acknowledged += rest[:-1]
        with Host.open(f"sqlite:{file}") as host:
            for run_id in acknowledged:
                assert ok(host.dispatch_json(get_run(run_id)))["status"] == "created"
                assert ok(host.dispatch_json(create(run_id, run_id)))["revision"] == 1
        file = file.with_name(f"again-{file.name}")


def test_two_processes_and_this_one_work_on_one_file(file: Path) -> None:
    with Host.open(f"sqlite:{file}") as host:
        first, second = creating(file), creating(file)
        try:
            # Both ask for the same runs, with the same keys.
            run_ids = set(lines(first, 30) + lines(second, 30))
            for run_id in run_ids:
                assert len(ok(host.dispatch_json(list_events_of(run_id)))["events"]) == 1
        finally:
            for process in (first, second):
                process.kill()
                process.communicate(timeout=SOON)


def list_events_of(run_id: str) -> bytes:
    return list_events().replace(b"run-1", run_id.encode())


def test_a_host_of_the_parent_is_refused_in_a_fork_which_opens_the_file_anew(file: Path) -> None:
    out = script(
        f"""
        import asyncio, os
        url = "sqlite:{file}"
        host = Host.open(url)
        memory = Host.open("memory:")
        ok(host.dispatch_json(create())); ok(memory.dispatch_json(create()))
        child = os.fork()
        if child == 0:
            for one in (host, memory):
                for dispatch in (one.dispatch_json, lambda data: asyncio.run(one.dispatch_json_async(data))):
                    try: dispatch(get_run())
                    except RuntimeError as error: print("child:", error, flush=True)
                one.close()
            again = Host.open(url)
            print("child:", ok(again.dispatch_json(get_run()))["status"], flush=True)
            mine = Host.open("memory:")
            print("child:", ok(mine.dispatch_json(create()))["runId"], flush=True)
            again.close()
            del host, memory, one
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        print("parent:", ok(host.dispatch_json(get_run()))["runId"], ok(host.dispatch_json(cancel()))["revision"])
        """
    )
    refusal = "child: this process is a fork of the one that made the host: make a new host in this process"
    assert out.splitlines() == [refusal] * 4 + ["child: created", "child: run-1", "parent: run-1 2"]


def test_workers_that_open_after_the_fork_share_the_file(file: Path) -> None:
    out = script(
        f"""
        import os
        children = []
        for number in range(4):
            child = os.fork()
            if child == 0:
                with Host.open("sqlite:{file}") as mine:
                    for n in range(20): ok(mine.dispatch_json(create(f"run-{{n}}", f"key-{{n}}")))
                os._exit(7)
            children.append(child)
        print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
        with Host.open("sqlite:{file}") as host:
            print(sum(ok(host.dispatch_json(get_run(f"run-{{n}}")))["revision"] for n in range(20)))
        """
    )
    assert out.split("\n")[:2] == ["[7, 7, 7, 7]", "20"]


@pytest.mark.parametrize("way", ["host.dispatch_json(create())", "asyncio.run(host.dispatch_json_async(create()))"])
def test_ctrl_c_ends_the_wait_and_leaves_the_run_alone(file: Path, way: str) -> None:
    out = script(
        f"""
        import asyncio, os, signal, threading, time
        host = Host.open("sqlite:{file}")
        with commits_wait("{file}"):
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            began = time.monotonic()
            try: {way}
            except KeyboardInterrupt: print("interrupted", time.monotonic() - began < 3)
        print(ok(host.dispatch_json(create()))["revision"])
        """
    )
    assert out.split("\n")[:2] == ["interrupted True", "1"]


def test_ctrl_c_ends_the_wait_for_a_file_that_others_keep(file: Path) -> None:
    out = script(
        f"""
        import os, signal, sqlite3, threading, time
        other = sqlite3.connect("{file}", isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        try: Host.open("sqlite:{file}")
        except KeyboardInterrupt: print("interrupted", time.monotonic() - began < 3)
        other.close()
        with Host.open("sqlite:{file}") as host: print(ok(host.dispatch_json(create()))["revision"])
        """
    )
    assert out.split("\n")[:2] == ["interrupted True", "1"]


def test_exit_answers_every_caller_that_waits_for_a_commit(file: Path) -> None:
    out = script(
        f"""
        import sqlite3, threading, time
        from agenthost import _native
        host = Host.open("sqlite:{file}")
        other = sqlite3.connect("{file}", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        def call(n):
            sys.stdout.write(reason(host.dispatch_json(create(f"run-{{n}}", f"k-{{n}}"))) + "\\n"); sys.stdout.flush()
        for n in range(5): threading.Thread(target=call, args=(n,), daemon=True).start()
        while _native.live()["calls"] < 5: time.sleep(0.01)
        """
    )
    assert out.split() == ["closed"] * 5


def test_exit_with_a_task_that_waits_is_clean(file: Path) -> None:
    script(
        f"""
        import asyncio
        host = Host.open("sqlite:{file}")
        async def main():
            task = asyncio.create_task(host.dispatch_json_async(create()))
            await asyncio.sleep(0)
        asyncio.run(main())
        """
    )
    with Host.open(f"sqlite:{file}") as host:
        assert ok(host.dispatch_json(get_run()))["revision"] == 1


@pytest.mark.parametrize("turn", range(3))
def test_exit_under_load_is_clean(file: Path, turn: int) -> None:
    script(
        f"""
        import asyncio, threading, time
        host = Host.open("sqlite:{file}")
        def load(number):
            for n in range(1_000_000): host.dispatch_json(create(f"run-{{number}}-{{n}}", f"k-{{number}}-{{n}}"))
        async def tasks():
            # Four threads want the GIL, too: that a step takes a tenth of a second is nothing to report.
            asyncio.get_running_loop().slow_callback_duration = 30
            await asyncio.gather(*(host.dispatch_json_async(get_run()) for n in range(1_000)))
        def loops():
            while True: asyncio.run(tasks())
        for n in range(4): threading.Thread(target=load, args=(n,), daemon=True).start()
        threading.Thread(target=loops, daemon=True).start()
        time.sleep(0.2)
        """
    )


def test_20_000_dispatches_leave_nothing_behind() -> None:
    host = Host.open("memory:")
    ok(host.dispatch_json(create()))
    messages = [get_run(), list_events(), create(), b"{"]

    def rounds(count: int) -> None:
        for _ in range(count):
            for message in messages:
                host.dispatch_json(message)

    rounds(1_000)
    gc.collect()
    before = resident()
    rounds(5_000)
    gc.collect()
    grown = resident() - before
    assert grown < 4 << 20, f"{grown} bytes more after 20,000 dispatches"
    assert _native.live()["calls"] == 0


def resident() -> int:
    """The bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
