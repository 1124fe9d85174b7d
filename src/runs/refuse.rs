//! What durable runs answer when they refuse: every conflict has its reason in `details.reason`, and what a program needs to
//! go on.

use crate::protocol::json::Writer;
use crate::protocol::{ErrorCode, FreeJson, HostError, Path, RunStatus, Violation};
use crate::store::StoreError;

/// Why a call conflicts with the state of a run: `details.reason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The run is at another revision than the call expects; `details.currentRevision` says which.
    RevisionMismatch,
    /// The run's state does not allow the call; `details.status` says which it is.
    InvalidState,
    /// The approval is not the run's current one.
    ApprovalMismatch,
    /// There is a run of that id, from another request.
    RunExists,
    /// The key was used for another request.
    IdempotencyMismatch,
    /// A worker has the run, or it waits for one: try again after `details.retryAfterMs`.
    ClaimHeld,
    /// The worker does not have the run any more; `details.status` says what became of it.
    ClaimLost,
    /// The events after the cursor have been compacted away; those from `details.firstSequence` are there.
    CursorExpired,
    /// The cursor lies behind the run's last event, `details.headSequence`. It belongs to another log: a run of that id was
    /// purged and created again. Read from `afterSequence` 0.
    CursorAhead,
}

impl Reason {
    /// All nine.
    pub const ALL: [Reason; 9] = [
        Reason::RevisionMismatch,
        Reason::InvalidState,
        Reason::ApprovalMismatch,
        Reason::RunExists,
        Reason::IdempotencyMismatch,
        Reason::ClaimHeld,
        Reason::ClaimLost,
        Reason::CursorExpired,
        Reason::CursorAhead,
    ];

    /// The name in `details.reason`, for example `claim_lost`.
    pub const fn name(self) -> &'static str {
        match self {
            Reason::RevisionMismatch => "revision_mismatch",
            Reason::InvalidState => "invalid_state",
            Reason::ApprovalMismatch => "approval_mismatch",
            Reason::RunExists => "run_exists",
            Reason::IdempotencyMismatch => "idempotency_mismatch",
            Reason::ClaimHeld => "claim_held",
            Reason::ClaimLost => "claim_lost",
            Reason::CursorExpired => "cursor_expired",
            Reason::CursorAhead => "cursor_ahead",
        }
    }

    /// The reason of a conflict of durable runs; none for other errors.
    pub fn of(error: &HostError<'_>) -> Option<Reason> {
        let reason = detail(error, "reason")?;
        Reason::ALL.into_iter().find(|known| reason == known.name())
    }

    /// A number that a conflict carries beside its reason, for example `headSequence`; none when it has none of that name, and
    /// for other errors.
    pub fn number(error: &HostError<'_>, name: &str) -> Option<u64> {
        detail(error, name)?.as_u64()
    }
}

/// A member of a conflict's details.
fn detail(error: &HostError<'_>, name: &str) -> Option<serde_json::Value> {
    if error.code != ErrorCode::Conflict {
        return None;
    }
    let mut details: serde_json::Map<String, serde_json::Value> = error.details.parse().ok()?;
    details.remove(name)
}

pub(crate) type Refusal = HostError<'static>;

fn conflict(reason: Reason, message: impl Into<String>, more: impl FnOnce(&mut Writer)) -> Refusal {
    let details = FreeJson::written(|out| {
        out.open_object();
        out.name("reason");
        out.string(reason.name());
        more(out);
        out.close_object();
    });
    HostError::new(ErrorCode::Conflict, message.into()).with_details(details)
}

fn number(out: &mut Writer, name: &'static str, value: u64) {
    out.name(name);
    out.unsigned(value);
}

fn status_member(out: &mut Writer, status: RunStatus) {
    out.name("status");
    out.string(status.name());
}

pub(crate) fn revision_mismatch(current: u64) -> Refusal {
    let message = format!("the run is at revision {current}: read it again and decide anew");
    conflict(Reason::RevisionMismatch, message, |out| number(out, "currentRevision", current))
}

pub(crate) fn invalid_state(status: RunStatus, current: u64, pending_approvals: u64) -> Refusal {
    let message = match pending_approvals {
        0 => format!("the run is {} and does not allow this", status.name()),
        pending => format!("the run waits for {pending} approvals that are still to be decided"),
    };
    conflict(Reason::InvalidState, message, |out| {
        status_member(out, status);
        number(out, "currentRevision", current);
        if pending_approvals > 0 {
            number(out, "pendingApprovals", pending_approvals);
        }
    })
}

pub(crate) fn approval_mismatch(current: u64) -> Refusal {
    let message = "the approval is not the run's current one: read the run again";
    conflict(Reason::ApprovalMismatch, message, |out| number(out, "currentRevision", current))
}

/// Revision 0: the run is somebody else's, and nothing of it is given away.
pub(crate) fn run_exists(status: RunStatus, current: u64) -> Refusal {
    conflict(Reason::RunExists, "a run of that id exists: choose another runId", |out| {
        if current > 0 {
            status_member(out, status);
            number(out, "currentRevision", current);
        }
    })
}

pub(crate) fn idempotency_mismatch(what: &str) -> Refusal {
    let message = format!("the key was used before for another {what}: a new one needs a new key");
    conflict(Reason::IdempotencyMismatch, message, |_| {})
}

pub(crate) fn claim_held(retry_after_ms: i64) -> Refusal {
    let message = format!("the run is being worked on or waits for a worker: try again in {retry_after_ms} ms");
    let retry_after_ms = u64::try_from(retry_after_ms).unwrap_or(0);
    conflict(Reason::ClaimHeld, message, |out| number(out, "retryAfterMs", retry_after_ms)).with_retryable(true)
}

pub(crate) fn claim_lost(status: RunStatus) -> Refusal {
    let message = format!("the claim is not valid any more, the run is {}: stop working on it", status.name());
    conflict(Reason::ClaimLost, message, |out| status_member(out, status))
}

pub(crate) fn cursor_expired(first: u64, head: u64) -> Refusal {
    let message = format!("events before {first} have been compacted away: go on from afterSequence {}", first - 1);
    conflict(Reason::CursorExpired, message, |out| {
        number(out, "firstSequence", first);
        number(out, "headSequence", head);
    })
}

pub(crate) fn cursor_ahead(head: u64) -> Refusal {
    let message = format!("the run's last event is {head}: the cursor belongs to another log, read from afterSequence 0");
    conflict(Reason::CursorAhead, message, |out| number(out, "headSequence", head))
}

pub(crate) fn not_found() -> Refusal {
    HostError::new(ErrorCode::NotFound, "there is no such run")
}

fn forbidden(reason: &str, message: &'static str) -> Refusal {
    let details = FreeJson::written(|out| {
        out.open_object();
        out.name("reason");
        out.string(reason);
        out.close_object();
    });
    HostError::new(ErrorCode::Forbidden, message).with_details(details)
}

pub(crate) fn not_an_approver() -> Refusal {
    forbidden("not_an_approver", "this approval names other approvers: one of them has to decide it")
}

pub(crate) fn own_run() -> Refusal {
    forbidden("own_run", "this approval is not for the owner of the run to decide: somebody else has to")
}

pub(crate) fn approver_only() -> Refusal {
    forbidden("approver_only", "an approver may read this run and decide what names it: only its owner may do more")
}

pub(crate) fn unauthorized(message: &'static str) -> Refusal {
    HostError::new(ErrorCode::Unauthorized, message)
}

/// A bug of the library. The text goes to the log, not to a caller.
pub(crate) fn internal(message: &'static str) -> Refusal {
    HostError::new(ErrorCode::Internal, message)
}

/// A broken rule of what was asked.
pub(crate) fn invalid(violation: &Violation) -> Refusal {
    let details = FreeJson::written(|out| {
        out.open_object();
        out.name("path");
        out.string(violation.path());
        out.close_object();
    });
    HostError::new(ErrorCode::InvalidRequest, violation.to_string()).with_details(details)
}

/// A broken rule of a worker's or an operator's call, at a member of it.
pub(crate) fn invalid_member(name: &str, expected: impl Into<String>) -> Refusal {
    invalid(&Violation::new(Path::ROOT.member(name), expected))
}

/// A call whose outcome will not be known: a store has dropped its job, or code on its way has panicked.
pub(crate) fn given_up() -> Refusal {
    HostError::new(ErrorCode::Unavailable, "the call was given up before its outcome was known: retry with the same key")
        .with_retryable(true)
}

/// A store that failed. Its reason is for the log alone.
pub(crate) fn store_failed(error: &StoreError) -> Refusal {
    match error {
        StoreError::Unavailable(_) => {
            HostError::new(ErrorCode::Unavailable, "the store is not available: retry with the same key").with_retryable(true)
        }
        StoreError::Broken(_) => HostError::new(ErrorCode::Internal, "the store is broken"),
        StoreError::Unsupported(text) => HostError::new(ErrorCode::InvalidRequest, text.clone()),
        StoreError::Closed => HostError::new(ErrorCode::Unavailable, "the runs are closed").with_retryable(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_brings_its_reason_and_its_numbers_and_no_other_error_has_any() {
        let conflict = cursor_expired(7, 9);
        assert_eq!(Reason::of(&conflict), Some(Reason::CursorExpired));
        assert_eq!(Reason::number(&conflict, "firstSequence"), Some(7));
        assert_eq!(Reason::number(&conflict, "headSequence"), Some(9));
        assert_eq!((Reason::number(&conflict, "reason"), Reason::number(&conflict, "other")), (None, None));
        assert_eq!(Reason::number(&cursor_ahead(3), "headSequence"), Some(3));
        let other = HostError { code: ErrorCode::NotFound, ..conflict };
        assert_eq!((Reason::of(&other), Reason::number(&other, "headSequence")), (None, None));
        for details in ["{}", "[]", r#"{"reason":1}"#, r#"{"reason":"another"}"#] {
            let strange = HostError::new(ErrorCode::Conflict, "no").with_details(FreeJson::new(details).unwrap());
            assert_eq!(Reason::of(&strange), None, "{details}");
        }
    }
}
