//! Whatever code of the application's panics, and wherever: it is caught once and logged, the answer stays right, and the host goes on
//! and closes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agenthost::dispatch::UnavailableReason;
use agenthost::host::{AbandonedHook, AnswerError, DeferringService, Host, HostOptions, OpenCall, Opened, Reply};
use agenthost::service::{Call, Request};

use crate::stage::{CREATE, Stage, arrived, dispatch, outcome, well};

/// Panics when it is dropped.
struct PanicsWhenDropped(&'static str);

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic!("{}", self.0);
    }
}

/// A hook that does nothing, and panics when it is dropped.
fn hook_with_a_panicking_end() -> AbandonedHook {
    let end = PanicsWhenDropped("the hook's end");
    Arc::new(move || {
        let _ = &end;
    })
}

fn open(host: &Host) -> OpenCall {
    match host.open(CREATE, None).unwrap() {
        Opened::Call(_, _, call) => call,
        Opened::Answered(response) => panic!("{}", outcome(&response)),
    }
}

/// The one record that a panic left.
fn logged(stage: &Stage, what: &str, panic: &str) {
    let log = stage.log();
    assert_eq!(log.len(), 1, "{log:?}");
    assert!(log[0].contains(what) && log[0].contains(panic), "{log:?}");
}

fn closes(host: &Host) {
    assert_eq!(host.close(Some(Duration::ZERO)), Ok(()));
}

#[test]
fn started() {
    let stage = Stage::default();
    let host = stage.host(|reply| reply.answer(&well()).unwrap());
    for (message, expected) in [(CREATE, "ok"), (&b"{}"[..], "invalid_request")] {
        let (done, response) = std::sync::mpsc::channel();
        let done = move |response: Vec<u8>| done.send(outcome(&response)).unwrap();
        assert_eq!(host.dispatch_async(message, None, |_| panic!("started"), done), Ok(()));
        assert_eq!(response.try_recv().unwrap(), expected);
    }
    assert_eq!(stage.log().len(), 2);
    assert!(stage.log()[0].contains("has started panicked") && stage.log()[0].contains("started"));
    closes(&host);
}

#[test]
fn done_whenever_it_runs() {
    // For a refusal, after the slot, for a cancel, and for a closing host.
    let stage = Stage::default();
    let host = stage.host(|reply| reply.answer(&well()).unwrap());
    for message in [CREATE, &b"{}"[..]] {
        assert_eq!(host.dispatch_async(message, None, |_| {}, |_| panic!("no place for it")), Ok(()));
    }
    assert_eq!(stage.log().len(), 2);
    assert_eq!(host.drain(Some(Duration::ZERO)), Ok(true));
    assert_eq!(host.dispatch_async(CREATE, None, |_| {}, |_| panic!("no place for it")), Ok(()));
    assert_eq!(stage.log().len(), 3);
    assert!(stage.log().iter().all(|record| record.contains("callback for a response panicked") && record.contains("no place")));
    closes(&host);

    let stage = Stage::default();
    let host = stage.deferring();
    let mut pending = None;
    host.dispatch_async(CREATE, None, |started| pending = Some(started), |_| panic!("no place for it")).unwrap();
    assert_eq!(pending.unwrap().cancel(), Ok(true));
    logged(&stage, "callback for a response panicked", "no place for it");
    closes(&host);
}

#[test]
fn what_done_holds() {
    let stage = Stage::default();
    let host = stage.host(|reply| reply.answer(&well()).unwrap());
    let end = PanicsWhenDropped("what done holds");
    let done = move |_| {
        let _ = &end;
    };
    assert_eq!(host.dispatch_async(CREATE, None, |_| {}, done), Ok(()));
    logged(&stage, "callback for a response panicked", "what done holds");
    closes(&host);
}

#[test]
fn a_hook_that_runs() {
    let stage = Stage::default();
    let host = stage.deferring();
    let (response, pending) = dispatch(&host);
    let mut reply = stage.take();
    reply.on_abandoned(Arc::new(|| panic!("no lock"))).unwrap();
    assert_eq!(pending.cancel(), Ok(true));
    assert_eq!(arrived(&response), "unavailable/cancelled");
    logged(&stage, "hook of an abandoned call panicked", "no lock");
    drop(reply);
    closes(&host);

    let stage = Stage::default();
    let host = Host::without_service(stage.options());
    let mut call = open(&host);
    call.on_abandoned(Arc::new(|| panic!("no lock"))).unwrap();
    assert_eq!(outcome(&call.give_up(UnavailableReason::Timeout)), "unavailable/timeout");
    logged(&stage, "hook of an abandoned call panicked", "no lock");
    let mut call = open(&host);
    call.on_abandoned(Arc::new(|| panic!("no lock"))).unwrap();
    closes(&host);
    assert_eq!(stage.log().len(), 2);
}

#[test]
fn a_hook_that_is_dropped() {
    let stage = Stage::default();
    let host = stage.deferring();
    let (response, _pending) = dispatch(&host);
    let mut reply = stage.take();
    reply.on_abandoned(hook_with_a_panicking_end()).unwrap();
    drop(reply);
    assert_eq!(arrived(&response), "unavailable/dropped");
    logged(&stage, "hook of an abandoned call panicked while it was dropped", "the hook's end");
    closes(&host);

    for completed in [true, false] {
        let stage = Stage::default();
        let host = Host::without_service(stage.options());
        let mut call = open(&host);
        call.on_abandoned(hook_with_a_panicking_end()).unwrap();
        if completed {
            assert_eq!(outcome(&call.complete(Ok(well()))), "ok");
        } else {
            drop(call);
        }
        logged(&stage, "hook of an abandoned call panicked while it was dropped", "the hook's end");
        closes(&host);
    }
}

/// A service whose end panics, in one place or the other.
struct Service {
    in_destroy: bool,
    _end: Option<PanicsWhenDropped>,
}

impl DeferringService for Service {
    fn serve(&self, _: &Call<'_>, _: Request<'_>, reply: &mut Reply<'_>) {
        reply.answer(&well()).unwrap();
    }

    fn destroy(&self) {
        assert!(!self.in_destroy, "no way to end");
    }
}

#[test]
fn the_end_of_a_service() {
    let stage = Stage::default();
    let host = Host::deferring(Box::new(Service { in_destroy: true, _end: None }), stage.options());
    closes(&host);
    logged(&stage, "panicked while it was destroyed", "no way to end");

    // The log has ended when the service is dropped: it is only caught.
    let host = Host::deferring(
        Box::new(Service { in_destroy: false, _end: Some(PanicsWhenDropped("the service's end")) }),
        HostOptions::default(),
    );
    assert_eq!(outcome(&host.dispatch_json(CREATE)), "ok");
    closes(&host);
    drop(host);
}

#[test]
fn the_log_hook_and_its_end() {
    let records = Arc::new(AtomicUsize::new(0));
    let (inside, end) = (records.clone(), PanicsWhenDropped("the log's end"));
    let log = move |_, _: &str, _: &[(&str, &str)]| {
        let _ = &end;
        inside.fetch_add(1, Ordering::SeqCst);
        panic!("no disk");
    };
    let host = Host::without_service(HostOptions { log: Some(Arc::new(log)), ..HostOptions::default() });
    assert_eq!(outcome(&host.dispatch_json(CREATE)), "internal");
    assert_eq!(records.load(Ordering::SeqCst), 1);
    // It is not destroyed for ever: whoever closes it again gets an answer.
    closes(&host);
    closes(&host);
    assert_eq!(Arc::strong_count(&records), 1);
    drop(host);
}

#[test]
fn a_slot_that_has_not_answered_is_logged_once() {
    for deferring in [false, true] {
        let stage = Stage::default();
        let host = stage.host(move |reply| {
            let _back = deferring.then(|| reply.defer());
            panic!("no answer");
        });
        assert_eq!(outcome(&host.dispatch_json(CREATE)), "internal");
        logged(&stage, "service panicked", "no answer");
        closes(&host);
    }
}

#[test]
fn a_service_that_says_that_it_failed_is_logged_once() {
    let stage = Stage::default();
    let host = stage.host(|reply| {
        assert_eq!(reply.fail("the service threw", &[("panic", "no answer")]), Ok(()));
        assert_eq!(reply.answer(&well()), Err(AnswerError::AlreadyDone));
    });
    assert_eq!(outcome(&host.dispatch_json(CREATE)), "internal");
    logged(&stage, "service threw", "no answer");
    closes(&host);

    // The answer is somebody else's, the failure is not lost.
    let stage = Stage::default();
    let host = stage.host(|reply| {
        reply.answer(&well()).unwrap();
        assert_eq!(reply.fail("the service threw", &[("panic", "too late")]), Err(AnswerError::AlreadyDone));
    });
    assert_eq!(outcome(&host.dispatch_json(CREATE)), "ok");
    logged(&stage, "service threw", "too late");
    closes(&host);
}
