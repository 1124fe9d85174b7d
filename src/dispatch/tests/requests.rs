//! The tables of the protocol, member by member (protocol, "Request", promises 2 and 7).

use serde_json::{Value, json};

use std::borrow::Cow;

use super::*;
use crate::protocol::{MAX_UNIX_MS, MAX_UNSIGNED};
use crate::service::Request;

/// Where each operation has an identity.
const IDENTITIES: [(Operation, &[&str]); 6] = [
    (Operation::CreateRun, &["/requestId", "/idempotencyKey", "/body/context/runId"]),
    (Operation::GetRun, &["/requestId", "/body/runId"]),
    (Operation::CancelRun, &["/requestId", "/idempotencyKey", "/body/runId"]),
    (Operation::ResolveApproval, &["/requestId", "/idempotencyKey", "/body/runId", "/body/approvalId"]),
    (Operation::ResumeRun, &["/requestId", "/idempotencyKey", "/body/runId", "/body/approvalId"]),
    (Operation::ListEvents, &["/requestId", "/body/runId"]),
];

fn path(pointer: &str) -> String {
    pointer[1..].replace('/', ".")
}

#[test]
fn a_full_and_a_minimal_request_of_every_operation_are_accepted() {
    for operation in Operation::ALL {
        assert_accepted(&full(operation));
        let mut minimal = without(full(operation), "/metadata");
        if !operation.mutates() {
            minimal = without(minimal, "/idempotencyKey");
        }
        for optional in ["input", "metadata", "reason", "afterSequence", "limit"] {
            minimal["body"].as_object_mut().unwrap().remove(optional);
        }
        if operation == Operation::CreateRun {
            minimal["body"]["context"] = json!({"runId": "run-1"});
        }
        assert_accepted(&minimal);
    }
}

#[test]
fn defaults_are_filled_in() {
    let decoded = |request: Value| {
        let text = request.to_string();
        match decode(&Dispatcher::default(), text.as_bytes()) {
            Decoded::Call(DecodedCall { call, request, .. }) => {
                assert!(call.metadata.is_empty() && call.principal.is_none());
                format!("{request:?}")
            }
            Decoded::Refused(_) => panic!("refused"),
        }
    };
    let minimal = |operation, optional: &[&str]| {
        let request = without(full(operation), "/metadata");
        optional.iter().fold(request, |request, name| without(request, &format!("/body/{name}")))
    };
    let cancel = decoded(minimal(Operation::CancelRun, &["reason"]));
    assert!(cancel.contains("reason: \"agent run cancelled\""), "{cancel}");
    let resolve = decoded(minimal(Operation::ResolveApproval, &["reason", "metadata"]));
    assert!(resolve.contains("reason: \"\"") && resolve.contains("metadata: {}"), "{resolve}");
    let list = decoded(minimal(Operation::ListEvents, &["afterSequence", "limit"]));
    assert!(list.contains("after_sequence: 0, limit: 256"), "{list}");
    for operation in [Operation::CreateRun, Operation::ResumeRun] {
        let text = minimal(operation, &["input"]).to_string();
        let Decoded::Call(decoded) = decode(&Dispatcher::default(), text.as_bytes()) else { panic!("refused") };
        let (Request::CreateRun(crate::service::CreateRun { input, .. })
        | Request::ResumeRun(crate::service::ResumeRun { input, .. })) = decoded.request
        else {
            panic!("another request")
        };
        assert_eq!(input.as_str(), "{}");
    }
}

#[test]
fn identities_are_not_empty_hold_no_nul_and_at_most_1024_bytes() {
    for (operation, pointers) in IDENTITIES {
        for pointer in pointers {
            let set = |value: Value| with(full(operation), pointer, value);
            for good in ["x".to_owned(), "x".repeat(1024), "é".repeat(512), "\u{1}\n\u{7f}".into(), " ".into()] {
                assert_accepted(&set(json!(good)));
            }
            for bad in ["".to_owned(), "x".repeat(1025), "é".repeat(512) + "x", "\0".into(), "run-1\0x".into()] {
                assert_refused(&set(json!(bad)), &path(pointer));
            }
            for bad in [json!(null), json!(1), json!(true), json!([]), json!({})] {
                assert_refused(&set(bad), &path(pointer));
            }
            assert_refused(&without(full(operation), pointer), &path(pointer));
        }
    }
}

#[test]
fn a_read_may_have_a_key_and_it_keeps_the_rules_of_keys() {
    for operation in [Operation::GetRun, Operation::ListEvents] {
        assert_accepted(&without(full(operation), "/idempotencyKey"));
        for good in ["", "x", &"x".repeat(1024)] {
            assert_accepted(&with(full(operation), "/idempotencyKey", json!(good)));
        }
        for bad in [json!(null), json!(1), json!({}), json!("x".repeat(1025)), json!("\0")] {
            assert_refused(&with(full(operation), "/idempotencyKey", bad), "idempotencyKey");
        }
    }
}

#[test]
fn unsigned_members_are_integers_within_their_range() {
    let members = [
        (Operation::CancelRun, "/body/expectedRevision", 1, MAX_UNSIGNED),
        (Operation::ResolveApproval, "/body/expectedRevision", 1, MAX_UNSIGNED),
        (Operation::ResumeRun, "/body/expectedRevision", 1, MAX_UNSIGNED),
        (Operation::ListEvents, "/body/afterSequence", 0, MAX_UNSIGNED),
        (Operation::ListEvents, "/body/limit", 1, 1000),
    ];
    for (operation, pointer, least, most) in members {
        let spelled =
            |literal: &str| with(full(operation), pointer, json!("HERE")).to_string().replace("\"HERE\"", literal).into_bytes();
        for good in [least, least + 1, most - 1, most] {
            assert!(accepted(&spelled(&good.to_string())), "{pointer} {good}");
        }
        let mut bad = vec![(most + 1).to_string(), u64::MAX.to_string(), "18446744073709551616".into(), format!("{most}0")];
        for literal in ["-1", "-0", "1.0", "1e0", "1E0", "2.5", "0.0", "null", "\"1\"", "true", "[]", "{}"] {
            bad.push(literal.into());
        }
        if least > 0 {
            bad.push("0".into());
        }
        for literal in bad {
            assert_eq!(refused(&spelled(&literal)), path(pointer), "{literal}");
        }
        for malformed in ["01", "+1", "1.", ".5", "0x1"] {
            assert_eq!(refused(&spelled(malformed)), "", "{malformed}");
        }
    }
}

#[test]
fn a_deadline_is_null_or_an_integer_within_the_range_of_times() {
    let spelled = |literal: &str| {
        let request = with(full(Operation::CreateRun), "/body/context/deadlineUnixMs", json!("HERE"));
        request.to_string().replace("\"HERE\"", literal).into_bytes()
    };
    for good in ["null".to_owned(), "0".into(), "-1".into(), MAX_UNIX_MS.to_string(), (-MAX_UNIX_MS).to_string()] {
        assert!(accepted(&spelled(&good)), "{good}");
    }
    let over = [(MAX_UNIX_MS + 1).to_string(), (-MAX_UNIX_MS - 1).to_string()];
    let others = ["-0", "1.0", "1e3", "9223372036854775808", "\"1\"", "true", "[]", "{}"].map(String::from);
    for bad in over.into_iter().chain(others) {
        assert_eq!(refused(&spelled(&bad)), "body.context.deadlineUnixMs", "{bad}");
    }
}

#[test]
fn null_is_a_wrong_type_everywhere_but_in_input_and_the_deadline() {
    for operation in Operation::ALL {
        let request = full(operation);
        let mut pointers: Vec<String> = request.as_object().unwrap().keys().map(|name| format!("/{name}")).collect();
        pointers.extend(request["body"].as_object().unwrap().keys().map(|name| format!("/body/{name}")));
        if operation == Operation::CreateRun {
            pointers.extend(request["body"]["context"].as_object().unwrap().keys().map(|name| format!("/body/context/{name}")));
            pointers.extend(["/metadata/trace", "/body/metadata/a", "/body/context/metadata/region"].map(String::from));
        }
        for pointer in pointers {
            let nulled = with(request.clone(), &pointer, json!(null));
            if pointer.ends_with("/input") || pointer.ends_with("/deadlineUnixMs") {
                assert_accepted(&nulled);
            } else {
                assert_refused(&nulled, &path(&pointer));
            }
        }
    }
}

#[test]
fn resolutions_are_approved_or_denied() {
    let set = |value: Value| with(full(Operation::ResolveApproval), "/body/resolution", value);
    assert_accepted(&set(json!("approved")));
    assert_accepted(&set(json!("denied")));
    for bad in ["pending", "", "Approved", "approve"] {
        assert_refused(&set(json!(bad)), "body.resolution");
    }
    assert_refused(&without(full(Operation::ResolveApproval), "/body/resolution"), "body.resolution");
}

#[test]
fn operations_are_the_six() {
    for bad in ["", "createRun", "create_run ", "delete_run"] {
        assert_refused(&with(full(Operation::GetRun), "/operation", json!(bad)), "operation");
    }
    assert_refused(&without(full(Operation::GetRun), "/operation"), "operation");
    assert_refused(&with(full(Operation::GetRun), "/operation", json!(1)), "operation");
}

#[test]
fn required_members_are_named_when_they_are_missing() {
    assert_refused(&without(full(Operation::GetRun), "/protocolVersion"), "protocolVersion");
    assert_refused(&without(full(Operation::GetRun), "/body"), "body.runId");
    assert_refused(&without(full(Operation::CreateRun), "/body/context"), "body.context");
    for bad in [json!([]), json!("x"), json!(1), json!(true)] {
        assert_refused(&with(full(Operation::GetRun), "/body", bad.clone()), "body");
        assert_refused(&with(full(Operation::CreateRun), "/body/context", bad.clone()), "body.context");
        assert_refused(&with(full(Operation::GetRun), "/metadata", bad.clone()), "metadata");
        assert_refused(&with(full(Operation::CreateRun), "/body/metadata", bad.clone()), "body.metadata");
        assert_refused(&with(full(Operation::CreateRun), "/body/context/metadata", bad), "body.context.metadata");
    }
}

#[test]
fn members_of_other_operations_and_of_nobody_are_ignored() {
    let others = json!({
        "context": 1, "input": 1, "metadata": 1, "runId": 1, "expectedRevision": "x", "approvalId": 1, "resolution": 1, "reason": 1,
        "afterSequence": "x", "limit": "x", "toString": null, "": [],
    });
    for operation in Operation::ALL {
        let mut request = full(operation);
        for (name, value) in others.as_object().unwrap() {
            if request["body"].get(name).is_none() {
                request["body"][name] = value.clone();
            }
        }
        request["extra"] = json!({"requestId": 1});
        request["Body"] = json!(null);
        assert_accepted(&request);
    }
}

#[test]
fn strings_that_are_no_identities_may_be_empty_long_and_hold_anything() {
    let long = "x".repeat(5000);
    for value in ["", "\0", "🦀\u{feff}", &long] {
        assert_accepted(&with(full(Operation::CancelRun), "/body/reason", json!(value)));
        assert_accepted(&with(full(Operation::ResolveApproval), "/body/reason", json!(value)));
        for name in
            ["traceId", "requestId", "tenantId", "userId", "applicationId", "workspaceId", "conversationId", "agentId", "locale"]
        {
            assert_accepted(&with(full(Operation::CreateRun), &format!("/body/context/{name}"), json!(value)));
        }
        for place in ["/metadata", "/body/metadata", "/body/context/metadata"] {
            assert_accepted(&with(full(Operation::CreateRun), place, json!({"": value, value: "x", "a\0b": "y"})));
        }
    }
}

#[test]
fn a_sensitive_name_in_the_context_is_named_with_advice_and_without_its_value() {
    let request =
        with(full(Operation::CreateRun), "/body/context/metadata", json!({"region": "eu", "X-Access-Token": "hush hush"}));
    let response = refusal(request.to_string().as_bytes());
    assert_eq!(response["error"]["details"], json!({"path": "body.context.metadata.X-Access-Token"}));
    let message = response["error"]["message"].as_str().unwrap();
    assert!(message.contains("\"X-Access-Token\"") && message.contains("move it out of the context"), "{message}");
    assert!(!response.to_string().contains("hush"));
    // In the other maps it may stand: it is dropped when it leaves.
    for place in ["/metadata", "/body/metadata"] {
        assert_accepted(&with(full(Operation::CreateRun), place, json!({"X-Access-Token": "hush hush"})));
    }
}

#[test]
fn a_host_refuses_the_names_that_it_adds() {
    let sensitive_names = SensitiveNames::with(["session-id"]).unwrap();
    let dispatcher = Dispatcher { sensitive_names, ..Dispatcher::default() };
    let text = with(full(Operation::CreateRun), "/body/context/metadata", json!({"mySessionId": "1"})).to_string();
    assert!(matches!(decode(&dispatcher, text.as_bytes()), Decoded::Refused(_)));
    assert!(accepted(text.as_bytes()));
}

#[test]
fn what_was_asked_reaches_the_service_with_who_asked() {
    let text = full(Operation::ListEvents).to_string();
    let dispatcher = Dispatcher { require_principal: true, ..Dispatcher::default() };
    for (principal, allowed) in [(Some("someone"), true), (Some(""), false), (None, false)] {
        match dispatcher.decode(text.as_bytes(), principal.map(Cow::Borrowed)) {
            Decoded::Call(decoded) => {
                assert!(allowed);
                assert_eq!(decoded.call.principal.as_deref(), principal);
                assert_eq!(decoded.call.operation, Operation::ListEvents);
                assert_eq!((&*decoded.call.request_id, &*decoded.call.idempotency_key), ("request-1", "key-1"));
                assert_eq!(decoded.call.metadata.get("trace"), Some("1"));
                assert_eq!(decoded.expected.operation(), Operation::ListEvents);
            }
            Decoded::Refused(response) => {
                assert!(!allowed);
                let response: Value = serde_json::from_slice(&response).unwrap();
                assert_eq!(response["error"]["code"], "unauthorized");
                assert_eq!((&response["requestId"], &response["operation"]), (&json!("request-1"), &json!("list_events")));
            }
        }
    }
    // A host that asks for nobody takes an empty principal for none.
    let Decoded::Call(decoded) = Dispatcher::default().decode(text.as_bytes(), Some("".into())) else { panic!("refused") };
    assert_eq!(decoded.call.principal, None);
}

#[test]
fn a_broken_rule_answers_before_a_missing_principal() {
    let dispatcher = Dispatcher { require_principal: true, ..Dispatcher::default() };
    let text = with(full(Operation::GetRun), "/body/runId", json!("")).to_string();
    let Decoded::Refused(response) = decode(&dispatcher, text.as_bytes()) else { panic!("accepted") };
    assert_eq!(serde_json::from_slice::<Value>(&response).unwrap()["error"]["code"], "invalid_request");
}
