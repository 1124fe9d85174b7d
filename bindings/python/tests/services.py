"""Services and envelopes for the tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import agenthost

OPERATIONS = [str(operation) for operation in agenthost.Operation]
CONTEXT = agenthost.ExecutionContext("run-1")


class Plain:
    """Answers all six operations at once, with as little as the contract allows."""

    def create_run(self, request: agenthost.CreateRun, call: agenthost.Call) -> Any:
        return agenthost.RunSubmission(request.context.run_id, 1, "created")

    def get_run(self, request: agenthost.GetRun, call: agenthost.Call) -> Any:
        return agenthost.RunView(request.run_id, 1, "running", agenthost.ExecutionContext(request.run_id))

    def cancel_run(self, request: agenthost.CancelRun, call: agenthost.Call) -> Any:
        return agenthost.RunSubmission(request.run_id, request.expected_revision + 1, "cancelled")

    def resolve_approval(self, request: agenthost.ResolveApproval, call: agenthost.Call) -> Any:
        return agenthost.RunSubmission(request.run_id, request.expected_revision + 1, "running")

    def resume_run(self, request: agenthost.ResumeRun, call: agenthost.Call) -> Any:
        return agenthost.RunSubmission(request.run_id, request.expected_revision + 1, "running")

    def list_events(self, request: agenthost.ListEvents, call: agenthost.Call) -> Any:
        return agenthost.EventPage([], request.after_sequence)


def serving(get_run: Callable[..., Any]) -> Plain:
    """A service whose ``get_run`` is this function of request and call."""
    service = Plain()
    service.get_run = get_run  # type: ignore[method-assign]
    return service


def get_run(run_id: str = "run-1", request_id: str = "r-1", **members: Any) -> bytes:
    return envelope("get_run", {"runId": run_id}, requestId=request_id, **members)


def create_run(input: Any = None, run_id: str = "run-1") -> bytes:
    return envelope("create_run", {"context": {"runId": run_id}, "input": input}, idempotencyKey="k-1")


def list_events(after: int = 0, limit: int = 256) -> bytes:
    return envelope("list_events", {"runId": "run-1", "afterSequence": after, "limit": limit})


def envelope(operation: str, body: Any, **members: Any) -> bytes:
    message = {"protocolVersion": "2026-07-01", "requestId": "r-1", "operation": operation, "body": body, **members}
    return json.dumps(message).encode()


def parsed(response: bytes) -> Any:
    assert type(response) is bytes
    found = json.loads(response)
    assert set(found) == {"protocolVersion", "requestId", "operation", "ok", "body", "error"}
    return found


def code(response: bytes) -> str:
    found = parsed(response)
    assert found["ok"] is False
    return str(found["error"]["code"])


def reason(response: bytes) -> str:
    found = parsed(response)
    assert found["error"]["code"] == "unavailable"
    assert found["error"]["retryable"] is True
    return str(found["error"]["details"]["reason"])


def ok(response: bytes) -> Any:
    found = parsed(response)
    assert found["ok"] is True, found["error"]
    return found["body"]
