//! A service that answers what a vector tells it to, and keeps what it was asked.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use agenthost::protocol::{ErrorCode, ExecutionContext, FreeJson, HostError, Metadata, Resolution, RunStatus};
use agenthost::service::*;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// A vector's `reply`.
#[derive(Deserialize)]
pub(crate) struct Reply {
    ok: Option<Box<RawValue>>,
    error: Option<ErrorText>,
}

#[derive(Deserialize)]
struct ErrorText {
    code: String,
    message: String,
    retryable: bool,
    details: Box<RawValue>,
    metadata: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SubmissionText {
    run_id: String,
    revision: u64,
    status: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ViewText {
    run_id: String,
    revision: u64,
    status: String,
    context: ContextText,
    created_at_unix_ms: i64,
    updated_at_unix_ms: i64,
    completed_at_unix_ms: Option<i64>,
    approval: Option<ApprovalText>,
    result: Box<RawValue>,
    error: String,
    metadata: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContextText {
    run_id: String,
    trace_id: String,
    request_id: String,
    tenant_id: String,
    user_id: String,
    application_id: String,
    workspace_id: String,
    conversation_id: String,
    agent_id: String,
    locale: String,
    deadline_unix_ms: Option<i64>,
    metadata: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ApprovalText {
    approval_id: String,
    tool_call_id: String,
    tool_name: String,
    resolution: String,
    reason: String,
    created_at_unix_ms: i64,
    resolved_at_unix_ms: Option<i64>,
    metadata: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageText {
    events: Vec<EventText>,
    next_sequence: u64,
    has_more: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EventText {
    run_id: String,
    sequence: u64,
    r#type: String,
    status: String,
    step_id: String,
    tool_call_id: String,
    timestamp_unix_ms: i64,
    data: Box<RawValue>,
    metadata: BTreeMap<String, String>,
}

/// Plays one vector.
pub(crate) struct Script {
    pub(crate) reply: Option<Reply>,
    pub(crate) seen: Arc<Mutex<Vec<Value>>>,
}

impl Script {
    fn play<T>(&self, answer: impl FnOnce(&str) -> Result<T, HostError<'static>>) -> Result<T, HostError<'static>> {
        let Some(reply) = &self.reply else { panic!("the vector has no reply for this call") };
        match (&reply.ok, &reply.error) {
            (Some(ok), _) => answer(ok.get()),
            (None, Some(error)) => Err(HostError {
                code: ErrorCode::from_name(&error.code).expect("a code"),
                message: error.message.clone().into(),
                retryable: error.retryable,
                details: free_json(&error.details)?,
                metadata: metadata(error.metadata.clone()),
                original_code: "".into(),
            }),
            (None, None) => panic!("the vector tells the service to fail"),
        }
    }

    fn see(&self, call: &Call<'_>, request: Value) {
        let context = json!({
            "requestId": call.request_id,
            "idempotencyKey": call.idempotency_key,
            "metadata": pairs(&call.metadata),
        });
        let seen = json!({"operation": call.operation.name(), "context": context, "request": request});
        self.seen.lock().expect("lock").push(seen);
    }

    fn submission(&self) -> Result<RunSubmission<'static>, HostError<'static>> {
        self.play(|text| {
            let text: SubmissionText = serde_json::from_str(text).expect("a submission");
            Ok(RunSubmission { run_id: text.run_id.into(), revision: text.revision, status: status(&text.status) })
        })
    }
}

type Answered<T> = Result<T, HostError<'static>>;

impl HostService for Script {
    fn create_run(&self, call: &Call<'_>, request: CreateRun<'_>) -> Answered<RunSubmission<'static>> {
        let context = &request.context;
        let seen = json!({
            "context": {
                "runId": context.run_id, "traceId": context.trace_id, "requestId": context.request_id,
                "tenantId": context.tenant_id, "userId": context.user_id, "applicationId": context.application_id,
                "workspaceId": context.workspace_id, "conversationId": context.conversation_id,
                "agentId": context.agent_id, "locale": context.locale, "deadlineUnixMs": context.deadline_unix_ms,
                "metadata": pairs(&context.metadata),
            },
            "input": request.input.parse::<Value>().expect("input"),
            "metadata": pairs(&request.metadata),
        });
        self.see(call, seen);
        self.submission()
    }

    fn get_run(&self, call: &Call<'_>, request: GetRun<'_>) -> Answered<RunView<'static>> {
        self.see(call, json!({"runId": request.run_id}));
        self.play(|text| {
            let text: ViewText = serde_json::from_str(text).expect("a view");
            Ok(RunView {
                run_id: text.run_id.into(),
                revision: text.revision,
                status: status(&text.status),
                context: context(text.context),
                created_at_unix_ms: text.created_at_unix_ms,
                updated_at_unix_ms: text.updated_at_unix_ms,
                completed_at_unix_ms: text.completed_at_unix_ms,
                approval: text.approval.map(approval),
                result: free_json(&text.result)?,
                error: text.error.into(),
                metadata: metadata(text.metadata),
            })
        })
    }

    fn cancel_run(&self, call: &Call<'_>, request: CancelRun<'_>) -> Answered<RunSubmission<'static>> {
        let CancelRun { run_id, expected_revision, reason } = request;
        self.see(call, json!({"runId": run_id, "expectedRevision": expected_revision, "reason": reason}));
        self.submission()
    }

    fn resolve_approval(&self, call: &Call<'_>, request: ResolveApproval<'_>) -> Answered<RunSubmission<'static>> {
        let seen = json!({
            "runId": request.run_id, "expectedRevision": request.expected_revision, "approvalId": request.approval_id,
            "resolution": request.resolution.name(), "reason": request.reason, "metadata": pairs(&request.metadata),
        });
        self.see(call, seen);
        self.submission()
    }

    fn resume_run(&self, call: &Call<'_>, request: ResumeRun<'_>) -> Answered<RunSubmission<'static>> {
        let seen = json!({
            "runId": request.run_id, "expectedRevision": request.expected_revision, "approvalId": request.approval_id,
            "input": request.input.parse::<Value>().expect("input"),
        });
        self.see(call, seen);
        self.submission()
    }

    fn list_events(&self, call: &Call<'_>, request: ListEvents<'_>) -> Answered<EventPage<'static>> {
        let ListEvents { run_id, after_sequence, limit } = request;
        self.see(call, json!({"runId": run_id, "afterSequence": after_sequence, "limit": limit}));
        self.play(|text| {
            let page: PageText = serde_json::from_str(text).expect("a page");
            let events = page.events.into_iter().map(event).collect::<Result<_, _>>()?;
            Ok(EventPage { events, next_sequence: page.next_sequence, has_more: page.has_more })
        })
    }
}

pub(crate) fn pairs(metadata: &Metadata<'_>) -> Value {
    Value::Object(metadata.iter().map(|(name, value)| (name.to_owned(), value.into())).collect())
}

fn status(name: &str) -> RunStatus {
    RunStatus::from_name(name).expect("a status")
}

fn metadata(pairs: BTreeMap<String, String>) -> Metadata<'static> {
    pairs.into_iter().collect()
}

/// Free JSON that the contract refuses cannot be built in Rust: the service notices, and fails.
fn free_json(text: &RawValue) -> Answered<FreeJson<'static>> {
    FreeJson::new(text.get().to_owned()).map_err(|violation| HostError::new(ErrorCode::Internal, violation.to_string()))
}

fn context(text: ContextText) -> ExecutionContext<'static> {
    ExecutionContext {
        run_id: text.run_id.into(),
        trace_id: text.trace_id.into(),
        request_id: text.request_id.into(),
        tenant_id: text.tenant_id.into(),
        user_id: text.user_id.into(),
        application_id: text.application_id.into(),
        workspace_id: text.workspace_id.into(),
        conversation_id: text.conversation_id.into(),
        agent_id: text.agent_id.into(),
        locale: text.locale.into(),
        deadline_unix_ms: text.deadline_unix_ms,
        metadata: metadata(text.metadata),
    }
}

fn approval(text: ApprovalText) -> ApprovalView<'static> {
    ApprovalView {
        approval_id: text.approval_id.into(),
        tool_call_id: text.tool_call_id.into(),
        tool_name: text.tool_name.into(),
        resolution: Resolution::from_name(&text.resolution).expect("a resolution"),
        reason: Cow::Owned(text.reason),
        created_at_unix_ms: text.created_at_unix_ms,
        resolved_at_unix_ms: text.resolved_at_unix_ms,
        metadata: metadata(text.metadata),
    }
}

fn event(text: EventText) -> Answered<Event<'static>> {
    Ok(Event {
        run_id: text.run_id.into(),
        sequence: text.sequence,
        event_type: text.r#type.into(),
        status: status(&text.status),
        step_id: text.step_id.into(),
        tool_call_id: text.tool_call_id.into(),
        timestamp_unix_ms: text.timestamp_unix_ms,
        data: free_json(&text.data)?,
        metadata: metadata(text.metadata),
    })
}
