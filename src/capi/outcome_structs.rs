//! What calls of durable runs give, as the structs of the header.

use std::ptr;

use super::approval_structs::{ApprovalStructs, agenthost_decided_approval};
use super::constants::{Constant, agenthost_run_status};
use super::pointed_to::PointedTo;
use super::request_structs::agenthost_context;
use super::result_structs::{agenthost_error, agenthost_event, agenthost_submission};
use super::text::{agenthost_optional_i64, agenthost_pairs, agenthost_str};
use super::values_to_c::{self, Pairs};
use crate::protocol::{FreeJson, HostError, Metadata, RunStatus};
use crate::runs::{Admitted, Claimed, InboxApproval, RunSummary};
use crate::service::{Event, RunSubmission};

/// A run that was claimed, with all that there is to go on with.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_claimed {
    /// `sizeof(agenthost_claimed)`.
    pub struct_size: usize,
    /// The run.
    pub run_id: agenthost_str,
    /// The right to work on it, which every call brings. A secret: do not log it.
    pub token: agenthost_str,
    /// 0: no principal created it. 1: `owner` did.
    pub has_owner: u32,
    /// 0.
    pub reserved: u32,
    /// The principal that created it.
    pub owner: agenthost_str,
    /// How often it has been claimed since it started or was resumed last, from 1.
    pub attempt: u64,
    /// Its revision.
    pub revision: u64,
    /// When the lease ends unless a call renews it, in milliseconds since the Unix epoch.
    pub lease_ends_at_unix_ms: i64,
    /// The lease in milliseconds; a heartbeat is due at a third of it.
    pub lease_ms: u64,
    /// Where it comes from.
    pub context: *const agenthost_context,
    /// What it is to work on, JSON.
    pub input: agenthost_str,
    /// Strings that belong to it.
    pub metadata: agenthost_pairs,
    /// After a resume: the approvals that were asked for, in order, all decided. NULL when there are none.
    pub approvals: *const *const agenthost_decided_approval,
    /// The number of `approvals`.
    pub approval_count: usize,
    /// After a resume: what `suspend` was given, JSON. Else empty.
    pub continuation: agenthost_str,
    /// After a resume: the input of `resume_run`, JSON. Else empty.
    pub resume_input: agenthost_str,
}

/// The outcome of a tool call that counts.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_admitted {
    /// `sizeof(agenthost_admitted)`.
    pub struct_size: usize,
    /// The tool call.
    pub tool_call_id: agenthost_str,
    /// The tool.
    pub tool_name: agenthost_str,
    /// The execution's key.
    pub key: agenthost_str,
    /// The sequence of the event that says so.
    pub sequence: u64,
    /// The outcome that was admitted first, JSON.
    pub outcome: agenthost_str,
    /// 1: it had been admitted before this call.
    pub repeated: u32,
    /// 0.
    pub reserved: u32,
}

/// A run, in short.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_run_summary {
    /// `sizeof(agenthost_run_summary)`.
    pub struct_size: usize,
    /// The run.
    pub run_id: agenthost_str,
    /// 0: no principal created it. 1: `owner` did.
    pub has_owner: u32,
    /// Its state.
    pub status: agenthost_run_status,
    /// The principal that created it.
    pub owner: agenthost_str,
    /// The agent that is to do it, or empty.
    pub agent_id: agenthost_str,
    /// How the last worker called itself, or empty.
    pub worker: agenthost_str,
    /// The number of its state changes.
    pub revision: u64,
    /// The sequence of the first event that is still there.
    pub first_sequence: u64,
    /// The sequence of its last event.
    pub head_sequence: u64,
    /// How often it has been claimed since it started or was resumed last.
    pub attempt: u64,
    /// When it was created, in milliseconds since the Unix epoch.
    pub created_at_unix_ms: i64,
    /// When it got its last event.
    pub updated_at_unix_ms: i64,
    /// When it ended.
    pub completed_at_unix_ms: agenthost_optional_i64,
    /// When it has to end.
    pub deadline_unix_ms: agenthost_optional_i64,
}

/// What a call gives, whichever call it was.
#[derive(Default)]
pub(super) struct OutcomeValue {
    pub(super) submission: Option<RunSubmission<'static>>,
    /// The approvals of a suspend.
    pub(super) approval_ids: Vec<String>,
    /// The token of a claim.
    pub(super) text: String,
    pub(super) inbox: Vec<InboxApproval>,
    pub(super) claimed: Option<Box<Claimed>>,
    pub(super) admitted: Vec<Admitted>,
    pub(super) events: Vec<Event<'static>>,
    pub(super) runs: Vec<RunSummary>,
    pub(super) status: Option<RunStatus>,
    pub(super) number: i64,
    pub(super) next: u64,
    pub(super) has_more: bool,
}

/// The structs that C sees. Their texts and what they lead to do not move when the outcome moves.
#[derive(Default)]
pub(super) struct OutcomeStructs {
    pub(super) error: Option<Box<agenthost_error>>,
    pub(super) submission: Option<Box<agenthost_submission>>,
    pub(super) claimed: Option<Box<agenthost_claimed>>,
    context: Option<PointedTo<agenthost_context>>,
    pub(super) approvals: ApprovalStructs,
    pub(super) admitted: Vec<agenthost_admitted>,
    pub(super) events: Vec<agenthost_event>,
    pub(super) runs: Vec<agenthost_run_summary>,
    /// The structs lead to them.
    pairs: Vec<Pairs>,
}

impl OutcomeStructs {
    fn pairs(&mut self, metadata: &Metadata<'_>) -> usize {
        self.pairs.push(Pairs::of(metadata));
        self.pairs.len() - 1
    }

    pub(super) fn of(value: &Result<OutcomeValue, HostError<'static>>) -> OutcomeStructs {
        let mut structs = OutcomeStructs::default();
        let value = match value {
            Ok(value) => value,
            Err(error) => {
                let pairs = structs.pairs(&error.metadata);
                structs.error = Some(Box::new(values_to_c::error(error, &structs.pairs[pairs])));
                return structs;
            }
        };
        structs.submission = value.submission.as_ref().map(|submission| Box::new(values_to_c::submission(submission)));
        if let Some(claimed) = &value.claimed {
            structs.claimed(claimed, &value.text);
        }
        structs.approvals.add_inbox(&value.inbox);
        structs.admitted = value.admitted.iter().map(admitted).collect();
        for event in &value.events {
            let pairs = structs.pairs(&event.metadata);
            structs.events.push(values_to_c::event(event, &structs.pairs[pairs]));
        }
        structs.runs = value.runs.iter().map(summary).collect();
        structs
    }

    fn claimed(&mut self, claimed: &Claimed, token: &str) {
        let context = self.pairs(&claimed.context.metadata);
        self.context = Some(PointedTo::new(values_to_c::context(&claimed.context, &self.pairs[context])));
        self.approvals.add_decided(&claimed.approvals);
        let approvals = &self.approvals.decided_pointers;
        let (approvals, approval_count) = (if approvals.is_empty() { ptr::null() } else { approvals.as_ptr() }, approvals.len());
        let metadata = self.pairs(&claimed.metadata);
        let json = |json: &Option<FreeJson<'static>>| values_to_c::text(json.as_ref().map_or("", |json| json.as_str()));
        self.claimed = Some(Box::new(agenthost_claimed {
            struct_size: size_of::<agenthost_claimed>(),
            run_id: values_to_c::text(&claimed.claim.run_id),
            token: values_to_c::text(token),
            has_owner: u32::from(claimed.owner.is_some()),
            reserved: 0,
            owner: values_to_c::text(claimed.owner.as_deref().unwrap_or("")),
            attempt: claimed.attempt,
            revision: claimed.revision,
            lease_ends_at_unix_ms: claimed.lease_ends_at_unix_ms,
            lease_ms: claimed.lease_ms,
            context: self.context.as_ref().map_or(ptr::null(), PointedTo::as_ptr),
            input: values_to_c::text(claimed.input.as_str()),
            metadata: self.pairs[metadata].as_c(),
            approvals,
            approval_count,
            continuation: json(&claimed.continuation),
            resume_input: json(&claimed.resume_input),
        }));
    }
}

fn admitted(admitted: &Admitted) -> agenthost_admitted {
    agenthost_admitted {
        struct_size: size_of::<agenthost_admitted>(),
        tool_call_id: values_to_c::text(&admitted.tool_call_id),
        tool_name: values_to_c::text(&admitted.tool_name),
        key: values_to_c::text(&admitted.key),
        sequence: admitted.sequence,
        outcome: values_to_c::text(admitted.outcome.as_str()),
        repeated: u32::from(admitted.repeated),
        reserved: 0,
    }
}

fn summary(run: &RunSummary) -> agenthost_run_summary {
    agenthost_run_summary {
        struct_size: size_of::<agenthost_run_summary>(),
        run_id: values_to_c::text(&run.run_id),
        has_owner: u32::from(run.owner.is_some()),
        status: run.status.to_number(),
        owner: values_to_c::text(run.owner.as_deref().unwrap_or("")),
        agent_id: values_to_c::text(&run.agent_id),
        worker: values_to_c::text(&run.worker),
        revision: run.revision,
        first_sequence: run.first_sequence,
        head_sequence: run.head_sequence,
        attempt: run.attempt,
        created_at_unix_ms: run.created_at_unix_ms,
        updated_at_unix_ms: run.updated_at_unix_ms,
        completed_at_unix_ms: values_to_c::optional(run.completed_at_unix_ms),
        deadline_unix_ms: values_to_c::optional(run.deadline_unix_ms),
    }
}
