//! Makes the structs that C gets. They borrow from values on this side, which have to outlive them.

use super::constants::Constant;
use super::request_structs::{
    agenthost_call, agenthost_cancel_run, agenthost_context, agenthost_create_run, agenthost_get_run, agenthost_list_events,
    agenthost_resolve_approval, agenthost_resume_run,
};
use super::result_structs::{agenthost_approval, agenthost_error, agenthost_event, agenthost_run, agenthost_submission};
use super::text::{agenthost_optional_i64, agenthost_pair, agenthost_pairs, agenthost_str};
use crate::members;
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

/// Lays out a value as its struct. Lists and structs that it leads to are laid out elsewhere: given are what it holds of them, and
/// `reserved` when the struct has such a member.
macro_rules! layout {
    (
        { $value:ident as $struct:ident $(reserved: $reserved:literal)?, $parts:tt }
        $type:ident { $($name:ident = $field:ident: $kind:ident,)* }
    ) => {
        $struct {
            struct_size: size_of::<$struct>(),
            $(reserved: $reserved,)?
            $($name: member!($kind $value.$field $parts),)*
        }
    };
}

/// One member, by its kind.
macro_rules! member {
    (metadata $value:ident.$field:ident [$metadata:ident $($more:ident)*]) => {
        $metadata.as_c()
    };
    (context $value:ident.$field:ident [$metadata:ident $context:ident $approval:ident]) => {
        $context
    };
    (approval $value:ident.$field:ident [$metadata:ident $context:ident $approval:ident]) => {
        $approval
    };
    (unsigned $value:ident.$field:ident $parts:tt) => {
        $value.$field
    };
    (time $value:ident.$field:ident $parts:tt) => {
        $value.$field
    };
    (optional_time $value:ident.$field:ident $parts:tt) => {
        optional($value.$field)
    };
    (run_status $value:ident.$field:ident $parts:tt) => {
        $value.$field.to_number()
    };
    (resolution $value:ident.$field:ident $parts:tt) => {
        $value.$field.to_number()
    };
    (free_json $value:ident.$field:ident $parts:tt) => {
        text($value.$field.as_str())
    };
    // The texts.
    ($kind:ident $value:ident.$field:ident $parts:tt) => {
        text(&$value.$field)
    };
}

pub(super) fn context(context: &ExecutionContext<'_>, metadata: &Pairs) -> agenthost_context {
    members!(ExecutionContext => layout! { context as agenthost_context, [metadata] })
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
    members!(CancelRun => layout! { request as agenthost_cancel_run, [] })
}

pub(super) fn resolve_approval(request: &ResolveApproval<'_>, metadata: &Pairs) -> agenthost_resolve_approval {
    members!(ResolveApproval => layout! { request as agenthost_resolve_approval reserved: 0, [metadata] })
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
    members!(RunSubmission => layout! { submission as agenthost_submission reserved: 0, [] })
}

pub(super) fn approval(approval: &ApprovalView<'_>, metadata: &Pairs) -> agenthost_approval {
    members!(ApprovalView => layout! { approval as agenthost_approval reserved: 0, [metadata] })
}

pub(super) fn run(
    run: &RunView<'_>,
    context: *const agenthost_context,
    approval: *const agenthost_approval,
    metadata: &Pairs,
) -> agenthost_run {
    members!(RunView => layout! { run as agenthost_run reserved: 0, [metadata context approval] })
}

pub(super) fn event(event: &Event<'_>, metadata: &Pairs) -> agenthost_event {
    members!(Event => layout! { event as agenthost_event reserved: 0, [metadata] })
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
