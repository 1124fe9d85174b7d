//! One wait alone, over the store in memory.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;

use super::*;
use crate::runs::access::AccessRule;
use crate::runs::decide::Rules;
use crate::runs::log::Log;
use crate::runs::timers::TimedTasks;
use crate::store::MemoryStore;

/// A bound for a hang, not a measure.
const SOON: Duration = Duration::from_secs(30);

struct Nothing;

impl TimedTasks for Nothing {
    fn run_due(&self) {}
    fn poll_all(&self) {}
}

/// A poller whose timers end with it.
struct Polling(Poller);

impl Drop for Polling {
    fn drop(&mut self) {
        self.0.timers.stop();
    }
}

fn polling() -> Polling {
    let rules = Rules { max_takeovers: 1, key_ttl_ms: 1000, access: AccessRule::default() };
    let store = Box::new(MemoryStore::new(Arc::new(|| 1)));
    let executor = Arc::new(Executor::new(store, rules, Log::default(), Box::new(|_| {})));
    let (waiters, timers) = (Arc::new(Waiters::default()), Arc::new(Timers::new()));
    timers.start(Log::default(), Nothing).unwrap();
    Polling(Poller { executor, waiters, timers })
}

fn topic() -> Topic {
    Topic::Run("run".into())
}

fn not_ready<T>(otherwise: T) -> WorkResult<Polled<T>> {
    Ok(Ok(Polled::NotReady { otherwise, again_ms: None }))
}

#[test]
fn a_wait_ends_by_its_timeout_whatever_its_topics() {
    let polling = polling();
    for topics in [vec![], vec![topic()], vec![topic(), topic()], vec![topic(), Topic::Work("run".into())]] {
        for timeout in [Duration::ZERO, Duration::from_millis(1), Duration::from_millis(20)] {
            let (sender, received) = mpsc::channel();
            let wait = polling.0.wait(topics.clone(), timeout, |_| not_ready("nothing"));
            wait.then(move |result| sender.send(result).unwrap());
            assert_eq!(received.recv_timeout(SOON).expect("it never ended"), Ok("nothing"), "{topics:?} {timeout:?}");
        }
    }
}

#[test]
fn a_wait_polls_when_its_topic_is_notified_or_its_time_has_come() {
    let polling = polling();
    let polls = Arc::new(AtomicU64::new(0));
    let count = polls.clone();
    let wait = polling.0.wait(vec![topic()], SOON, move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => not_ready("nothing"),
        1 => Ok(Ok(Polled::NotReady { otherwise: "nothing", again_ms: Some(1) })),
        _ => Ok(Ok(Polled::Ready("something"))),
    });
    polling.0.waiters.notify(&Topic::Run("another".into()));
    assert_eq!(polls.load(Ordering::SeqCst), 1);
    polling.0.waiters.notify(&topic());
    assert_eq!(wait.wait(), Ok("something"), "again after a millisecond");
    polling.0.waiters.notify_all();
    assert_eq!(polls.load(Ordering::SeqCst), 3, "a wait that is over polls no more");
}

#[test]
fn a_million_polls_that_follow_each_other_need_the_stack_of_one() {
    const POLLS: u64 = 1_000_000;
    let waiting = std::thread::Builder::new().stack_size(128 << 10).spawn(|| {
        let polling = polling();
        let (waiters, polls) = (polling.0.waiters.clone(), AtomicU64::new(0));
        // Something happens during each poll.
        let find = move |_: &mut dyn Reader| {
            waiters.notify(&topic());
            let polled = polls.fetch_add(1, Ordering::SeqCst) + 1;
            if polled == POLLS { Ok(Ok(Polled::Ready(polled))) } else { not_ready(0) }
        };
        polling.0.wait(vec![topic()], SOON * 10, find).wait()
    });
    assert_eq!(waiting.unwrap().join().unwrap(), Ok(POLLS));
}

#[test]
fn a_wait_that_nobody_takes_is_forgotten_at_the_next_notification() {
    let polling = polling();
    let held = Arc::new(());
    let holds = held.clone();
    let wait = polling.0.wait(vec![topic()], SOON, move |_| {
        let _ = &holds;
        not_ready(())
    });
    drop(wait);
    polling.0.waiters.notify(&topic());
    assert_eq!(Arc::strong_count(&held), 1);
}
