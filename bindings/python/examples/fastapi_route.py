"""A FastAPI application with one route: the transport authenticates, the host does the rest."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated

import agenthost
from agenthost import Call, EventPage, Host, NotFound, RunSubmission, RunView
from fastapi import Depends, FastAPI, Header, HTTPException, Request, Response

#: Whom a bearer token belongs to. A real application asks its identity provider.
USERS = {"token-of-ada": "ada", "token-of-bob": "bob"}


class Runs(agenthost.Service):
    """Keeps runs in memory; each belongs to the principal that created it."""

    def __init__(self) -> None:
        self._runs: dict[tuple[str | None, str], RunView] = {}

    def _view(self, call: Call, run_id: str) -> RunView:
        view = self._runs.get((call.principal, run_id))
        if view is None:
            raise NotFound(f"there is no run {run_id}")
        return view

    async def create_run(self, request: agenthost.CreateRun, call: Call) -> RunSubmission:
        context = request.context
        # A retry carries the same key; this service is simple enough to answer by the run's id alone.
        view = self._runs.setdefault((call.principal, context.run_id), RunView(context.run_id, 1, "created", context))
        return RunSubmission(view.run_id, view.revision, view.status)

    async def get_run(self, request: agenthost.GetRun, call: Call) -> RunView:
        return self._view(call, request.run_id)

    async def cancel_run(self, request: agenthost.CancelRun, call: Call) -> RunSubmission:
        view = self._view(call, request.run_id)
        if view.revision != request.expected_revision:
            raise agenthost.Conflict(f"the run is at revision {view.revision}", details={"revision": view.revision})
        ended = RunView(view.run_id, view.revision + 1, "cancelled", view.context, error=request.reason)
        self._runs[call.principal, view.run_id] = ended
        return RunSubmission(ended.run_id, ended.revision, ended.status)

    async def resolve_approval(self, request: agenthost.ResolveApproval, call: Call) -> RunSubmission:
        raise agenthost.Conflict(f"run {self._view(call, request.run_id).run_id} waits for no approval")

    async def resume_run(self, request: agenthost.ResumeRun, call: Call) -> RunSubmission:
        raise agenthost.Conflict(f"run {self._view(call, request.run_id).run_id} waits for no approval")

    async def list_events(self, request: agenthost.ListEvents, call: Call) -> EventPage:
        self._view(call, request.run_id)
        return EventPage([], request.after_sequence)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncGenerator[None, None]:
    """The host lives as long as the application does; leaving it drains the calls in flight."""
    async with Host(Runs(), max_message_bytes=1 << 20, timeout=30) as host:
        app.state.host = host
        yield


def principal(authorization: Annotated[str, Header()] = "") -> str:
    """Whom the request comes from. It is an argument of the dispatch, never part of the message."""
    user = USERS.get(authorization.removeprefix("Bearer "))
    if user is None:
        raise HTTPException(401)
    return user


app = FastAPI(lifespan=lifespan)


@app.post("/agent-host")
async def agent_host(request: Request, user: Annotated[str, Depends(principal)]) -> Response:
    """One route for all six operations. Failures of the protocol are responses too, so the status is always 200."""
    host: Host = request.app.state.host
    response = await host.dispatch_json_async(await request.body(), principal=user)
    return Response(response, media_type="application/json")
