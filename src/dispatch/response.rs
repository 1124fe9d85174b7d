//! Responses as JSON (protocol, "Response"): all six members, always.

use std::borrow::Cow;

use super::{Dispatcher, ExpectedAnswer};
use crate::protocol::json::{FreeJson, Writer};
use crate::protocol::{ErrorCode, HostError, Metadata, Operation, Path, SUPPORTED_VERSIONS, Violation};

/// A response, and what had to be kept out of it.
#[derive(Debug)]
pub struct Completed {
    /// The response envelope.
    pub response: Vec<u8>,
    /// The rule that the answer breaks: `internal` went out instead. It names members, never their values: fit for a log.
    pub broken: Option<Violation>,
}

/// Why a call is answered by the library and not by its service. None of them says whether a mutation happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnavailableReason {
    /// The wait for a deferred answer took too long.
    Timeout,
    /// The caller gave up.
    Cancelled,
    /// The service dropped the reply without an answer.
    Dropped,
    /// The host is closing or closed.
    Closed,
}

impl UnavailableReason {
    /// All of them.
    pub const ALL: [UnavailableReason; 4] =
        [UnavailableReason::Timeout, UnavailableReason::Cancelled, UnavailableReason::Dropped, UnavailableReason::Closed];

    /// The reason of that name; none when there is no such reason.
    pub fn from_name(name: &str) -> Option<UnavailableReason> {
        UnavailableReason::ALL.into_iter().find(|reason| reason.reason() == name)
    }

    /// The value of `details.reason` on the wire.
    pub const fn reason(self) -> &'static str {
        match self {
            UnavailableReason::Timeout => "timeout",
            UnavailableReason::Cancelled => "cancelled",
            UnavailableReason::Dropped => "dropped",
            UnavailableReason::Closed => "closed",
        }
    }

    const fn message(self) -> &'static str {
        match self {
            UnavailableReason::Timeout => "the service did not answer in time; the outcome is not known",
            UnavailableReason::Cancelled => "the call was cancelled by its caller; the outcome is not known",
            UnavailableReason::Dropped => "the service gave the call up without an answer; the outcome is not known",
            UnavailableReason::Closed => "the host is closed or closing; the outcome is not known",
        }
    }

    /// The error that answers the call: `unavailable`, retryable.
    pub fn error(self) -> HostError<'static> {
        HostError::new(ErrorCode::Unavailable, self.message()).with_retryable(true).with_details(details("reason", self.reason()))
    }

    /// The response to a message that was not even decoded.
    pub(crate) fn undecoded(self) -> Vec<u8> {
        failure("", Operation::GetRun, &self.error(), |_| true)
    }
}

impl ExpectedAnswer<'_> {
    /// The response when the answer breaks a rule, or there is none.
    #[allow(clippy::boxed_local, reason = "violations are boxed wherever they are found")]
    pub(crate) fn broken(self, violation: Box<Violation>) -> Completed {
        Completed { response: self.internal(false), broken: Some(*violation) }
    }

    /// The response of a fault: nothing of its cause is in it.
    pub(crate) fn internal(self, retryable: bool) -> Vec<u8> {
        let error = HostError::new(ErrorCode::Internal, INTERNAL_MESSAGE).with_retryable(retryable);
        failure(self.request_id(), self.operation, &error, |_| true)
    }

    /// The response when the library answers itself.
    pub(crate) fn unanswered(self, why: UnavailableReason) -> Vec<u8> {
        failure(self.request_id(), self.operation, &why.error(), |_| true)
    }

    /// A success up to its body, with room for a body of about `hint` bytes.
    pub(super) fn begin(&self, hint: usize) -> Writer {
        let mut out = Writer::with_capacity(hint + self.request_id().len() + 140);
        open(&mut out, self.request_id(), self.operation, true);
        out
    }

    /// The end of a success behind its body.
    pub(super) fn finish(self, dispatcher: &Dispatcher, mut out: Writer) -> Completed {
        out.name("error");
        out.null();
        out.close_object();
        if let Err(violation) = check_size(dispatcher, out.len()) {
            return self.broken(violation);
        }
        Completed { response: out.into_bytes(), broken: None }
    }
}

const INTERNAL_MESSAGE: &str = "internal error; the outcome is not known";

/// Refuses a response that is larger than the host allows.
pub(super) fn check_size(dispatcher: &Dispatcher, length: usize) -> Result<(), Box<Violation>> {
    let most = dispatcher.max_message_bytes;
    if length <= most {
        return Ok(());
    }
    Err(Violation::new(Path::ROOT, format!("expected a response of at most {most} bytes, found more")))
}

/// A failure.
pub(super) fn failure(request_id: &str, operation: Operation, error: &HostError<'_>, keep: impl Fn(&str) -> bool) -> Vec<u8> {
    let hint = 260 + request_id.len() + error.message.len() + error.details.as_str().len() + error.metadata.size_hint();
    let mut out = Writer::with_capacity(hint);
    open(&mut out, request_id, operation, false);
    out.open_object();
    out.close_object();
    out.name("error");
    out.open_object();
    out.word("code", error.code.name());
    out.member("message", &error.message);
    out.name("retryable");
    out.boolean(error.retryable);
    out.name("details");
    out.free_json(&error.details);
    out.name("metadata");
    out.metadata(&error.metadata, keep);
    out.close_object();
    out.close_object();
    out.into_bytes()
}

/// The members up to the value of `body`.
fn open(out: &mut Writer, request_id: &str, operation: Operation, ok: bool) {
    out.open_object();
    out.word("protocolVersion", SUPPORTED_VERSIONS[0]);
    out.member("requestId", request_id);
    out.word("operation", operation.name());
    out.name("ok");
    out.boolean(ok);
    out.name("body");
}

/// Details of one string.
pub(super) fn details(name: &'static str, value: &str) -> FreeJson<'static> {
    let pair: Metadata<'_> = [(Cow::Borrowed(name), Cow::Borrowed(value))].into_iter().collect();
    FreeJson::written(|out| out.metadata(&pair, |_| true))
}

pub(super) fn supported_versions() -> FreeJson<'static> {
    FreeJson::written(|out| {
        out.open_object();
        out.name("supportedVersions");
        out.open_array();
        for version in SUPPORTED_VERSIONS {
            out.string(version);
        }
        out.close_array();
        out.close_object();
    })
}
