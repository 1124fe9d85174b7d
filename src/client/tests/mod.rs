//! The client's side, sentence by sentence (protocol, "The client's side").

mod negotiation;
mod requests;
mod responses;
mod results;

use serde_json::{Value, json};

use super::*;
use crate::service::{CancelRun, GetRun, ListEvents};

pub(super) fn prepare(request: &Request<'_>) -> PreparedRequest {
    let options = RequestOptions { request_id: Some("request-1".into()), ..RequestOptions::default() };
    PreparedRequest::new(request, &options).expect("a valid request")
}

pub(super) fn get_run() -> PreparedRequest {
    prepare(&Request::GetRun(GetRun { run_id: "run-1".into() }))
}

pub(super) fn cancel_run() -> PreparedRequest {
    prepare(&Request::CancelRun(CancelRun { run_id: "run-1".into(), expected_revision: 1, reason: "".into() }))
}

pub(super) fn list_events() -> PreparedRequest {
    prepare(&Request::ListEvents(ListEvents { run_id: "run-1".into(), after_sequence: 5, limit: 3 }))
}

pub(super) fn success(operation: &str, body: Value) -> Value {
    json!({
        "protocolVersion": "2026-07-01", "requestId": "request-1", "operation": operation, "ok": true, "body": body, "error": null,
    })
}

pub(super) fn failure(error: Value) -> Value {
    json!({
        "protocolVersion": "2026-07-01", "requestId": "request-1", "operation": "get_run", "ok": false, "body": {}, "error": error,
    })
}

pub(super) fn submission() -> Value {
    json!({"runId": "run-1", "revision": 2, "status": "cancelled"})
}

pub(super) fn with(mut message: Value, pointer: &str, value: Value) -> Value {
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    message.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object").insert(name.into(), value);
    message
}

pub(super) fn without(mut message: Value, pointer: &str) -> Value {
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    message.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object").remove(name).expect("a member");
    message
}

/// What the client makes of the text of a response.
pub(super) fn parse(request: &PreparedRequest, text: &str) -> Result<Response<'static>, String> {
    let parsed = request.parse(text.as_bytes()).map(Response::into_owned);
    parsed.map_err(|bad| bad.violation().path().to_owned())
}

/// The path of the rule that the response breaks, for the client that knows the request.
#[track_caller]
pub(super) fn assert_refused(request: &PreparedRequest, message: &Value, path: &str) {
    match parse(request, &message.to_string()) {
        Ok(response) => panic!("accepted as {response:?}: {message}"),
        Err(found) => assert_eq!(found, path, "{message}"),
    }
}

#[track_caller]
pub(super) fn result(request: &PreparedRequest, message: &Value) -> crate::service::Answer<'static> {
    match request.parse(message.to_string().as_bytes()).map(|response| response.into_owned().outcome) {
        Ok(Outcome::Success(answer)) => answer,
        Ok(Outcome::Error(error)) => panic!("an error: {error}"),
        Err(bad) => panic!("{bad}: {message}"),
    }
}

#[track_caller]
pub(super) fn error(request: &PreparedRequest, message: &Value) -> crate::protocol::HostError<'static> {
    match request.parse(message.to_string().as_bytes()).map(|response| response.into_owned().outcome) {
        Ok(Outcome::Error(error)) => error,
        Ok(Outcome::Success(_)) => panic!("a success"),
        Err(bad) => panic!("{bad}: {message}"),
    }
}
