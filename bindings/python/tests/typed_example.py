"""What a team writes, for the type checkers: it has to pass the strict ones as it stands."""

from __future__ import annotations

import agenthost
from agenthost import Call, Client, Event, EventPage, Host, NotFound, RunSubmission, RunView, Service


class Runs(Service):
    """Some methods answer at once, some later, one with a dict."""

    def __init__(self) -> None:
        self._runs: dict[str, RunView] = {}

    def create_run(self, request: agenthost.CreateRun, call: Call) -> RunSubmission:
        run_id = request.context.run_id
        self._runs[run_id] = RunView(run_id, 1, agenthost.RunStatus.CREATED, request.context, result=request.input)
        return RunSubmission(run_id, 1, "created")

    async def get_run(self, request: agenthost.GetRun, call: Call) -> RunView | agenthost.RunViewDict:
        view = self._runs.get(request.run_id)
        if view is None:
            raise NotFound(f"there is no run {request.run_id}", details={"runId": request.run_id})
        return view

    def cancel_run(self, request: agenthost.CancelRun, call: Call) -> agenthost.RunSubmissionDict:
        return {"runId": request.run_id, "revision": request.expected_revision + 1, "status": "cancelled"}

    async def resolve_approval(self, request: agenthost.ResolveApproval, call: Call) -> RunSubmission:
        return RunSubmission(request.run_id, request.expected_revision + 1, "running")

    def resume_run(self, request: agenthost.ResumeRun, call: Call) -> RunSubmission:
        return RunSubmission(request.run_id, request.expected_revision + 1, "running")

    def list_events(self, request: agenthost.ListEvents, call: Call) -> EventPage:
        sequence = request.after_sequence + 1
        return EventPage([Event(request.run_id, sequence, "run.started", "running", data={"n": [1, 2.5, None]})], sequence)


class Duck:
    """No base class: the shape is enough."""

    def create_run(self, request: agenthost.CreateRun, call: Call) -> RunSubmission:
        return RunSubmission(request.context.run_id, 1, "created")

    def get_run(self, request: agenthost.GetRun, call: Call) -> RunView:
        raise NotFound("nothing here")

    def _next(self, request: agenthost.CancelRun | agenthost.ResumeRun, call: Call) -> RunSubmission:
        return RunSubmission(request.run_id, request.expected_revision + 1, "running")

    cancel_run = _next
    resume_run = _next

    def resolve_approval(self, request: agenthost.ResolveApproval, call: Call) -> RunSubmission:
        return RunSubmission(request.run_id, request.expected_revision + 1, "running")

    def list_events(self, request: agenthost.ListEvents, call: Call) -> EventPage:
        return EventPage([], request.after_sequence)


def over_a_client() -> tuple[str, int, bytes]:
    """The way there and back, typed all along."""
    with Host(Runs()) as host, Host(Duck()) as other:
        client = Client(host.dispatch_json, retry=agenthost.Retry(attempts=2))
        submission = client.create_run(agenthost.ExecutionContext("run-1"), {"task": "look"}, request_id="r-1")
        view = client.get_run(submission.run_id)
        page = client.list_events("run-1", limit=1)
        Client(other.dispatch_json).cancel_run("run-1", 3)
        return str(view.status), page.next_sequence, view.result_json


async def awaited(host: Host) -> agenthost.EventPage:
    """The same with tasks."""
    client = agenthost.AsyncClient(host.dispatch_json_async)
    return await client.list_events("run-1")
