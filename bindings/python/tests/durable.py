"""For the tests of durable hosts: envelopes, a file, and a way to keep commits waiting."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from services import envelope


def create(run_id: str = "run-1", key: str = "k-1", input: Any = None, **context: Any) -> bytes:
    body = {"context": {"runId": run_id, **context}, "input": input}
    return envelope("create_run", body, idempotencyKey=key)


def cancel(run_id: str = "run-1", revision: int = 1, key: str = "c-1") -> bytes:
    return envelope("cancel_run", {"runId": run_id, "expectedRevision": revision}, idempotencyKey=key)


@contextmanager
def commits_wait(file: Path | str) -> Iterator[None]:
    """While another SQLite holds the write lock nothing is committed (for up to 5 s; then the host says ``unavailable``)."""
    connection = sqlite3.connect(file, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
    finally:
        connection.close()
