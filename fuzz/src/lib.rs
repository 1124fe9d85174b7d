//! What has to hold for any bytes. Each target is a plain function that panics when it does not; the corpus is replayed
//! through them by `cargo test`, and cargo-fuzz looks for more.

#![allow(unreachable_pub)]

mod client;
mod differential;
mod dispatch;
#[path = "../../tests/schema/inexpressible.rs"]
mod inexpressible;
mod replies;

pub use client::client;
pub use differential::differential;
pub use dispatch::dispatch;
pub use replies::replies;

use agenthost::client::{Outcome, parse_any};
use serde_json::Value;

/// A target: it panics when what holds for any bytes does not hold for these.
pub type Target = fn(&[u8]);

/// Every target, by the name of its corpus.
pub const TARGETS: [(&str, Target); 4] =
    [("dispatch", dispatch), ("differential", differential), ("client", client), ("replies", replies)];

/// Whether the schema of requests accepts a value.
fn is_valid_request(value: &Value) -> bool {
    thread_local!(static SCHEMA: jsonschema::Validator = validator(agenthost::schema::request()));
    SCHEMA.with(|schema| schema.is_valid(value))
}

/// What every response is: JSON that the schema and our own client accept. Gives its error's code, if it has one.
fn check_response(response: &[u8]) -> Option<String> {
    thread_local!(static SCHEMA: jsonschema::Validator = validator(agenthost::schema::response()));
    let value = inexpressible::parsed(response).expect("the response is JSON");
    let text = || String::from_utf8_lossy(response).into_owned();
    SCHEMA.with(|schema| assert!(schema.is_valid(&value), "the schema refuses {}", text()));
    match parse_any(response).unwrap_or_else(|bad| panic!("the client refuses it, {bad}: {}", text())).outcome {
        Outcome::Success(_) => None,
        Outcome::Error(error) => Some(error.code.name().to_owned()),
    }
}

fn validator(schema: schemars::Schema) -> jsonschema::Validator {
    jsonschema::draft202012::new(schema.as_value()).expect("a valid schema")
}
