//! Equality of JSON as the vectors want it: integers within 64 bits exactly, other numbers as doubles, members in any order.

use serde_json::Value;

pub(crate) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => a == b || (a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| equal(a, b)))
        }
        _ => left == right,
    }
}

pub(crate) fn expect(what: &str, expected: &Value, found: &Value) -> Result<(), String> {
    if equal(expected, found) { Ok(()) } else { Err(format!("{what}: expected {expected}, found {found}")) }
}
