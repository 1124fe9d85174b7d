//! The thread that keeps the time: polls waiters when their time comes, and now and then everybody; has what is due done. What that
//! is it does not know.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::log::Log;
use super::waiters::Waiter;

/// How often at least all waiters are polled, and the store is searched for what is due: so whatever no notification came for is found
/// too (durable runs, "Waking").
const POLL_EVERY: Duration = Duration::from_secs(5);

pub(crate) struct Timers {
    state: Mutex<State>,
    changed: Condvar,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct State {
    stopped: bool,
    /// When something in the store is due.
    due: Instant,
    alarms: BinaryHeap<Reverse<Alarm>>,
}

/// When a waiter is to be polled, if it still waits.
struct Alarm {
    at: Instant,
    waiter: Weak<dyn Waiter>,
}

impl PartialEq for Alarm {
    fn eq(&self, other: &Alarm) -> bool {
        self.at == other.at
    }
}

impl Eq for Alarm {}

impl PartialOrd for Alarm {
    fn partial_cmp(&self, other: &Alarm) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Alarm {
    fn cmp(&self, other: &Alarm) -> std::cmp::Ordering {
        self.at.cmp(&other.at)
    }
}

/// What the thread has done for others.
pub(crate) trait TimedTasks: Send + 'static {
    /// Something in the store may be due.
    fn run_due(&self);
    /// Polls all waiters.
    fn poll_all(&self);
}

impl Timers {
    pub(crate) fn new() -> Timers {
        let state = State { stopped: false, due: Instant::now(), alarms: BinaryHeap::new() };
        Timers { state: Mutex::new(state), changed: Condvar::new(), thread: Mutex::new(None) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the waiter polled at that time, if it still waits.
    pub(crate) fn poll_at(&self, at: Instant, waiter: &Arc<dyn Waiter>) {
        let mut state = self.lock();
        let earliest = state.alarms.peek().is_none_or(|Reverse(first)| at < first.at);
        state.alarms.push(Reverse(Alarm { at, waiter: Arc::downgrade(waiter) }));
        if earliest {
            self.changed.notify_one();
        }
    }

    /// Something is due that many milliseconds from now, or sooner.
    pub(crate) fn due_in(&self, ms: i64) {
        // A clock may be set, so never further away than the next search.
        let at = Instant::now() + Duration::from_millis(u64::try_from(ms).unwrap_or(0)).min(POLL_EVERY);
        let mut state = self.lock();
        if at < state.due {
            state.due = at;
            self.changed.notify_one();
        }
    }

    /// Starts the thread. A panic of what it does is logged, and ends nothing.
    ///
    /// # Errors
    /// The system has no thread.
    pub(crate) fn start(self: &Arc<Timers>, log: Log, tasks: impl TimedTasks) -> std::io::Result<()> {
        let timers = self.clone();
        let thread = std::thread::Builder::new().name("agenthost-timer".into()).spawn(move || timers.run(&log, &tasks))?;
        *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
        Ok(())
    }

    fn run(&self, log: &Log, tasks: &impl TimedTasks) {
        const PANICKED: &str = "a timer panicked";
        let mut poll_all = Instant::now() + POLL_EVERY;
        let mut state = self.lock();
        while !state.stopped {
            let now = Instant::now();
            if state.alarms.peek().is_some_and(|Reverse(first)| first.at <= now) {
                let due = state.alarms.pop().and_then(|Reverse(alarm)| alarm.waiter.upgrade());
                drop(state);
                if let Some(waiter) = due {
                    log.run(PANICKED, || waiter.poll());
                }
            } else if state.due <= now {
                state.due = now + POLL_EVERY;
                drop(state);
                log.run(PANICKED, || tasks.run_due());
            } else if poll_all <= now {
                // Waits that are over leave their alarms behind.
                state.alarms.retain(|Reverse(alarm)| alarm.waiter.strong_count() > 0);
                drop(state);
                poll_all = now + POLL_EVERY;
                log.run(PANICKED, || tasks.poll_all());
            } else {
                let next = state.alarms.peek().map_or(poll_all, |Reverse(first)| first.at.min(poll_all)).min(state.due);
                let waited = self.changed.wait_timeout(state, next.saturating_duration_since(now));
                drop(waited.unwrap_or_else(PoisonError::into_inner));
            }
            state = self.lock();
        }
    }

    /// Ends the thread, and waits for its end unless this is that thread.
    pub(crate) fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_one();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != std::thread::current().id()) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// A bound for a hang, not a measure.
    const SOON: Duration = Duration::from_secs(30);

    struct Sender(mpsc::Sender<&'static str>, &'static str);

    impl Waiter for Sender {
        fn poll(self: Arc<Self>) {
            self.0.send(self.1).unwrap();
        }
    }

    struct Tasks(mpsc::Sender<&'static str>);

    impl TimedTasks for Tasks {
        fn run_due(&self) {
            self.0.send("due").unwrap();
            panic!("a bug");
        }

        fn poll_all(&self) {}
    }

    #[test]
    fn what_is_due_is_done_in_the_order_of_its_time_and_outlives_a_panic() {
        let (sender, happened) = mpsc::channel();
        let timers = Arc::new(Timers::new());
        timers.start(Log::default(), Tasks(sender.clone())).unwrap();
        assert_eq!(happened.recv_timeout(SOON), Ok("due"), "what was due before it began");
        let waiter = |name| Arc::new(Sender(sender.clone(), name)) as Arc<dyn Waiter>;
        let (first, second, gone) = (waiter("first"), waiter("second"), waiter("gone"));
        let now = Instant::now();
        timers.poll_at(now + Duration::from_millis(20), &second);
        timers.poll_at(now + Duration::from_millis(1), &gone);
        drop(gone);
        timers.poll_at(now, &first);
        assert_eq!(happened.recv_timeout(SOON), Ok("first"));
        assert_eq!(happened.recv_timeout(SOON), Ok("second"));
        timers.due_in(1);
        assert_eq!(happened.recv_timeout(SOON), Ok("due"));
        timers.stop();
        timers.due_in(0);
        timers.stop();
        drop((sender, first, second));
        assert_eq!(happened.recv(), Err(mpsc::RecvError), "the thread has ended, and let go of its tasks");
    }

    #[test]
    fn a_timer_may_stop_the_timers() {
        struct Stops(Mutex<Option<Arc<Timers>>>, mpsc::Sender<()>);
        impl TimedTasks for Stops {
            fn run_due(&self) {
                if let Some(timers) = self.0.lock().unwrap().take() {
                    timers.stop();
                    self.1.send(()).unwrap();
                }
            }
            fn poll_all(&self) {}
        }
        let (sender, stopped) = mpsc::channel();
        let timers = Arc::new(Timers::new());
        timers.start(Log::default(), Stops(Mutex::new(Some(timers.clone())), sender)).unwrap();
        stopped.recv_timeout(SOON).unwrap();
    }
}
