//! Closing, and the last handle.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use agenthost::host::{AnswerError, CloseError, DeferredReply, DeferringService, Host, HostOptions, LogHook, Reply};
use agenthost::service::{Call, Request};

use crate::stage::{CREATE, Stage, arrived, dispatch, outcome, well};

#[test]
fn a_closed_host_refuses_calls_and_has_destroyed_its_service_once() {
    let stage = Stage::default();
    let host = stage.host(|reply| reply.answer(&well()).unwrap());
    assert_eq!(host.close(Some(Duration::ZERO)), Ok(()));
    assert_eq!(host.close(None), Ok(()));
    assert_eq!(stage.destroyed(), 1);
    assert_eq!(outcome(&host.dispatch_json(CREATE)), "unavailable/closed");
    let (response, pending) = dispatch(&host);
    assert_eq!(arrived(&response), "unavailable/closed");
    assert_eq!(pending.cancel(), Ok(false));
    drop(host);
    assert_eq!(stage.destroyed(), 1);
}

#[test]
fn a_closed_host_has_let_go_of_its_log_hook() {
    let records = Arc::new(AtomicUsize::new(0));
    let inside = records.clone();
    let hook: LogHook = Arc::new(move |_, _, _| {
        inside.fetch_add(1, Ordering::SeqCst);
    });
    let host = Host::without_service(HostOptions { log: Some(hook), ..HostOptions::default() });
    assert_eq!(outcome(&host.dispatch_json(CREATE)), "internal");
    assert_eq!((records.load(Ordering::SeqCst), Arc::strong_count(&records)), (1, 2));
    assert_eq!(host.close(None), Ok(()));
    assert_eq!(Arc::strong_count(&records), 1);
    drop(host);
}

#[test]
fn close_answers_what_is_deferred_and_the_reply_comes_too_late() {
    let stage = Stage::default();
    let host = stage.deferring();
    let (response, _) = dispatch(&host);
    assert_eq!(host.close(Some(Duration::from_millis(10))), Ok(()));
    assert_eq!(arrived(&response), "unavailable/closed");
    let mut late = stage.take();
    drop(host);
    assert_eq!(late.answer(&well()), Err(AnswerError::AlreadyDone));
    assert!(late.is_abandoned());
}

#[test]
fn drain_waits_and_gives_nothing_up() {
    let stage = Stage::default();
    let host = stage.deferring();
    let (response, _) = dispatch(&host);
    assert_eq!(host.drain(Some(Duration::ZERO)), Ok(false));
    assert!(response.try_recv().is_err());
    assert_eq!(outcome(&host.dispatch_json(CREATE)), "unavailable/closed");
    stage.take().answer(&well()).unwrap();
    assert_eq!(arrived(&response), "ok");
    assert_eq!(host.drain(Some(Duration::ZERO)), Ok(true));
    assert_eq!(stage.destroyed(), 0);
    assert_eq!(host.close(Some(Duration::ZERO)), Ok(()));
    assert_eq!(stage.destroyed(), 1);
}

#[test]
fn close_times_out_while_a_slot_runs_and_destroys_nothing() {
    let stage = Stage::default();
    let (entered, inside) = mpsc::channel();
    let (leave, left) = mpsc::channel::<()>();
    let (entered, left) = (std::sync::Mutex::new(entered), std::sync::Mutex::new(left));
    let host = stage.host(move |reply| {
        entered.lock().unwrap().send(()).unwrap();
        left.lock().unwrap().recv().unwrap();
        reply.answer(&well()).unwrap();
    });
    let dispatching = host.clone();
    let dispatcher = std::thread::spawn(move || outcome(&dispatching.dispatch_json(CREATE)));
    inside.recv().unwrap();
    assert_eq!(host.close(Some(Duration::from_millis(5))), Err(CloseError::TimedOut));
    assert_eq!(stage.destroyed(), 0);
    leave.send(()).unwrap();
    assert_eq!(host.close(None), Ok(()));
    assert_eq!(stage.destroyed(), 1);
    assert_eq!(dispatcher.join().unwrap(), "ok");
}

#[test]
fn a_reply_that_is_deferred_when_close_has_given_up_is_answered_closed() {
    let stage = Stage::default();
    let (entered, inside) = mpsc::channel();
    let (leave, left) = mpsc::channel::<()>();
    let (entered, left) = (std::sync::Mutex::new(entered), std::sync::Mutex::new(left));
    let held = std::sync::Mutex::new(None);
    let host = stage.host(move |reply| {
        entered.lock().unwrap().send(()).unwrap();
        left.lock().unwrap().recv().unwrap();
        *held.lock().unwrap() = Some(reply.defer().unwrap());
    });
    let dispatching = host.clone();
    let dispatcher = std::thread::spawn(move || outcome(&dispatching.dispatch_json(CREATE)));
    inside.recv().unwrap();
    assert_eq!(host.close(Some(Duration::from_millis(5))), Err(CloseError::TimedOut));
    leave.send(()).unwrap();
    assert_eq!(dispatcher.join().unwrap(), "unavailable/closed");
    assert_eq!(host.close(None), Ok(()));
}

#[test]
fn close_gives_what_is_deferred_the_time_it_was_given() {
    let stage = Stage::default();
    let host = stage.deferring();
    let (response, _) = dispatch(&host);
    let mut reply = stage.take();
    let service = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(30));
        reply.answer(&well())
    });
    assert_eq!(host.close(Some(Duration::from_secs(60))), Ok(()));
    assert_eq!(service.join().unwrap(), Ok(()));
    assert_eq!(arrived(&response), "ok");
}

#[test]
fn a_host_shows_whether_it_is_closing_and_nothing_else() {
    let stage = Stage::default();
    let host = stage.deferring();
    assert!(!host.is_forked());
    assert!(host.is_sensitive_name("apiKey") && !host.is_sensitive_name("name"));
    assert_eq!(format!("{host:?}"), "Host { closing: false, .. }");
    host.close(None).unwrap();
    assert_eq!(format!("{host:?}"), "Host { closing: true, .. }");
}

#[test]
fn close_from_a_callback_of_the_same_host_would_deadlock() {
    let stage = Stage::default();
    let (give, given) = mpsc::channel::<Host>();
    let given = std::sync::Mutex::new(given);
    let host = stage.host(move |reply| {
        let host = given.lock().unwrap().recv().unwrap();
        assert_eq!(host.close(None), Err(CloseError::WouldDeadlock));
        assert_eq!(outcome(&host.dispatch_json(CREATE)), "unavailable/closed");
        reply.answer(&well()).unwrap();
    });
    give.send(host.clone()).unwrap();
    assert_eq!(outcome(&host.dispatch_json(CREATE)), "ok");
    assert_eq!(stage.destroyed(), 0);
    assert_eq!(host.close(None), Ok(()));
    assert_eq!(stage.destroyed(), 1);
}

#[test]
fn the_last_handle_destroys_wherever_it_is_dropped() {
    // Outside of callbacks.
    let stage = Stage::default();
    let host = stage.host(|_| {});
    let other = host.clone();
    drop(host);
    assert_eq!(stage.destroyed(), 0);
    drop(other);
    assert_eq!(stage.destroyed(), 1);
    // Inside `done`, which a cancel runs.
    let stage = Stage::default();
    let host = stage.deferring();
    let last = host.clone();
    let mut pending = None;
    host.dispatch_async(CREATE, None, |started| pending = Some(started), move |_| drop(last)).unwrap();
    drop(host);
    assert_eq!(stage.destroyed(), 0);
    assert_eq!(pending.unwrap().cancel(), Ok(true));
    assert_eq!(stage.destroyed(), 1);
    // With a call that is deferred.
    let stage = Stage::default();
    let host = stage.deferring();
    let (response, _) = dispatch(&host);
    drop(host);
    assert_eq!(arrived(&response), "unavailable/closed");
    assert_eq!(stage.destroyed(), 1);
}

#[test]
fn threads_that_dispatch_while_the_host_closes_get_an_answer_each() {
    // Miri takes a second for what takes a millisecond otherwise.
    for _ in 0..if cfg!(miri) { 1 } else { 50 } {
        let stage = Stage::default();
        let host = stage.host(|reply| {
            let mut deferred = reply.defer().unwrap();
            std::thread::spawn(move || {
                let _ = deferred.answer(&well());
            });
        });
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let host = host.clone();
                std::thread::spawn(move || {
                    loop {
                        match outcome(&host.dispatch_json(CREATE)).as_str() {
                            "ok" => {}
                            "unavailable/closed" => break,
                            other => panic!("{other}"),
                        }
                    }
                })
            })
            .collect();
        assert_eq!(host.close(None), Ok(()));
        assert_eq!(stage.destroyed(), 1);
        for thread in threads {
            thread.join().unwrap();
        }
    }
}

/// The processor time that a thread of this process has had, in nanoseconds.
#[cfg(all(target_os = "linux", not(miri)))]
fn processor_time(thread: &std::path::Path) -> u64 {
    let times = std::fs::read_to_string(std::path::Path::new("/proc").join(thread).join("schedstat")).unwrap();
    times.split(' ').next().unwrap().parse().unwrap()
}

/// What is large takes long to decode: closing waits for it as for a slot. It is given time until the dispatching thread has worked
/// for longer than it takes to get into the host.
#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn no_done_runs_after_close_when_a_message_is_still_decoded() {
    let twice = br#","operation":"create_run"}"#;
    for refused in [false, true] {
        let mut message = CREATE[..CREATE.len() - 1].to_vec();
        message.extend_from_slice(br#","metadata":{"#);
        while message.len() < 15 << 20 {
            let name = message.len();
            message.extend_from_slice(format!(r#""name-{name}":"value","#).as_bytes());
        }
        message.extend_from_slice(br#""last":"value"}"#);
        message.extend_from_slice(if refused { twice } else { b"}" });
        let stage = Stage::default();
        let host = stage.host(|reply| reply.answer(&well()).unwrap());
        let closed = Arc::new(AtomicBool::new(false));
        let (dispatching, is_closed) = (host.clone(), closed.clone());
        let (begin, begun) = mpsc::channel();
        let (done, response) = mpsc::channel();
        let dispatcher = std::thread::spawn(move || {
            begin.send(std::fs::read_link("/proc/thread-self").unwrap()).unwrap();
            let done = move |response: Vec<u8>| done.send((is_closed.load(Ordering::SeqCst), outcome(&response))).unwrap();
            dispatching.dispatch_async(&message, None, |_| {}, done).unwrap();
        });
        let thread = begun.recv().unwrap();
        let before = processor_time(&thread);
        while processor_time(&thread) - before < 2_000_000 {
            std::thread::yield_now();
        }
        assert_eq!(host.close(None), Ok(()));
        closed.store(true, Ordering::SeqCst);
        dispatcher.join().unwrap();
        let expected = if refused { "invalid_request" } else { "ok" };
        assert_eq!(response.try_recv().unwrap(), (false, expected.to_owned()));
    }
}

#[test]
fn a_dispatch_that_begins_when_the_host_is_closing_has_run_done_when_it_returns() {
    let stage = Stage::default();
    let host = stage.deferring();
    let (response, _pending) = dispatch(&host);
    assert_eq!(host.drain(Some(Duration::ZERO)), Ok(false));
    for _ in 0..2 {
        assert_eq!(arrived(&dispatch(&host).0), "unavailable/closed");
        assert_eq!(host.close(Some(Duration::ZERO)), Ok(()));
    }
    assert_eq!(arrived(&response), "unavailable/closed");
}

/// Keeps every reply, as a service does that answers from elsewhere.
struct KeepsReplies {
    replies: std::sync::Mutex<Vec<DeferredReply>>,
    _alive: Arc<()>,
}

impl DeferringService for KeepsReplies {
    fn serve(&self, _: &Call<'_>, _: Request<'_>, reply: &mut Reply<'_>) {
        self.replies.lock().unwrap().push(reply.defer().unwrap());
    }
}

#[test]
fn a_service_that_keeps_its_replies_is_gone_with_the_last_handle() {
    for closes in [true, false] {
        let alive = Arc::new(());
        let service = KeepsReplies { replies: std::sync::Mutex::default(), _alive: alive.clone() };
        let host = Host::deferring(Box::new(service), HostOptions::default());
        let (response, pending) = dispatch(&host);
        if closes {
            assert_eq!(host.close(Some(Duration::ZERO)), Ok(()));
        }
        drop(host);
        assert_eq!(arrived(&response), "unavailable/closed");
        assert_eq!(Arc::strong_count(&alive), 1, "the handle of a call keeps no service");
        assert_eq!(pending.cancel(), Ok(false));
    }
}
