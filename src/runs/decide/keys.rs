//! What is kept of a client's call under its key, and what it stands for when the call comes again.

use super::rules::Rules;
use crate::protocol::RunStatus;
use crate::runs::command::{CommandOutput, Retry};
use crate::runs::refuse::{self, Refusal};
use crate::store::{KeyRow, Outcome};

/// The answer that a recorded outcome stands for.
pub(super) fn recorded(outcome: Outcome, revision: u64, status: RunStatus) -> Result<CommandOutput, Refusal> {
    match outcome {
        Outcome::Success => Ok(CommandOutput::Submission { revision, status }),
        Outcome::RevisionMismatch => Err(refuse::revision_mismatch(revision)),
        Outcome::InvalidState => Err(refuse::invalid_state(status, revision)),
        Outcome::ApprovalMismatch => Err(refuse::approval_mismatch(revision)),
        Outcome::RunExists => Err(refuse::run_exists(status, revision)),
    }
}

/// The record of a call.
pub(super) fn record(rules: &Rules, retry: &Retry, outcome: Outcome, revision: u64, status: RunStatus, now: i64) -> KeyRow {
    let expires_at = now.saturating_add(rules.key_ttl_ms);
    KeyRow { fingerprint: retry.fingerprint, outcome, revision, status, expires_at }
}
