"""The same host in pure Python, once for each library: the fastest that each lends itself to.

With ``check`` a contender keeps the rules that the core keeps, as far as its library can: identities, versions, ranges,
sensitive names, what an answer has to fit. None of them refuses repeated members, lone surrogates, overflowing numbers or deep
nesting; those would need a parser of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec

SENSITIVE = re.compile(
    r"(token|secrets?|passwords?|passwd|pwd|passphrase|credentials?|(api|access|private|secret)keys?|cookies?|authorization"
    r"(header)?|jwt|bearer|(access|refresh|auth|api|bearer)tokens)$"
)
NOT_KEPT = re.compile(r"[^a-z0-9]")
VERSION = "2026-07-01"
STATUSES = {"created", "running", "waiting_for_approval", "completed", "failed", "cancelled", "timed_out"}
TIME = 8_640_000_000_000_000
STRINGS = [
    "runId",
    "traceId",
    "requestId",
    "tenantId",
    "userId",
    "applicationId",
    "workspaceId",
    "conversationId",
    "agentId",
    "locale",
]


def sensitive(name: str) -> bool:
    return SENSITIVE.search(NOT_KEPT.sub("", name.lower())) is not None


def kept(metadata: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in metadata.items() if not sensitive(name)}


class Refused(Exception):
    """A rule is broken."""


def need(holds: bool, what: str) -> None:
    if not holds:
        raise Refused(what)


def identity(value: Any, what: str) -> str:
    need(isinstance(value, str) and value != "" and "\0" not in value and len(value.encode()) <= 1024, what)
    return str(value)


def unsigned(value: Any, low: int, high: int, what: str) -> int:
    need(type(value) is int and low <= value <= high, what)
    return int(value)


def strings(value: Any, what: str) -> dict[str, str]:
    need(isinstance(value, dict) and all(isinstance(text, str) for text in value.values()), what)
    return dict(value)


def checked_request(message: Any) -> tuple[str, str, dict[str, Any]]:
    """Request id, operation and body of an envelope that keeps the rules."""
    need(isinstance(message, dict), "an object")
    need(message.get("protocolVersion") == VERSION, "protocolVersion")
    request_id = identity(message.get("requestId"), "requestId")
    operation = message.get("operation")
    strings(message.get("metadata", {}), "metadata")
    body = message.get("body", {})
    need(isinstance(body, dict), "body")
    if operation == "create_run":
        identity(message.get("idempotencyKey"), "idempotencyKey")
        context = body.get("context")
        need(isinstance(context, dict), "context")
        for name in STRINGS:
            need(isinstance(context.get(name, ""), str), name)
        identity(context.get("runId"), "runId")
        deadline = context.get("deadlineUnixMs")
        need(deadline is None or (type(deadline) is int and -TIME <= deadline <= TIME), "deadlineUnixMs")
        need(not any(sensitive(name) for name in strings(context.get("metadata", {}), "metadata")), "metadata")
        strings(body.get("metadata", {}), "metadata")
    else:
        need(isinstance(message.get("idempotencyKey", ""), str), "idempotencyKey")
        identity(body.get("runId"), "runId")
        if operation == "list_events":
            unsigned(body.get("afterSequence", 0), 0, 2**53 - 1, "afterSequence")
            unsigned(body.get("limit", 256), 1, 1000, "limit")
        else:
            need(operation == "get_run", "operation")
    return request_id, operation, body


def checked_answer(operation: str, answer: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """An answer that keeps the rules, without secrets."""
    if operation == "list_events":
        last = body.get("afterSequence", 0)
        events = answer["events"]
        need(len(events) <= body.get("limit", 256), "events")
        safe = []
        for event in events:
            need(event["runId"] == body["runId"], "runId")
            need(unsigned(event["sequence"], 1, 2**53 - 1, "sequence") > last, "sequence")
            last = event["sequence"]
            need(isinstance(event["type"], str) and event["type"] != "" and event["status"] in STATUSES, "event")
            need(-TIME <= event["timestampUnixMs"] <= TIME, "timestampUnixMs")
            safe.append({**event, "metadata": kept(event["metadata"])})
        need(answer["nextSequence"] == last, "nextSequence")
        return {**answer, "events": safe}
    run_id = body["context"]["runId"] if operation == "create_run" else body["runId"]
    need(answer["runId"] == run_id, "runId")
    unsigned(answer["revision"], 1, 2**53 - 1, "revision")
    need(answer["status"] in STATUSES, "status")
    if operation != "get_run":
        return answer
    context = answer["context"]
    need(context["runId"] in ("", run_id), "context.runId")
    for name in ("createdAtUnixMs", "updatedAtUnixMs"):
        need(type(answer[name]) is int and -TIME <= answer[name] <= TIME, name)
    return {
        **answer,
        "context": {**context, "metadata": kept(context["metadata"])},
        "metadata": kept(answer["metadata"]),
    }


Service = Callable[[str, Any], Any]


def over_dicts(
    loads: Callable[[bytes], Any], dumps: Callable[[Any], bytes], service: Service, *, check: bool
) -> Callable[[bytes], bytes]:
    def dispatch(data: bytes) -> bytes:
        message = loads(data)
        if check:
            request_id, operation, body = checked_request(message)
            answer = checked_answer(operation, service(operation, body), body)
        else:
            request_id, operation, body = message["requestId"], message["operation"], message["body"]
            answer = service(operation, body)
        return dumps(
            {
                "protocolVersion": VERSION,
                "requestId": request_id,
                "operation": operation,
                "ok": True,
                "body": answer,
                "error": None,
            }
        )

    return dispatch


def json_dumps(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


# msgspec ------------------------------------------------------------------------------------------------------------------------

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=1024, pattern=r"^[^\x00]*$")]
Ms = Annotated[int, msgspec.Meta(ge=-TIME, le=TIME)]


def msgspec_envelope(operation: str, *, check: bool, read_input: bool) -> type[Any]:
    """The envelope of an operation; with ``check`` its identities and numbers have patterns and ranges."""
    text: Any = Id if check else str
    time: Any = Ms if check else int
    strings_field = ("metadata", dict[str, str], msgspec.field(default_factory=dict))
    context = msgspec.defstruct(
        "Context",
        [("runId", text), *((name, str, "") for name in STRINGS[1:]), ("deadlineUnixMs", time | None, None), strings_field],
    )
    if operation == "create_run":
        body = msgspec.defstruct(
            "CreateRun", [("context", context), ("input", Any if read_input else msgspec.Raw), strings_field]
        )
    else:
        after: Any = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)] if check else int
        limit: Any = Annotated[int, msgspec.Meta(ge=1, le=1000)] if check else int
        body = msgspec.defstruct("Read", [("runId", text), ("afterSequence", after, 0), ("limit", limit, 256)])
    return msgspec.defstruct(
        operation,
        [
            ("protocolVersion", Literal["2026-07-01"]),
            ("requestId", text),
            ("body", body),
            ("idempotencyKey", str, ""),
            strings_field,
        ],
        tag_field="operation",
        tag=operation,
    )


def msgspec_results() -> dict[str, type[Any]]:
    """The results as types, which msgspec writes faster than dicts. Free JSON is text, as in the results of this package."""
    strings_field = ("metadata", dict[str, str])
    context = msgspec.defstruct("Context", [*((name, str) for name in STRINGS), ("deadlineUnixMs", int | None), strings_field])
    event = msgspec.defstruct(
        "Event",
        [("runId", str), ("sequence", int), ("type", str), ("status", str), ("stepId", str), ("toolCallId", str),
         ("timestampUnixMs", int), ("data", msgspec.Raw), strings_field],
    )  # fmt: skip
    submission = msgspec.defstruct("RunSubmission", [("runId", str), ("revision", int), ("status", str)])
    view = msgspec.defstruct(
        "RunView",
        [("runId", str), ("revision", int), ("status", str), ("context", context), ("createdAtUnixMs", int),
         ("updatedAtUnixMs", int), ("completedAtUnixMs", int | None), ("approval", Any), ("result", msgspec.Raw), ("error", str),
         strings_field],
    )  # fmt: skip
    page = msgspec.defstruct("EventPage", [("events", list[event]), ("nextSequence", int), ("hasMore", bool)])
    return {"create_run": submission, "get_run": view, "list_events": page}


def with_typed_results(service: Service) -> Service:
    """The same service, answering with results of those types that it holds already."""
    kept = {
        operation: msgspec.json.decode(msgspec.json.encode(service(operation, None)), type=kind)
        for operation, kind in msgspec_results().items()
    }
    return lambda operation, body: kept[operation]


def over_msgspec(service: Service, *, check: bool, read_input: bool, operation: str) -> Callable[[bytes], bytes]:
    """Typed requests; typed results too, but with ``check``, whose rules are written for dicts."""
    kind = msgspec_envelope(operation, check=check, read_input=read_input)
    response = msgspec.defstruct(
        "Response",
        [("protocolVersion", str), ("requestId", str), ("operation", str), ("ok", bool), ("body", Any), ("error", None)],
    )
    decoder = msgspec.json.Decoder(kind)
    encode = msgspec.json.Encoder().encode
    if not check:
        service = with_typed_results(service)

    def dispatch(data: bytes) -> bytes:
        message = decoder.decode(data)
        body = message.body
        if check:
            if operation == "create_run":
                need(not any(sensitive(name) for name in body.context.metadata), "metadata")
                seen = {"context": {"runId": body.context.runId}}
            else:
                seen = {"runId": body.runId, "afterSequence": body.afterSequence, "limit": body.limit}
            answer = checked_answer(operation, service(operation, body), seen)
        else:
            answer = service(operation, body)
        return encode(response(VERSION, message.requestId, operation, True, answer, None))

    return dispatch
