//! Answered once, delivered after the slot.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agenthost::dispatch::UnavailableReason;
use agenthost::host::{AnswerError, DispatchOptions, HostMisuse, HostOptions, Reply};
use agenthost::protocol::{ErrorCode, HostError};
use agenthost::service::{Answer, EventPage};
use serde_json::Value;

use crate::stage::{CREATE, LIST, Stage, arrived, both_ways, dispatch, dispatch_message, event, outcome, violation, well};

#[test]
fn the_first_answer_counts() {
    let stage = Stage::default();
    let host = stage.host(|reply| {
        assert_eq!(reply.answer(&well()), Ok(()));
        assert_eq!(reply.answer(&well()), Err(AnswerError::AlreadyDone));
        assert_eq!(reply.error(&HostError::new(ErrorCode::Conflict, "late")), Err(AnswerError::AlreadyDone));
        assert!(reply.defer().is_err());
    });
    assert_eq!(both_ways(&host), ["ok", "ok"]);
    assert!(stage.log().is_empty());
}

#[test]
fn an_answer_of_another_operation_leaves_the_reply_open() {
    let stage = Stage::default();
    let host = stage.host(|reply| {
        let page = Answer::Page(EventPage { events: vec![], next_sequence: 0, has_more: false });
        assert_eq!(reply.answer(&page), Err(AnswerError::WrongOperation));
        assert_eq!(reply.page(0, false), Err(AnswerError::WrongOperation));
        assert_eq!(reply.event(&event(1)), Err(AnswerError::WrongOperation));
        assert_eq!(reply.answer(&well()), Ok(()));
    });
    assert_eq!(both_ways(&host), ["ok", "ok"]);
    assert!(stage.log().is_empty(), "{:?}", stage.log());
}

#[test]
fn a_slot_that_returns_without_an_answer_is_internal_and_logged() {
    let stage = Stage::default();
    let host = stage.host(|_| {});
    assert_eq!(both_ways(&host), ["internal", "internal"]);
    assert_eq!(stage.log().len(), 2);
    let (_, pending) = dispatch(&host);
    assert_eq!(pending.cancel(), Ok(false));
    let host = stage.host(|reply| drop(reply.defer().unwrap()));
    assert_eq!(both_ways(&host), ["internal", "internal"]);
}

#[test]
fn a_panic_is_internal_its_message_goes_to_the_log_and_the_host_goes_on() {
    let stage = Stage::default();
    let first = AtomicBool::new(true);
    let host = stage.host(move |reply| {
        assert!(!first.swap(false, Ordering::SeqCst), "the cause of it all");
        reply.answer(&well()).unwrap();
    });
    let response = host.dispatch_json(CREATE);
    assert_eq!(outcome(&response), "internal");
    assert!(!String::from_utf8_lossy(&response).contains("cause"));
    assert!(stage.log()[0].contains("the cause of it all"));
    assert_eq!(outcome(&host.dispatch_json(CREATE)), "ok");
}

#[test]
fn a_broken_answer_is_internal_and_the_log_names_the_member() {
    let stage = Stage::default();
    let host = stage.host(|reply| {
        assert!(matches!(reply.json(r#"{"runId":"run-1","revision":0,"status":"created"}"#), Err(AnswerError::BadAnswer(_))));
        assert_eq!(reply.answer(&well()), Err(AnswerError::AlreadyDone));
    });
    assert_eq!(outcome(&host.dispatch_json(CREATE)), "internal");
    assert!(stage.log()[0].contains("(\"path\", \"revision\")"), "{:?}", stage.log());
}

#[test]
fn json_and_what_no_type_can_hold_are_answers_too() {
    let stage = Stage::default();
    let host = stage.host(|reply| {
        assert_eq!(reply.json(r#"{"runId":"run-1","revision":1,"status":"created"}"#), Ok(()));
        assert_eq!(reply.broken(violation()), Err(AnswerError::AlreadyDone));
    });
    assert_eq!(outcome(&host.dispatch_json(CREATE)), "ok");
    assert!(stage.log().is_empty());
    let broken = stage.host(|reply| {
        assert_eq!(reply.broken(violation()), Err(AnswerError::BadAnswer(violation())));
        assert!(!reply.is_abandoned());
    });
    assert_eq!(outcome(&broken.dispatch_json(CREATE)), "internal");
    assert!(stage.log()[0].contains("expected JSON text"), "{:?}", stage.log());
    assert_eq!(stage.log().len(), 1);
}

#[test]
fn a_log_hook_that_panics_changes_nothing() {
    let stage = Stage::default();
    let options = HostOptions { log: Some(Arc::new(|_, _, _| panic!("no disk"))), ..HostOptions::default() };
    let host = agenthost::host::Host::without_service(options);
    assert_eq!(outcome(&host.dispatch_json(CREATE)), "internal");
    assert!(stage.log().is_empty());
}

#[test]
fn a_deferred_reply_is_answered_from_another_thread_while_dispatch_waits() {
    let stage = Stage::default();
    let host = stage.host(|reply| {
        let mut deferred = reply.defer().unwrap();
        assert_eq!(reply.answer(&well()), Err(AnswerError::AlreadyDone));
        assert!(reply.defer().is_err() && deferred.defer().is_err());
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            deferred.answer(&well()).unwrap();
        });
    });
    for timeout in [None, Some(Duration::from_secs(60))] {
        let options = DispatchOptions { timeout, ..DispatchOptions::default() };
        assert_eq!(outcome(&host.dispatch(CREATE, options).unwrap()), "ok");
    }
    assert!(stage.log().is_empty(), "{:?}", stage.log());
}

#[test]
fn a_page_is_answered_event_by_event_in_the_slot_and_later() {
    fn answer(reply: &mut Reply<'_>) {
        assert_eq!(reply.event(&event(1)), Ok(()));
        assert_eq!(reply.event(&event(2)), Ok(()));
        assert_eq!(reply.page(2, true), Ok(()));
        assert_eq!(reply.event(&event(3)), Err(AnswerError::AlreadyDone));
        assert_eq!(reply.page(2, true), Err(AnswerError::AlreadyDone));
    }
    fn answer_wrong(reply: &mut Reply<'_>) {
        assert_eq!(reply.event(&event(2)), Ok(()));
        assert!(matches!(reply.event(&event(1)), Err(AnswerError::BadAnswer(_))));
        assert_eq!(reply.page(2, true), Err(AnswerError::AlreadyDone));
    }
    for later in [false, true] {
        for (answer, expected) in [(answer as fn(&mut Reply<'_>), "ok"), (answer_wrong, "internal")] {
            let stage = Stage::default();
            let host = stage.host(move |reply| if later { answer(&mut reply.defer().unwrap()) } else { answer(reply) });
            let (later_response, _) = dispatch_message(&host, LIST);
            for response in [host.dispatch_json(LIST), later_response.try_recv().unwrap()] {
                assert_eq!(outcome(&response), expected);
                let response: Value = serde_json::from_slice(&response).unwrap();
                let sequences = (&response["body"]["events"][0]["sequence"], &response["body"]["events"][1]["sequence"]);
                assert_eq!(sequences == (&1.into(), &2.into()), expected == "ok");
            }
            assert_eq!(stage.log().len(), if expected == "ok" { 0 } else { 2 });
        }
    }
}

#[test]
fn done_waits_for_the_slot_when_another_thread_answers() {
    let stage = Stage::default();
    let in_slot = Arc::new(AtomicBool::new(false));
    let seen = in_slot.clone();
    let host = stage.host(move |reply| {
        in_slot.store(true, Ordering::SeqCst);
        let mut deferred = reply.defer().unwrap();
        std::thread::spawn(move || deferred.answer(&well()).unwrap()).join().unwrap();
        in_slot.store(false, Ordering::SeqCst);
    });
    let (sender, receiver) = std::sync::mpsc::channel();
    host.dispatch_async(CREATE, None, |_| {}, move |_| sender.send(seen.load(Ordering::SeqCst)).unwrap()).unwrap();
    assert_eq!(receiver.try_recv(), Ok(false));
}

#[test]
fn a_reply_dropped_in_its_slot_goes_back_to_it_and_after_it_is_unavailable() {
    let stage = Stage::default();
    let host = stage.host(|reply| {
        drop(reply.defer().unwrap());
        drop(reply.defer().unwrap());
        reply.answer(&well()).unwrap();
    });
    assert_eq!(both_ways(&host), ["ok", "ok"]);
    assert!(stage.log().is_empty(), "{:?}", stage.log());
    let host = stage.deferring();
    let (response, pending) = dispatch(&host);
    drop(stage.take());
    assert_eq!(pending.cancel(), Ok(false));
    assert_eq!(arrived(&response), "unavailable/dropped");
}

#[test]
fn a_timeout_bounds_the_wait_after_the_slot_and_never_the_slot() {
    let stage = Stage::default();
    let host = stage.deferring();
    let options = || DispatchOptions { timeout: Some(Duration::from_millis(20)), ..DispatchOptions::default() };
    assert_eq!(outcome(&host.dispatch(CREATE, options()).unwrap()), "unavailable/timeout");
    let mut late = stage.take();
    assert!(late.is_abandoned());
    assert_eq!(late.answer(&well()), Err(AnswerError::AlreadyDone));
    let slow = stage.host(|reply| {
        std::thread::sleep(Duration::from_millis(60));
        reply.answer(&well()).unwrap();
    });
    assert_eq!(outcome(&slow.dispatch(CREATE, options()).unwrap()), "ok");
}

#[test]
fn cancel_decides_or_comes_too_late() {
    let stage = Stage::default();
    let host = stage.deferring();
    let (response, pending) = dispatch(&host);
    assert_eq!(pending.cancel(), Ok(true));
    assert_eq!(pending.cancel(), Ok(false));
    assert_eq!(arrived(&response), "unavailable/cancelled");
    assert_eq!(stage.take().answer(&well()), Err(AnswerError::AlreadyDone));
    let (response, pending) = dispatch(&host);
    stage.take().answer(&well()).unwrap();
    assert_eq!(pending.cancel(), Ok(false));
    assert_eq!(arrived(&response), "ok");
    let (response, pending) = dispatch(&host);
    assert_eq!(pending.give_up(UnavailableReason::Timeout), Ok(true));
    assert_eq!(arrived(&response), "unavailable/timeout");
}

#[test]
fn a_done_that_panics_is_logged_and_the_host_goes_on() {
    let stage = Stage::default();
    let host = stage.host(|reply| reply.answer(&well()).unwrap());
    host.dispatch_async(CREATE, None, |_| {}, |_| panic!("no socket")).unwrap();
    assert_eq!(stage.log().len(), 1);
    assert_eq!(outcome(&host.dispatch_json(CREATE)), "ok");
    assert_eq!(host.close(None), Ok(()));
}

#[test]
fn a_principal_that_nobody_can_have_is_misuse() {
    let host = Stage::default().host(|reply| reply.answer(&well()).unwrap());
    for (principal, misuse) in [("", HostMisuse::EmptyPrincipal), ("some\0body", HostMisuse::NulInPrincipal)] {
        let options = DispatchOptions { principal: Some(principal.into()), ..DispatchOptions::default() };
        assert_eq!(host.dispatch(CREATE, options), Err(misuse));
        let refused = host.dispatch_async(CREATE, Some(principal.into()), |_| panic!("not started"), |_| panic!("not done"));
        assert_eq!(refused, Err(misuse));
        assert_eq!(host.open(CREATE, Some(principal.into())).err(), Some(misuse));
    }
}
