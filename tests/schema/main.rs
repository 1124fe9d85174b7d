//! The committed JSON Schemas say what the dispatcher does: they are those that the types give, they accept every request
//! that reaches a service and every response that leaves, and refuse what the dispatcher refuses.

mod agreement;
mod committed;
mod inexpressible;
#[path = "../conformance/script.rs"]
mod script;
mod sensitive;
mod vectors;

use agenthost::dispatch::{Decoded, Dispatcher};
use jsonschema::Validator;
use serde_json::Value;

fn validator(schema: schemars::Schema) -> Validator {
    jsonschema::draft202012::new(schema.as_value()).expect("a valid schema")
}

/// What the dispatcher refuses a message with, if it does.
fn refusal(message: &[u8]) -> Option<Value> {
    match Dispatcher::default().decode(message, None) {
        Decoded::Call(_) => None,
        Decoded::Refused(response) => Some(serde_json::from_slice(&response).expect("JSON")),
    }
}

/// Why a schema refuses a value.
fn complaints(validator: &Validator, value: &Value) -> String {
    validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect::<Vec<_>>().join("; ")
}
