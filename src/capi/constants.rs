//! The names in the contract as numbers: operations, states, codes. 0 is never one of them. The numbers follow the order of the `ALL` tables.

use crate::host::LogLevel;
use crate::protocol::{ErrorCode, Operation, Resolution, RunStatus};
use crate::runs::{Reason, ResumeMode};
use crate::store::{ApprovalState, OnDenied};

/// One of the six operations.
pub type agenthost_operation = i32;
/// Submits a run.
pub const AGENTHOST_CREATE_RUN: agenthost_operation = 1;
/// Reads a run.
pub const AGENTHOST_GET_RUN: agenthost_operation = 2;
/// Cancels a run.
pub const AGENTHOST_CANCEL_RUN: agenthost_operation = 3;
/// Approves or denies what a run waits for.
pub const AGENTHOST_RESOLVE_APPROVAL: agenthost_operation = 4;
/// Lets an approved run go on.
pub const AGENTHOST_RESUME_RUN: agenthost_operation = 5;
/// Reads a run's events after a cursor.
pub const AGENTHOST_LIST_EVENTS: agenthost_operation = 6;

/// The state of a run.
pub type agenthost_run_status = i32;
/// Accepted, not started.
pub const AGENTHOST_RUN_CREATED: agenthost_run_status = 1;
/// Being worked on.
pub const AGENTHOST_RUN_RUNNING: agenthost_run_status = 2;
/// Suspended until an approval is resolved.
pub const AGENTHOST_RUN_WAITING_FOR_APPROVAL: agenthost_run_status = 3;
/// Ended with a result.
pub const AGENTHOST_RUN_COMPLETED: agenthost_run_status = 4;
/// Ended with an error, or its approval was denied.
pub const AGENTHOST_RUN_FAILED: agenthost_run_status = 5;
/// Ended by `cancel_run`.
pub const AGENTHOST_RUN_CANCELLED: agenthost_run_status = 6;
/// Ended by its deadline.
pub const AGENTHOST_RUN_TIMED_OUT: agenthost_run_status = 7;

/// What became of an approval.
pub type agenthost_resolution = i32;
/// Nobody has decided yet. Not a decision in `resolve_approval`.
pub const AGENTHOST_APPROVAL_PENDING: agenthost_resolution = 1;
/// The tool call may go on.
pub const AGENTHOST_APPROVAL_APPROVED: agenthost_resolution = 2;
/// The tool call may not go on.
pub const AGENTHOST_APPROVAL_DENIED: agenthost_resolution = 3;

/// What a denial does.
pub type agenthost_on_denied = i32;
/// It ends the run as failed.
pub const AGENTHOST_ON_DENIED_FAIL: agenthost_on_denied = 1;
/// The run goes on once all is decided, and its worker is told.
pub const AGENTHOST_ON_DENIED_RESUME: agenthost_on_denied = 2;

/// What makes a run go on once all its approvals are decided.
pub type agenthost_resume_mode = i32;
/// A client calls `resume_run`.
pub const AGENTHOST_RESUME_EXPLICIT: agenthost_resume_mode = 1;
/// The last decision does, in the same transaction; the resume input is then `{}`.
pub const AGENTHOST_RESUME_AUTO: agenthost_resume_mode = 2;

/// Whether an approval can be decided, and what became of it.
pub type agenthost_approval_state = i32;
/// It can be decided.
pub const AGENTHOST_APPROVAL_STATE_PENDING: agenthost_approval_state = 1;
/// It was approved.
pub const AGENTHOST_APPROVAL_STATE_APPROVED: agenthost_approval_state = 2;
/// It was denied, or expired.
pub const AGENTHOST_APPROVAL_STATE_DENIED: agenthost_approval_state = 3;
/// Its run ended before anybody decided it.
pub const AGENTHOST_APPROVAL_STATE_CLOSED: agenthost_approval_state = 4;

/// The code of an error.
pub type agenthost_code = i32;
/// The request breaks a rule of the contract or of the service.
pub const AGENTHOST_CODE_INVALID_REQUEST: agenthost_code = 1;
/// The host does not speak the request's protocol version.
pub const AGENTHOST_CODE_UNSUPPORTED_PROTOCOL_VERSION: agenthost_code = 2;
/// Nobody was authenticated.
pub const AGENTHOST_CODE_UNAUTHORIZED: agenthost_code = 3;
/// The principal may not do that.
pub const AGENTHOST_CODE_FORBIDDEN: agenthost_code = 4;
/// There is no such run for this principal.
pub const AGENTHOST_CODE_NOT_FOUND: agenthost_code = 5;
/// The run is in another state or revision than the request expects.
pub const AGENTHOST_CODE_CONFLICT: agenthost_code = 6;
/// Not now. After a mutation the outcome is not known: send the same bytes again.
pub const AGENTHOST_CODE_UNAVAILABLE: agenthost_code = 7;
/// A fault of the host. After a mutation the outcome is not known: send the same bytes again.
pub const AGENTHOST_CODE_INTERNAL: agenthost_code = 8;

/// Why a call conflicts with the state of a durable run: the `reason` in the error's details. 0: no such conflict.
pub type agenthost_reason = i32;
/// The run is at another revision than the call expects; the number `currentRevision` says which.
pub const AGENTHOST_REASON_REVISION_MISMATCH: agenthost_reason = 1;
/// The run's state does not allow the call.
pub const AGENTHOST_REASON_INVALID_STATE: agenthost_reason = 2;
/// The approval is not the run's current one.
pub const AGENTHOST_REASON_APPROVAL_MISMATCH: agenthost_reason = 3;
/// There is a run of that id, from another request.
pub const AGENTHOST_REASON_RUN_EXISTS: agenthost_reason = 4;
/// The key was used for another request.
pub const AGENTHOST_REASON_IDEMPOTENCY_MISMATCH: agenthost_reason = 5;
/// A worker has the run, or it waits for one: try again after the number `retryAfterMs`.
pub const AGENTHOST_REASON_CLAIM_HELD: agenthost_reason = 6;
/// The worker does not have the run any more.
pub const AGENTHOST_REASON_CLAIM_LOST: agenthost_reason = 7;
/// The events after the cursor were compacted away; those from the number `firstSequence` on are there.
pub const AGENTHOST_REASON_CURSOR_EXPIRED: agenthost_reason = 8;
/// The cursor is after the run's last event, the number `headSequence`: it belongs to a run that was purged and created again.
pub const AGENTHOST_REASON_CURSOR_AHEAD: agenthost_reason = 9;

/// A name in the contract that is a number in C.
pub(super) trait Constant: Copy + PartialEq + Sized + 'static {
    /// All of them, the first as 1.
    const ALL: &'static [Self];

    fn to_number(self) -> i32 {
        Self::ALL.iter().zip(1..).find(|(name, _)| **name == self).map_or(0, |(_, number)| number)
    }

    fn from_number(number: i32) -> Option<Self> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        Self::ALL.get(index).copied()
    }
}

impl Constant for Operation {
    const ALL: &'static [Operation] = &Operation::ALL;
}

impl Constant for RunStatus {
    const ALL: &'static [RunStatus] = &RunStatus::ALL;
}

impl Constant for Resolution {
    const ALL: &'static [Resolution] = &Resolution::ALL;
}

impl Constant for ErrorCode {
    const ALL: &'static [ErrorCode] = &ErrorCode::ALL;
}

impl Constant for LogLevel {
    const ALL: &'static [LogLevel] = &LogLevel::ALL;
}

impl Constant for OnDenied {
    const ALL: &'static [OnDenied] = &OnDenied::ALL;
}

impl Constant for ResumeMode {
    const ALL: &'static [ResumeMode] = &ResumeMode::ALL;
}

impl Constant for ApprovalState {
    const ALL: &'static [ApprovalState] = &ApprovalState::ALL;
}

impl Constant for Reason {
    const ALL: &'static [Reason] = &Reason::ALL;
}

#[cfg(test)]
mod tests {
    use super::super::log::{AGENTHOST_LOG_DEBUG, AGENTHOST_LOG_ERROR, AGENTHOST_LOG_INFO, AGENTHOST_LOG_WARN};
    use super::*;

    #[test]
    fn the_numbers_are_the_headers() {
        assert_eq!(Operation::ListEvents.to_number(), AGENTHOST_LIST_EVENTS);
        assert_eq!(Operation::CreateRun.to_number(), AGENTHOST_CREATE_RUN);
        assert_eq!(RunStatus::WaitingForApproval.to_number(), AGENTHOST_RUN_WAITING_FOR_APPROVAL);
        let levels = [AGENTHOST_LOG_ERROR, AGENTHOST_LOG_WARN, AGENTHOST_LOG_INFO, AGENTHOST_LOG_DEBUG];
        assert_eq!(LogLevel::ALL.map(Constant::to_number), levels);
        assert_eq!(RunStatus::TimedOut.to_number(), AGENTHOST_RUN_TIMED_OUT);
        assert_eq!(Resolution::Denied.to_number(), AGENTHOST_APPROVAL_DENIED);
        assert_eq!(ErrorCode::InvalidRequest.to_number(), AGENTHOST_CODE_INVALID_REQUEST);
        assert_eq!(ErrorCode::Internal.to_number(), AGENTHOST_CODE_INTERNAL);
        assert_eq!(OnDenied::ALL.map(Constant::to_number), [AGENTHOST_ON_DENIED_FAIL, AGENTHOST_ON_DENIED_RESUME]);
        assert_eq!(ResumeMode::ALL.map(Constant::to_number), [AGENTHOST_RESUME_EXPLICIT, AGENTHOST_RESUME_AUTO]);
        assert_eq!(ApprovalState::Open.to_number(), AGENTHOST_APPROVAL_STATE_PENDING);
        assert_eq!(ApprovalState::Approved.to_number(), AGENTHOST_APPROVAL_STATE_APPROVED);
        assert_eq!(ApprovalState::Denied.to_number(), AGENTHOST_APPROVAL_STATE_DENIED);
        assert_eq!(ApprovalState::Closed.to_number(), AGENTHOST_APPROVAL_STATE_CLOSED);
        assert_eq!(Reason::RevisionMismatch.to_number(), AGENTHOST_REASON_REVISION_MISMATCH);
        assert_eq!(Reason::InvalidState.to_number(), AGENTHOST_REASON_INVALID_STATE);
        assert_eq!(Reason::ApprovalMismatch.to_number(), AGENTHOST_REASON_APPROVAL_MISMATCH);
        assert_eq!(Reason::RunExists.to_number(), AGENTHOST_REASON_RUN_EXISTS);
        assert_eq!(Reason::IdempotencyMismatch.to_number(), AGENTHOST_REASON_IDEMPOTENCY_MISMATCH);
        assert_eq!(Reason::ClaimHeld.to_number(), AGENTHOST_REASON_CLAIM_HELD);
        assert_eq!(Reason::ClaimLost.to_number(), AGENTHOST_REASON_CLAIM_LOST);
        assert_eq!(Reason::CursorExpired.to_number(), AGENTHOST_REASON_CURSOR_EXPIRED);
        assert_eq!(Reason::CursorAhead.to_number(), AGENTHOST_REASON_CURSOR_AHEAD);
    }

    #[test]
    fn zero_and_numbers_beyond_the_last_are_no_constants() {
        for number in [0, -1, 7, i32::MIN, i32::MAX] {
            assert_eq!(Operation::from_number(number), None);
        }
        assert_eq!(ErrorCode::from_number(8), Some(ErrorCode::Internal));
        assert_eq!(ErrorCode::from_number(9), None);
    }
}
