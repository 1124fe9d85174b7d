//! The rules of a run, as one pure function: what is there, what is asked, what time it is; and out of that what to write and
//! what to answer. No clock, no randomness, no input or output (durable runs, "Stores"). Only the rule of access is the
//! application's.
//!
//! `client` decides the mutations of clients, `worker` those of workers, timers and operators, `approvals` what both do with approvals;
//! all change a `draft` of the run.

mod approvals;
mod client;
mod draft;
mod keys;
mod refused;
mod rules;
mod worker;

pub(crate) use rules::{Rules, Snapshot};

use super::command::{Command, CommandOutput};
use super::refuse::{self, Refusal};
use crate::store::Changes;
use draft::Draft;

/// What to write, in one piece, and what to answer once it is written.
#[derive(Debug)]
pub(crate) struct Decision {
    pub(crate) changes: Changes,
    pub(crate) result: Result<CommandOutput, Refusal>,
}

/// Decides. A run whose deadline has passed is timed out first, approvals that have expired are denied next, and the command is
/// answered against that.
pub(crate) fn decide(snapshot: &Snapshot<'_>, command: &Command, now: i64) -> Decision {
    let mut draft = snapshot.run.as_ref().map(|run| Draft::of(run, &snapshot.approvals, now));
    if let Some(draft) = &mut draft {
        draft.time_out_if_overdue();
        approvals::expire(draft);
    }
    let (created, key, result) = match command.retry() {
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
    Decision { changes, result }
}
