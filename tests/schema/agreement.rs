//! Every member of every request, replaced by every kind of value and left out: the schema refuses exactly what the
//! dispatcher refuses. And what the schema of responses accepts the client accepts, as far as one event or member can tell.

use std::collections::BTreeSet;

use agenthost::client::parse_any;
use agenthost::schema;
use serde_json::{Value, json};

use crate::inexpressible::parsed;
use crate::vectors::vectors;
use crate::{complaints, refusal, validator};

/// Values at and over the edges of every rule. None is written as a number that only JSON Schema takes for an integer.
fn replacements() -> Vec<Value> {
    let max_unsigned = (1u64 << 53) - 1;
    let max_time = 8_640_000_000_000_000i64;
    let mut values = vec![
        json!(null),
        json!(true),
        json!(false),
        json!([]),
        json!({}),
        json!(""),
        json!("x"),
        json!("a\u{0}b"),
        json!([1]),
        json!("x".repeat(1024)),
        json!("x".repeat(1025)),
        json!({"a": "b"}),
        json!({"a": 1}),
        json!({"a": null}),
        json!({"access-Token": "x"}),
        json!({"max_tokens": "x"}),
        json!({"runId": "x"}),
        json!({"runId": ""}),
        json!({"events": []}),
        json!(0),
        json!(1),
        json!(-1),
        json!(1.5),
        json!(1000),
        json!(1001),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(max_unsigned),
        json!(max_unsigned + 1),
        json!(max_time),
        json!(max_time + 1),
        json!(-max_time),
        json!(-max_time - 1),
    ];
    for name in [
        "create_run",
        "get_run",
        "cancel_run",
        "resolve_approval",
        "resume_run",
        "list_events",
        "pending",
        "approved",
        "denied",
        "created",
        "timed_out",
        "Approved",
        "2026-07-01",
        "2026-07-02",
        "internal",
        "unknown",
    ] {
        values.push(json!(name));
    }
    values
}

/// The pointers to all members within `value`, three levels deep: no rule of the contract stands deeper than that in a request.
fn pointers(value: &Value, prefix: &str, levels: usize, found: &mut Vec<String>) {
    let steps: Vec<(String, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(values) => values.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect(),
        _ => return,
    };
    for (step, value) in steps {
        let pointer = format!("{prefix}/{}", step.replace('~', "~0").replace('/', "~1"));
        if levels > 1 {
            pointers(value, &pointer, levels - 1, found);
        }
        found.push(pointer);
    }
}

/// `value` with each member replaced by each value, and left out.
fn variants(value: &Value, levels: usize) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    pointers(value, "", levels, &mut found);
    let mut variants = Vec::new();
    for pointer in found {
        for replacement in replacements() {
            let mut variant = value.clone();
            *variant.pointer_mut(&pointer).expect("a member") = replacement.clone();
            variants.push((format!("{pointer} = {replacement}"), variant));
        }
        let mut variant = value.clone();
        let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
        match variant.pointer_mut(parent).expect("a parent") {
            Value::Object(members) => drop(members.remove(&name.replace("~1", "/").replace("~0", "~"))),
            Value::Array(values) => drop(values.remove(name.parse().expect("an index"))),
            _ => continue,
        }
        variants.push((format!("without {pointer}"), variant));
    }
    variants
}

/// One request or response of each shape (the set of its members' names): more of the same shape teach nothing new.
fn shapes(values: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    values
        .filter(|value| {
            let mut found = Vec::new();
            pointers(value, "", 3, &mut found);
            found.retain(|pointer| !pointer.contains("/input/") && !pointer.contains("/result/"));
            seen.insert((value["operation"].to_string(), found))
        })
        .collect()
}

#[test]
fn the_schema_refuses_exactly_what_the_dispatcher_refuses() {
    let envelope = validator(schema::request());
    let mut disagreements = Vec::new();
    let requests = vectors().into_iter().filter(|vector| !vector.call.is_null()).filter_map(|vector| parsed(&vector.message()));
    let mut tried = 0;
    for request in shapes(requests).into_iter().filter(|request| request.to_string().len() < 4096) {
        for (change, variant) in variants(&request, 4) {
            tried += 1;
            let refused = refusal(variant.to_string().as_bytes());
            if envelope.is_valid(&variant) == refused.is_some() {
                let refusal = refused.map(|refused| refused["error"]["message"].to_string());
                disagreements.push(format!("{change}: {refusal:?} / {:?}", complaints(&envelope, &variant)));
            }
        }
    }
    disagreements.truncate(20);
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
    assert!(tried > 10_000, "{tried}");
}

#[test]
fn the_client_accepts_what_the_schema_of_responses_accepts() {
    // What joins several members or events cannot be said in a schema.
    let joins = |path: &str| {
        path == "body.nextSequence"
            || path == "body.context.runId"
            || path.starts_with("body.events.") && (path.ends_with(".sequence") || path.ends_with(".runId"))
    };
    let envelope = validator(schema::response());
    let responses = vectors().into_iter().map(|vector| serde_json::from_slice(&vector.response()).expect("JSON"));
    let mut disagreements = Vec::new();
    let mut tried = 0;
    for response in shapes(responses).into_iter().filter(|response: &Value| response.to_string().len() < 4096) {
        for (change, variant) in variants(&response, 4) {
            tried += 1;
            let text = variant.to_string();
            let Err(refused) = parse_any(text.as_bytes()) else { continue };
            if envelope.is_valid(&variant) && !joins(refused.violation().path()) {
                disagreements.push(format!("{change}: {refused}"));
            }
        }
    }
    disagreements.truncate(20);
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
    assert!(tried > 10_000, "{tried}");
}
