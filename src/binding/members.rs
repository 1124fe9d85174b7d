//! The members of the contract's types, once, for code that is the same for every member.

/// Calls a macro with the members of a type, in the contract's order and each with its kind:
/// `members!(RunSubmission => then! { what before })` becomes `then! { { what before } RunSubmission { run_id: text, revision: unsigned,
/// status: run_status } }`. A member that is missing here does not compile where a binding makes the type of its members.
///
/// The kinds: `text` must be there; `optional_text` is empty where there is none; `unsigned` is a number from 0; `time` is in
/// milliseconds since the Unix epoch, 0 where there is none; `optional_time` may be nothing; `run_status`, `resolution` are words of the
/// contract; `free_json` is any JSON; `metadata`, `context`, `approval` are what they say, `approval` may be nothing.
#[macro_export]
macro_rules! members {
    (ExecutionContext => $then:ident! { $($before:tt)* }) => {
        $then! { { $($before)* } ExecutionContext {
            run_id: optional_text,
            trace_id: optional_text,
            request_id: optional_text,
            tenant_id: optional_text,
            user_id: optional_text,
            application_id: optional_text,
            workspace_id: optional_text,
            conversation_id: optional_text,
            agent_id: optional_text,
            locale: optional_text,
            deadline_unix_ms: optional_time,
            metadata: metadata,
        } }
    };
    (CancelRun => $then:ident! { $($before:tt)* }) => {
        $then! { { $($before)* } CancelRun { run_id: text, expected_revision: unsigned, reason: cancel_reason } }
    };
    (ResolveApproval => $then:ident! { $($before:tt)* }) => {
        $then! { { $($before)* } ResolveApproval {
            run_id: text,
            expected_revision: unsigned,
            approval_id: text,
            resolution: resolution,
            reason: optional_text,
            metadata: metadata,
        } }
    };
    (RunSubmission => $then:ident! { $($before:tt)* }) => {
        $then! { { $($before)* } RunSubmission { run_id: text, revision: unsigned, status: run_status } }
    };
    (ApprovalView => $then:ident! { $($before:tt)* }) => {
        $then! { { $($before)* } ApprovalView {
            approval_id: text,
            tool_call_id: text,
            tool_name: text,
            resolution: resolution,
            reason: optional_text,
            created_at_unix_ms: time,
            resolved_at_unix_ms: optional_time,
            metadata: metadata,
        } }
    };
    (RunView => $then:ident! { $($before:tt)* }) => {
        $then! { { $($before)* } RunView {
            run_id: text,
            revision: unsigned,
            status: run_status,
            context: context,
            created_at_unix_ms: time,
            updated_at_unix_ms: time,
            completed_at_unix_ms: optional_time,
            approval: approval,
            result: free_json,
            error: optional_text,
            metadata: metadata,
        } }
    };
    (Event => $then:ident! { $($before:tt)* }) => {
        $then! { { $($before)* } Event {
            run_id: text,
            sequence: unsigned,
            event_type: text,
            status: run_status,
            step_id: optional_text,
            tool_call_id: optional_text,
            timestamp_unix_ms: time,
            data: free_json,
            metadata: metadata,
        } }
    };
}
