//! Log records on their way to JavaScript.

use agenthost::binding::LogRecord;
use serde_json::{Value, json};

/// A record as JSON: level, message, and names and values of its fields.
pub(crate) fn to_json(record: &LogRecord) -> Value {
    json!([record.level.name(), record.message, record.fields])
}
