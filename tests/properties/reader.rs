//! The strict reader beside serde_json: what we accept it accepts, with an equal value; what it accepts and we refuse breaks
//! a rule of the contract that serde_json does not have.

use agenthost::dispatch::{Decoded, Dispatcher};
use agenthost::protocol::{FreeJson, MAX_UNIX_MS};
use agenthost::service::Request;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::config;
use crate::strategies::{character, json_text, number, string_literal};

/// Text that is nearly JSON: valid text with a few characters replaced, or a soup of tokens.
fn nearly_json() -> impl Strategy<Value = String> {
    let tokens = prop::sample::select(vec![
        "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\\", "\\u", "\\ud800", "\\udc00", "d83d", "0", "-", "1", ".5", "e", "E+",
        "e400", "01", "true", "fals", "null", "nul", " ", "\n", "\u{b}", "\0", "\u{feff}", "//", "NaN", "Infinity", "'",
    ]);
    let soup = vec(tokens, 0..14).prop_map(|tokens| tokens.concat());
    let damaged = (json_text(), vec((any::<prop::sample::Index>(), prop_oneof![character(), Just('"'), Just(',')]), 1..3))
        .prop_map(|(text, changes)| {
            let mut characters: Vec<char> = text.chars().collect();
            for (place, character) in changes {
                let place = place.index(characters.len());
                characters[place] = character;
            }
            characters.into_iter().collect()
        });
    prop_oneof![soup, damaged, json_text(), wild_number()]
}

/// Numbers around the edge of what a double holds, and things that only look like numbers.
fn wild_number() -> impl Strategy<Value = String> {
    prop_oneof![
        (1u64..u64::MAX, 280i32..320).prop_map(|(digits, exponent)| format!("{digits}e{exponent}")),
        (1u64..u64::MAX, -340i32..-300).prop_map(|(digits, exponent)| format!("-{digits}.5E{exponent}")),
        (290usize..330, any::<bool>()).prop_map(|(zeros, fraction)| format!(
            "1{}{}",
            "0".repeat(zeros),
            if fraction { ".0" } else { "" }
        )),
        (290usize..330, 280u32..330).prop_map(|(zeros, exponent)| format!("0.{}1e{exponent}", "0".repeat(zeros))),
        "-?[0-9]{0,3}\\.?[0-9]{0,3}[eE]?[+-]?[0-9]{0,4}",
        number(),
    ]
}

fn levels(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(levels).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(levels).max().unwrap_or(0),
        _ => 0,
    }
}

/// What the service is given as `reason` and `deadlineUnixMs` when the message spells them so.
fn cancel_reason(literal: &str) -> Option<String> {
    let message = format!(
        r#"{{"protocolVersion":"2026-07-01","requestId":"r","idempotencyKey":"k","operation":"cancel_run",
            "body":{{"runId":"run","expectedRevision":1,"reason":{literal}}}}}"#
    );
    match Dispatcher::default().decode(message.as_bytes(), None) {
        Decoded::Call(decoded) => match decoded.request {
            Request::CancelRun(request) => Some(request.reason.into_owned()),
            _ => None,
        },
        Decoded::Refused(_) => None,
    }
}

fn numbers(revision: &str, deadline: &str) -> (Option<u64>, Option<i64>) {
    let envelope = |operation: &str, body: String| {
        format!(
            r#"{{"protocolVersion":"2026-07-01","requestId":"r","idempotencyKey":"k","operation":"{operation}","body":{body}}}"#
        )
    };
    let cancel = envelope("cancel_run", format!(r#"{{"runId":"run","expectedRevision":{revision}}}"#));
    let create = envelope("create_run", format!(r#"{{"context":{{"runId":"run","deadlineUnixMs":{deadline}}}}}"#));
    let revision = match Dispatcher::default().decode(cancel.as_bytes(), None) {
        Decoded::Call(decoded) => match decoded.request {
            Request::CancelRun(request) => Some(request.expected_revision),
            _ => None,
        },
        Decoded::Refused(_) => None,
    };
    let deadline = match Dispatcher::default().decode(create.as_bytes(), None) {
        Decoded::Call(decoded) => match decoded.request {
            Request::CreateRun(request) => request.context.deadline_unix_ms,
            _ => None,
        },
        Decoded::Refused(_) => None,
    };
    (revision, deadline)
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn free_json_is_what_serde_json_parses_unless_it_nests_too_deep(text in nearly_json()) {
        let ours = FreeJson::new(text.as_str());
        match (ours, serde_json::from_str::<Value>(&text)) {
            (Ok(ours), Ok(theirs)) => prop_assert_eq!(ours.parse::<Value>().expect("JSON"), theirs),
            (Ok(_), Err(error)) => return Err(TestCaseError::fail(format!("serde_json refuses it: {error}"))),
            (Err(violation), Ok(theirs)) => prop_assert!(levels(&theirs) > 100, "{violation}"),
            (Err(_), Err(_)) => {}
        }
    }

    #[test]
    fn a_string_means_what_serde_json_reads(literal in prop_oneof![string_literal(), nearly_json()]) {
        let theirs = serde_json::from_str::<Value>(&literal).ok().and_then(|value| value.as_str().map(str::to_owned));
        prop_assert_eq!(cancel_reason(&literal), theirs);
    }

    #[test]
    fn an_integer_is_an_integer_literal_within_its_range(literal in prop_oneof![wild_number(), "-?[0-9]{1,20}"]) {
        let is_literal = serde_json::from_str::<Value>(&literal).is_ok()
            && !literal.contains(['.', 'e', 'E']) && literal != "-0";
        let revision = literal.parse::<u64>().ok().filter(|number| is_literal && (1..1 << 53).contains(number));
        let deadline = literal.parse::<i64>().ok().filter(|number| is_literal && (-MAX_UNIX_MS..=MAX_UNIX_MS).contains(number));
        prop_assert_eq!(numbers(&literal, &literal), (revision, deadline));
    }
}

#[test]
fn free_json_nests_100_levels_and_not_101() {
    for (levels, allowed) in [(0, true), (1, true), (100, true), (101, false), (127, false)] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let text = open.repeat(levels) + "1" + &close.repeat(levels);
            let found = FreeJson::new(text.as_str());
            assert_eq!(found.is_ok(), allowed, "{levels} {open}");
            if let Ok(found) = found {
                assert_eq!(found.parse::<Value>().expect("JSON"), serde_json::from_str::<Value>(&text).expect("JSON"));
            }
        }
    }
    assert_eq!(FreeJson::new(" [1] ").expect("JSON").parse::<Value>().expect("JSON"), json!([1]));
}
