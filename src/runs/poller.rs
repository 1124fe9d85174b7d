//! One wait: it polls the store until it finds what it waits for, or its time is up. It is registered before it polls, and polls again
//! after every commit that could matter, so nothing is missed, and nothing is polled while nothing happens.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::executor::Executor;
use super::promise::{Promise, ResultFuture, RunFuture};
use super::refuse::{self, Refusal};
use super::timers::Timers;
use super::waiters::{Topic, Waiter, WaiterId, Waiters};
use super::work::WorkResult;
use crate::store::Reader;

/// What one poll found.
pub(crate) enum Polled<T> {
    /// The wait is over.
    Ready(T),
    /// The wait goes on; it is over with `otherwise` when its time is up. `again_ms` from now something may be there by itself.
    NotReady { otherwise: T, again_ms: Option<i64> },
}

/// What a wait needs: where it reads, who has it polled, and when.
#[derive(Clone)]
pub(crate) struct Poller {
    pub(crate) executor: Arc<Executor>,
    pub(crate) waiters: Arc<Waiters>,
    pub(crate) timers: Arc<Timers>,
}

impl Poller {
    /// Waits, at most `timeout`, until `find` finds something. It polls at once, and then when something happens to `topics`.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        topics: Vec<Topic>,
        timeout: Duration,
        find: impl Fn(&mut dyn Reader) -> WorkResult<Polled<T>> + Send + Sync + 'static,
    ) -> ResultFuture<T> {
        const FAR: Duration = Duration::from_secs(365 * 24 * 3600);
        if self.executor.is_forked() {
            return self.executor.closed();
        }
        let (promise, future) = RunFuture::pair(self.executor.log());
        let until = Instant::now() + timeout.min(FAR);
        let state = Mutex::new(State { promise: Some(promise), id: None, polling: false, again: false });
        let wait = Arc::new(Wait { poller: self.clone(), topics, until, find, state });
        if !timeout.is_zero() {
            let waiter: Arc<dyn Waiter> = wait.clone();
            let id = self.waiters.add(&wait.topics, waiter.clone());
            wait.state().id = Some(id);
            self.timers.poll_at(until, &waiter);
        }
        wait.poll();
        future
    }
}

struct Wait<T, F> {
    poller: Poller,
    topics: Vec<Topic>,
    until: Instant,
    find: F,
    state: Mutex<State<T>>,
}

struct State<T> {
    /// None once the wait is over.
    promise: Option<Promise<T>>,
    /// None while it is not registered.
    id: Option<WaiterId>,
    polling: bool,
    /// Something happened during the poll.
    again: bool,
}

impl<T, F> Wait<T, F>
where
    T: Send + 'static,
    F: Fn(&mut dyn Reader) -> WorkResult<Polled<T>> + Send + Sync + 'static,
{
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, result: Result<T, Refusal>) {
        let (promise, id) = {
            let mut state = self.state();
            (state.promise.take(), state.id.take())
        };
        if let Some(id) = id {
            self.poller.waiters.remove(&self.topics, id);
        }
        if let Some(promise) = promise {
            promise.resolve(result);
        }
    }

    /// Whether a poll is to begin: not when the wait is over, and not while one is under way, which is then repeated.
    fn begin_poll(&self) -> bool {
        let mut state = self.state();
        let Some(promise) = &state.promise else { return false };
        if promise.is_abandoned() {
            drop(state);
            self.end(Err(refuse::given_up()));
            return false;
        }
        state.again = state.polling;
        !std::mem::replace(&mut state.polling, true)
    }

    /// Polls until nothing happened meanwhile. A store may be done before it returns: a loop, so that no number of polls fills the
    /// stack.
    fn poll_on(self: Arc<Self>) {
        let mut wait = self;
        loop {
            let reading = wait.clone();
            let polled = wait.poller.executor.read(move |reader| (reading.find)(reader));
            let go_on = |wait: Arc<Self>, polled| {
                if wait.take_in(polled) {
                    wait.poll_on();
                }
            };
            let Some((again, polled)) = polled.then_or_take(wait, go_on) else { return };
            if !again.take_in(polled) {
                return;
            }
            wait = again;
        }
    }

    /// Takes what a poll found. Whether to poll again, as something happened meanwhile.
    fn take_in(self: &Arc<Self>, polled: Result<Polled<T>, Refusal>) -> bool {
        let (otherwise, again_ms) = match polled {
            Err(refusal) => {
                self.end(Err(refusal));
                return false;
            }
            Ok(Polled::Ready(found)) => {
                self.end(Ok(found));
                return false;
            }
            Ok(Polled::NotReady { otherwise, again_ms }) => (otherwise, again_ms),
        };
        let now = Instant::now();
        {
            let mut state = self.state();
            if std::mem::take(&mut state.again) {
                return true;
            }
            state.polling = false;
        }
        if now >= self.until {
            self.end(Ok(otherwise));
        } else if let Some(again_ms) = again_ms {
            let at = now + Duration::from_millis(u64::try_from(again_ms).unwrap_or(0));
            if at < self.until {
                let waiter: Arc<dyn Waiter> = self.clone();
                self.poller.timers.poll_at(at, &waiter);
            }
        }
        false
    }
}

impl<T, F> Waiter for Wait<T, F>
where
    T: Send + 'static,
    F: Fn(&mut dyn Reader) -> WorkResult<Polled<T>> + Send + Sync + 'static,
{
    fn poll(self: Arc<Self>) {
        if self.begin_poll() {
            self.poll_on();
        }
    }
}

#[cfg(test)]
mod tests;
