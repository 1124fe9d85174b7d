//! Envelopes and errors.

use super::*;
use crate::protocol::ErrorCode;

#[test]
fn a_response_is_one_json_document_in_utf_8() {
    let text = success("cancel_run", submission()).to_string();
    assert!(parse(&cancel_run(), &text).is_ok());
    assert!(parse(&cancel_run(), &format!("\u{feff}{text}\n")).is_ok());
    for bad in [
        format!("{text}\0"),
        format!("{text}{text}"),
        format!("\u{feff}\u{feff}{text}"),
        "[]".into(),
        "null".into(),
        String::new(),
        text.replace("run-1", "\\ud800"),
        text.replacen('{', "{\"x\":1e400,", 1),
    ] {
        assert_eq!(parse(&cancel_run(), &bad).err().as_deref(), Some(""), "{bad}");
    }
    let mut bytes = text.clone().into_bytes();
    bytes[20] = 0xff;
    let bad = cancel_run().parse(&bytes).unwrap_err();
    assert!(bad.to_string().starts_with("not a valid response: expected JSON text in UTF-8: the byte at 20"), "{bad}");
    for (levels, path) in [(127, None), (128, Some("x"))] {
        let nested = "[".repeat(levels) + &"]".repeat(levels);
        let found = parse(&cancel_run(), &text.replacen('{', &format!("{{\"x\":{nested},"), 1));
        assert_eq!(found.err().as_deref(), path);
    }
}

#[test]
fn required_members_are_required_and_the_others_have_their_defaults() {
    let message = success("cancel_run", submission());
    for name in ["protocolVersion", "operation", "requestId"] {
        assert_refused(&cancel_run(), &without(message.clone(), &format!("/{name}")), name);
    }
    assert_refused(&cancel_run(), &with(message.clone(), "/requestId", json!("")), "requestId");
    for name in ["ok", "error"] {
        result(&cancel_run(), &without(message.clone(), &format!("/{name}")));
    }
    result(&cancel_run(), &without(without(message.clone(), "/ok"), "/error"));
    // A body that is absent is empty, and so has no run.
    assert_refused(&cancel_run(), &without(message, "/body"), "body.runId");
    let message = failure(json!({"code": "conflict"}));
    let found = error(&get_run(), &message);
    assert_eq!((found.code, &*found.message, found.retryable), (ErrorCode::Conflict, "", false));
    assert_eq!((found.details.as_str(), found.metadata.len(), &*found.original_code), ("{}", 0, ""));
    for name in ["ok", "body"] {
        error(&get_run(), &without(message.clone(), &format!("/{name}")));
    }
    assert_refused(&get_run(), &without(message.clone(), "/error/code"), "error.code");
    assert_refused(&get_run(), &with(message, "/error/code", json!("")), "error.code");
}

#[test]
fn null_is_accepted_where_the_contract_writes_it_and_nowhere_else() {
    let message = success("cancel_run", submission());
    for name in ["protocolVersion", "requestId", "operation", "ok", "body"] {
        assert_refused(&cancel_run(), &with(message.clone(), &format!("/{name}"), json!(null)), name);
    }
    result(&cancel_run(), &with(message.clone(), "/error", json!(null)));
    for name in ["runId", "revision", "status"] {
        assert_refused(&cancel_run(), &with(message.clone(), &format!("/body/{name}"), json!(null)), &format!("body.{name}"));
    }
    let message = failure(json!({"code": "conflict", "message": "m", "retryable": true, "details": {}, "metadata": {"a": "b"}}));
    for name in ["code", "message", "retryable", "metadata"] {
        assert_refused(&get_run(), &with(message.clone(), &format!("/error/{name}"), json!(null)), &format!("error.{name}"));
    }
    assert_eq!(error(&get_run(), &with(message.clone(), "/error/details", json!(null))).details.as_str(), "null");
    assert_refused(&get_run(), &with(message, "/error/metadata/a", json!(null)), "error.metadata.a");
}

#[test]
fn members_of_another_type_or_given_twice_are_refused() {
    let message = success("cancel_run", submission());
    for (name, bad) in [
        ("protocolVersion", json!(1)),
        ("requestId", json!(1)),
        ("operation", json!({})),
        ("ok", json!("true")),
        ("ok", json!(1)),
        ("body", json!([])),
        ("body", json!("x")),
        ("error", json!(false)),
        ("error", json!("x")),
        ("error", json!([])),
    ] {
        assert_refused(&cancel_run(), &with(message.clone(), &format!("/{name}"), bad), name);
    }
    let text = message.to_string();
    for name in ["protocolVersion", "requestId", "operation", "ok", "body", "error"] {
        let member = format!("\"{name}\":{}", message[name]);
        let twice = text.replacen(&member, &format!("{member},{member}"), 1);
        assert_eq!(parse(&cancel_run(), &twice).err().as_deref(), Some(name));
    }
    let message = failure(json!({"code": "conflict", "message": "m", "retryable": true, "details": {}, "metadata": {"a": "b"}}));
    let text = message.to_string();
    for name in ["code", "message", "retryable", "details", "metadata"] {
        let member = format!("\"{name}\":{}", message["error"][name]);
        let twice = text.replacen(&member, &format!("{member},{member}"), 1);
        assert_eq!(parse(&get_run(), &twice).err(), Some(format!("error.{name}")));
        if name != "details" {
            assert_refused(&get_run(), &with(message.clone(), &format!("/error/{name}"), json!([])), &format!("error.{name}"));
        }
    }
    // A body of another type is refused beside an error too; one with members is not looked into.
    assert_refused(&get_run(), &with(message.clone(), "/body", json!([])), "body");
    error(&get_run(), &with(message.clone(), "/body", json!({"runId": 1})));
    // What nobody names may be anything.
    error(&get_run(), &with(with(message, "/extra", json!(null)), "/error/extra", json!([1])));
}

#[test]
fn an_ok_that_contradicts_the_error_is_refused() {
    let ok = success("cancel_run", submission());
    let not_ok = failure(json!({"code": "conflict"}));
    assert_refused(&cancel_run(), &with(ok.clone(), "/ok", json!(false)), "ok");
    assert_refused(&get_run(), &with(not_ok.clone(), "/ok", json!(true)), "ok");
    assert_refused(&cancel_run(), &with(ok.clone(), "/error", json!({"code": "conflict"})), "ok");
    assert_refused(&get_run(), &with(not_ok, "/error", json!(null)), "ok");
    assert_refused(&cancel_run(), &without(with(ok, "/ok", json!(false)), "/error"), "ok");
}

#[test]
fn a_success_answers_this_request_and_operation() {
    let message = success("cancel_run", submission());
    assert_refused(&cancel_run(), &with(message.clone(), "/requestId", json!("request-2")), "requestId");
    for other in ["create_run", "resume_run", "get_run"] {
        assert_refused(&cancel_run(), &with(message.clone(), "/operation", json!(other)), "operation");
    }
    for unknown in ["", "cancelRun", "delete_run"] {
        assert_refused(&cancel_run(), &with(message.clone(), "/operation", json!(unknown)), "operation");
    }
    assert_refused(&cancel_run(), &with(message.clone(), "/body/runId", json!("run-2")), "body.runId");
    for bad in ["a\0b", &"x".repeat(1025)] {
        let bad = with(message.clone(), "/requestId", json!(bad));
        assert_refused(&cancel_run(), &bad, "requestId");
        assert!(parse_any(bad.to_string().as_bytes()).is_err());
    }
    // Of which nothing is known it answers any.
    let text = with(with(message, "/requestId", json!("request-2")), "/body/runId", json!("run-2")).to_string();
    let response = parse_any(text.as_bytes()).unwrap();
    assert_eq!((&*response.request_id, response.operation), ("request-2", Some(Operation::CancelRun)));
    assert_eq!(response.protocol_version, "2026-07-01");
}

#[test]
fn an_error_without_a_request_id_answers_the_pending_request() {
    let message = failure(json!({"code": "invalid_request"}));
    for message in [without(message.clone(), "/requestId"), with(message.clone(), "/requestId", json!(""))] {
        assert_eq!(error(&cancel_run(), &message).code, ErrorCode::InvalidRequest);
    }
    // A refusal can name another operation: the dispatcher echoes `get_run` where it could read none.
    error(&cancel_run(), &message);
    assert_refused(&cancel_run(), &with(message.clone(), "/requestId", json!("request-2")), "requestId");
    assert_refused(&cancel_run(), &with(message, "/operation", json!("unknown")), "operation");
}

#[test]
fn an_unknown_code_reads_as_internal_and_is_kept() {
    for code in ErrorCode::ALL {
        let found = error(&get_run(), &failure(json!({"code": code.name()})));
        assert_eq!((found.code, &*found.original_code), (code, ""));
    }
    let all = json!({"code": "too_many", "message": "m", "retryable": true, "details": [1], "metadata": {"a": "b"}});
    let found = error(&get_run(), &failure(all));
    assert_eq!((found.code, &*found.original_code), (ErrorCode::Internal, "too_many"));
    assert_eq!(
        (&*found.message, found.retryable, found.details.as_str(), found.metadata.get("a")),
        ("m", true, "[1]", Some("b"))
    );
}

#[test]
fn sensitive_metadata_that_comes_in_is_dropped() {
    let found = error(&get_run(), &failure(json!({"code": "conflict", "metadata": {"a": "b", "api key": "x"}})));
    assert!(found.metadata.iter().eq([("a", "b")]));
}

#[test]
fn details_nest_at_most_100_levels() {
    for (levels, path) in [(100, None), (101, Some("error.details"))] {
        let details = "[".repeat(levels) + &"]".repeat(levels);
        let text = failure(json!({"code": "conflict", "details": "HERE"})).to_string().replace("\"HERE\"", &details);
        assert_eq!(parse(&get_run(), &text).err().as_deref(), path);
    }
}
