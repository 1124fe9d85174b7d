//! Who may do what with a run: its owner everything, an approver what names it (approvals, "Who decides"); or what the application's
//! hook says.

use std::sync::Arc;

use super::hook::Hook;
use crate::protocol::Operation;
use crate::store::{ApprovalRow, Reader, RunRow, Stored};

/// Decides whether a call may see a run, and do to it what it asks. It replaces the library's rule: the owner may do everything, an
/// approver may read and decide what names it. What it cannot replace: the owner does not decide what asks for four eyes.
pub type AccessHook = Arc<dyn Fn(&AccessRequest<'_>) -> bool + Send + Sync>;

/// What an [`AccessHook`] is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessRequest<'a> {
    /// Who calls; none for embedded use.
    pub principal: Option<&'a str>,
    /// The principal that created the run; none where there was none.
    pub owner: Option<&'a str>,
    /// What is asked for. Waiting for events counts as reading them.
    pub operation: Operation,
    /// Of `resolve_approval`, the principals that the approval names; of everything else, those that the pending approvals name.
    pub approvers: &'a [String],
}

/// What a caller may do with a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Not even see it.
    None,
    /// Read it, and decide the approvals that name the caller.
    Approver,
    /// Everything.
    Full,
}

type AccessFunction = dyn Fn(&AccessRequest<'_>) -> bool + Send + Sync;

/// Who may do what with the runs of one opening.
#[derive(Clone, Default)]
pub(crate) struct AccessRule {
    /// Replaces everything else.
    hook: Option<Hook<AccessFunction>>,
    /// Principals that may do everything with every run.
    operators: Arc<[String]>,
}

impl AccessRule {
    pub(crate) fn new(hook: Option<AccessHook>, operators: Vec<String>) -> AccessRule {
        AccessRule { hook: hook.map(Hook::new), operators: operators.into() }
    }

    /// Whether the application's hook decides.
    pub(crate) fn is_hook(&self) -> bool {
        self.hook.is_some()
    }

    /// What a principal (empty: none) may do with a run. `approval_id` is what a `resolve_approval` is about.
    pub(crate) fn access(
        &self,
        reader: &mut dyn Reader,
        principal: &str,
        run: &RunRow,
        operation: Operation,
        approval_id: Option<&str>,
    ) -> Stored<Access> {
        if let Some(hook) = self.hook.as_ref().and_then(Hook::function) {
            return ask(hook, reader, principal, run, operation, approval_id);
        }
        let full = principal.is_empty() || principal == run.owner || self.operators.iter().any(|operator| operator == principal);
        Ok(if full {
            Access::Full
        } else if run.last_approval > 0 && reader.is_approver(run.id, principal)? {
            Access::Approver
        } else {
            Access::None
        })
    }
}

fn ask(
    hook: &AccessFunction,
    reader: &mut dyn Reader,
    principal: &str,
    run: &RunRow,
    operation: Operation,
    approval_id: Option<&str>,
) -> Stored<Access> {
    let approvals = reader.approvals(run.id, run.first_approval..=run.last_approval)?;
    let asked = |approval: &&ApprovalRow| match approval_id {
        Some(approval_id) => approval.approval_id == approval_id,
        None => approval.open,
    };
    let mut approvers: Vec<String> = approvals.iter().filter(asked).flat_map(|approval| approval.approvers.clone()).collect();
    approvers.sort_unstable();
    approvers.dedup();
    let named = |name: &'_ str| !name.is_empty();
    let request = AccessRequest {
        principal: Some(principal).filter(|name| named(name)),
        owner: Some(&*run.owner).filter(|name| named(name)),
        operation,
        approvers: &approvers,
    };
    Ok(if hook(&request) { Access::Full } else { Access::None })
}
