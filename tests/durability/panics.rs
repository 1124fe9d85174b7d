//! Code of an application's that panics - a callback, the log hook, the rule of access, the clock - ends nothing and reaches nobody
//! else. It is logged, once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use agenthost::host::{LogHook, LogLevel};
use agenthost::protocol::{ErrorCode, RunStatus};
use agenthost::runs::{AccessRequest, NewEvent, Runs, RunsOptions};

use crate::support::{Client, SOON, START, Setup, claim, client, code, json, with_deadline};

on_every_store!(
    a_callback_that_panics_does_not_reach_the_call_that_caused_it,
    a_callback_that_panics_leaves_the_timers_at_work,
    a_callback_of_a_result_that_is_there_already_panics_like_any_other,
    a_waker_that_panics_reaches_nobody,
    a_log_hook_that_panics_changes_no_answer,
    a_rule_of_access_that_panics_answers_internal,
    hooks_that_panic_when_they_are_dropped_are_let_go_of,
    a_clock_that_panics_answers_unavailable_and_is_asked_again,
);

/// What was logged.
#[derive(Clone, Default)]
struct Records(Arc<Mutex<Vec<String>>>);

impl Records {
    fn hook(&self) -> LogHook {
        let records = self.0.clone();
        Arc::new(move |level: LogLevel, message: &str, fields: &[(&str, &str)]| {
            records.lock().unwrap().push(format!("{level:?} {message} {fields:?}"));
        })
    }

    /// How many records hold that text, which is in a panic's message.
    fn count(&self, text: &str) -> usize {
        self.0.lock().unwrap().iter().filter(|record| record.contains(text)).count()
    }

    /// Waits for a record of another thread.
    fn wait_for(&self, text: &str) {
        let begun = std::time::Instant::now();
        while self.count(text) == 0 {
            assert!(begun.elapsed() < SOON, "nothing was logged of {text}");
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(self.count(text), 1, "{:?}", self.0.lock().unwrap());
    }
}

fn logged(setup: &Setup) -> (Runs, Records) {
    let records = Records::default();
    (setup.open_with(RunsOptions { log: Some(records.hook()), ..RunsOptions::default() }), records)
}

fn a_callback_that_panics_does_not_reach_the_call_that_caused_it(setup: &Setup) {
    let (runs, records) = logged(setup);
    client(&runs).create("k", "run").unwrap();
    let claim = claim(&runs).unwrap().claim;
    runs.wait_events(None, "run", 2, 10, SOON).then(|_| panic!("the follower's fault"));
    let (sender, received) = mpsc::channel();
    runs.wait_events(None, "run", 2, 10, SOON).then(move |events| sender.send(events).unwrap());
    let appended = runs.append_events(&claim, &[NewEvent::new("e", json("1"))], None).wait().unwrap();
    assert_eq!(appended.first_sequence, 3);
    assert_eq!(received.recv_timeout(SOON).unwrap().unwrap().page.next_sequence, 3);
    records.wait_for("the follower's fault");
}

fn a_callback_that_panics_leaves_the_timers_at_work(setup: &Setup) {
    let (runs, records) = logged(setup);
    runs.wait_for_work(&["nobody".into()], Duration::from_millis(10)).then(|_| panic!("the waiter's fault"));
    records.wait_for("the waiter's fault");
    let (sender, received) = mpsc::channel();
    runs.wait_for_work(&["nobody".into()], Duration::from_millis(10)).then(move |found| sender.send(found).unwrap());
    assert_eq!(received.recv_timeout(SOON).unwrap(), Ok(false));
    client(&runs).create_run("k", with_deadline("run", START + 20)).unwrap();
    setup.pass(20);
    let (sender, received) = mpsc::channel();
    runs.wait_events(None, "run", 1, 10, SOON).then(move |events| sender.send(events).unwrap());
    assert_eq!(received.recv_timeout(SOON).unwrap().unwrap().status, RunStatus::TimedOut);
}

fn a_callback_of_a_result_that_is_there_already_panics_like_any_other(setup: &Setup) {
    let (runs, records) = logged(setup);
    // Refused before it reaches the store, and done before `then` is called (in memory).
    runs.wait_for_work(&["a\0".into()], SOON).then(|_| panic!("the first fault"));
    records.wait_for("the first fault");
    let future = runs.list_runs(Default::default());
    std::thread::sleep(Duration::from_millis(20));
    future.then(|_| panic!("the second fault"));
    records.wait_for("the second fault");
}

fn a_waker_that_panics_reaches_nobody(setup: &Setup) {
    struct Grudge;
    impl std::task::Wake for Grudge {
        fn wake(self: Arc<Self>) {
            panic!("the waker's fault");
        }
    }
    let (runs, records) = logged(setup);
    client(&runs).create("k", "run").unwrap();
    let mut future = std::pin::pin!(runs.wait_events(None, "run", 1, 10, SOON));
    let waker = std::task::Waker::from(Arc::new(Grudge));
    assert!(future.as_mut().poll(&mut std::task::Context::from_waker(&waker)).is_pending());
    client(&runs).cancel("c", "run", 1).unwrap();
    records.wait_for("the waker's fault");
}

fn a_log_hook_that_panics_changes_no_answer(setup: &Setup) {
    let log: LogHook = Arc::new(|_: LogLevel, _: &str, _: &[(&str, &str)]| panic!("the log's fault"));
    let access = Arc::new(|_: &AccessRequest<'_>| -> bool { panic!("the rule's fault") });
    let runs = setup.open_with(RunsOptions { log: Some(log), access: Some(access), ..RunsOptions::default() });
    let alice = Client { runs: runs.clone(), principal: Some("alice") };
    alice.create("k", "run").unwrap();
    assert_eq!(code(alice.get("run")), ErrorCode::Internal);
    runs.wait_for_work(&["nobody".into()], Duration::from_millis(10)).then(|_| panic!("the waiter's fault"));
    assert_eq!(runs.wait_for_work(&["nobody".into()], Duration::from_millis(50)).wait(), Ok(false));
    assert!(claim(&runs).is_some());
}

fn a_rule_of_access_that_panics_answers_internal(setup: &Setup) {
    let records = Records::default();
    let access = Arc::new(|asked: &AccessRequest<'_>| asked.principal != Some("mallory") || panic!("the rule's fault"));
    let runs = setup.open_with(RunsOptions { log: Some(records.hook()), access: Some(access), ..RunsOptions::default() });
    let of = |principal| Client { runs: runs.clone(), principal: Some(principal) };
    of("alice").create("k", "run").unwrap();
    assert_eq!(code(of("mallory").get("run")), ErrorCode::Internal);
    records.wait_for("the rule's fault");
    assert_eq!(code(of("mallory").cancel("c", "run", 1)), ErrorCode::Internal);
    assert_eq!(records.count("the rule's fault"), 2);
    assert_eq!(code(runs.wait_events(Some("mallory"), "run", 1, 10, SOON).wait()), ErrorCode::Internal);
    assert_eq!(of("alice").get("run").unwrap().revision, 1);
    assert_eq!(of("alice").cancel("c", "run", 1).unwrap().revision, 2);
}

fn hooks_that_panic_when_they_are_dropped_are_let_go_of(setup: &Setup) {
    struct Grudge(&'static str);
    impl Drop for Grudge {
        fn drop(&mut self) {
            panic!("{} does not want to go", self.0);
        }
    }
    for _ in 0..3 {
        let (log, access) = (Grudge("the log"), Grudge("the rule"));
        let runs = setup.open_with(RunsOptions {
            log: Some(Arc::new(move |_, _, _| {
                let _ = &log;
            })),
            access: Some(Arc::new(move |_| {
                let _ = &access;
                true
            })),
            ..RunsOptions::default()
        });
        client(&runs).create(&crate::support::new_key(), &crate::support::new_key()).unwrap();
        // A callback that is never called, as the runs are closed before: what it holds is dropped too.
        let held = Grudge("what the callback holds");
        runs.wait_for_work(&["nobody".into()], SOON).then(move |_| drop(held));
        runs.close();
    }
    assert!(claim(&setup.open()).is_some() == setup.persists());
}

fn a_clock_that_panics_answers_unavailable_and_is_asked_again(setup: &Setup) {
    let broken = Arc::new(AtomicBool::new(false));
    let ask = broken.clone();
    let clock = Arc::new(move || if ask.load(Ordering::SeqCst) { panic!("the clock's fault") } else { START });
    let records = Records::default();
    let options = RunsOptions { log: Some(records.hook()), ..RunsOptions::default() };
    let runs = Runs::over(setup.store_with(clock), options).unwrap();
    client(&runs).create("k", "run").unwrap();
    let waiting = runs.wait_events(None, "run", 1, 10, SOON);
    broken.store(true, Ordering::SeqCst);
    assert_eq!(code(client(&runs).create("l", "other")), ErrorCode::Unavailable);
    assert_eq!(code(client(&runs).get("run")), ErrorCode::Unavailable);
    // Once for each; the timers may have asked as well.
    assert!(records.count("the clock's fault") >= 2);
    let timed = runs.wait_for_work(&["nobody".into()], Duration::from_millis(50));
    broken.store(false, Ordering::SeqCst);
    let _ = timed.wait();
    assert_eq!(runs.wait_for_work(&["nobody".into()], Duration::from_millis(10)).wait(), Ok(false));
    client(&runs).cancel("c", "run", 1).unwrap();
    // The wait goes on, unless it polled while the clock was broken.
    match waiting.wait() {
        Ok(events) => assert_eq!(events.page.next_sequence, 2),
        refused => assert_eq!(code(refused), ErrorCode::Unavailable),
    }
}
