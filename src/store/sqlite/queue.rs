//! First come, first served: jobs on their way to the threads that run them.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

/// A queue that can be closed: what is in it is still served, nothing more comes in.
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    waiting: VecDeque<T>,
    idle: usize,
    closed: bool,
}

impl<T> Queue<T> {
    pub(super) fn new() -> Queue<T> {
        Queue { state: Mutex::new(State { waiting: VecDeque::new(), idle: 0, closed: false }), changed: Condvar::new() }
    }

    /// Puts an item at the end; gives it back when the queue is closed.
    pub(super) fn push(&self, item: T) -> Result<(), T> {
        let mut state = self.lock();
        if state.closed {
            return Err(item);
        }
        state.waiting.push_back(item);
        let wake = state.idle > 0;
        drop(state);
        if wake {
            self.changed.notify_one();
        }
        Ok(())
    }

    /// Takes the first item; waits for one, awake for `awake` and then asleep. None once the queue is closed and empty.
    pub(super) fn pop(&self, awake: Duration) -> Option<T> {
        let mut asleep_from = None;
        loop {
            let mut state = self.lock();
            if let Some(item) = state.waiting.pop_front() {
                return Some(item);
            }
            if state.closed {
                return None;
            }
            if Instant::now() < *asleep_from.get_or_insert_with(|| Instant::now() + awake) {
                drop(state);
                thread::yield_now();
                continue;
            }
            state.idle += 1;
            let mut state = self.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
            state.idle -= 1;
        }
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
