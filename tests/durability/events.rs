//! Events: numbered from 1 without a gap, read by pages, compacted from the front.

use agenthost::protocol::{ErrorCode, RunStatus};
use agenthost::runs::{Claim, MAX_EVENT_DATA_BYTES, NewEvent, Reason, Runs};

use crate::support::{SOON, Setup, claim, client, code, detail, json, new_key, reason};

on_every_store!(
    pages_follow_each_other_without_a_gap,
    a_cursor_ahead_of_the_head_is_a_conflict_that_says_where_the_head_is,
    a_page_ends_at_4_mebibytes_after_at_least_one_event,
    appending_with_an_equal_key_stores_nothing_twice,
    a_key_outlives_the_compaction_of_its_events,
    compaction_keeps_the_last_event_and_expires_cursors,
    events_that_are_not_allowed_are_refused,
    strings_are_kept_as_they_came,
);

fn started(runs: &Runs, run_id: &str) -> Claim {
    client(runs).create(&new_key(), run_id).unwrap();
    claim(runs).unwrap().claim
}

fn own(number: usize) -> NewEvent {
    NewEvent::new("progress", json(&number.to_string()))
}

fn pages_follow_each_other_without_a_gap(setup: &Setup) {
    let runs = setup.open();
    let claim = started(&runs, "run");
    for batch in 0..5 {
        let events: Vec<_> = (0..7).map(|number| own(batch * 7 + number)).collect();
        let appended = runs.append_events(&claim, &events, None).wait().unwrap();
        assert_eq!((appended.first_sequence, appended.last_sequence), (3 + batch as u64 * 7, 9 + batch as u64 * 7));
    }
    let (mut after, mut seen) = (0, Vec::new());
    loop {
        let page = client(&runs).events("run", after, 4).unwrap();
        seen.extend(page.events.iter().map(|event| event.sequence));
        after = page.next_sequence;
        if !page.has_more {
            break;
        }
        assert_eq!(page.events.len(), 4);
    }
    assert_eq!(seen, (1..=37).collect::<Vec<_>>());
    let last = &client(&runs).events("run", 36, 1).unwrap().events[0];
    assert_eq!((&*last.event_type, last.data.as_str(), last.status), ("progress", "34", RunStatus::Running));
    // An append changes no revision: an operator can cancel a run that is streaming.
    assert_eq!(client(&runs).get("run").unwrap().revision, 2);
}

fn a_cursor_ahead_of_the_head_is_a_conflict_that_says_where_the_head_is(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create("k", "run").unwrap();
    let at_the_head = client(&runs).events("run", 1, 10).unwrap();
    assert_eq!((at_the_head.events.len(), at_the_head.next_sequence, at_the_head.has_more), (0, 1, false));
    let ahead = |runs: &Runs, after, head: u64| {
        let listed = client(runs).events("run", after, 10);
        assert_eq!(detail(&listed, "headSequence"), head);
        assert_eq!(reason(listed), Reason::CursorAhead);
        let waited = runs.wait_events(None, "run", after, 10, SOON).wait();
        assert_eq!(detail(&waited, "headSequence"), head);
        assert_eq!(reason(waited), Reason::CursorAhead);
    };
    for after in [2, 3, (1 << 53) - 1] {
        ahead(&runs, after, 1);
    }
    // Whoever read the run that was there before must not wait for the events that the new one has already.
    client(&runs).cancel("c", "run", 1).unwrap();
    let followed = runs.wait_events(None, "run", 0, 10, SOON).wait().unwrap();
    assert_eq!((followed.page.next_sequence, followed.is_drained()), (2, true));
    setup.pass(1);
    assert_eq!(runs.purge(setup.now()).wait(), Ok(1));
    client(&runs).create("again", "run").unwrap();
    ahead(&runs, followed.page.next_sequence, 1);
}

fn a_page_ends_at_4_mebibytes_after_at_least_one_event(setup: &Setup) {
    let runs = setup.open();
    let claim = started(&runs, "run");
    let large = json(&format!("\"{}\"", "x".repeat(MAX_EVENT_DATA_BYTES - 2)));
    for _ in 0..5 {
        runs.append_events(&claim, &[NewEvent::new("large", large.clone())], None).wait().unwrap();
    }
    let page = client(&runs).events("run", 2, 1000).unwrap();
    assert!((3..=4).contains(&page.events.len()) && page.has_more, "{}", page.events.len());
    let rest = client(&runs).events("run", page.next_sequence, 1000).unwrap();
    assert_eq!(page.events.len() + rest.events.len(), 5);
    let too_large = json(&format!("\"{}\"", "x".repeat(MAX_EVENT_DATA_BYTES - 1)));
    let refused = runs.append_events(&claim, &[own(1), NewEvent::new("large", too_large)], None).wait();
    assert_eq!(detail(&refused, "path"), "events.1.data");
}

fn appending_with_an_equal_key_stores_nothing_twice(setup: &Setup) {
    let mut runs = setup.open();
    let claim = started(&runs, "run");
    let append = |runs: &Runs, count| runs.append_events(&claim, &[own(count), own(2)], Some("k")).wait();
    let first = append(&runs, 1).unwrap();
    runs.append_events(&claim, &[own(3)], Some("other")).wait().unwrap();
    runs = setup.restart(runs);
    let again = append(&runs, 1).unwrap();
    assert_eq!((first.first_sequence, first.last_sequence), (again.first_sequence, again.last_sequence));
    assert_eq!(client(&runs).story("run").len(), 5);
    assert_eq!(reason(append(&runs, 9)), Reason::IdempotencyMismatch);
    // Another run's key is another key.
    let other = started(&runs, "other");
    assert_eq!(runs.append_events(&other, &[own(9)], Some("k")).wait().unwrap().first_sequence, 3);
}

fn a_key_outlives_the_compaction_of_its_events(setup: &Setup) {
    let runs = setup.open();
    let claim = started(&runs, "run");
    let first = runs.append_events(&claim, &[own(1)], Some("k")).wait().unwrap();
    runs.append_events(&claim, &[own(2)], None).wait().unwrap();
    runs.compact("run", 3).wait().unwrap();
    assert_eq!(runs.append_events(&claim, &[own(1)], Some("k")).wait().unwrap().first_sequence, first.first_sequence);
    assert_eq!(client(&runs).events("run", 3, 10).unwrap().events.len(), 1);
}

fn compaction_keeps_the_last_event_and_expires_cursors(setup: &Setup) {
    let mut runs = setup.open();
    let claim = started(&runs, "run");
    for _ in 0..3 {
        let events: Vec<_> = (0..1000).map(own).collect();
        runs.append_events(&claim, &events, None).wait().unwrap();
    }
    assert_eq!(runs.compact("run", 2500).wait(), Ok(2501));
    assert_eq!(runs.compact("run", 10).wait(), Ok(2501), "what is gone is gone");
    runs = setup.restart(runs);
    let expired = client(&runs).events("run", 2499, 10);
    assert_eq!((detail(&expired, "firstSequence"), detail(&expired, "headSequence")), (2501.into(), 3002.into()));
    assert_eq!(reason(expired), Reason::CursorExpired);
    assert_eq!(client(&runs).events("run", 2500, 1).unwrap().events[0].sequence, 2501);
    assert_eq!(runs.compact("run", 1_000_000).wait(), Ok(3002));
    let page = client(&runs).events("run", 3001, 10).unwrap();
    assert_eq!((page.events.len(), page.events[0].sequence), (1, 3002));
    assert_eq!(runs.append_events(&claim, &[own(1)], None).wait().unwrap().first_sequence, 3003);
    assert_eq!(code(runs.compact("nothing", 1).wait()), ErrorCode::NotFound);
}

fn events_that_are_not_allowed_are_refused(setup: &Setup) {
    let runs = setup.open();
    let claim = started(&runs, "run");
    let refused = |events: &[NewEvent], key| {
        let refused = runs.append_events(&claim, events, key).wait();
        assert_eq!(code(refused.clone()), ErrorCode::InvalidRequest);
        detail(&refused, "path")
    };
    let typed = |event_type: &str| NewEvent::new(event_type, json("1"));
    assert_eq!(refused(&[], None), "events");
    assert_eq!(refused(&vec![own(1); 1001], None), "events");
    assert_eq!(refused(&[own(1), typed("")], None), "events.1.type");
    assert_eq!(refused(&[typed(&"t".repeat(256))], None), "events.0.type");
    assert_eq!(refused(&[typed("a\nb")], None), "events.0.type");
    for library in agenthost::runs::LIBRARY_EVENTS {
        assert_eq!(refused(&[typed(library)], None), "events.0.type");
    }
    assert_eq!(refused(&[NewEvent { step_id: "a\0".into(), ..own(1) }], None), "events.0.stepId");
    let secret = NewEvent { metadata: [("auth_token", "hidden")].into_iter().collect(), ..own(1) };
    assert_eq!(refused(&[secret], None), "events.0.metadata.auth_token");
    assert_eq!(refused(&[own(1)], Some("")), "key");
    assert_eq!(refused(&[own(1)], Some(&"k".repeat(256))), "key");
    assert_eq!(client(&runs).story("run").len(), 2, "nothing of it was stored");
}

fn strings_are_kept_as_they_came(setup: &Setup) {
    let mut runs = setup.open();
    let claim = started(&runs, "run");
    let data = json(r#" {"a":"\u0000","big":123456789012345678901234567890,"a":[1.50,-0]} "#);
    let event = NewEvent {
        step_id: "é/😀".into(),
        tool_call_id: "c".repeat(255),
        metadata: [("nul", "\0"), ("é", "e\u{301}")].into_iter().collect(),
        ..NewEvent::new("x.y/z", data.clone())
    };
    runs.append_events(&claim, std::slice::from_ref(&event), None).wait().unwrap();
    runs = setup.restart(runs);
    let read = client(&runs).events("run", 2, 1).unwrap().events.remove(0);
    assert_eq!((read.data, read.metadata, &*read.step_id), (data, event.metadata, "é/😀"));
    assert_eq!((&*read.tool_call_id, &*read.event_type), (&*event.tool_call_id, "x.y/z"));
}
