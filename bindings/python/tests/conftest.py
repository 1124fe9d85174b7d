"""What every test leaves behind: no open call."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from agenthost import _native


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    before = _native.live()["calls"]
    yield
    if _native.live()["calls"] != before:
        gc.collect()
    assert _native.live()["calls"] == before, "an open call is left"
