//! The thread that keeps the time: ends runs whose deadline passes, forgets keys, and wakes waits when their time comes.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::command::Command;
use super::core::Core;
use super::decide::Rules;
use super::job::{Done, Touched, Work, execute};
use super::waits::Waiting;
use crate::store::Transaction;

/// At the latest so often everybody looks: what no signal told is seen then (durable runs, "Waking").
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// Expired keys are deleted at most so often: they count no more from the moment on, deleted or not.
const FORGET_EVERY_MS: i64 = 60_000;
/// How many runs one transaction ends, and how many keys it deletes.
const RUNS_AT_ONCE: usize = 100;
const KEYS_AT_ONCE: usize = 1000;

/// What the thread waits for.
pub(crate) struct Timers {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    stopped: bool,
    /// When the store has to be looked at.
    due: Instant,
    waits: BinaryHeap<Reverse<Alarm>>,
}

struct Alarm {
    at: Instant,
    wait: Weak<dyn Waiting>,
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

impl Timers {
    pub(crate) fn new() -> Timers {
        let state = State { stopped: false, due: Instant::now(), waits: BinaryHeap::new() };
        Timers { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the wait look at that time, if it is still there.
    pub(crate) fn look_at(&self, at: Instant, wait: Arc<dyn Waiting>) {
        let mut state = self.lock();
        let earliest = state.waits.peek().is_none_or(|Reverse(first)| at < first.at);
        state.waits.push(Reverse(Alarm { at, wait: Arc::downgrade(&wait) }));
        if earliest {
            self.changed.notify_one();
        }
    }

    /// A run has a deadline that many milliseconds from now.
    pub(crate) fn deadline_in(&self, ms: i64) {
        let at = Instant::now() + from_now(ms);
        let mut state = self.lock();
        if at < state.due {
            state.due = at;
            self.changed.notify_one();
        }
    }

    pub(crate) fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_one();
    }
}

/// A time to come, never further than the next look.
fn from_now(ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(ms).unwrap_or(0)).min(LOOK_EVERY)
}

thread_local! {
    static KEEPS_TIME: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is the one that keeps the time, of any runs.
pub(crate) fn is_timekeeper() -> bool {
    KEEPS_TIME.get()
}

/// The body of the thread.
pub(crate) fn keep_time(core: &Arc<Core>) {
    KEEPS_TIME.set(true);
    let mut look_at_all = Instant::now() + LOOK_EVERY;
    let mut state = core.timers.lock();
    while !state.stopped {
        let now = Instant::now();
        if state.waits.peek().is_some_and(|Reverse(first)| first.at <= now) {
            let due = state.waits.pop().and_then(|Reverse(alarm)| alarm.wait.upgrade());
            drop(state);
            if let Some(wait) = due {
                wait.look(core);
            }
        } else if state.due <= now {
            state.due = now + LOOK_EVERY;
            drop(state);
            run_due(core);
        } else if look_at_all <= now {
            // Waits that are over leave their alarms behind.
            state.waits.retain(|Reverse(alarm)| alarm.wait.strong_count() > 0);
            drop(state);
            look_at_all = now + LOOK_EVERY;
            core.waits.ring_all(core);
        } else {
            let next = state.waits.peek().map_or(look_at_all, |Reverse(first)| first.at.min(look_at_all)).min(state.due);
            let waited = core.timers.changed.wait_timeout(state, next.saturating_duration_since(now));
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
        state = core.timers.lock();
    }
}

/// Ends what is overdue. A store that fails is asked again at the next look.
fn run_due(core: &Arc<Core>) {
    let timers = core.clone();
    core.write(Due).then(move |due| {
        if let Ok(due) = due {
            timers.timers.deadline_in(due.next_ms);
        }
    });
}

/// Ends runs whose deadline has passed, and forgets keys, a bounded number of each.
pub(crate) struct Due;

/// What was due.
pub(crate) struct WasDue {
    /// How many runs were ended.
    pub(crate) ended: u64,
    /// When there is something to do again: 0 for at once.
    pub(crate) next_ms: i64,
}

impl Work for Due {
    type Output = WasDue;

    fn run(&self, transaction: &mut dyn Transaction, rules: &Rules, touched: &mut Vec<Touched>) -> Done<WasDue> {
        let now = transaction.now();
        let overdue = transaction.overdue(now, RUNS_AT_ONCE)?;
        let ended = overdue.len();
        for run in overdue {
            let _ended = execute(transaction, rules, Some(run), &Command::TimeOut, touched)?;
        }
        let deleted = match transaction.next_expiry()? {
            Some(expires_at) if expires_at <= now => transaction.delete_keys(now, KEYS_AT_ONCE)?,
            _ => 0,
        };
        let until = |time: Option<i64>| time.map_or(i64::MAX, |time| time.saturating_sub(now).max(0));
        let next_ms = if ended == RUNS_AT_ONCE || deleted == KEYS_AT_ONCE {
            0
        } else {
            until(transaction.next_deadline()?).min(until(transaction.next_expiry()?).max(FORGET_EVERY_MS))
        };
        Ok(Ok(WasDue { ended: ended as u64, next_ms }))
    }
}
