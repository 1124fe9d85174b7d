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
    items: VecDeque<T>,
    /// How many were ever pushed: the number of the last.
    pushed: u64,
    /// How many threads wait until they are notified.
    waiting_threads: usize,
    /// How many poll, and are notified only when they are to hurry.
    polling_threads: usize,
    closed: bool,
}

impl<T> Queue<T> {
    pub(super) fn new() -> Queue<T> {
        let state = State { items: VecDeque::new(), pushed: 0, waiting_threads: 0, polling_threads: 0, closed: false };
        Queue { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Puts an item at the end, and gives its number; gives it back when the queue is closed. Notifies who waits, but not who
    /// polls.
    pub(super) fn push(&self, item: T) -> Result<u64, T> {
        let mut state = self.lock();
        if state.closed {
            return Err(item);
        }
        state.items.push_back(item);
        state.pushed += 1;
        let (number, notify) = (state.pushed, state.waiting_threads > 0);
        drop(state);
        if notify {
            self.changed.notify_one();
        }
        Ok(number)
    }

    /// Notifies who polls, when there is something.
    pub(super) fn hurry(&self) {
        let state = self.lock();
        let notify = state.polling_threads > 0 && !state.items.is_empty();
        drop(state);
        if notify {
            self.changed.notify_one();
        }
    }

    /// Takes the first item; waits for one. None once the queue is closed and empty.
    pub(super) fn pop(&self) -> Option<T> {
        let mut state = self.lock();
        while state.items.is_empty() && !state.closed {
            state = self.wait_for_push(state);
        }
        state.items.pop_front()
    }

    /// Waits until there is an item, which others may take first: polls every `poll_every` as long as items come that
    /// others take, and then waits to be notified. False once the queue is closed and empty.
    pub(super) fn wait(&self, poll_every: Duration) -> bool {
        let mut state = self.lock();
        let mut seen = None;
        while state.items.is_empty() && !state.closed {
            if seen == Some(state.pushed) {
                state = self.wait_for_push(state);
                continue;
            }
            seen = Some(state.pushed);
            state.polling_threads += 1;
            state = self.changed.wait_timeout(state, poll_every).unwrap_or_else(|poisoned| poisoned.into_inner()).0;
            state.polling_threads -= 1;
        }
        !state.items.is_empty()
    }

    fn wait_for_push<'s>(&self, mut state: MutexGuard<'s, State<T>>) -> MutexGuard<'s, State<T>> {
        state.waiting_threads += 1;
        let mut state = self.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        state.waiting_threads -= 1;
        state
    }

    /// Takes the item of that number, when it is the only one.
    pub(super) fn take_only(&self, number: u64) -> Option<T> {
        let mut state = self.lock();
        if state.items.len() == 1 && state.pushed == number { state.items.pop_front() } else { None }
    }

    /// Moves the first items to `into`, until it holds `limit`.
    pub(super) fn drain(&self, into: &mut Vec<T>, limit: usize) {
        let mut state = self.lock();
        let count = state.items.len().min(limit.saturating_sub(into.len()));
        into.extend(state.items.drain(..count));
    }

    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
