"""The same host over pydantic v2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import pydantic
from pure import TIME, VERSION, Service, checked_answer, need, sensitive

Id = Annotated[str, pydantic.Field(min_length=1, max_length=1024, pattern=r"^[^\x00]*$")]


class Context(pydantic.BaseModel):
    runId: Id
    traceId: str = ""
    requestId: str = ""
    tenantId: str = ""
    userId: str = ""
    applicationId: str = ""
    workspaceId: str = ""
    conversationId: str = ""
    agentId: str = ""
    locale: str = ""
    deadlineUnixMs: Annotated[int, pydantic.Field(ge=-TIME, le=TIME)] | None = None
    metadata: dict[str, str] = {}


class CreateRun(pydantic.BaseModel):
    context: Context
    input: Any = {}
    metadata: dict[str, str] = {}


class Read(pydantic.BaseModel):
    runId: Id
    afterSequence: Annotated[int, pydantic.Field(ge=0, le=2**53 - 1)] = 0
    limit: Annotated[int, pydantic.Field(ge=1, le=1000)] = 256


class Envelope(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(strict=True)
    protocolVersion: Literal["2026-07-01"]
    requestId: Id
    operation: str
    idempotencyKey: str = ""
    metadata: dict[str, str] = {}


class CreateEnvelope(Envelope):
    body: CreateRun


class ReadEnvelope(Envelope):
    body: Read


class RunSubmission(pydantic.BaseModel):
    runId: str
    revision: int
    status: str


class RunView(pydantic.BaseModel):
    runId: str
    revision: int
    status: str
    context: Context
    createdAtUnixMs: int
    updatedAtUnixMs: int
    completedAtUnixMs: int | None
    approval: Any
    result: Any
    error: str
    metadata: dict[str, str]


class Event(pydantic.BaseModel):
    runId: str
    sequence: int
    type: str
    status: str
    stepId: str
    toolCallId: str
    timestampUnixMs: int
    data: Any
    metadata: dict[str, str]


class EventPage(pydantic.BaseModel):
    events: list[Event]
    nextSequence: int
    hasMore: bool


RESULTS: dict[str, type[pydantic.BaseModel]] = {"create_run": RunSubmission, "get_run": RunView, "list_events": EventPage}


def response_model(body: Any) -> Any:
    return pydantic.create_model(
        "Response",
        protocolVersion=(str, ...),
        requestId=(str, ...),
        operation=(str, ...),
        ok=(bool, ...),
        body=(body, ...),
        error=(Any, ...),
    )


def with_typed_result(service: Service, operation: str) -> Service:
    """The same service, answering one operation with a model that it holds already."""
    kept = RESULTS[operation].model_validate(service(operation, None))
    return lambda operation, body: kept


def over_pydantic(service: Service, *, check: bool, operation: str) -> Callable[[bytes], bytes]:
    """Typed requests; typed results too, but with ``check``, whose rules are written for dicts."""
    response = response_model(Any if check else RESULTS[operation])
    dump = pydantic.TypeAdapter(response).dump_json
    if not check:
        service = with_typed_result(service, operation)
    model: type[CreateEnvelope] | type[ReadEnvelope] = CreateEnvelope if operation == "create_run" else ReadEnvelope

    def dispatch(data: bytes) -> bytes:
        message = model.model_validate_json(data)
        body = message.body
        answer = service(operation, body)
        if check:
            if isinstance(body, CreateRun):
                need(not any(sensitive(name) for name in body.context.metadata), "metadata")
                seen: dict[str, Any] = {"context": {"runId": body.context.runId}}
            else:
                seen = {"runId": body.runId, "afterSequence": body.afterSequence, "limit": body.limit}
            answer = checked_answer(operation, answer, seen)
        return dump(
            response(protocolVersion=VERSION, requestId=message.requestId, operation=operation, ok=True, body=answer, error=None)
        )

    return dispatch
