"""The contract's vectors: where they are, how JSON is compared, and a service that plays one."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import agenthost

Json = Any
DEFAULT = Path(__file__).resolve().parents[3] / "tests" / "vectors"


def load() -> Iterator[dict[str, Json]]:
    """The vectors of every ``.jsonl`` file in the folder, file by file in the order of their names."""
    for path in sorted(Path(os.environ.get("AGENTHOST_VECTORS", DEFAULT)).glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").split("\n"):
            if line.strip():
                yield json.loads(line)


def message(vector: dict[str, Json], member: str) -> bytes:
    if f"{member}_base64" in vector:
        return base64.b64decode(vector[f"{member}_base64"])
    text: str = vector[member if member in vector else f"{member}_text"]
    return text.encode("utf-8", "surrogatepass")


def equal(left: Json, right: Json) -> bool:
    """By value: integers within 64 bits exactly, other numbers as doubles, members in any order."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        exact = isinstance(left, int) and isinstance(right, int) and -(2**63) <= left < 2**64 and -(2**63) <= right < 2**64
        return left == right if exact else float(left) == float(right)
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(value, right[name]) for name, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    return type(left) is type(right) and bool(left == right)


def expect(what: str, expected: Json, found: Json) -> None:
    if not equal(expected, found):
        raise AssertionError(f"{what}: expected {expected!r}, found {found!r}")


_CONTEXT = {
    "runId": "run_id",
    "traceId": "trace_id",
    "requestId": "request_id",
    "tenantId": "tenant_id",
    "userId": "user_id",
    "applicationId": "application_id",
    "workspaceId": "workspace_id",
    "conversationId": "conversation_id",
    "agentId": "agent_id",
    "locale": "locale",
    "deadlineUnixMs": "deadline_unix_ms",
    "metadata": "metadata",
}
_APPROVAL = {
    "approvalId": "approval_id",
    "toolCallId": "tool_call_id",
    "toolName": "tool_name",
    "resolution": "resolution",
    "reason": "reason",
    "createdAtUnixMs": "created_at_unix_ms",
    "resolvedAtUnixMs": "resolved_at_unix_ms",
    "metadata": "metadata",
}
_RUN = {
    "runId": "run_id",
    "revision": "revision",
    "status": "status",
    "createdAtUnixMs": "created_at_unix_ms",
    "updatedAtUnixMs": "updated_at_unix_ms",
    "completedAtUnixMs": "completed_at_unix_ms",
    "result": "result",
    "error": "error",
    "metadata": "metadata",
}
_EVENT = {
    "runId": "run_id",
    "sequence": "sequence",
    "type": "type",
    "status": "status",
    "stepId": "step_id",
    "toolCallId": "tool_call_id",
    "timestampUnixMs": "timestamp_unix_ms",
    "data": "data",
    "metadata": "metadata",
}
_REQUEST = {
    "runId": "run_id",
    "expectedRevision": "expected_revision",
    "reason": "reason",
    "approvalId": "approval_id",
    "resolution": "resolution",
    "metadata": "metadata",
    "input": "input",
    "afterSequence": "after_sequence",
    "limit": "limit",
}


def _renamed(names: dict[str, str], values: dict[str, Json]) -> dict[str, Json]:
    return {names[name]: value for name, value in values.items()}


def typed(operation: str, ok: dict[str, Json]) -> agenthost.RunView | agenthost.RunSubmission | agenthost.EventPage:
    """A result of the contract's JSON, as the package's class."""
    if operation == "get_run":
        view = dict(ok)
        context = agenthost.ExecutionContext(**_renamed(_CONTEXT, view.pop("context")))
        approval = view.pop("approval")
        if approval is not None:
            approval = agenthost.ApprovalView(**_renamed(_APPROVAL, approval))
        return agenthost.RunView(context=context, approval=approval, **_renamed(_RUN, view))
    if operation == "list_events":
        events = [agenthost.Event(**_renamed(_EVENT, event)) for event in ok["events"]]
        return agenthost.EventPage(events, ok["nextSequence"], ok["hasMore"])
    return agenthost.RunSubmission(ok["runId"], ok["revision"], ok["status"])


def _members(names: dict[str, str], value: object) -> dict[str, Json]:
    members = {name: getattr(value, attribute) for name, attribute in names.items() if hasattr(value, attribute)}
    return {name: str(member) if isinstance(member, str) else member for name, member in members.items()}


def seen_request(request: object) -> dict[str, Json]:
    members = _members(_REQUEST, request)
    if isinstance(request, agenthost.CreateRun):
        members["context"] = _members(_CONTEXT, request.context)
    return members


def decoded(result: object) -> dict[str, Json]:
    """A result as the contract's JSON."""
    if isinstance(result, agenthost.RunView):
        approval = None if result.approval is None else _members(_APPROVAL, result.approval)
        return {**_members(_RUN, result), "context": _members(_CONTEXT, result.context), "approval": approval}
    if isinstance(result, agenthost.EventPage):
        events = [_members(_EVENT, event) for event in result.events]
        return {"events": events, "nextSequence": result.next_sequence, "hasMore": result.has_more}
    return _members({name: _RUN[name] for name in ("runId", "revision", "status")}, result)


class Script:
    """Answers what a vector tells it to, and keeps what it was asked."""

    def __init__(self, reply: Json, *, dicts: bool) -> None:
        self.seen: list[Json] = []
        self._reply = reply
        self._dicts = dicts

    def play(self, request: object, call: agenthost.Call) -> Any:
        context = {
            "requestId": call.request_id,
            "idempotencyKey": call.idempotency_key,
            "metadata": call.metadata,
        }
        self.seen.append({"operation": str(call.operation), "context": context, "request": seen_request(request)})
        if self._reply is None:
            raise AssertionError("the vector has no reply for this call")
        if "ok" in self._reply:
            return self._reply["ok"] if self._dicts else typed(str(call.operation), self._reply["ok"])
        if "error" in self._reply:
            error = self._reply["error"]
            raised = agenthost.HostError(
                error["code"], error["message"], retryable=error["retryable"], metadata=error["metadata"]
            )
            raised.details = error["details"]
            raise raised
        raise LookupError("the vector tells the service to fail")

    create_run = get_run = cancel_run = resolve_approval = resume_run = list_events = play


class AsyncScript(Script):
    """The same, with coroutines."""

    async def play_async(self, request: object, call: agenthost.Call) -> Any:
        return self.play(request, call)

    create_run = get_run = cancel_run = resolve_approval = resume_run = list_events = play_async
