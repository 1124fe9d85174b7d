"""The Agent Host protocol: bring a service with six methods, dispatch JSON envelopes to it.

    host = Host(MyService())
    response = host.dispatch_json(request_bytes, principal="user-1")

The log of everything that callers may not see is the logger ``agenthost``.
"""

from ._client import AsyncClient, Client, Retry
from ._dicts import (
    ApprovalViewDict,
    EventDict,
    EventPageDict,
    ExecutionContextDict,
    RunSubmissionDict,
    RunViewDict,
)
from ._errors import (
    BadResponse,
    Conflict,
    Forbidden,
    HostError,
    Internal,
    InvalidRequest,
    NotFound,
    Unauthorized,
    Unavailable,
    UnsupportedProtocolVersion,
)
from ._host import Host
from ._native import (
    DEFAULT_MAX_MESSAGE_BYTES,
    SUPPORTED_VERSIONS,
    ApprovalView,
    Call,
    CancelRun,
    CreateRun,
    Event,
    EventPage,
    ExecutionContext,
    GetRun,
    ListEvents,
    PreparedRequest,
    ResolveApproval,
    Response,
    ResumeRun,
    RunSubmission,
    RunView,
    __version__,
    decode_response,
    encode_request,
    is_sensitive_name,
    negotiate_version,
)
from ._service import Service
from ._words import ErrorCode, Operation, Resolution, RunStatus

__all__ = [
    "ApprovalView",
    "ApprovalViewDict",
    "AsyncClient",
    "BadResponse",
    "Call",
    "CancelRun",
    "Client",
    "Conflict",
    "CreateRun",
    "DEFAULT_MAX_MESSAGE_BYTES",
    "ErrorCode",
    "Event",
    "EventDict",
    "EventPage",
    "EventPageDict",
    "ExecutionContext",
    "ExecutionContextDict",
    "Forbidden",
    "GetRun",
    "Host",
    "HostError",
    "Internal",
    "InvalidRequest",
    "ListEvents",
    "NotFound",
    "Operation",
    "PreparedRequest",
    "Resolution",
    "ResolveApproval",
    "Response",
    "ResumeRun",
    "Retry",
    "RunStatus",
    "RunSubmission",
    "RunSubmissionDict",
    "RunView",
    "RunViewDict",
    "SUPPORTED_VERSIONS",
    "Service",
    "Unauthorized",
    "Unavailable",
    "UnsupportedProtocolVersion",
    "__version__",
    "decode_response",
    "encode_request",
    "is_sensitive_name",
    "negotiate_version",
]
