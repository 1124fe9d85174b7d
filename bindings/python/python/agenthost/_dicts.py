"""The results as plain dicts: the contract's JSON, with its member names. What may be left out has the contract's default."""

from __future__ import annotations

from typing import Any, TypedDict


class RunSubmissionDict(TypedDict):
    """A :class:`RunSubmission` as a dict."""

    runId: str
    revision: int
    status: str


class _ContextDict(TypedDict, total=False):
    runId: str
    traceId: str
    requestId: str
    tenantId: str
    userId: str
    applicationId: str
    workspaceId: str
    conversationId: str
    agentId: str
    locale: str
    deadlineUnixMs: int | None
    metadata: dict[str, str]


class ExecutionContextDict(_ContextDict):
    """An :class:`ExecutionContext` as a dict."""


class _ApprovalRequired(TypedDict):
    approvalId: str
    toolCallId: str
    toolName: str
    resolution: str


class ApprovalViewDict(_ApprovalRequired, total=False):
    """An :class:`ApprovalView` as a dict."""

    reason: str
    createdAtUnixMs: int
    resolvedAtUnixMs: int | None
    metadata: dict[str, str]


class _RunRequired(TypedDict):
    runId: str
    revision: int
    status: str
    context: ExecutionContextDict


class RunViewDict(_RunRequired, total=False):
    """A :class:`RunView` as a dict."""

    createdAtUnixMs: int
    updatedAtUnixMs: int
    completedAtUnixMs: int | None
    approval: ApprovalViewDict | None
    result: Any
    error: str
    metadata: dict[str, str]


class _EventRequired(TypedDict):
    runId: str
    sequence: int
    type: str
    status: str


class EventDict(_EventRequired, total=False):
    """An :class:`Event` as a dict."""

    stepId: str
    toolCallId: str
    timestampUnixMs: int
    data: Any
    metadata: dict[str, str]


class _PageRequired(TypedDict):
    events: list[EventDict]


class EventPageDict(_PageRequired, total=False):
    """An :class:`EventPage` as a dict."""

    nextSequence: int
    hasMore: bool
