//! What a deployment can set, and what a command has to know: all that is decided from, beside the command and the time.

use std::sync::Arc;

use crate::runs::hook::Hook;
use crate::service::ApprovalView;
use crate::store::{AdmittedRow, BatchRow, KeyRow, RunRow};

/// Decides whether a principal may see a run: the principal of the call and the run's owner, each none where there is none.
pub type Access = Arc<dyn Fn(Option<&str>, Option<&str>) -> bool + Send + Sync>;

/// The rule as runs keep it.
pub(crate) type AccessHook = Hook<dyn Fn(Option<&str>, Option<&str>) -> bool + Send + Sync>;

/// The numbers and the hook that a deployment can set.
#[derive(Clone)]
pub(crate) struct Rules {
    /// How often a run may be taken over from a worker whose lease ended before it fails.
    pub(crate) max_takeovers: u64,
    /// How long a key is remembered.
    pub(crate) key_ttl_ms: i64,
    /// Replaces the rule of who sees a run.
    pub(crate) access: Option<AccessHook>,
}

impl Rules {
    /// Whether a principal (empty: none) sees the run. By default its owner does, and who has no principal.
    pub(crate) fn may_see(&self, principal: &str, run: &RunRow) -> bool {
        let present = |name: &'_ str| !name.is_empty();
        match self.access.as_ref().and_then(Hook::function) {
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
