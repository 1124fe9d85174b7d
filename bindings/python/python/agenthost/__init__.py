"""The Agent Host protocol: bring a service with six methods, dispatch JSON envelopes to it.

    host = Host(MyService())
    response = host.dispatch_json(request_bytes, principal="user-1")

The log of everything that callers may not see is the logger ``agenthost``.
"""

from json import JSONDecoder
from operator import index
from typing import Any

# First: where it is refused, as in a subinterpreter, nothing else of the package has been loaded.
from . import _native
from ._arguments import copy_mapping
from ._base_host import BaseHost
from ._client import AsyncClient, Client, Retry
from ._dicts import (
    ApprovalViewDict,
    EventDict,
    EventPageDict,
    ExecutionContextDict,
    RunSubmissionDict,
    RunViewDict,
)
from ._durable import DurableHost
from ._enums import ConflictReason, ErrorCode, Operation, Resolution, RunStatus
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
    ResumeRun,
    RunSubmission,
    RunView,
    __version__,
    encode_request,
    is_sensitive_name,
)
from ._responses import Response, decode_response, negotiate_version
from ._service import Service

__all__ = [
    "ApprovalView",
    "ApprovalViewDict",
    "AsyncClient",
    "BadResponse",
    "BaseHost",
    "Call",
    "CancelRun",
    "Client",
    "Conflict",
    "ConflictReason",
    "CreateRun",
    "DEFAULT_MAX_MESSAGE_BYTES",
    "DurableHost",
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

# Its reader of one value is not in the type checkers' stubs, `raw_decode` is Python code around it.
_decoder: Any = JSONDecoder()
# The native half imports nothing, and looks up no Python code, later on: a thread that the interpreter's exit ends in the
# middle of that would end the process.
_native.prepare(
    list(Operation),
    list(RunStatus),
    list(Resolution),
    scan_json=_decoder.scan_once,
    index=index,
    copy_mapping=copy_mapping,
)
