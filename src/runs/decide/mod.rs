//! The rules of a run, as one pure function: what is there, what is asked, what time it is; and out of that what to write and
//! what to answer. No clock, no randomness, no input or output (durable runs, "Stores").

mod client;
mod draft;
mod worker;

use std::sync::Arc;

use super::command::{Command, Reply, Retry};
use super::refuse::{self, Refusal};
use crate::protocol::RunStatus;
use crate::service::ApprovalView;
use crate::store::{AdmittedRow, BatchRow, Changes, KeyRow, Outcome, RunRow};
use draft::Draft;

/// Decides whether a principal may see a run: the principal of the call and the run's owner, each none where there is none.
pub type Access = Arc<dyn Fn(Option<&str>, Option<&str>) -> bool + Send + Sync>;

/// The numbers and the hook that a deployment can set.
#[derive(Clone)]
pub(crate) struct Rules {
    /// How often a run may be taken over from a worker whose lease ended before it fails.
    pub(crate) max_takeovers: u64,
    /// How long a key is remembered.
    pub(crate) key_ttl_ms: i64,
    /// Replaces the rule of who sees a run.
    pub(crate) access: Option<Access>,
}

impl Rules {
    /// Whether a principal (empty: none) sees the run. By default its owner does, and who has no principal.
    pub(crate) fn may_see(&self, principal: &str, run: &RunRow) -> bool {
        let present = |name: &'_ str| !name.is_empty();
        match &self.access {
            None => !present(principal) || principal == run.owner,
            Some(access) => access(Some(principal).filter(|name| present(name)), Some(&*run.owner).filter(|name| present(name))),
        }
    }
}

/// What a command has to know.
pub(crate) struct Snapshot<'s> {
    pub(crate) rules: &'s Rules,
    /// The run, if there is one of that id.
    pub(crate) run: Option<RunRow>,
    /// The record of the command's key, an expired one too.
    pub(crate) key: Option<KeyRow>,
    /// For resolve: the run's latest approval.
    pub(crate) approval: Option<ApprovalView<'static>>,
    /// For append with a key: what the key stands for.
    pub(crate) batch: Option<BatchRow>,
    /// For admit: the outcome that was admitted before.
    pub(crate) admitted: Option<AdmittedRow>,
}

/// What to write, in one piece, and what to answer once it is written.
#[derive(Debug)]
pub(crate) struct Decision {
    pub(crate) changes: Changes,
    pub(crate) reply: Result<Reply, Refusal>,
}

/// Decides. A run whose deadline has passed is timed out first, and the command is answered against that.
pub(crate) fn decide(snapshot: &Snapshot<'_>, command: &Command, now: i64) -> Decision {
    let mut draft = snapshot.run.as_ref().map(|run| Draft::of(run, now));
    if let Some(draft) = &mut draft {
        draft.time_out_if_overdue();
    }
    let (created, key, reply) = match command.retry() {
        Some(retry) => client::decide(snapshot, &mut draft, command, retry, now),
        None => {
            (None, None, draft.as_mut().ok_or_else(refuse::not_found).and_then(|draft| worker::decide(snapshot, draft, command)))
        }
    };
    let mut changes = draft.map(Draft::into_changes).unwrap_or_default();
    if let Some(created) = created {
        changes = created;
    }
    changes.key = key;
    Decision { changes, reply }
}

/// The answer that a recorded outcome stands for.
fn recorded(outcome: Outcome, revision: u64, status: RunStatus) -> Result<Reply, Refusal> {
    match outcome {
        Outcome::Success => Ok(Reply::Submission { revision, status }),
        Outcome::RevisionMismatch => Err(refuse::revision_mismatch(revision)),
        Outcome::InvalidState => Err(refuse::invalid_state(status, revision)),
        Outcome::ApprovalMismatch => Err(refuse::approval_mismatch(revision)),
        Outcome::RunExists => Err(refuse::run_exists(status, revision)),
    }
}

/// The record of a call.
fn record(rules: &Rules, retry: &Retry, outcome: Outcome, revision: u64, status: RunStatus, now: i64) -> KeyRow {
    let expires_at = now.saturating_add(rules.key_ttl_ms);
    KeyRow { fingerprint: retry.fingerprint, outcome, revision, status, expires_at }
}
