//! The contract's vectors against the schemas.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use agenthost::dispatch::{Decoded, Dispatcher};
use agenthost::protocol::{ErrorCode, HostError};
use agenthost::schema;
use agenthost::service::HostService;
use base64::Engine;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::inexpressible::{Reason, parsed, reason};
use crate::script::Script;
use crate::{complaints, refusal, validator};

#[derive(Deserialize)]
pub(crate) struct Vector {
    pub(crate) name: String,
    request: Option<String>,
    request_base64: Option<String>,
    pub(crate) call: Value,
    reply: Option<Box<RawValue>>,
}

impl Vector {
    pub(crate) fn message(&self) -> Vec<u8> {
        match (&self.request, &self.request_base64) {
            (Some(text), _) => text.clone().into_bytes(),
            (None, Some(text)) => base64::prelude::BASE64_STANDARD.decode(text).expect("base64"),
            (None, None) => panic!("{}: a vector without a request", self.name),
        }
    }

    /// The response of a dispatcher whose service answers as the vector says.
    pub(crate) fn response(&self) -> Vec<u8> {
        let dispatcher = Dispatcher::default();
        let message = self.message();
        let decoded = match dispatcher.decode(&message, None) {
            Decoded::Refused(response) => return response,
            Decoded::Call(decoded) => decoded,
        };
        let reply = self.reply.as_deref().map(|reply| serde_json::from_str(reply.get()).expect("a reply"));
        let service = Script { reply, seen: Arc::default() };
        let served = catch_unwind(AssertUnwindSafe(|| service.serve(&decoded.call, decoded.request)));
        let result = served.unwrap_or_else(|_| Err(HostError::new(ErrorCode::Internal, "panicked")));
        decoded.expected.complete(&dispatcher, result).response
    }
}

pub(crate) fn vectors() -> Vec<Vector> {
    let folder = std::env::var_os("AGENTHOST_VECTORS")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors"), PathBuf::from);
    let text = std::fs::read_to_string(folder.join("dispatch.jsonl")).expect("dispatch.jsonl");
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let vectors: Vec<Vector> = lines.map(|line| serde_json::from_str(line).expect("a vector")).collect();
    assert!(!vectors.is_empty());
    vectors
}

#[test]
fn what_reaches_the_service_is_valid() {
    let envelope = validator(schema::request());
    let bodies: BTreeMap<&str, _> =
        schema::documents().into_iter().map(|(name, schema)| (name.trim_end_matches(".json"), validator(schema))).collect();
    for vector in vectors().iter().filter(|vector| !vector.call.is_null()) {
        let request = parsed(&vector.message()).expect("JSON");
        assert!(envelope.is_valid(&request), "{}: {}", vector.name, complaints(&envelope, &request));
        let body = &bodies[request["operation"].as_str().expect("an operation")];
        assert!(body.is_valid(&request["body"]), "{}: {}", vector.name, complaints(body, &request["body"]));
    }
}

#[test]
fn what_is_refused_is_invalid_unless_a_schema_cannot_say_why() {
    let envelope = validator(schema::request());
    let mut reasons: BTreeMap<Reason, usize> = BTreeMap::new();
    let mut unexplained = Vec::new();
    for vector in vectors().iter().filter(|vector| vector.call.is_null()) {
        let message = vector.message();
        let Some(response) = refusal(&message) else { panic!("{}: not refused", vector.name) };
        if parsed(&message).is_some_and(|request| !envelope.is_valid(&request)) {
            continue;
        }
        let path = response["error"]["details"]["path"].as_str().unwrap_or_default();
        match reason(&message, path) {
            Some(reason) => *reasons.entry(reason).or_default() += 1,
            None => unexplained.push(format!("{}: {}", vector.name, response["error"]["message"])),
        }
    }
    assert!(unexplained.is_empty(), "refused, but valid by the schema:\n{}", unexplained.join("\n"));
    println!("not expressible: {reasons:?}");
}

#[test]
fn every_response_is_valid() {
    let envelope = validator(schema::response());
    let error = validator(schema::documents().into_iter().find(|(name, _)| *name == "error.json").expect("error.json").1);
    let documents: BTreeMap<&str, _> = schema::documents().into_iter().collect();
    let results = ["submission", "run", "event_page"].map(|name| validator(documents[&*format!("{name}.json")].clone()));
    for vector in vectors() {
        let response: Value = serde_json::from_slice(&vector.response()).expect("JSON");
        assert!(envelope.is_valid(&response), "{}: {}", vector.name, complaints(&envelope, &response));
        let (schema, value) = match (response["ok"] == true, response["operation"].as_str()) {
            (false, _) => (&error, &response["error"]),
            (true, Some("get_run")) => (&results[1], &response["body"]),
            (true, Some("list_events")) => (&results[2], &response["body"]),
            (true, _) => (&results[0], &response["body"]),
        };
        assert!(schema.is_valid(value), "{}: {}", vector.name, complaints(schema, value));
    }
}
