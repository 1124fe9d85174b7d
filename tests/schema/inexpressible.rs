//! The rules of the contract that JSON Schema cannot express. Each is proved from the text that was refused.

use std::collections::BTreeMap;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// Why a schema cannot see what is wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// A schema is applied to parsed JSON; this does not parse.
    NotJson,
    /// A member given twice: parsed JSON has it once.
    GivenTwice,
    /// More levels than allowed.
    TooDeep,
    /// `maxLength` counts characters, the contract bytes.
    TooManyBytes,
    /// For JSON Schema `1.0`, `1e0` and `-0` are integers.
    SpelledUnlikeAnInteger,
}

/// The reason why a schema accepts `text`, which the dispatcher refuses for its member at `path`.
pub(crate) fn reason(text: &[u8], path: &str) -> Option<Reason> {
    if levels(text) > 128 {
        return Some(Reason::TooDeep);
    }
    if parsed(text).is_none() {
        return Some(Reason::NotJson);
    }
    let text = std::str::from_utf8(text).ok()?.trim_start_matches('\u{feff}');
    let found = members(text, path);
    match found.as_slice() {
        [value] => {
            let (literal, is_number) =
                (value.get(), value.get().starts_with(|first: char| first == '-' || first.is_ascii_digit()));
            if levels(literal.as_bytes()) > 100 {
                return Some(Reason::TooDeep);
            }
            if is_number && (literal == "-0" || literal.contains(['.', 'e', 'E'])) {
                return Some(Reason::SpelledUnlikeAnInteger);
            }
            let string: String = serde_json::from_str(literal).ok()?;
            (string.len() > 1024 && string.chars().count() <= 1024).then_some(Reason::TooManyBytes)
        }
        [_, _, ..] => Some(Reason::GivenTwice),
        [] => None,
    }
}

/// The values that stand at `path`: more than one when the member is given twice. A long path is cut; of the names that it may
/// mean the one that comes most often.
fn members(text: &str, path: &str) -> Vec<Box<RawValue>> {
    let Ok(Members(members)) = serde_json::from_str(text) else { return Vec::new() };
    let mut found: BTreeMap<String, Vec<Box<RawValue>>> = BTreeMap::new();
    for (name, value) in members {
        if path.strip_suffix('…').is_some_and(|beginning| name.starts_with(beginning)) {
            found.entry(name).or_default().push(value);
            continue;
        }
        match path.strip_prefix(name.as_str()) {
            Some("") => found.entry(name).or_default().push(value),
            Some(rest) if rest.starts_with('.') => {
                found.entry(name).or_default().extend(self::members(value.get(), &rest[1..]));
            }
            _ => {}
        }
    }
    found.into_values().max_by_key(Vec::len).unwrap_or_default()
}

/// An object's members in their order, repeated ones too.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// A request as parsed JSON, without the byte order mark that may lead it. Nothing that nests more than the contract allows.
pub(crate) fn parsed(message: &[u8]) -> Option<Value> {
    if levels(message) > 128 {
        return None;
    }
    let text = message.strip_prefix(b"\xef\xbb\xbf").unwrap_or(message);
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    deserializer.disable_recursion_limit();
    let value = Value::deserialize(&mut deserializer).ok()?;
    deserializer.end().is_ok().then_some(value)
}

/// How many brackets are open at once, outside of strings.
fn levels(text: &[u8]) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0usize, 0, false, false);
    for &byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

#[test]
fn a_member_is_found_by_a_path_that_was_cut() {
    let (long, longer) = ("n".repeat(300), "n".repeat(301));
    let text = format!(r#"{{"body":{{"metadata":{{"{long}":"1","{longer}":"2","{long}":"3"}}}}}}"#);
    let path = format!("body.metadata.{}…", "n".repeat(239));
    assert_eq!(reason(text.as_bytes(), &path), Some(Reason::GivenTwice));
    assert_eq!(reason(text.as_bytes(), "body.metadata.n"), None);
    assert_eq!(reason(text.replacen(&long, "m", 1).as_bytes(), &path), None);
}
