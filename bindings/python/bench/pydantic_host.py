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


class ResponseModel(pydantic.BaseModel):
    protocolVersion: str
    requestId: str
    operation: str
    ok: bool
    body: Any
    error: Any


def over_pydantic(service: Service, *, check: bool, operation: str) -> Callable[[bytes], bytes]:
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
        response = ResponseModel(
            protocolVersion=VERSION, requestId=message.requestId, operation=operation, ok=True, body=answer, error=None
        )
        return response.model_dump_json().encode()

    return dispatch
