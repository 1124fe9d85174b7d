//! First come, first served: jobs on their way to the threads that run them.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// A queue that can be closed: what is in it is still served, nothing more comes in.
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    waiting: VecDeque<T>,
    /// How many were ever pushed: the number of the last.
    pushed: u64,
    /// How many threads sleep until something is pushed.
    asleep: usize,
    /// How many look again by themselves.
    dozing: usize,
    closed: bool,
}

impl<T> Queue<T> {
    pub(super) fn new() -> Queue<T> {
        let state = State { waiting: VecDeque::new(), pushed: 0, asleep: 0, dozing: 0, closed: false };
        Queue { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Puts an item at the end, and gives its number; gives it back when the queue is closed. Wakes who is asleep, but not who
    /// dozes.
    pub(super) fn push(&self, item: T) -> Result<u64, T> {
        let mut state = self.lock();
        if state.closed {
            return Err(item);
        }
        state.waiting.push_back(item);
        state.pushed += 1;
        let (number, wake) = (state.pushed, state.asleep > 0);
        drop(state);
        if wake {
            self.changed.notify_one();
        }
        Ok(number)
    }

    /// Wakes who dozes, when there is something.
    pub(super) fn wake(&self) {
        let state = self.lock();
        let wake = state.dozing > 0 && !state.waiting.is_empty();
        drop(state);
        if wake {
            self.changed.notify_one();
        }
    }

    /// Takes the first item; waits for one, asleep. None once the queue is closed and empty.
    pub(super) fn pop(&self) -> Option<T> {
        let mut state = self.lock();
        while state.waiting.is_empty() && !state.closed {
            state = self.sleep(state);
        }
        state.waiting.pop_front()
    }

    /// Waits until there is an item, which others may take first: dozing, and looking every `doze`, as long as items come that
    /// others take, and then asleep. False once the queue is closed and empty.
    pub(super) fn wait(&self, doze: Duration) -> bool {
        let mut state = self.lock();
        let mut seen = None;
        while state.waiting.is_empty() && !state.closed {
            if seen == Some(state.pushed) {
                state = self.sleep(state);
                continue;
            }
            seen = Some(state.pushed);
            state.dozing += 1;
            state = self.changed.wait_timeout(state, doze).unwrap_or_else(|poisoned| poisoned.into_inner()).0;
            state.dozing -= 1;
        }
        !state.waiting.is_empty()
    }

    fn sleep<'s>(&self, mut state: MutexGuard<'s, State<T>>) -> MutexGuard<'s, State<T>> {
        state.asleep += 1;
        let mut state = self.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        state.asleep -= 1;
        state
    }

    /// Takes the item of that number, when it is the only one.
    pub(super) fn take_only(&self, number: u64) -> Option<T> {
        let mut state = self.lock();
        if state.waiting.len() == 1 && state.pushed == number { state.waiting.pop_front() } else { None }
    }

    /// Moves the first items to `into`, until it holds `limit`.
    pub(super) fn drain(&self, into: &mut Vec<T>, limit: usize) {
        let mut state = self.lock();
        let count = state.waiting.len().min(limit.saturating_sub(into.len()));
        into.extend(state.waiting.drain(..count));
    }

    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
