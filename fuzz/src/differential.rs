//! The strict reader beside serde_json and the schema: what we accept they accept, with equal values; what we refuse breaks a
//! rule that the schema has, or one that no schema can have.

use agenthost::dispatch::{Decoded, Dispatcher};
use agenthost::protocol::{ExecutionContext, FreeJson, Metadata};
use agenthost::service::Request;
use serde_json::{Value, json};

use super::inexpressible::{parsed, reason};
use super::is_valid_request;

/// A message, and the same bytes as free JSON.
pub fn differential(data: &[u8]) {
    free_json(data);
    // What nests deeper than both sides allow is refused by both; a parser that recurses is not asked.
    let theirs = parsed(data);
    match Dispatcher::default().decode(data, None) {
        Decoded::Call(decoded) => {
            let theirs = theirs.expect("serde_json accepts what we accept");
            assert!(is_valid_request(&theirs), "the schema accepts what we accept");
            let call = &decoded.call;
            assert_eq!(theirs["requestId"], *call.request_id);
            assert_eq!(theirs["operation"], call.operation.name());
            assert_eq!(*string(&theirs, "idempotencyKey", ""), *call.idempotency_key);
            same_metadata(&theirs["metadata"], &call.metadata);
            same_request(theirs.get("body").unwrap_or(&json!({})), &decoded.request);
        }
        Decoded::Refused(response) => {
            if theirs.is_some_and(|theirs| !is_valid_request(&theirs)) {
                return;
            }
            let response: Value = serde_json::from_slice(&response).expect("JSON");
            let error = &response["error"];
            let path = error["details"]["path"].as_str().unwrap_or_default();
            assert!(reason(data, path).is_some(), "refused without a reason: {error}");
        }
    }
}

fn free_json(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let ours = FreeJson::new(text);
    // Without the byte order mark, which leads messages and not values.
    let theirs = if text.starts_with('\u{feff}') { None } else { parsed(data) };
    match (ours, theirs) {
        (Ok(ours), Some(theirs)) => assert_eq!(ours.parse::<Value>().expect("JSON"), theirs),
        (Ok(_), None) => panic!("we accept what serde_json refuses"),
        (Err(refused), Some(theirs)) => assert!(levels(&theirs) > 100, "{refused}"),
        (Err(_), None) => {}
    }
}

fn levels(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(levels).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(levels).max().unwrap_or(0),
        _ => 0,
    }
}

fn string<'v>(value: &'v Value, name: &str, default: &'v str) -> &'v str {
    value.get(name).map_or(default, |value| value.as_str().expect("a string"))
}

fn same_metadata(theirs: &Value, ours: &Metadata<'_>) {
    let ours: serde_json::Map<String, Value> = ours.iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
    match theirs {
        Value::Null => assert!(ours.is_empty()),
        theirs => assert_eq!(*theirs, Value::Object(ours)),
    }
}

fn same_free_json(theirs: Option<&Value>, ours: &FreeJson<'_>) {
    assert_eq!(*theirs.unwrap_or(&json!({})), ours.parse::<Value>().expect("JSON"));
}

fn same_context(theirs: &Value, ours: &ExecutionContext<'_>) {
    for (name, value) in [
        ("runId", &ours.run_id),
        ("traceId", &ours.trace_id),
        ("requestId", &ours.request_id),
        ("tenantId", &ours.tenant_id),
        ("userId", &ours.user_id),
        ("applicationId", &ours.application_id),
        ("workspaceId", &ours.workspace_id),
        ("conversationId", &ours.conversation_id),
        ("agentId", &ours.agent_id),
        ("locale", &ours.locale),
    ] {
        assert_eq!(string(theirs, name, ""), &**value, "{name}");
    }
    assert_eq!(theirs["deadlineUnixMs"].as_i64(), ours.deadline_unix_ms);
    same_metadata(&theirs["metadata"], &ours.metadata);
}

fn same_request(theirs: &Value, ours: &Request<'_>) {
    let same_revision = |ours: u64| assert_eq!(theirs["expectedRevision"].as_u64(), Some(ours));
    match ours {
        Request::CreateRun(ours) => {
            same_context(&theirs["context"], &ours.context);
            same_free_json(theirs.get("input"), &ours.input);
            same_metadata(&theirs["metadata"], &ours.metadata);
        }
        Request::GetRun(ours) => assert_eq!(theirs["runId"], *ours.run_id),
        Request::CancelRun(ours) => {
            assert_eq!(theirs["runId"], *ours.run_id);
            same_revision(ours.expected_revision);
            assert_eq!(string(theirs, "reason", "agent run cancelled"), &*ours.reason);
        }
        Request::ResolveApproval(ours) => {
            assert_eq!(theirs["runId"], *ours.run_id);
            same_revision(ours.expected_revision);
            assert_eq!(theirs["approvalId"], *ours.approval_id);
            assert_eq!(theirs["resolution"], ours.resolution.name());
            assert_eq!(string(theirs, "reason", ""), &*ours.reason);
            same_metadata(&theirs["metadata"], &ours.metadata);
        }
        Request::ResumeRun(ours) => {
            assert_eq!(theirs["runId"], *ours.run_id);
            same_revision(ours.expected_revision);
            assert_eq!(theirs["approvalId"], *ours.approval_id);
            same_free_json(theirs.get("input"), &ours.input);
        }
        Request::ListEvents(ours) => {
            assert_eq!(theirs["runId"], *ours.run_id);
            assert_eq!(theirs.get("afterSequence").map_or(Some(0), Value::as_u64), Some(ours.after_sequence));
            assert_eq!(theirs.get("limit").map_or(Some(256), Value::as_u64), Some(ours.limit));
        }
    }
}
