//! What a transaction writes of one run.

use super::approval::ApprovalChange;
use super::row::{AdmittedRow, BatchRow, BodyKind, EventRow, KeyRow, KeyScope, RunRow};

/// What one command writes, in one piece. A store writes all of it or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The run's row. None: only the key is written.
    pub run: Option<RunChange>,
    /// Texts of the run that are set (over one that is there) or, with none, deleted.
    pub bodies: Vec<(BodyKind, Option<String>)>,
    /// Approvals of the run that are new or were decided.
    pub approvals: Vec<ApprovalChange>,
    /// New events of the run, sequences following its head.
    pub events: Vec<EventRow>,
    /// A new admitted result of the run.
    pub admitted: Option<AdmittedRow>,
    /// A new batch of the run.
    pub batch: Option<BatchRow>,
    /// The record of a key; replaces an expired one.
    pub key: Option<(KeyScope, KeyRow)>,
}

/// What becomes of a run's row.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "one for each command")]
pub enum RunChange {
    /// It is new; the store gives it its `id`.
    Insert(RunRow),
    /// It is another now. `id`, `run_id`, `owner`, `agent_id`, `fingerprint` and `created_at` stay; what else differs is to be
    /// written.
    Update {
        /// As it was read in this transaction.
        before: RunRow,
        /// As it is to be.
        after: RunRow,
    },
}
