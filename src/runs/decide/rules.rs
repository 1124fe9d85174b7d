//! What a deployment can set, and what a command has to know: all that is decided from, beside the command and the time.

use crate::runs::access::{Access, AccessRule};
use crate::store::{AdmittedRow, ApprovalRow, BatchRow, KeyRow, RunRow};

/// The numbers and the hook that a deployment can set.
#[derive(Clone)]
pub(crate) struct Rules {
    /// How often a run may be taken over from a worker whose lease ended before it fails.
    pub(crate) max_takeovers: u64,
    /// How long a key is remembered.
    pub(crate) key_ttl_ms: i64,
    /// Who may do what with a run.
    pub(crate) access: AccessRule,
}

/// What a command has to know.
pub(crate) struct Snapshot<'s> {
    pub(crate) rules: &'s Rules,
    /// The run, if there is one of that id.
    pub(crate) run: Option<RunRow>,
    /// The record of the command's key, an expired one too.
    pub(crate) key: Option<KeyRow>,
    /// The approvals of the run's latest suspension, where the command may need them.
    pub(crate) approvals: Vec<ApprovalRow>,
    /// What the client that calls may do with the run.
    pub(crate) access: Access,
    /// For append with a key: what the key stands for.
    pub(crate) batch: Option<BatchRow>,
    /// For admit: the outcome that was admitted before.
    pub(crate) admitted: Option<AdmittedRow>,
}
