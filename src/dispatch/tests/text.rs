//! The text of a message (promise 2): JSON in UTF-8, no lone surrogate, no overflow, bounded nesting, nothing twice.

use serde_json::json;

use super::*;

/// A valid request with `literal` at the pointer.
fn spelled(operation: Operation, pointer: &str, literal: &str) -> Vec<u8> {
    with(full(operation), pointer, json!("HERE")).to_string().replacen("\"HERE\"", literal, 1).into_bytes()
}

/// Places whose value can be of any kind: free JSON, and members that nobody asks for.
const FREE_PLACES: [&str; 4] = ["/body/input", "/extra", "/body/extra", "/body/context/extra"];

#[test]
fn one_byte_order_mark_may_lead() {
    let text = full(Operation::GetRun).to_string();
    assert!(accepted(format!("\u{feff}{text}").as_bytes()));
    assert!(accepted(format!("\u{feff} \n{text}\r\n\t ").as_bytes()));
    assert_eq!(refused(format!("\u{feff}\u{feff}{text}").as_bytes()), "");
    assert_eq!(refused(format!(" \u{feff}{text}").as_bytes()), "");
    assert_eq!(refused(format!("{text}\u{feff}").as_bytes()), "");
    assert_eq!(refused("\u{feff}".as_bytes()), "");
}

#[test]
fn nothing_comes_after_the_document() {
    let text = full(Operation::GetRun).to_string();
    for after in ["\0", "x", "{}", ",", "}", "null", "\u{b}", "//"] {
        assert_eq!(refused(format!("{text}{after}").as_bytes()), "", "{after:?}");
    }
    for message in ["", " ", "{", "\0", "nul", "\"", "{\"a\":1"] {
        assert_eq!(refused(message.as_bytes()), "", "{message:?}");
    }
}

#[test]
fn a_message_is_an_object() {
    for message in ["null", "[]", "1", "\"x\"", "true", "[{}]"] {
        let response = refusal(message.as_bytes());
        assert_eq!(response["error"]["message"], "expected a JSON object", "{message}");
        assert_eq!(response["error"]["details"], json!({"path": ""}));
    }
}

#[test]
fn text_is_utf_8_everywhere() {
    let text = full(Operation::CreateRun).to_string();
    let marks: Vec<usize> = text.match_indices('"').map(|(place, _)| place + 1).collect();
    for bytes in [&b"\xff"[..], b"\x80", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"] {
        for &place in &marks {
            let mut message = text.clone().into_bytes();
            message.splice(place..place, bytes.iter().copied());
            assert_eq!(refused(&message), "");
        }
    }
    let response = refusal(b"{\"a\":\"\xff\"}");
    assert!(response["error"]["message"].as_str().unwrap().contains("the byte at 6"), "{response}");
}

#[test]
fn lone_surrogates_and_overflows_are_refused_in_every_place() {
    for pointer in FREE_PLACES {
        for literal in ["\"\\ud800\"", "[\"\\udc00x\"]", "{\"\\ud800\":1}", "1e309", "[-1e400]", "{\"a\":[1e999]}"] {
            assert_eq!(refused(&spelled(Operation::CreateRun, pointer, literal)), "", "{pointer} {literal}");
        }
        for literal in ["\"\\ud83e\\udd80\"", "1e308", "1e-999", "{\"a\":1,\"a\":2}", "[[],{}]", "-0", "1.0"] {
            assert!(accepted(&spelled(Operation::CreateRun, pointer, literal)), "{pointer} {literal}");
        }
    }
    for pointer in ["/requestId", "/body/context/traceId", "/body/metadata/a"] {
        assert_eq!(refused(&spelled(Operation::CreateRun, pointer, "\"\\ud800\"")), "", "{pointer}");
    }
}

#[test]
fn a_message_nests_128_levels_and_free_json_100_on_its_own() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let nested = |levels: usize| open.repeat(levels) + "1" + &close.repeat(levels);
        // Levels around the value; in the ignored ones the message's limit counts, in free JSON its own.
        for (pointer, around) in [("/extra", 1), ("/body/extra", 2), ("/body/context/extra", 3)] {
            assert!(accepted(&spelled(Operation::CreateRun, pointer, &nested(128 - around))), "{pointer}");
            let path = pointer[1..].replace('/', ".");
            assert_eq!(refused(&spelled(Operation::CreateRun, pointer, &nested(129 - around))), path);
        }
        for operation in [Operation::CreateRun, Operation::ResumeRun] {
            assert!(accepted(&spelled(operation, "/body/input", &nested(100))));
            for levels in [101, 126, 127, 500] {
                assert_eq!(refused(&spelled(operation, "/body/input", &nested(levels))), "body.input", "{levels}");
            }
        }
        // Who does not ask for input does not care how free it is.
        assert!(accepted(&spelled(Operation::GetRun, "/body/input", &nested(126))));
        assert_eq!(refused(&spelled(Operation::GetRun, "/body/input", &nested(127))), "body.input");
    }
}

#[test]
fn the_member_that_nests_too_deep_is_named_and_not_the_one_after_it() {
    let deep = "[".repeat(200) + &"]".repeat(200);
    for (pointer, path) in [
        ("/aaa", "aaa"),
        ("/body/aaa", "body.aaa"),
        ("/body/context/aaa", "body.context.aaa"),
        ("/body/context/metadata/aaa", "body.context.metadata.aaa"),
        ("/body/metadata/aaa", "body.metadata.aaa"),
        ("/metadata/aaa", "metadata.aaa"),
        ("/body/context/locale", "body.context.locale"),
        ("/protocolVersion", "protocolVersion"),
    ] {
        assert_eq!(refused(&spelled(Operation::CreateRun, pointer, &deep)), path);
    }
}

#[test]
fn a_named_member_given_twice_is_refused_even_with_equal_values() {
    // Every member that `create_run` decodes, at every level; a name can be spelled with escapes.
    let text = full(Operation::CreateRun).to_string();
    let twice = |name: &str, value: &str, second: &str| {
        let member = format!("\"{name}\":{value}");
        assert!(text.contains(&member), "{member}");
        text.replacen(&member, &format!("{member},\"{second}\":{value}"), 1)
    };
    for (name, value, path) in [
        ("protocolVersion", "\"2026-07-01\"", "protocolVersion"),
        ("requestId", "\"request-1\"", "requestId"),
        ("idempotencyKey", "\"key-1\"", "idempotencyKey"),
        ("operation", "\"create_run\"", "operation"),
        ("runId", "\"run-1\"", "body.context.runId"),
        ("traceId", "\"\"", "body.context.traceId"),
        ("locale", "\"\"", "body.context.locale"),
        ("deadlineUnixMs", "1", "body.context.deadlineUnixMs"),
        ("region", "\"eu\"", "body.context.metadata.region"),
        ("a", "\"b\"", "body.metadata.a"),
        ("trace", "\"1\"", "metadata.trace"),
        ("input", "{\"question\":[1,2]}", "body.input"),
        ("metadata", "{\"region\":\"eu\"}", "body.context.metadata"),
        ("metadata", "{\"a\":\"b\"}", "body.metadata"),
        ("metadata", "{\"trace\":\"1\"}", "metadata"),
    ] {
        assert_eq!(refused(twice(name, value, name).as_bytes()), path);
        let escaped = format!("\\u{:04x}{}", name.as_bytes()[0], &name[1..]);
        assert_eq!(refused(twice(name, value, &escaped).as_bytes()), path);
    }
    let body = full(Operation::CreateRun)["body"].to_string();
    assert_eq!(refused(text.replacen(&body, &format!("{body},\"body\":{{}}"), 1).as_bytes()), "body");
    let context = full(Operation::CreateRun)["body"]["context"].to_string();
    assert_eq!(refused(text.replacen(&context, &format!("{context},\"context\":{{}}"), 1).as_bytes()), "body.context");
    // What is not named may repeat, and so may what stands in free JSON.
    assert!(accepted(twice("question", "[1,2]", "question").as_bytes()));
    assert!(accepted(text.replacen('{', "{\"x\":1,\"x\":[],\"X\":1,", 1).as_bytes()));
}

#[test]
fn a_member_of_another_operation_may_come_twice() {
    let text = full(Operation::GetRun).to_string();
    let body = "\"body\":{\"limit\":1,\"limit\":\"x\",\"context\":{\"runId\":\"a\",\"runId\":\"b\"},\"metadata\":{\"a\":\"1\",\"a\":\"2\"},";
    assert!(accepted(text.replacen("\"body\":{", body, 1).as_bytes()));
}
