//! `client.jsonl`: a response of which the request is not known, and what a client makes of it.

use agenthost::client::{Outcome, parse_any};
use agenthost::protocol::ExecutionContext;
use agenthost::service::{Answer, ApprovalView, Event};
use base64::Engine;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Tally;
use crate::compare::expect;
use crate::script::pairs;

#[derive(Deserialize)]
struct Vector {
    name: String,
    response_text: Option<String>,
    response_base64: Option<String>,
    expect: Value,
}

pub(crate) fn run(line: &str, tally: &mut Tally) {
    match serde_json::from_str::<Vector>(line) {
        Ok(vector) => tally.note(&vector.name, vector.play()),
        Err(error) => tally.fail(&line[..line.len().min(80)], &format!("not a vector: {error}")),
    }
}

impl Vector {
    fn play(&self) -> Result<(), String> {
        let message = match (&self.response_text, &self.response_base64) {
            (Some(text), _) => text.clone().into_bytes(),
            (None, Some(text)) => base64::prelude::BASE64_STANDARD.decode(text).map_err(|error| error.to_string())?,
            (None, None) => return Err("the vector has no response".into()),
        };
        let found = match parse_any(&message) {
            Err(_) => json!({"outcome": "rejected"}),
            Ok(response) => match response.outcome {
                Outcome::Success(answer) => json!({"outcome": "ok", "decoded": decoded(&answer)}),
                Outcome::Error(error) => json!({"outcome": "error", "error": {
                    "code": error.code.name(), "message": error.message, "retryable": error.retryable,
                    "details": error.details.parse::<Value>().expect("details"), "metadata": pairs(&error.metadata),
                    "originalCode": error.original_code,
                }}),
            },
        };
        expect("outcome", &self.expect["outcome"], &found["outcome"])?;
        if let Some(expected) = self.expect.get("decoded") {
            expect("decoded", expected, &found["decoded"])?;
        }
        for (name, expected) in self.expect["error"].as_object().into_iter().flatten() {
            expect(name, expected, &found["error"][name])?;
        }
        Ok(())
    }
}

fn decoded(answer: &Answer<'_>) -> Value {
    match answer {
        Answer::Submission(submission) => {
            json!({"runId": submission.run_id, "revision": submission.revision, "status": submission.status.name()})
        }
        Answer::Run(run) => json!({
            "runId": run.run_id, "revision": run.revision, "status": run.status.name(), "context": context(&run.context),
            "createdAtUnixMs": run.created_at_unix_ms, "updatedAtUnixMs": run.updated_at_unix_ms,
            "completedAtUnixMs": run.completed_at_unix_ms, "approval": run.approval.as_ref().map(approval),
            "result": run.result.parse::<Value>().expect("result"), "error": run.error, "metadata": pairs(&run.metadata),
        }),
        Answer::Page(page) => json!({
            "events": page.events.iter().map(event).collect::<Vec<_>>(),
            "nextSequence": page.next_sequence, "hasMore": page.has_more,
        }),
    }
}

fn context(context: &ExecutionContext<'_>) -> Value {
    json!({
        "runId": context.run_id, "traceId": context.trace_id, "requestId": context.request_id, "tenantId": context.tenant_id,
        "userId": context.user_id, "applicationId": context.application_id, "workspaceId": context.workspace_id,
        "conversationId": context.conversation_id, "agentId": context.agent_id, "locale": context.locale,
        "deadlineUnixMs": context.deadline_unix_ms, "metadata": pairs(&context.metadata),
    })
}

fn approval(approval: &ApprovalView<'_>) -> Value {
    json!({
        "approvalId": approval.approval_id, "toolCallId": approval.tool_call_id, "toolName": approval.tool_name,
        "resolution": approval.resolution.name(), "reason": approval.reason, "createdAtUnixMs": approval.created_at_unix_ms,
        "resolvedAtUnixMs": approval.resolved_at_unix_ms, "metadata": pairs(&approval.metadata),
    })
}

fn event(event: &Event<'_>) -> Value {
    json!({
        "runId": event.run_id, "sequence": event.sequence, "type": event.event_type, "status": event.status.name(),
        "stepId": event.step_id, "toolCallId": event.tool_call_id, "timestampUnixMs": event.timestamp_unix_ms,
        "data": event.data.parse::<Value>().expect("data"), "metadata": pairs(&event.metadata),
    })
}
