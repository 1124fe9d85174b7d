//! Calls that are opened and completed by the caller's own code.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agenthost::dispatch::UnavailableReason;
use agenthost::host::{AbandonedHook, AnswerError, CloseError, Host, OpenCall, Opened};
use agenthost::protocol::Operation;

use crate::stage::{CREATE, Stage, outcome, violation, well};

fn open(host: &Host) -> OpenCall {
    match host.open(CREATE, None).unwrap() {
        Opened::Call(_, _, call) => call,
        Opened::Answered(response) => panic!("{}", outcome(&response)),
    }
}

fn answered(host: &Host, message: &[u8]) -> String {
    match host.open(message, None).unwrap() {
        Opened::Answered(response) => outcome(&response),
        Opened::Call(..) => panic!("a call"),
    }
}

#[test]
fn a_call_is_completed_with_what_the_service_says() {
    let stage = Stage::default();
    let host = Host::without_service(stage.options());
    assert_eq!(outcome(&open(&host).complete(Ok(well()))), "ok");
    assert_eq!(outcome(&open(&host).complete_answer(&well())), "ok");
    assert_eq!(outcome(&open(&host).complete_json(r#"{"runId":"run-1","revision":1,"status":"created"}"#)), "ok");
    assert_eq!(outcome(&open(&host).complete_json("{}")), "internal");
    assert_eq!(outcome(&open(&host).complete_page([], 0, false, 0)), "internal");
    assert_eq!(outcome(&open(&host).complete_broken(violation())), "internal");
    assert!(stage.log().last().unwrap().contains("expected JSON text"));
    assert_eq!(outcome(&open(&host).fail("no disk", &[("path", "/x")])), "internal");
    assert!(stage.log().last().unwrap().contains("no disk"));
    assert_eq!(outcome(&open(&host).give_up(UnavailableReason::Timeout)), "unavailable/timeout");
    assert_eq!(outcome(&open(&host).give_up(UnavailableReason::Cancelled)), "unavailable/cancelled");
    drop(open(&host));
    assert_eq!(open(&host).operation(), Operation::CreateRun);
    assert_eq!(answered(&host, b"{}"), "invalid_request");
    assert_eq!(host.close(Some(Duration::ZERO)), Ok(()));
    assert_eq!(answered(&host, CREATE), "unavailable/closed");
}

#[test]
fn closing_wakes_and_answers_what_is_open() {
    let host = Host::without_service(Stage::default().options());
    let woken = Arc::new(AtomicUsize::new(0));
    let (mut told, not_told) = (open(&host), open(&host));
    let counter = woken.clone();
    let hook = move || {
        counter.fetch_add(1, Ordering::SeqCst);
    };
    told.on_abandoned(Arc::new(hook)).unwrap();
    assert!(!told.is_abandoned());
    assert_eq!(host.close(Some(Duration::ZERO)), Ok(()));
    assert_eq!(woken.load(Ordering::SeqCst), 1);
    assert!(told.is_abandoned() && not_told.is_abandoned());
    assert_eq!(outcome(&told.complete(Ok(well()))), "unavailable/closed");
    drop(not_told);
}

#[test]
fn a_call_that_is_dropped_is_in_flight_no_more_and_its_hook_is_gone() {
    let host = Host::without_service(Stage::default().options());
    let mut call = open(&host);
    let hook: AbandonedHook = Arc::new(|| panic!("nobody gave it up"));
    call.on_abandoned(hook.clone()).unwrap();
    assert_eq!(call.on_abandoned(hook.clone()), Err(AnswerError::AlreadyDone));
    assert_eq!(host.drain(Some(Duration::ZERO)), Ok(false));
    drop(call);
    assert_eq!(Arc::strong_count(&hook), 1);
    assert_eq!(host.drain(Some(Duration::ZERO)), Ok(true));
}

#[test]
fn a_call_has_one_hook_that_runs_when_it_is_given_up_and_not_when_it_is_completed() {
    let host = Host::without_service(Stage::default().options());
    let told = Arc::new(AtomicUsize::new(0));
    let counter = told.clone();
    let hook: AbandonedHook = Arc::new(move || {
        counter.fetch_add(1, Ordering::SeqCst);
    });
    let hooked = || {
        let mut call = open(&host);
        call.on_abandoned(hook.clone()).unwrap();
        call
    };
    assert_eq!(hooked().on_abandoned(hook.clone()), Err(AnswerError::AlreadyDone));
    assert_eq!(outcome(&hooked().complete(Ok(well()))), "ok");
    assert_eq!(told.load(Ordering::SeqCst), 0);
    assert_eq!(outcome(&hooked().give_up(UnavailableReason::Timeout)), "unavailable/timeout");
    assert_eq!(told.load(Ordering::SeqCst), 1);
    let mut late = open(&host);
    assert_eq!(host.close(Some(Duration::ZERO)), Ok(()));
    assert_eq!(late.on_abandoned(hook.clone()), Ok(()));
    assert_eq!(told.load(Ordering::SeqCst), 2);
    assert_eq!(outcome(&late.give_up(UnavailableReason::Timeout)), "unavailable/closed");
    assert_eq!(told.load(Ordering::SeqCst), 2);
    assert_eq!(Arc::strong_count(&hook), 1);
}

/// A call's place in its host is free once it is decided: here for the call that its hook opens.
#[test]
fn a_call_that_is_decided_takes_no_other_with_it() {
    let host = Host::without_service(Stage::default().options());
    let opened = Arc::new(Mutex::new(None));
    let (inside, again) = (opened.clone(), host.clone());
    let mut call = open(&host);
    call.on_abandoned(Arc::new(move || *inside.lock().unwrap() = Some(open(&again)))).unwrap();
    assert_eq!(outcome(&call.give_up(UnavailableReason::Timeout)), "unavailable/timeout");
    let next = opened.lock().unwrap().take().unwrap();
    assert_eq!(outcome(&next.complete(Ok(well()))), "ok");
}

#[test]
fn a_call_that_is_dropped_is_not_waited_for() {
    let host = Host::without_service(Stage::default().options());
    let (first, second) = (open(&host), open(&host));
    drop(first);
    assert_eq!(host.drain(Some(Duration::ZERO)), Ok(false));
    let draining = host.clone();
    let other = std::thread::spawn(move || draining.drain(None));
    drop(second);
    assert_eq!(other.join().unwrap(), Ok(true));
}

#[test]
fn closing_waits_for_who_serves_and_from_inside_would_deadlock() {
    let host = Host::without_service(Stage::default().options());
    let call = open(&host);
    let serving = call.enter_service().unwrap();
    assert_eq!(host.close(None), Err(CloseError::WouldDeadlock));
    let closing = host.clone();
    let other = std::thread::spawn(move || closing.close(Some(Duration::from_millis(10))));
    assert_eq!(other.join().unwrap(), Err(CloseError::TimedOut));
    drop(serving);
    assert_eq!(outcome(&call.complete(Ok(well()))), "unavailable/closed");
    assert_eq!(host.close(Some(Duration::ZERO)), Ok(()));
}

#[test]
fn the_service_of_a_call_that_is_given_up_is_not_entered() {
    let host = Host::without_service(Stage::default().options());
    let call = open(&host);
    assert_eq!(host.close(Some(Duration::ZERO)), Ok(()));
    assert!(call.enter_service().is_none());
}
