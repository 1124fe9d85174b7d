//! What the core is measured against, for the C program beside it: `floor`, serde_json reading over the same bytes and keeping
//! nothing, and `naive`, a dispatcher that takes `Value`s in and out and checks next to nothing.

use serde_json::{Value, json};

/// Reads the message as JSON and keeps nothing. 1 when it is JSON.
///
/// # Safety
/// `data` leads to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bench_floor(data: *const u8, length: usize) -> u32 {
    // SAFETY: by this function's own contract.
    let message = unsafe { std::slice::from_raw_parts(data, length) };
    u32::from(serde_json::from_slice::<serde::de::IgnoredAny>(message).is_ok())
}

/// Dispatches the message; the number of bytes of the response. `events` and `full` say what the service answers.
///
/// # Safety
/// `data` leads to `length` bytes, `event_data` to `event_data_length` of JSON text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bench_naive(
    data: *const u8,
    length: usize,
    events: usize,
    full: u32,
    event_data: *const u8,
    event_data_length: usize,
) -> usize {
    // SAFETY: by this function's own contract.
    let (message, event_data) =
        unsafe { (std::slice::from_raw_parts(data, length), std::slice::from_raw_parts(event_data, event_data_length)) };
    let response = match serde_json::from_slice::<Value>(message) {
        Ok(request) => dispatch(&request, events, full != 0, event_data),
        Err(error) => failure(&Value::Null, "invalid_request", &error.to_string()),
    };
    serde_json::to_vec(&response).map_or(0, |bytes| bytes.len())
}

fn dispatch(request: &Value, events: usize, full: bool, event_data: &[u8]) -> Value {
    if request["protocolVersion"] != "2026-07-01" {
        return failure(request, "unsupported_protocol_version", "expected a supported protocol version");
    }
    let Some(operation) = request["operation"].as_str() else {
        return failure(request, "invalid_request", "expected an operation");
    };
    let body = &request["body"];
    let run_id = if operation == "create_run" { &body["context"]["runId"] } else { &body["runId"] };
    if !run_id.is_string() || operation.ends_with("_run") && operation != "get_run" && !request["idempotencyKey"].is_string() {
        return failure(request, "invalid_request", "expected an id and a key");
    }
    let result = match operation {
        "get_run" => view(run_id, full),
        "list_events" => json!({
            "events": (1..=events).map(|sequence| event(run_id, sequence, event_data)).collect::<Vec<_>>(),
            "nextSequence": events, "hasMore": true,
        }),
        _ => json!({"runId": run_id, "revision": 1, "status": "created"}),
    };
    json!({
        "protocolVersion": "2026-07-01", "requestId": request["requestId"], "operation": operation, "ok": true, "body": result,
        "error": null,
    })
}

fn failure(request: &Value, code: &str, message: &str) -> Value {
    json!({
        "protocolVersion": "2026-07-01", "requestId": request["requestId"], "operation": request["operation"], "ok": false,
        "body": {}, "error": {"code": code, "message": message, "retryable": false, "details": {}, "metadata": {}},
    })
}

fn view(run_id: &Value, full: bool) -> Value {
    let text = |value: &'static str| if full { value } else { "" };
    let metadata = |name: &str, value: &str| if full { json!({name: value}) } else { json!({}) };
    let approval = json!({
        "approvalId": "approval-1", "toolCallId": "call-1", "toolName": "write_config", "resolution": "pending",
        "reason": "needs operator", "createdAtUnixMs": 1_750_000_000_000_u64, "resolvedAtUnixMs": null,
        "metadata": {"risk": "high"},
    });
    json!({
        "runId": run_id, "revision": 9, "status": "running",
        "context": {
            "runId": run_id, "traceId": text("trace-1"), "requestId": text("ctx-request-1"), "tenantId": text("tenant-1"),
            "userId": text("user-1"), "applicationId": text("app-1"), "workspaceId": text("workspace-1"),
            "conversationId": text("conversation-1"), "agentId": text("agent-1"), "locale": text("en-US"),
            "deadlineUnixMs": if full { json!(1_893_456_000_123_u64) } else { Value::Null },
            "metadata": metadata("region", "ap-southeast-1"),
        },
        "createdAtUnixMs": 1_750_000_000_001_u64, "updatedAtUnixMs": 1_750_000_000_002_u64, "completedAtUnixMs": null,
        "approval": if full { approval } else { Value::Null },
        "result": if full { json!({"answer": 42, "list": [1, 2.5, null, true]}) } else { Value::Null },
        "error": "", "metadata": metadata("agent_type", "general"),
    })
}

fn event(run_id: &Value, sequence: usize, data: &[u8]) -> Value {
    json!({
        "runId": run_id, "sequence": sequence, "type": "step.progress", "status": "running", "stepId": "step-1",
        "toolCallId": "call-1", "timestampUnixMs": 1_750_000_000_000_u64,
        "data": serde_json::from_slice::<Value>(data).unwrap_or_default(), "metadata": {},
    })
}
