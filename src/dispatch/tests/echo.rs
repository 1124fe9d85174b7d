//! What a refusal says, and which of several answers (promises 3 and 4).

use serde_json::{Value, json};

use super::*;

fn echo(request: &Value) -> (Value, Value) {
    let mut response = refusal(request.to_string().as_bytes());
    (response["requestId"].take(), response["operation"].take())
}

#[test]
fn an_unsupported_version_answers_before_every_other_violation() {
    for version in ["", "2026-07-02", "2026-07-01 ", "1"] {
        let base = with(full(Operation::CancelRun), "/protocolVersion", json!(version));
        let deep: Value = serde_json::from_str(&("[".repeat(120) + &"]".repeat(120))).unwrap();
        for request in [
            base.clone(),
            without(base.clone(), "/requestId"),
            with(base.clone(), "/requestId", json!("")),
            with(base.clone(), "/requestId", json!("x".repeat(2000))),
            with(base.clone(), "/operation", json!(7)),
            with(base.clone(), "/operation", json!("")),
            with(base.clone(), "/idempotencyKey", json!(null)),
            with(base.clone(), "/metadata", json!([])),
            with(base.clone(), "/body", json!(1)),
            with(base.clone(), "/body/runId", json!(1)),
            with(base.clone(), "/extra", json!([[[[[[[[[[deep.clone()]]]]]]]]]])),
        ] {
            let response = refusal(request.to_string().as_bytes());
            assert_eq!(response["error"]["code"], "unsupported_protocol_version", "{request}");
            assert_eq!(response["error"]["details"], json!({"supportedVersions": ["2026-07-01"]}));
            assert_eq!(response["error"]["retryable"], false);
        }
        for bad in [json!(null), json!(1), json!([]), json!({}), json!(true)] {
            assert_refused(&with(base.clone(), "/requestId", bad), "requestId");
        }
        let twice = base.to_string().replacen("\"requestId\"", "\"requestId\":\"a\",\"requestId\"", 1);
        assert_eq!(refusal(twice.as_bytes())["error"]["code"], "unsupported_protocol_version");
        for pair in ["\"requestId\":1,\"requestId\"", "\"requestId\":\"a\",\"requestId\":1,\"x\""] {
            let twice = base.to_string().replacen("\"requestId\"", pair, 1);
            assert_eq!(refused(twice.as_bytes()), "requestId", "{pair}");
        }
    }
}

#[test]
fn a_version_of_another_type_or_given_twice_is_an_invalid_request() {
    for bad in [json!(null), json!(20260701), json!(["2026-07-01"]), json!({})] {
        assert_refused(&with(full(Operation::GetRun), "/protocolVersion", bad), "protocolVersion");
    }
    let text = full(Operation::GetRun).to_string();
    for second in ["2026-07-01", "2099-01-01"] {
        let twice = text.replacen("\"protocolVersion\"", &format!("\"protocolVersion\":\"{second}\",\"protocolVersion\""), 1);
        assert_eq!(refused(twice.as_bytes()), "protocolVersion");
    }
}

#[test]
fn an_unsupported_version_is_named_cut_to_256_bytes() {
    let request = with(full(Operation::GetRun), "/protocolVersion", json!("v".repeat(5000)));
    let response = refusal(request.to_string().as_bytes());
    let message = response["error"]["message"].as_str().unwrap();
    assert!(message.contains(&("v".repeat(253) + "…")) && !message.contains(&"v".repeat(254)), "{message}");
    assert!(message.contains("2026-07-01"));
}

#[test]
fn a_refusal_echoes_what_could_be_read_and_is_well_formed() {
    let broken = with(full(Operation::CancelRun), "/body/expectedRevision", json!(0));
    assert_eq!(echo(&broken), (json!("request-1"), json!("cancel_run")));
    for bad in [json!(""), json!("a\0b"), json!("x".repeat(1025)), json!(1), json!(null)] {
        assert_eq!(echo(&with(broken.clone(), "/requestId", bad)), (json!(""), json!("cancel_run")));
    }
    assert_eq!(echo(&with(broken.clone(), "/requestId", json!("x".repeat(1024)))).0, json!("x".repeat(1024)));
    assert_eq!(echo(&without(broken.clone(), "/requestId")), (json!(""), json!("cancel_run")));
    for bad in [json!("nope"), json!(1), json!(null), json!("")] {
        assert_eq!(echo(&with(broken.clone(), "/operation", bad)), (json!("request-1"), json!("get_run")));
    }
    let twice = broken.to_string().replacen("\"requestId\"", "\"requestId\":\"request-1\",\"requestId\"", 1);
    assert_eq!(refusal(twice.as_bytes())["requestId"], "");
    let unsupported = with(broken, "/protocolVersion", json!("2"));
    assert_eq!(echo(&unsupported), (json!("request-1"), json!("cancel_run")));
    for malformed in ["{\"requestId\":\"r\",\"operation\":\"list_events\",", "\u{feff}\u{feff}{}", "[]"] {
        let response = refusal(malformed.as_bytes());
        assert_eq!((&response["requestId"], &response["operation"]), (&json!(""), &json!("get_run")));
    }
}

#[test]
fn names_in_messages_and_paths_are_cut_to_256_bytes() {
    let long = "é".repeat(3000);
    let over = [
        with(full(Operation::GetRun), "/operation", json!(long)),
        with(full(Operation::CreateRun), "/metadata", json!({long.as_str(): 1})),
        with(full(Operation::CreateRun), "/body/context/metadata", json!({format!("{long}token"): "x"})),
    ];
    for request in over {
        let response = refusal(request.to_string().as_bytes());
        let path = response["error"]["details"]["path"].as_str().unwrap();
        assert!(path.len() <= 256, "{}", path.len());
        let message = response["error"]["message"].as_str().unwrap();
        let longest = message.split(|character: char| character != 'é').map(str::len).max().unwrap();
        assert!(message.contains('…') && (230..=256).contains(&longest), "{message}");
    }
    let path = refused(with(full(Operation::CreateRun), "/metadata", json!({"n".repeat(256): 1})).to_string().as_bytes());
    assert!(path.starts_with("metadata.nnn") && path.ends_with('…') && path.len() == 256, "{path}");
    let path = refused(with(full(Operation::CreateRun), "/metadata", json!({"n".repeat(247): 1})).to_string().as_bytes());
    assert_eq!(path, format!("metadata.{}", "n".repeat(247)));
}

#[test]
fn no_value_of_a_request_comes_back_in_its_refusal() {
    let secret = "hush-hush";
    for (pointer, value) in [
        ("/body/context/runId", json!({"a": secret})),
        ("/body/context/deadlineUnixMs", json!(secret)),
        ("/body/context/metadata", json!({"password": secret})),
        ("/body/metadata", json!({"a": [secret]})),
        ("/metadata", json!([secret])),
        ("/idempotencyKey", json!({"a": secret})),
        ("/idempotencyKey", json!(format!("{secret}\0"))),
    ] {
        let response = refusal(with(full(Operation::CreateRun), pointer, value).to_string().as_bytes());
        assert!(!response.to_string().contains(secret), "{response}");
    }
}

#[test]
fn the_same_message_has_the_same_refusal() {
    for request in [with(full(Operation::GetRun), "/body/runId", json!("")), json!({}), json!([1])] {
        let text = request.to_string();
        let (first, second) = (refusal(text.as_bytes()), refusal(text.as_bytes()));
        assert_eq!(first, second);
    }
}
