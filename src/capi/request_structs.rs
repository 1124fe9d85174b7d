//! The call, the six requests and the execution context as C sees them, both as a service gets and as a client builds them.

use super::constants::{agenthost_operation, agenthost_resolution};
use super::struct_size::sized_structs;
use super::text::{agenthost_optional_i64, agenthost_pairs, agenthost_str};

/// What a slot gets about the call, beside the request. Borrowed until the slot returns.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_call {
    /// `sizeof(agenthost_call)`.
    pub struct_size: usize,
    /// The operation of the request.
    pub operation: agenthost_operation,
    /// 1: `principal` counts. 0: none was given. An empty principal is never delivered.
    pub has_principal: u32,
    /// Whom the transport authenticated. It never comes from the message.
    pub principal: agenthost_str,
    /// Names this request; echoed in the response.
    pub request_id: agenthost_str,
    /// Names the mutation: a retry carries the same key. Empty for reads that have none.
    pub idempotency_key: agenthost_str,
    /// The envelope's metadata.
    pub metadata: agenthost_pairs,
}

/// Where a run comes from. Every string is empty where nothing is known.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_context {
    /// `sizeof(agenthost_context)`.
    pub struct_size: usize,
    /// The run. An identity (1 to 1024 bytes, no U+0000), and required, in `create_run`; may be empty in a view.
    pub run_id: agenthost_str,
    /// The trace that the run belongs to.
    pub trace_id: agenthost_str,
    /// The application's request that led to the run; not the protocol's request id.
    pub request_id: agenthost_str,
    /// The tenant that the run is for.
    pub tenant_id: agenthost_str,
    /// The user that the run is for.
    pub user_id: agenthost_str,
    /// The application that submitted it.
    pub application_id: agenthost_str,
    /// The workspace that it works in.
    pub workspace_id: agenthost_str,
    /// The conversation that it belongs to.
    pub conversation_id: agenthost_str,
    /// The agent that is to do it.
    pub agent_id: agenthost_str,
    /// A language tag such as `en-US`.
    pub locale: agenthost_str,
    /// When the run has to end, in milliseconds since the Unix epoch, within 8.64e15 of it.
    pub deadline_unix_ms: agenthost_optional_i64,
    /// Strings without secrets: in `create_run` a sensitive name refuses the request.
    pub metadata: agenthost_pairs,
}

/// Submits a run.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_create_run {
    /// `sizeof(agenthost_create_run)`.
    pub struct_size: usize,
    /// Where the run comes from; names the run. Not NULL.
    pub context: *const agenthost_context,
    /// What the run is to work on, as JSON text. Never empty towards a service; empty from a client means `{}`.
    pub input: agenthost_str,
    /// Strings that belong to the run.
    pub metadata: agenthost_pairs,
}

/// Reads a run.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_get_run {
    /// `sizeof(agenthost_get_run)`.
    pub struct_size: usize,
    /// The run.
    pub run_id: agenthost_str,
}

/// Cancels a run.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_cancel_run {
    /// `sizeof(agenthost_cancel_run)`.
    pub struct_size: usize,
    /// The run.
    pub run_id: agenthost_str,
    /// The revision that the caller has seen, 1 to 2^53-1.
    pub expected_revision: u64,
    /// Why. Empty from a client means the contract's default, `agent run cancelled`.
    pub reason: agenthost_str,
}

/// Approves or denies what a run waits for.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_resolve_approval {
    /// `sizeof(agenthost_resolve_approval)`.
    pub struct_size: usize,
    /// The run.
    pub run_id: agenthost_str,
    /// The revision that the caller has seen, 1 to 2^53-1.
    pub expected_revision: u64,
    /// The approval, as the run's view names it.
    pub approval_id: agenthost_str,
    /// `AGENTHOST_APPROVAL_APPROVED` or `AGENTHOST_APPROVAL_DENIED`.
    pub resolution: agenthost_resolution,
    /// 0.
    pub reserved: u32,
    /// Why; may be empty.
    pub reason: agenthost_str,
    /// Strings that belong to the resolution.
    pub metadata: agenthost_pairs,
}

/// Lets an approved run go on.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_resume_run {
    /// `sizeof(agenthost_resume_run)`.
    pub struct_size: usize,
    /// The run.
    pub run_id: agenthost_str,
    /// The revision that the caller has seen, 1 to 2^53-1.
    pub expected_revision: u64,
    /// The approval that was given.
    pub approval_id: agenthost_str,
    /// What the run gets to go on with, as JSON text. Never empty towards a service; empty from a client means `{}`.
    pub input: agenthost_str,
}

/// Reads events after a cursor.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_list_events {
    /// `sizeof(agenthost_list_events)`.
    pub struct_size: usize,
    /// The run.
    pub run_id: agenthost_str,
    /// Only events with a larger sequence are asked for; 0 for all, at most 2^53-1.
    pub after_sequence: u64,
    /// The most events that the page may hold, 1 to 1000. 0 from a client means the contract's default, 256.
    pub limit: u64,
}

sized_structs!(
    agenthost_call,
    agenthost_context,
    agenthost_create_run,
    agenthost_get_run,
    agenthost_cancel_run,
    agenthost_resolve_approval,
    agenthost_resume_run,
    agenthost_list_events,
);
