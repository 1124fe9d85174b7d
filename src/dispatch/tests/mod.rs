//! The dispatcher's promises, one by one, each rule at its edge.

mod answers;
mod echo;
mod limits;
mod pages;
mod requests;
mod text;

use serde_json::{Value, json};

use super::*;
use crate::protocol::Operation;

/// A valid request with every member that its operation has.
pub(super) fn full(operation: Operation) -> Value {
    let body = match operation {
        Operation::CreateRun => json!({
            "context": {
                "runId": "run-1", "traceId": "", "requestId": "", "tenantId": "", "userId": "", "applicationId": "", "workspaceId": "",
                "conversationId": "", "agentId": "", "locale": "", "deadlineUnixMs": 1, "metadata": {"region": "eu"},
            },
            "input": {"question": [1, 2]},
            "metadata": {"a": "b"},
        }),
        Operation::GetRun => json!({"runId": "run-1"}),
        Operation::CancelRun => json!({"runId": "run-1", "expectedRevision": 3, "reason": "enough"}),
        Operation::ResolveApproval => json!({
            "runId": "run-1", "expectedRevision": 3, "approvalId": "approval-1", "resolution": "approved", "reason": "", "metadata": {},
        }),
        Operation::ResumeRun => json!({"runId": "run-1", "expectedRevision": 3, "approvalId": "approval-1", "input": null}),
        Operation::ListEvents => json!({"runId": "run-1", "afterSequence": 5, "limit": 3}),
    };
    json!({
        "protocolVersion": "2026-07-01", "requestId": "request-1", "idempotencyKey": "key-1", "operation": operation.name(),
        "metadata": {"trace": "1"}, "body": body,
    })
}

/// The same request, with the member at `pointer` set.
pub(super) fn with(mut request: Value, pointer: &str, value: Value) -> Value {
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    request.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object").insert(name.into(), value);
    request
}

/// The same request, without the member at `pointer`.
pub(super) fn without(mut request: Value, pointer: &str) -> Value {
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    request.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object").remove(name).expect("a member");
    request
}

pub(super) fn decode<'a>(dispatcher: &Dispatcher, message: &'a [u8]) -> Decoded<'a> {
    dispatcher.decode(message, None)
}

/// The response that refuses the message.
pub(super) fn refusal(message: &[u8]) -> Value {
    match decode(&Dispatcher::default(), message) {
        Decoded::Refused(response) => serde_json::from_slice(&response).expect("JSON"),
        Decoded::Call(_) => panic!("accepted: {}", String::from_utf8_lossy(&message[..message.len().min(300)])),
    }
}

/// The path of the member that the message is refused for, as an invalid request.
pub(super) fn refused(message: &[u8]) -> String {
    let response = refusal(message);
    let error = &response["error"];
    assert_eq!(error["code"], "invalid_request", "{response}");
    assert_eq!(error["retryable"], false);
    assert_eq!(error["metadata"], json!({}));
    assert_eq!(
        (&response["ok"], &response["body"], &response["protocolVersion"]),
        (&json!(false), &json!({}), &json!("2026-07-01"))
    );
    let path = error["details"]["path"].as_str().expect("a path").to_owned();
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains("expected"), "{message}");
    assert!(path.is_empty() || message.starts_with(&path), "{message}");
    path
}

pub(super) fn accepted(message: &[u8]) -> bool {
    matches!(decode(&Dispatcher::default(), message), Decoded::Call(_))
}

#[track_caller]
pub(super) fn assert_accepted(request: &Value) {
    let text = request.to_string();
    assert!(accepted(text.as_bytes()), "{}: {}", refusal(text.as_bytes())["error"]["message"], &text[..text.len().min(300)]);
}

#[track_caller]
pub(super) fn assert_refused(request: &Value, path: &str) {
    let text = request.to_string();
    assert!(!accepted(text.as_bytes()), "accepted: {}", &text[..text.len().min(300)]);
    assert_eq!(refused(text.as_bytes()), path, "{}", &text[..text.len().min(300)]);
}

/// What an answer to a request of `operation` has to fit.
pub(super) fn expected(operation: Operation) -> ExpectedAnswer<'static> {
    let text = full(operation).to_string();
    match decode(&Dispatcher::default(), text.as_bytes()) {
        Decoded::Call(decoded) => decoded.expected.into_owned(),
        Decoded::Refused(response) => panic!("{}", String::from_utf8_lossy(&response)),
    }
}
