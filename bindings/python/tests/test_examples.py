"""The examples run as they stand."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import agenthost
import httpx
import pytest
import typed_example
from agenthost import AsyncClient, ExecutionContext

PYTHON = Path(__file__).resolve().parents[1]


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, PYTHON / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


async def test_a_fastapi_route_is_a_transport() -> None:
    app = example("fastapi_route").app
    transport = httpx.ASGITransport(app)
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url="http://host") as http:

        def client(token: str) -> AsyncClient:
            async def send(data: bytes) -> bytes:
                response = await http.post("/agent-host", content=data, headers={"authorization": f"Bearer {token}"})
                assert response.headers["content-type"] == "application/json"
                response.raise_for_status()
                return response.content

            return AsyncClient(send)

        ada, bob = client("token-of-ada"), client("token-of-bob")
        assert await ada.create_run(ExecutionContext("run-1"), {"a": 1}) == agenthost.RunSubmission("run-1", 1, "created")
        assert (await ada.get_run("run-1")).status == "created"
        with pytest.raises(agenthost.NotFound):
            await bob.get_run("run-1")
        with pytest.raises(agenthost.Conflict) as caught:
            await ada.cancel_run("run-1", 7)
        assert caught.value.details == {"revision": 1}
        assert (await ada.cancel_run("run-1", 1)).status == "cancelled"
        assert (await http.post("/agent-host", content=b"{}")).status_code == 401
        refused = await http.post("/agent-host", content=b"{", headers={"authorization": "Bearer token-of-ada"})
        assert refused.status_code == 200
        assert refused.json()["error"]["code"] == "invalid_request"


def test_the_demo_runs() -> None:
    done = subprocess.run(
        [sys.executable, str(PYTHON / "examples" / "demo.py")], capture_output=True, text=True, timeout=60, check=True
    )
    assert '"status":"created"' in done.stdout
    assert "{'words': 3, 'for': 'ada'}" in done.stdout
    assert "Conflict('the run has ended')" in done.stdout
    assert "fault of the service, which" not in done.stdout


def test_the_typed_example_runs() -> None:
    assert typed_example.over_a_client() == ("created", 1, b'{"task":"look"}')
