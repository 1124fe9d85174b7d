//! Lays out what C is handed: structs that borrow from values on this side, which have to outlive them.

use super::constants::Constant;
use super::request_structs::{
    agenthost_call, agenthost_cancel_run, agenthost_context, agenthost_create_run, agenthost_get_run, agenthost_list_events,
    agenthost_resolve_approval, agenthost_resume_run,
};
use super::result_structs::{agenthost_approval, agenthost_error, agenthost_event, agenthost_run, agenthost_submission};
use super::text::{agenthost_optional_i64, agenthost_pair, agenthost_pairs, agenthost_str};
use crate::protocol::{ExecutionContext, HostError, Metadata};
use crate::service::{
    ApprovalView, Call, CancelRun, CreateRun, Event, GetRun, ListEvents, ResolveApproval, ResumeRun, RunSubmission, RunView,
};

/// A text, borrowed.
pub(super) fn text(value: &str) -> agenthost_str {
    agenthost_str { data: value.as_ptr().cast(), len: value.len() }
}

/// A map laid out as C wants it. The pairs borrow from the metadata; the layout is its own.
pub(super) struct Pairs(Vec<agenthost_pair>);

impl Pairs {
    pub(super) fn of(metadata: &Metadata<'_>) -> Pairs {
        Pairs(metadata.iter().map(|(key, value)| agenthost_pair { key: text(key), value: text(value) }).collect())
    }

    /// What C gets: valid as long as this and the metadata.
    pub(super) fn as_c(&self) -> agenthost_pairs {
        agenthost_pairs { items: self.0.as_ptr(), count: self.0.len() }
    }
}

pub(super) fn optional(value: Option<i64>) -> agenthost_optional_i64 {
    agenthost_optional_i64 { present: u64::from(value.is_some()), value: value.unwrap_or(0) }
}

pub(super) fn call(call: &Call<'_>, metadata: &Pairs) -> agenthost_call {
    let principal = call.principal.as_deref();
    agenthost_call {
        struct_size: size_of::<agenthost_call>(),
        operation: call.operation.to_number(),
        has_principal: u32::from(principal.is_some()),
        principal: text(principal.unwrap_or("")),
        request_id: text(&call.request_id),
        idempotency_key: text(&call.idempotency_key),
        metadata: metadata.as_c(),
    }
}

pub(super) fn context(context: &ExecutionContext<'_>, metadata: &Pairs) -> agenthost_context {
    agenthost_context {
        struct_size: size_of::<agenthost_context>(),
        run_id: text(&context.run_id),
        trace_id: text(&context.trace_id),
        request_id: text(&context.request_id),
        tenant_id: text(&context.tenant_id),
        user_id: text(&context.user_id),
        application_id: text(&context.application_id),
        workspace_id: text(&context.workspace_id),
        conversation_id: text(&context.conversation_id),
        agent_id: text(&context.agent_id),
        locale: text(&context.locale),
        deadline_unix_ms: optional(context.deadline_unix_ms),
        metadata: metadata.as_c(),
    }
}

pub(super) fn create_run(request: &CreateRun<'_>, context: &agenthost_context, metadata: &Pairs) -> agenthost_create_run {
    agenthost_create_run {
        struct_size: size_of::<agenthost_create_run>(),
        context,
        input: text(request.input.as_str()),
        metadata: metadata.as_c(),
    }
}

pub(super) fn get_run(request: &GetRun<'_>) -> agenthost_get_run {
    agenthost_get_run { struct_size: size_of::<agenthost_get_run>(), run_id: text(&request.run_id) }
}

pub(super) fn cancel_run(request: &CancelRun<'_>) -> agenthost_cancel_run {
    agenthost_cancel_run {
        struct_size: size_of::<agenthost_cancel_run>(),
        run_id: text(&request.run_id),
        expected_revision: request.expected_revision,
        reason: text(&request.reason),
    }
}

pub(super) fn resolve_approval(request: &ResolveApproval<'_>, metadata: &Pairs) -> agenthost_resolve_approval {
    agenthost_resolve_approval {
        struct_size: size_of::<agenthost_resolve_approval>(),
        run_id: text(&request.run_id),
        expected_revision: request.expected_revision,
        approval_id: text(&request.approval_id),
        resolution: request.resolution.to_number(),
        reserved: 0,
        reason: text(&request.reason),
        metadata: metadata.as_c(),
    }
}

pub(super) fn resume_run(request: &ResumeRun<'_>) -> agenthost_resume_run {
    agenthost_resume_run {
        struct_size: size_of::<agenthost_resume_run>(),
        run_id: text(&request.run_id),
        expected_revision: request.expected_revision,
        approval_id: text(&request.approval_id),
        input: text(request.input.as_str()),
    }
}

pub(super) fn list_events(request: &ListEvents<'_>) -> agenthost_list_events {
    agenthost_list_events {
        struct_size: size_of::<agenthost_list_events>(),
        run_id: text(&request.run_id),
        after_sequence: request.after_sequence,
        limit: request.limit,
    }
}

pub(super) fn submission(submission: &RunSubmission<'_>) -> agenthost_submission {
    agenthost_submission {
        struct_size: size_of::<agenthost_submission>(),
        run_id: text(&submission.run_id),
        revision: submission.revision,
        status: submission.status.to_number(),
        reserved: 0,
    }
}

pub(super) fn approval(approval: &ApprovalView<'_>, metadata: &Pairs) -> agenthost_approval {
    agenthost_approval {
        struct_size: size_of::<agenthost_approval>(),
        approval_id: text(&approval.approval_id),
        tool_call_id: text(&approval.tool_call_id),
        tool_name: text(&approval.tool_name),
        resolution: approval.resolution.to_number(),
        reserved: 0,
        reason: text(&approval.reason),
        created_at_unix_ms: approval.created_at_unix_ms,
        resolved_at_unix_ms: optional(approval.resolved_at_unix_ms),
        metadata: metadata.as_c(),
    }
}

pub(super) fn run(
    run: &RunView<'_>,
    context: *const agenthost_context,
    approval: *const agenthost_approval,
    metadata: &Pairs,
) -> agenthost_run {
    agenthost_run {
        struct_size: size_of::<agenthost_run>(),
        run_id: text(&run.run_id),
        revision: run.revision,
        status: run.status.to_number(),
        reserved: 0,
        context,
        created_at_unix_ms: run.created_at_unix_ms,
        updated_at_unix_ms: run.updated_at_unix_ms,
        completed_at_unix_ms: optional(run.completed_at_unix_ms),
        approval,
        result: text(run.result.as_str()),
        error: text(&run.error),
        metadata: metadata.as_c(),
    }
}

pub(super) fn event(event: &Event<'_>, metadata: &Pairs) -> agenthost_event {
    agenthost_event {
        struct_size: size_of::<agenthost_event>(),
        run_id: text(&event.run_id),
        sequence: event.sequence,
        r#type: text(&event.event_type),
        status: event.status.to_number(),
        reserved: 0,
        step_id: text(&event.step_id),
        tool_call_id: text(&event.tool_call_id),
        timestamp_unix_ms: event.timestamp_unix_ms,
        data: text(event.data.as_str()),
        metadata: metadata.as_c(),
    }
}

pub(super) fn error(error: &HostError<'_>, metadata: &Pairs) -> agenthost_error {
    agenthost_error {
        struct_size: size_of::<agenthost_error>(),
        code: error.code.to_number(),
        retryable: u32::from(error.retryable),
        message: text(&error.message),
        details: text(error.details.as_str()),
        metadata: metadata.as_c(),
        original_code: text(&error.original_code),
    }
}
