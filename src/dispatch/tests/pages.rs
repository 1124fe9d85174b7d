//! The rules that join a page's events (promise 6).

use serde_json::{Value, json};

use super::answers::{broken, secrets};
use super::*;
use crate::protocol::{FreeJson, MAX_UNIX_MS, MAX_UNSIGNED, RunStatus};
use crate::service::{Answer, Event, EventPage};

pub(super) fn event(sequence: u64) -> Event<'static> {
    Event {
        run_id: "run-1".into(),
        sequence,
        event_type: "note".into(),
        status: RunStatus::Running,
        step_id: "".into(),
        tool_call_id: "".into(),
        timestamp_unix_ms: 3,
        data: FreeJson::new("{\"secret\":\"the service's own\"}").unwrap(),
        metadata: secrets(),
    }
}

/// A page that answers a request for at most 3 events after 5.
fn page(sequences: &[u64], next_sequence: u64, has_more: bool) -> EventPage<'static> {
    EventPage { events: sequences.iter().map(|sequence| event(*sequence)).collect(), next_sequence, has_more }
}

fn broken_page(page: EventPage<'static>) -> Option<String> {
    broken(Operation::ListEvents, Answer::Page(page))
}

fn broken_event(change: impl FnOnce(&mut Event<'static>)) -> Option<String> {
    let mut page = page(&[6, 8], 8, false);
    change(&mut page.events[1]);
    broken_page(page)
}

#[test]
fn sequences_strictly_rise_after_the_cursor() {
    assert_eq!(broken_page(page(&[6, 7, 100], 100, true)), None);
    assert_eq!(broken_page(page(&[6], 6, false)), None);
    for (sequences, path) in [
        (&[5][..], "events.0.sequence"),
        (&[1], "events.0.sequence"),
        (&[0], "events.0.sequence"),
        (&[6, 6], "events.1.sequence"),
        (&[7, 6], "events.1.sequence"),
        (&[6, 7, 7], "events.2.sequence"),
        (&[MAX_UNSIGNED + 1], "events.0.sequence"),
    ] {
        let next = *sequences.last().unwrap();
        assert_eq!(broken_page(page(sequences, next, false)).as_deref(), Some(path), "{sequences:?}");
    }
    assert_eq!(broken_page(page(&[MAX_UNSIGNED], MAX_UNSIGNED, false)), None);
}

#[test]
fn a_page_holds_at_most_as_many_events_as_were_asked_for() {
    assert_eq!(broken_page(page(&[6, 7, 8], 8, true)), None);
    assert_eq!(broken_page(page(&[6, 7, 8, 9], 9, true)).as_deref(), Some("events.3"));
}

#[test]
fn the_next_sequence_is_the_last_events_or_the_cursor_of_an_empty_page() {
    for wrong in [0, 5, 6, 8, MAX_UNSIGNED, MAX_UNSIGNED + 1, u64::MAX] {
        assert_eq!(broken_page(page(&[6, 7], wrong, false)).as_deref(), Some("nextSequence"), "{wrong}");
    }
    assert_eq!(broken_page(page(&[], 5, false)), None);
    for wrong in [0, 4, 6, u64::MAX] {
        assert_eq!(broken_page(page(&[], wrong, false)).as_deref(), Some("nextSequence"), "{wrong}");
    }
    assert_eq!(broken_page(page(&[], 5, true)).as_deref(), Some("hasMore"));
}

#[test]
fn an_event_keeps_its_rules() {
    assert_eq!(broken_event(|_| {}), None);
    for bad in ["", "run-2", "run-1\0"] {
        assert_eq!(broken_event(|event| event.run_id = bad.into()).as_deref(), Some("events.1.runId"));
    }
    assert_eq!(broken_event(|event| event.event_type = "".into()).as_deref(), Some("events.1.type"));
    for odd in ["\0".to_owned(), "x".repeat(5000)] {
        assert_eq!(broken_event(|event| event.event_type = odd.clone().into()), None);
        assert_eq!(broken_event(|event| event.tool_call_id = odd.clone().into()), None);
        assert_eq!(broken_event(|event| event.step_id = odd.into()), None);
    }
    for (time, allowed) in [(MAX_UNIX_MS, true), (-MAX_UNIX_MS, true), (MAX_UNIX_MS + 1, false), (i64::MIN, false)] {
        let found = broken_event(|event| event.timestamp_unix_ms = time);
        assert_eq!(found.as_deref(), (!allowed).then_some("events.1.timestampUnixMs"));
    }
}

#[test]
fn sensitive_names_are_dropped_from_events_and_data_is_not_touched() {
    let completed = expected(Operation::ListEvents).complete(&Dispatcher::default(), Ok(Answer::Page(page(&[6], 6, false))));
    let response: Value = serde_json::from_slice(&completed.response).unwrap();
    let body = json!({
        "events": [{
            "runId": "run-1", "sequence": 6, "type": "note", "status": "running", "stepId": "", "toolCallId": "", "timestampUnixMs": 3,
            "data": {"secret": "the service's own"}, "metadata": {"kept": "k"},
        }],
        "nextSequence": 6, "hasMore": false,
    });
    assert_eq!(response["body"], body);
}

#[test]
fn a_page_built_event_by_event_is_the_page_written_at_once() {
    let dispatcher = Dispatcher::default();
    for sequences in [&[][..], &[6], &[6, 7, 9]] {
        let next = sequences.last().copied().unwrap_or(5);
        let has_more = !sequences.is_empty();
        let at_once = expected(Operation::ListEvents).complete(&dispatcher, Ok(Answer::Page(page(sequences, next, has_more))));
        let mut builder = PageBuilder::new(expected(Operation::ListEvents), 0);
        for sequence in sequences {
            builder.event(&dispatcher, &event(*sequence)).expect("it fits");
        }
        let built = builder.finish(&dispatcher, next, has_more);
        assert_eq!((built.broken, built.response), (None, at_once.response));
    }
    let mut builder = PageBuilder::new(expected(Operation::ListEvents), 0);
    builder.event(&dispatcher, &event(6)).unwrap();
    builder.event(&dispatcher, &event(7)).unwrap();
    let refused = builder.event(&dispatcher, &event(7)).unwrap_err();
    assert_eq!(refused.path(), "events.2.sequence");
    assert_eq!(builder.finish(&dispatcher, 9, false).broken.unwrap().path(), "nextSequence");
}

#[test]
fn a_page_as_text_is_read_with_the_same_rules() {
    let whole = {
        let completed =
            expected(Operation::ListEvents).complete(&Dispatcher::default(), Ok(Answer::Page(page(&[6, 7], 7, false))));
        serde_json::from_slice::<Value>(&completed.response).unwrap()["body"].take()
    };
    let text = |change: &dyn Fn(&mut Value)| {
        let mut page = whole.clone();
        change(&mut page);
        let completed = expected(Operation::ListEvents).complete_text(&Dispatcher::default(), &page.to_string());
        completed.broken.map(|violation| violation.path().to_owned())
    };
    assert_eq!(text(&|_| {}), None);
    assert_eq!(text(&|page| drop(page.as_object_mut().unwrap().remove("hasMore"))), None);
    assert_eq!(text(&|page| drop(page.as_object_mut().unwrap().remove("nextSequence"))).as_deref(), Some("nextSequence"));
    assert_eq!(text(&|page| drop(page.as_object_mut().unwrap().remove("events"))).as_deref(), Some("events"));
    for name in ["events", "hasMore", "nextSequence"] {
        assert_eq!(text(&|page| page[name] = json!(null)).as_deref(), Some(name));
        assert_eq!(text(&|page| page[name] = json!("x")).as_deref(), Some(name));
    }
    let required = ["runId", "sequence", "type", "status"];
    for name in whole["events"][1].as_object().unwrap().keys() {
        let path = format!("events.1.{name}");
        let without = text(&|page| drop(page["events"][1].as_object_mut().unwrap().remove(name)));
        assert_eq!(without, required.contains(&&**name).then(|| path.clone()), "{name}");
        let nulled = text(&|page| page["events"][1][name] = json!(null));
        assert_eq!(nulled, (name != "data").then(|| path.clone()), "{name}");
        let of_another_type = text(&|page| page["events"][1][name] = json!([]));
        assert_eq!(of_another_type, (name != "data").then(|| path.clone()), "{name}");
    }
    for bad in [json!(1), json!(null), json!("x"), json!([])] {
        assert_eq!(text(&|page| page["events"][1] = bad.clone()).as_deref(), Some("events.1"));
    }
}
