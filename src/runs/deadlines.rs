//! Ends runs whose deadline has passed, and forgets keys that have expired: by the timers, before the first answer after opening, and
//! when an operator says so.

use std::sync::Arc;

use super::command::Command;
use super::decide::Rules;
use super::executor::{Executor, LongWork};
use super::promise::ResultFuture;
use super::timers::Timers;
use super::work::{Notifications, Work, WorkResult, execute};
use crate::store::Transaction;

/// Expired keys are deleted at most so often: they count no more from the moment on, deleted or not.
const FORGET_EVERY_MS: i64 = 60_000;
/// How many runs one transaction ends, and how many keys it deletes.
const RUNS_AT_ONCE: usize = 100;
const KEYS_AT_ONCE: usize = 1000;

/// Ends some of what is overdue, and has the timers come back for the rest. A store that fails is asked again the next time.
pub(crate) fn end_some(executor: &Arc<Executor>, timers: &Arc<Timers>) {
    let timers = timers.clone();
    executor.write(EndOverdue).then(move |overdue| {
        if let Ok(overdue) = overdue {
            timers.due_in(overdue.next_ms);
        }
    });
}

/// Ends everything that is overdue; how many runs.
pub(crate) fn end_all(executor: &Arc<Executor>, timers: &Arc<Timers>) -> ResultFuture<u64> {
    let timers = timers.clone();
    executor.write_long(EndAllOverdue { ended: 0 }).map(move |overdue| {
        let overdue = overdue?;
        timers.due_in(overdue.next_ms);
        Ok(overdue.ended)
    })
}

/// Ends runs whose deadline has passed, and forgets keys, a bounded number of each.
struct EndOverdue;

/// What was overdue.
struct Overdue {
    /// How many runs were ended.
    ended: u64,
    /// When there is something to do again: 0 for at once.
    next_ms: i64,
}

impl Work for EndOverdue {
    type Output = Overdue;

    fn run(&self, transaction: &mut dyn Transaction, rules: &Rules, notifications: &mut Notifications) -> WorkResult<Overdue> {
        let now = transaction.now();
        let overdue = transaction.overdue(now, RUNS_AT_ONCE)?;
        let ended = overdue.len();
        for run in overdue {
            let _ended = execute(transaction, rules, Some(run), &Command::TimeOut, notifications)?;
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
        Ok(Ok(Overdue { ended: ended as u64, next_ms }))
    }
}

struct EndAllOverdue {
    ended: u64,
}

impl LongWork for EndAllOverdue {
    type Step = EndOverdue;
    type Output = Overdue;

    fn step(&self) -> EndOverdue {
        EndOverdue
    }

    fn after(&mut self, overdue: Overdue) -> Option<Overdue> {
        self.ended += overdue.ended;
        // Only keys are left: they have time.
        let done = overdue.next_ms > 0 || overdue.ended == 0;
        done.then_some(Overdue { ended: self.ended, ..overdue })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;
    use crate::runs::access::AccessRule;
    use crate::runs::command::{NewRun, Retry};
    use crate::runs::log::Log;
    use crate::store::{KeyScope, MemoryStore};

    fn create(executor: &Arc<Executor>, number: usize, deadline: i64) {
        let run = NewRun {
            run_id: format!("run {number}"),
            agent_id: String::new(),
            deadline: Some(deadline),
            context: "{}".into(),
            input: "1".into(),
            metadata: "{}".into(),
        };
        let scope = KeyScope { principal: String::new(), operation: "create_run", key: format!("{number}") };
        executor.write(Command::Create { retry: Retry { scope, fingerprint: [0; 32] }, run }).wait().unwrap();
    }

    #[test]
    fn everything_overdue_is_ended_and_nothing_else() {
        let time = Arc::new(AtomicI64::new(0));
        let clock = time.clone();
        let rules = Rules { max_takeovers: 1, key_ttl_ms: 1_000_000, access: AccessRule::default() };
        let store = Box::new(MemoryStore::new(Arc::new(move || clock.load(Ordering::SeqCst))));
        let executor = Arc::new(Executor::new(store, rules, Log::default(), Box::new(|_| {})));
        let timers = Arc::new(Timers::new());
        (0..2 * RUNS_AT_ONCE + 1).for_each(|number| create(&executor, number, 10));
        create(&executor, usize::MAX, 11);
        assert_eq!(end_all(&executor, &timers).wait(), Ok(0));
        time.store(10, Ordering::SeqCst);
        end_some(&executor, &timers);
        assert_eq!(end_all(&executor, &timers).wait(), Ok(RUNS_AT_ONCE as u64 + 1), "some were ended before");
        assert_eq!(end_all(&executor, &timers).wait(), Ok(0));
        time.store(11, Ordering::SeqCst);
        assert_eq!(end_all(&executor, &timers).wait(), Ok(1));
    }
}
