//! How versions are negotiated.

use super::*;
use crate::protocol::ErrorCode;

/// A refusal in a version that nobody here speaks.
fn refusal(details: Value) -> Value {
    json!({
        "protocolVersion": "2099-01-01", "requestId": "request-1", "operation": "get_run", "ok": false, "body": {},
        "error": {"code": "unsupported_protocol_version", "message": "m", "retryable": false, "details": details, "metadata": {}},
    })
}

fn next(details: Value, tried: &str) -> Option<&'static str> {
    parse(&get_run(), &refusal(details).to_string()).expect("a refusal").next_version(tried)
}

#[test]
fn of_a_refusal_in_another_version_only_three_things_count() {
    let message = refusal(json!({"supportedVersions": ["2026-07-01"]}));
    for odd in [
        with(message.clone(), "/operation", json!("negotiate")),
        with(message.clone(), "/operation", json!("")),
        with(message.clone(), "/ok", json!(true)),
        with(message.clone(), "/ok", json!("no")),
        without(message.clone(), "/ok"),
        with(message.clone(), "/body", json!([])),
        with(message.clone(), "/body", json!(null)),
        with(message.clone(), "/error/message", json!(1)),
        with(message.clone(), "/error/retryable", json!("x")),
        with(message.clone(), "/error/metadata", json!([1])),
        without(message.clone(), "/error/message"),
        without(message.clone(), "/requestId"),
        with(message.clone(), "/requestId", json!("")),
        with(message.clone(), "/extra", json!(null)),
    ] {
        let response = parse(&cancel_run(), &odd.to_string()).unwrap_or_else(|path| panic!("{path}: {odd}"));
        assert_eq!(response.protocol_version, "2099-01-01");
        assert_eq!(response.operation, Operation::from_name(odd["operation"].as_str().unwrap()));
        let Outcome::Error(error) = &response.outcome else { panic!("a success") };
        assert_eq!((error.code, error.retryable, error.metadata.len()), (ErrorCode::UnsupportedProtocolVersion, false, 0));
        assert_eq!(error.details.as_str(), "{\"supportedVersions\":[\"2026-07-01\"]}");
        assert_eq!(response.next_version("2098-01-01"), Some("2026-07-01"));
    }
    for (bad, path) in [
        (with(message.clone(), "/requestId", json!("request-2")), "requestId"),
        (with(message.clone(), "/requestId", json!(null)), "requestId"),
        (with(message.clone(), "/requestId", json!("\0")), "requestId"),
        (with(message.clone(), "/operation", json!(1)), "operation"),
        (without(message.clone(), "/operation"), "operation"),
        (with(message.clone(), "/error", json!("x")), "error"),
        (with(message.clone(), "/error", json!(null)), "protocolVersion"),
        (without(message.clone(), "/error"), "protocolVersion"),
        (with(message.clone(), "/error/code", json!("internal")), "protocolVersion"),
        (with(message.clone(), "/error/code", json!(1)), "error.code"),
        (without(message.clone(), "/error/code"), "error.code"),
    ] {
        assert_refused(&cancel_run(), &bad, path);
    }
    let text = message.to_string().replace("[\"2026-07-01\"]", &("[".repeat(100) + &"]".repeat(100)));
    assert_eq!(parse(&cancel_run(), &text).err().as_deref(), Some("error.details"));
}

#[test]
fn a_success_in_another_version_is_refused() {
    for version in ["2099-01-01", ""] {
        let message = with(success("cancel_run", submission()), "/protocolVersion", json!(version));
        assert_refused(&cancel_run(), &message, "protocolVersion");
    }
    let long = with(success("cancel_run", submission()), "/protocolVersion", json!("v".repeat(3000)));
    let bad = cancel_run().parse(long.to_string().as_bytes()).unwrap_err();
    assert!(bad.to_string().len() < 500, "{bad}");
}

#[test]
fn a_refusal_in_our_version_is_an_error_like_any_other() {
    let message = failure(json!({"code": "unsupported_protocol_version", "details": {"supportedVersions": ["2026-07-01"]}}));
    let response = parse(&get_run(), &message.to_string()).unwrap();
    assert_eq!(response.next_version("2099-01-01"), Some("2026-07-01"));
    assert_eq!(response.next_version("2026-07-01"), None);
    assert_refused(&get_run(), &with(message.clone(), "/ok", json!(true)), "ok");
    assert_refused(&get_run(), &with(message, "/error/message", json!(1)), "error.message");
}

#[test]
fn the_next_version_is_one_that_both_speak_and_that_was_not_tried() {
    let offer = |versions: Value| json!({"supportedVersions": versions});
    assert_eq!(next(offer(json!(["2099-01-01", "2026-07-01"])), "2099-01-01"), Some("2026-07-01"));
    assert_eq!(next(offer(json!(["2026-07-01"])), "2026-07-01"), None);
    assert_eq!(next(offer(json!(["2099-01-01", ""])), "x"), None);
    // Of two equal members in free JSON the last one counts.
    let text = refusal(json!({"supportedVersions": "HERE"})).to_string();
    for (values, version) in
        [("[],\"supportedVersions\":[\"2026-07-01\"]", Some("2026-07-01")), ("[\"2026-07-01\"],\"supportedVersions\":[]", None)]
    {
        let text = text.replace("\"HERE\"", values);
        assert_eq!(parse(&get_run(), &text).unwrap().next_version("x"), version, "{values}");
    }
}

#[test]
fn without_usable_versions_negotiation_fails() {
    for details in [
        json!({}),
        json!(null),
        json!([]),
        json!("2026-07-01"),
        json!({"supportedVersions": "2026-07-01"}),
        json!({"supportedVersions": null}),
        json!({"supportedVersions": [1]}),
        json!({"supportedVersions": {"0": "2026-07-01"}}),
        json!({"supportedversions": ["2026-07-01"]}),
    ] {
        assert_eq!(next(details.clone(), "2099-01-01"), None, "{details}");
    }
    let message = without(refusal(json!(1)), "/error/details");
    assert_eq!(parse(&get_run(), &message.to_string()).unwrap().next_version("2099-01-01"), None);
}

#[test]
fn other_outcomes_have_no_next_version() {
    let offer = json!({"supportedVersions": ["2026-07-01"]});
    let other = failure(json!({"code": "conflict", "details": offer}));
    assert_eq!(parse(&get_run(), &other.to_string()).unwrap().next_version("x"), None);
    let done = success("cancel_run", submission());
    assert_eq!(parse(&cancel_run(), &done.to_string()).unwrap().next_version("x"), None);
}
