//! What is kept of a client's call under its key, and what it stands for when the call comes again.

use super::rules::Rules;
use crate::protocol::RunStatus;
use crate::runs::command::{CommandOutput, Retry};
use crate::runs::refuse::{self, Refusal};
use crate::store::{KeyRow, Outcome};

/// The answer that a recorded outcome stands for.
pub(super) fn recorded(key: &KeyRow) -> Result<CommandOutput, Refusal> {
    let (revision, status) = (key.revision, key.status);
    match key.outcome {
        Outcome::Success => Ok(CommandOutput::Submission { revision, status }),
        Outcome::RevisionMismatch => Err(refuse::revision_mismatch(revision)),
        Outcome::InvalidState => Err(refuse::invalid_state(status, revision, key.pending_approvals)),
        Outcome::ApprovalMismatch => Err(refuse::approval_mismatch(revision)),
        Outcome::RunExists => Err(refuse::run_exists(status, revision)),
    }
}

/// The record of a call, with the run's revision and status then.
pub(super) fn record(
    rules: &Rules,
    retry: &Retry,
    outcome: Outcome,
    (revision, status): (u64, RunStatus),
    pending_approvals: u64,
    now: i64,
) -> KeyRow {
    let expires_at = now.saturating_add(rules.key_ttl_ms);
    KeyRow { fingerprint: retry.fingerprint, outcome, revision, status, pending_approvals, expires_at }
}
