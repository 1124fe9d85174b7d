//! Approvals of durable runs as C sees them: decided ones with a claim, and those of the inbox.

use super::constants::{Constant, agenthost_approval_state, agenthost_on_denied, agenthost_run_status};
use super::pointed_to::PointedTo;
use super::result_structs::agenthost_approval;
use super::text::{agenthost_optional_i64, agenthost_str};
use super::values_to_c::{self, Pairs};
use crate::protocol::FreeJson;
use crate::runs::{DecidedApproval, InboxApproval};
use crate::service::ApprovalView;

/// An approval that was decided, with what was decided about.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_decided_approval {
    /// `sizeof(agenthost_decided_approval)`.
    pub struct_size: usize,
    /// The approval.
    pub approval: *const agenthost_approval,
    /// JSON: what was approved or denied, exactly. Execute these and no others. Empty where the suspension gave none.
    pub arguments: agenthost_str,
    /// 1: `decided_by` did. 0: nobody known.
    pub has_decided_by: u32,
    /// 1: nobody decided in time, which counts as denied.
    pub expired: u32,
    /// The principal that decided.
    pub decided_by: agenthost_str,
}

/// An approval as the inbox shows it: with all that it takes to judge and to decide it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_inbox_approval {
    /// `sizeof(agenthost_inbox_approval)`.
    pub struct_size: usize,
    /// Its place in the order of creation of all approvals: the cursor.
    pub position: u64,
    /// Its run.
    pub run_id: agenthost_str,
    /// The run's revision now: what `resolve_approval` has to expect.
    pub revision: u64,
    /// The run's state now.
    pub run_status: agenthost_run_status,
    /// Whether it can be decided, and what became of it.
    pub state: agenthost_approval_state,
    /// 1: `owner` created the run. 0: no principal did.
    pub has_owner: u32,
    /// 1: the owner of the run may not decide it.
    pub not_owner: u32,
    /// The principal that created the run.
    pub owner: agenthost_str,
    /// The agent of the run, or empty.
    pub agent_id: agenthost_str,
    /// The approval, as the run's view shows it.
    pub approval: *const agenthost_approval,
    /// JSON: what is to be approved, exactly. Empty where the worker gave none.
    pub arguments: agenthost_str,
    /// When it is denied by itself, in milliseconds since the Unix epoch; null for never.
    pub expires_at_unix_ms: agenthost_optional_i64,
    /// What a denial does.
    pub on_denied: agenthost_on_denied,
    /// 1: nobody decided it in time.
    pub expired: u32,
    /// The principals that may decide it.
    pub approvers: *const agenthost_str,
    /// The number of `approvers`; 0: whoever may see the run.
    pub approver_count: usize,
    /// 1: `decided_by` decided it. 0: nobody known.
    pub has_decided_by: u32,
    /// 0.
    pub reserved: u32,
    /// The principal that decided it.
    pub decided_by: agenthost_str,
}

/// Approvals laid out for C.
#[derive(Default)]
pub(super) struct ApprovalStructs {
    decided: Vec<PointedTo<agenthost_decided_approval>>,
    pub(super) decided_pointers: Vec<*const agenthost_decided_approval>,
    pub(super) inbox: Vec<agenthost_inbox_approval>,
    views: Vec<PointedTo<agenthost_approval>>,
    approvers: Vec<Vec<agenthost_str>>,
    pairs: Vec<Pairs>,
}

impl ApprovalStructs {
    pub(super) fn add_decided(&mut self, decided: &[DecidedApproval]) {
        for approval in decided {
            let view = self.view(&approval.view);
            self.decided.push(PointedTo::new(agenthost_decided_approval {
                struct_size: size_of::<agenthost_decided_approval>(),
                approval: view,
                arguments: json(approval.arguments.as_ref()),
                has_decided_by: u32::from(approval.decided_by.is_some()),
                expired: u32::from(approval.expired),
                decided_by: values_to_c::text(approval.decided_by.as_deref().unwrap_or("")),
            }));
        }
        self.decided_pointers = self.decided.iter().map(PointedTo::as_ptr).collect();
    }

    pub(super) fn add_inbox(&mut self, approvals: &[InboxApproval]) {
        for approval in approvals {
            let view = self.view(&approval.view);
            let approvers: Vec<agenthost_str> = approval.approvers.iter().map(|name| values_to_c::text(name)).collect();
            self.inbox.push(agenthost_inbox_approval {
                struct_size: size_of::<agenthost_inbox_approval>(),
                position: approval.position,
                run_id: values_to_c::text(&approval.run_id),
                revision: approval.revision,
                run_status: approval.run_status.to_number(),
                state: approval.state.to_number(),
                has_owner: u32::from(approval.owner.is_some()),
                not_owner: u32::from(approval.not_owner),
                owner: values_to_c::text(approval.owner.as_deref().unwrap_or("")),
                agent_id: values_to_c::text(&approval.agent_id),
                approval: view,
                arguments: json(approval.arguments.as_ref()),
                expires_at_unix_ms: values_to_c::optional(approval.expires_at_unix_ms),
                on_denied: approval.on_denied.to_number(),
                expired: u32::from(approval.expired),
                approvers: approvers.as_ptr(),
                approver_count: approvers.len(),
                has_decided_by: u32::from(approval.decided_by.is_some()),
                reserved: 0,
                decided_by: values_to_c::text(approval.decided_by.as_deref().unwrap_or("")),
            });
            self.approvers.push(approvers);
        }
    }

    fn view(&mut self, view: &ApprovalView<'static>) -> *const agenthost_approval {
        self.pairs.push(Pairs::of(&view.metadata));
        let pairs = &self.pairs[self.pairs.len() - 1];
        let view = PointedTo::new(values_to_c::approval(view, pairs));
        let pointer = view.as_ptr();
        self.views.push(view);
        pointer
    }
}

fn json(json: Option<&FreeJson<'static>>) -> agenthost_str {
    values_to_c::text(json.map_or("", |json| json.as_str()))
}
