//! Results that come in keep the rules of those that leave (promises 2 and 6).

use super::*;
use crate::protocol::{MAX_UNSIGNED, Resolution, RunStatus};
use crate::service::Answer;

fn minimal_view() -> Value {
    json!({"runId": "run-1", "revision": 1, "status": "running", "context": {}})
}

fn approval() -> Value {
    json!({"approvalId": "approval-1", "toolCallId": "call-1", "toolName": "tool", "resolution": "pending"})
}

fn event(sequence: u64) -> Value {
    json!({"runId": "run-1", "sequence": sequence, "type": "note", "status": "running"})
}

fn page(events: Vec<Value>, next_sequence: u64, has_more: bool) -> Value {
    success("list_events", json!({"events": events, "nextSequence": next_sequence, "hasMore": has_more}))
}

#[test]
fn a_minimal_view_has_its_defaults_and_the_views_run_in_its_context() {
    let Answer::Run(run) = result(&get_run(), &success("get_run", minimal_view())) else { panic!("another result") };
    assert_eq!((&*run.run_id, run.revision, run.status), ("run-1", 1, RunStatus::Running));
    assert_eq!((&*run.context.run_id, &*run.context.trace_id, run.context.deadline_unix_ms), ("run-1", "", None));
    assert_eq!((run.created_at_unix_ms, run.updated_at_unix_ms, run.completed_at_unix_ms), (0, 0, None));
    assert_eq!((run.result.as_str(), &*run.error, run.metadata.len(), run.approval), ("null", "", 0, None));
    let with_approval = with(minimal_view(), "/approval", approval());
    let Answer::Run(run) = result(&get_run(), &success("get_run", with_approval)) else { panic!("another result") };
    let approval = run.approval.unwrap();
    assert_eq!((approval.resolution, &*approval.reason, approval.metadata.len()), (Resolution::Pending, "", 0));
    assert_eq!((approval.created_at_unix_ms, approval.resolved_at_unix_ms), (0, None));
}

#[test]
fn a_view_keeps_its_rules() {
    let view = success("get_run", with(with(minimal_view(), "/approval", approval()), "/metadata", json!({"a": "b"})));
    for name in ["runId", "revision", "status", "context"] {
        assert_refused(&get_run(), &without(view.clone(), &format!("/body/{name}")), &format!("body.{name}"));
    }
    for name in ["approvalId", "toolCallId", "toolName", "resolution"] {
        assert_refused(&get_run(), &without(view.clone(), &format!("/body/approval/{name}")), &format!("body.approval.{name}"));
    }
    for (pointer, bad) in [
        ("/body/runId", json!("run-2")),
        ("/body/runId", json!("")),
        ("/body/revision", json!(0)),
        ("/body/revision", json!(MAX_UNSIGNED + 1)),
        ("/body/revision", json!(1.5)),
        ("/body/status", json!("Running")),
        ("/body/context/runId", json!("run-2")),
        ("/body/context/deadlineUnixMs", json!(8_640_000_000_000_001i64)),
        ("/body/createdAtUnixMs", json!(-8_640_000_000_000_001i64)),
        ("/body/approval/toolName", json!("")),
        ("/body/approval/resolvedAtUnixMs", json!(1)),
        ("/body/metadata/a", json!(1)),
    ] {
        assert_refused(&get_run(), &with(view.clone(), pointer, bad), &pointer[1..].replace('/', "."));
    }
    let resolved = with(view.clone(), "/body/approval/resolution", json!("denied"));
    assert_refused(&get_run(), &resolved, "body.approval.resolvedAtUnixMs");
    result(&get_run(), &with(resolved, "/body/approval/resolvedAtUnixMs", json!(0)));
    result(&get_run(), &with(view.clone(), "/body/context/runId", json!("run-1")));
    let nested = |levels: usize| {
        view.to_string().replacen("{\"a\"", &format!("{{\"x\":\"\"}},\"result\":{},\"m\":{{\"a\"", nested(levels)), 1)
    };
    assert!(parse(&get_run(), &nested(100)).is_ok());
    assert_eq!(parse(&get_run(), &nested(101)).err().as_deref(), Some("body.result"));
}

fn nested(levels: usize) -> String {
    "[".repeat(levels) + &"]".repeat(levels)
}

#[test]
fn sensitive_metadata_of_results_is_dropped() {
    let secrets = json!({"kept": "k", "Session-Cookie": "x"});
    let view = with(with(minimal_view(), "/metadata", secrets.clone()), "/context/metadata", secrets.clone());
    let view = with(view, "/approval", with(approval(), "/metadata", secrets.clone()));
    let Answer::Run(run) = result(&get_run(), &success("get_run", view)) else { panic!("another result") };
    for metadata in [&run.metadata, &run.context.metadata, &run.approval.as_ref().unwrap().metadata] {
        assert!(metadata.iter().eq([("kept", "k")]));
    }
    let events = vec![with(event(6), "/metadata", secrets)];
    let Answer::Page(page) = result(&list_events(), &page(events, 6, false)) else { panic!("another result") };
    assert!(page.events[0].metadata.iter().eq([("kept", "k")]));
}

#[test]
fn a_page_answers_what_was_asked() {
    let Answer::Page(found) = result(&list_events(), &page(vec![event(6), event(9)], 9, true)) else { panic!("another result") };
    assert_eq!((found.events.len(), found.next_sequence, found.has_more), (2, 9, true));
    assert_eq!((found.events[0].data.as_str(), &*found.events[0].step_id, found.events[0].timestamp_unix_ms), ("null", "", 0));
    result(&list_events(), &page(vec![], 5, false));
    result(&list_events(), &page(vec![event(6), event(7), event(8)], 8, true));
    for (bad, path) in [
        (page(vec![event(5)], 5, false), "body.events.0.sequence"),
        (page(vec![event(7), event(6)], 6, false), "body.events.1.sequence"),
        (page(vec![event(6), event(7), event(8), event(9)], 9, false), "body.events.3"),
        (page(vec![event(6)], 7, false), "body.nextSequence"),
        (page(vec![], 6, false), "body.nextSequence"),
        (page(vec![], 5, true), "body.hasMore"),
        (page(vec![with(event(6), "/runId", json!("run-2"))], 6, false), "body.events.0.runId"),
        (page(vec![with(event(6), "/type", json!(""))], 6, false), "body.events.0.type"),
        (page(vec![with(event(6), "/status", json!("x"))], 6, false), "body.events.0.status"),
        (without(page(vec![], 5, false), "/body/events"), "body.events"),
    ] {
        assert_refused(&list_events(), &bad, path);
    }
    for name in ["runId", "sequence", "type", "status"] {
        let bad = page(vec![without(event(6), &format!("/{name}"))], 6, false);
        assert_refused(&list_events(), &bad, &format!("body.events.0.{name}"));
    }
    // Absent, the next sequence is 0, which is the cursor of nobody here.
    assert_refused(&list_events(), &without(page(vec![event(6)], 6, false), "/body/nextSequence"), "body.nextSequence");
}

#[test]
fn a_page_of_which_nothing_is_known_is_of_one_run_and_of_at_most_1000_events() {
    let any =
        |message: Value| parse_any(message.to_string().as_bytes()).map(drop).map_err(|bad| bad.violation().path().to_owned());
    let of = |run: &str, sequence| with(event(sequence), "/runId", json!(run));
    assert_eq!(any(page(vec![of("a", 1), of("a", 2)], 2, false)), Ok(()));
    assert_eq!(any(page(vec![of("a", 1), of("b", 2)], 2, false)), Err("body.events.1.runId".into()));
    assert_eq!(any(page(vec![of("", 1)], 1, false)), Err("body.events.0.runId".into()));
    assert_eq!(any(page(vec![of("a", 0)], 0, false)), Err("body.events.0.sequence".into()));
    assert_eq!(any(page(vec![of("a", 2), of("a", 2)], 2, false)), Err("body.events.1.sequence".into()));
    assert_eq!(any(page(vec![of("a", 2)], 3, false)), Err("body.nextSequence".into()));
    // Of an empty page the cursor is not known; only its range is.
    assert_eq!(any(page(vec![], 7, false)), Ok(()));
    assert_eq!(any(page(vec![], MAX_UNSIGNED, false)), Ok(()));
    assert_eq!(any(page(vec![], MAX_UNSIGNED + 1, false)), Err("body.nextSequence".into()));
    assert_eq!(any(page(vec![], 7, true)), Err("body.hasMore".into()));
    assert_eq!(any(page((1..=1000).map(event).collect(), 1000, true)), Ok(()));
    assert_eq!(any(page((1..=1001).map(event).collect(), 1001, true)), Err("body.events".into()));
}

#[test]
fn a_result_of_another_shape_is_refused() {
    assert_refused(&get_run(), &success("get_run", submission()), "body.context");
    assert_refused(&list_events(), &success("list_events", submission()), "body.events");
    assert_refused(&cancel_run(), &success("cancel_run", json!({"events": []})), "body.runId");
    assert!(matches!(
        result(&cancel_run(), &success("cancel_run", with(minimal_view(), "/extra", json!(1)))),
        Answer::Submission(_)
    ));
}
