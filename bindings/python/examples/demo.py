"""A Python host at work: real envelopes, a service with sync and async methods, a client with typed errors."""

from __future__ import annotations

import asyncio
import json

import agenthost
from agenthost import AsyncClient, Call, Client, Event, EventPage, Host, NotFound, RunSubmission, RunView


class Runs(agenthost.Service):
    """Each run ends with the length of its input."""

    def __init__(self) -> None:
        self._runs: dict[str, RunView] = {}

    def create_run(self, request: agenthost.CreateRun, call: Call) -> RunSubmission:
        run_id = request.context.run_id
        result = {"words": len(str(request.input["text"]).split()), "for": call.principal}
        self._runs[run_id] = RunView(run_id, 2, "completed", request.context, completed_at_unix_ms=1, result=result)
        return RunSubmission(run_id, 1, "created")

    async def get_run(self, request: agenthost.GetRun, call: Call) -> RunView:
        await asyncio.sleep(0)
        if request.run_id not in self._runs:
            raise NotFound(f"there is no run {request.run_id}")
        return self._runs[request.run_id]

    def cancel_run(self, request: agenthost.CancelRun, call: Call) -> RunSubmission:
        raise agenthost.Conflict("the run has ended", details={"status": "completed"})

    def resolve_approval(self, request: agenthost.ResolveApproval, call: Call) -> RunSubmission:
        raise ValueError("a fault of the service, which no caller gets to see")

    def resume_run(self, request: agenthost.ResumeRun, call: Call) -> RunSubmission:
        raise agenthost.Conflict("the run has ended")

    def list_events(self, request: agenthost.ListEvents, call: Call) -> EventPage:
        kinds = ["run.created", "run.completed"][request.after_sequence :]
        first = request.after_sequence + 1
        events = [Event(request.run_id, first + n, kind, "completed", data={"n": n}) for n, kind in enumerate(kinds)]
        return EventPage(events, request.after_sequence + len(events))


def show(title: str, text: object) -> None:
    print(f"python {title:<28} {text}")


def main() -> None:
    with Host(Runs()) as host:
        envelope = {
            "protocolVersion": "2026-07-01",
            "requestId": "req-1",
            "idempotencyKey": "key-1",
            "operation": "create_run",
            "body": {"context": {"runId": "run-1"}, "input": {"text": "three words here"}},
        }
        show("create_run, by hand", host.dispatch_json(json.dumps(envelope), principal="ada").decode())
        show("a hostile message", host.dispatch_json(b'{"operation":' + b"[" * 100_000).decode())

        client = Client(host.dispatch_json, retry=agenthost.Retry())
        show("get_run, async at home", client.get_run("run-1").result)
        for event in client.list_events("run-1").events:
            show(f"event {event.sequence}", event.type)
        try:
            client.cancel_run("run-1", 2)
        except agenthost.Conflict as error:
            show("cancel_run", repr(error))

        async def together() -> None:
            waiting = AsyncClient(host.dispatch_json_async)
            views = await asyncio.gather(*(waiting.get_run("run-1") for _ in range(3)))
            show("three awaited", [str(view.status) for view in views])

        asyncio.run(together())
        try:
            Client(host.dispatch_json).resolve_approval("run-1", 2, "a-1", "approved")
        except agenthost.Internal as error:
            show("a fault of the service", repr(error))


if __name__ == "__main__":
    main()
