//! The limit of messages and responses, in bytes (promise 1).

use serde_json::{Value, json};

use super::*;
use crate::protocol::{ErrorCode, FreeJson, HostError, RunStatus};
use crate::service::{Answer, Event, EventPage, RunSubmission};

fn limited(max_message_bytes: usize) -> Dispatcher {
    Dispatcher { max_message_bytes, ..Dispatcher::default() }
}

#[test]
fn a_message_of_exactly_the_limit_is_read_and_one_more_byte_is_not() {
    let message = full(Operation::CreateRun).to_string();
    assert!(matches!(decode(&limited(message.len()), message.as_bytes()), Decoded::Call(_)));
    let Decoded::Refused(response) = decode(&limited(message.len() - 1), message.as_bytes()) else { panic!("accepted") };
    let response: Value = serde_json::from_slice(&response).unwrap();
    assert_eq!(response["error"]["code"], "invalid_request");
    assert_eq!(response["error"]["details"], json!({"path": ""}));
    let text = response["error"]["message"].as_str().unwrap();
    assert!(text.contains(&format!("at most {} bytes, found {}", message.len() - 1, message.len())), "{text}");
}

#[test]
fn the_default_limit_is_16_mib() {
    let dispatcher = Dispatcher::default();
    assert_eq!(dispatcher.max_message_bytes, 16 * 1024 * 1024);
    let head = with(full(Operation::CreateRun), "/body/input", json!("HERE")).to_string();
    let padding = dispatcher.max_message_bytes - head.len() + "HERE".len();
    let message = head.replacen("HERE", &"x".repeat(padding), 1);
    assert!(accepted(message.as_bytes()));
    assert_eq!(refused(head.replacen("HERE", &"x".repeat(padding + 1), 1).as_bytes()), "");
}

fn event(sequence: u64, data: FreeJson<'static>) -> Event<'static> {
    Event {
        run_id: "run-1".into(),
        sequence,
        event_type: "note".into(),
        status: RunStatus::Running,
        step_id: "".into(),
        tool_call_id: "".into(),
        timestamp_unix_ms: 0,
        data,
        metadata: crate::protocol::Metadata::new(),
    }
}

/// Answers of every kind whose response is large.
fn answers() -> Vec<(Operation, Result<Answer<'static>, HostError<'static>>)> {
    let data = || FreeJson::new(format!("\"{}\"", "d".repeat(300))).unwrap();
    let page = EventPage { events: vec![event(6, data()), event(7, data())], next_sequence: 7, has_more: false };
    let submission = RunSubmission { run_id: "run-1".into(), revision: 1, status: RunStatus::Created };
    vec![
        (Operation::CancelRun, Ok(Answer::Submission(submission))),
        (Operation::ListEvents, Ok(Answer::Page(page))),
        (Operation::GetRun, Err(HostError::new(ErrorCode::NotFound, "m".repeat(700)))),
        (Operation::GetRun, Err(HostError::new(ErrorCode::Conflict, "").with_details(data()))),
    ]
}

#[test]
fn a_response_of_exactly_the_limit_leaves_and_one_more_byte_is_internal() {
    for (operation, answer) in answers() {
        let whole = expected(operation).complete(&Dispatcher::default(), answer.clone());
        assert_eq!(whole.broken, None);
        let exact = expected(operation).complete(&limited(whole.response.len()), answer.clone());
        assert_eq!((exact.broken, &exact.response), (None, &whole.response));
        let over = expected(operation).complete(&limited(whole.response.len() - 1), answer);
        let broken = over.broken.expect("the broken rule");
        assert_eq!(broken.path(), "");
        assert!(broken.expected().contains(&format!("at most {} bytes", whole.response.len() - 1)), "{broken}");
        let response: Value = serde_json::from_slice(&over.response).unwrap();
        assert_eq!((&response["error"]["code"], &response["requestId"]), (&json!("internal"), &json!("request-1")));
    }
}

#[test]
fn a_page_that_grows_over_the_limit_is_broken_at_the_event_that_does_it() {
    let dispatcher = limited(900);
    let mut builder = PageBuilder::new(expected(Operation::ListEvents), 0);
    let data = || FreeJson::new(format!("\"{}\"", "d".repeat(300))).unwrap();
    builder.event(&dispatcher, &event(6, data())).expect("it fits");
    let violation = builder.event(&dispatcher, &event(7, data())).expect_err("it is too much");
    let completed = builder.broken(violation);
    assert!(completed.broken.expect("the broken rule").expected().contains("at most 900 bytes"));
}

#[test]
fn a_refusal_is_written_even_where_the_limit_is_smaller_than_it() {
    let dispatcher = limited(10);
    let Decoded::Refused(response) = decode(&dispatcher, &[b'x'; 11]) else { panic!("accepted") };
    assert_eq!(serde_json::from_slice::<Value>(&response).unwrap()["error"]["code"], "invalid_request");
    // The largest refusal: every name at its longest, every character escaped.
    let request = with(
        with(full(Operation::CreateRun), "/requestId", json!("\u{1}".repeat(1024))),
        "/body/context/metadata",
        json!({format!("{}token", "\u{1}".repeat(4000)): "x"}),
    );
    let text = request.to_string();
    let Decoded::Refused(response) = decode(&Dispatcher::default(), text.as_bytes()) else { panic!("accepted") };
    assert!(response.len() <= 16 << 10, "{}", response.len());
}
