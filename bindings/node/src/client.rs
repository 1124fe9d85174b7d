//! The client's functions: builds requests, checks responses.

use std::borrow::Cow;

use agenthost::client::{Outcome, PreparedRequest, RequestOptions, Response, parse_any};
use agenthost::protocol::{FreeJson, Operation, Violation};
use agenthost::service::Request;
use napi::bindgen_prelude::{Error, Result, Status};
use napi_derive::napi;

use crate::client_response;
use crate::registry::Registry;
use crate::text::metadata;

thread_local! {
    static PREPARED: Registry<PreparedRequest> = const { Registry::new("request") };
}

/// What goes around a request; what is absent is generated.
#[napi(object, object_to_js = false)]
pub(crate) struct PrepareOptions {
    /// Names the request.
    pub request_id: Option<String>,
    /// Names the mutation.
    pub idempotency_key: Option<String>,
    /// The version to write.
    pub protocol_version: Option<String>,
    /// Names and values in turn.
    pub metadata: Vec<String>,
}

/// A request that was prepared.
#[napi(object, object_from_js = false)]
pub(crate) struct Prepared {
    /// What `parse_response` and `release_request` know it by.
    pub number: u32,
    /// The envelope.
    pub text: String,
    /// Names the request.
    pub request_id: String,
    /// Names the mutation; empty for a read without a key.
    pub idempotency_key: String,
}

/// A broken rule, thrown: `[path, expected]` as JSON is the message.
fn broken(violation: &Violation) -> Error {
    let rule = serde_json::to_string(&[violation.path(), violation.expected()]).unwrap_or_default();
    Error::new(Status::InvalidArg, rule)
}

/// Checks and writes a request whose body is given as JSON text, its input apart.
///
/// # Errors
/// A broken rule, as [`broken`] throws it.
#[napi(catch_unwind)]
pub(crate) fn prepare_request(
    operation: String,
    body: String,
    input: Option<String>,
    options: PrepareOptions,
) -> Result<Prepared> {
    let operation = Operation::from_name(&operation).ok_or_else(|| Error::new(Status::GenericFailure, "unknown operation"))?;
    let mut request = Request::from_json(operation, &body).map_err(|violation| broken(&violation))?;
    if let Some(input) = &input {
        let value = FreeJson::new(input.as_str()).map_err(|violation| broken_input(&violation))?;
        match &mut request {
            Request::CreateRun(request) => request.input = value,
            Request::ResumeRun(request) => request.input = value,
            _ => {}
        }
    }
    let options = RequestOptions {
        request_id: options.request_id.map(Cow::Owned),
        idempotency_key: options.idempotency_key.map(Cow::Owned),
        protocol_version: options.protocol_version.map(Cow::Owned),
        metadata: metadata(options.metadata),
    };
    let prepared = PreparedRequest::new(&request, &options).map_err(|violation| broken(&violation))?;
    let text = String::from_utf8(prepared.bytes().to_vec()).unwrap_or_default();
    let (request_id, idempotency_key) = (prepared.request_id().to_owned(), prepared.idempotency_key().to_owned());
    let number = PREPARED.with(|requests| requests.add(prepared));
    Ok(Prepared { number, text, request_id, idempotency_key })
}

fn broken_input(violation: &Violation) -> Error {
    let rule = serde_json::to_string(&["body.inputJson", violation.expected()]).unwrap_or_default();
    Error::new(Status::InvalidArg, rule)
}

/// Lets go of a prepared request.
#[napi(catch_unwind)]
pub(crate) fn release_request(number: u32) {
    drop(PREPARED.with(|requests| requests.remove(number)));
}

/// Checks that a message answers a prepared request, and takes it apart: see [`client_response::describe`]. Without a number the
/// request is not known.
///
/// # Errors
/// A broken rule, as [`broken`] throws it.
#[napi(catch_unwind)]
pub(crate) fn parse_response(message: &[u8], number: Option<u32>) -> Result<Vec<String>> {
    let parsed = match number {
        None => parse_any(message),
        Some(number) => PREPARED.with(|requests| requests.get(number))?.parse(message),
    };
    parsed.map(client_response::describe).map_err(|refused| broken(refused.violation()))
}

/// The version to try after a refusal of `tried`; none when there is none, or the message is no such refusal.
#[napi(catch_unwind)]
pub(crate) fn next_version(message: &[u8], tried: String) -> Option<&'static str> {
    let response: Response<'_> = parse_any(message).ok()?;
    match response.outcome {
        Outcome::Error(_) => response.next_version(&tried),
        Outcome::Success(_) => None,
    }
}
