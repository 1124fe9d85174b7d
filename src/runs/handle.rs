//! Opened runs: the parts that they are made of, and their end.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::client::ClientApi;
use super::executor::Executor;
use super::poller::Poller;
use super::promise::{self, ResultFuture, RunFuture};
use super::refuse::Refusal;
use crate::protocol::{HostError, SensitiveNames};
use crate::service::{Answer, Call, Request};

/// Opened runs: the service of a host, and the side of workers and operators. Clones are handles of the same; the last one that
/// is dropped closes it.
///
/// Every call returns at once with a [`RunFuture`]: its outcome comes when it is committed (and on disk, where there is one).
/// Refusals are [`HostError`]s, as a client would get them; [`Reason::of`](super::Reason::of) reads the reason of a conflict.
#[derive(Clone)]
pub struct Runs {
    handle: Arc<Handle>,
}

/// What all handles share; its end is the end of the work.
struct Handle {
    parts: Arc<Parts>,
}

/// What opened runs are made of.
pub(crate) struct Parts {
    pub(crate) client: Arc<ClientApi>,
    pub(crate) poller: Poller,
    pub(crate) sensitive: SensitiveNames,
    /// How long a lease is, unless the claim says otherwise.
    pub(crate) lease_ms: i64,
    pub(crate) end: End,
}

/// How far the end of the work has come.
#[derive(Default)]
pub(crate) struct End {
    stage: Mutex<Stage>,
    changed: Condvar,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Open,
    Closing,
    Closed,
}

impl End {
    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the caller is the first, who has to do it.
    fn begin(&self) -> bool {
        let mut stage = self.stage();
        let first = *stage == Stage::Open;
        if first {
            *stage = Stage::Closing;
        }
        first
    }

    fn finish(&self) {
        *self.stage() = Stage::Closed;
        self.changed.notify_all();
    }

    fn wait(&self) {
        let stage = self.changed.wait_while(self.stage(), |stage| *stage != Stage::Closed);
        drop(stage.unwrap_or_else(PoisonError::into_inner));
    }

    /// Whether it has come in time.
    fn wait_timeout(&self, timeout: Duration) -> bool {
        let waited = self.changed.wait_timeout_while(self.stage(), timeout, |stage| *stage != Stage::Closed);
        *waited.unwrap_or_else(PoisonError::into_inner).0 == Stage::Closed
    }
}

impl Parts {
    /// Ends the work: nothing is accepted any more, what was accepted is finished, every wait ends.
    fn close(&self) {
        if self.poller.executor.is_forked() {
            return;
        }
        if self.end.begin() { self.finish() } else { self.end.wait() }
    }

    fn finish(&self) {
        let Poller { executor, waiters, timers } = &self.poller;
        timers.stop();
        executor.close();
        waiters.notify_all();
        self.end.finish();
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let parts = self.parts.clone();
        if parts.poller.executor.is_forked() {
            // What its threads and the store hold is the parent's: it is left as it is.
            std::mem::forget(parts);
        } else if *parts.end.stage() != Stage::Open {
            // Done, or the thread does it that `close_within` began.
        } else if promise::in_callback() {
            // The store's own thread cannot wait for itself.
            let _ = std::thread::Builder::new().name("agenthost-close".into()).spawn(move || parts.close());
        } else {
            parts.close();
        }
    }
}

impl Runs {
    pub(crate) fn of(parts: Parts) -> Runs {
        Runs { handle: Arc::new(Handle { parts: Arc::new(parts) }) }
    }

    pub(crate) fn parts(&self) -> &Parts {
        &self.handle.parts
    }

    pub(crate) fn executor(&self) -> &Arc<Executor> {
        &self.parts().poller.executor
    }

    /// Begins a call, unless it is refused at once.
    pub(crate) fn begin<T: Send + 'static>(&self, begin: impl FnOnce() -> Result<ResultFuture<T>, Refusal>) -> ResultFuture<T> {
        begin().unwrap_or_else(|refusal| RunFuture::ready_with(Err(refusal), self.executor().log().clone()))
    }

    /// Serves a client's call.
    pub fn serve(&self, call: &Call<'_>, request: &Request<'_>) -> RunFuture<Result<Answer<'static>, HostError<'static>>> {
        self.parts().client.serve(call, request)
    }

    /// Whether this thread runs a callback of [`RunFuture::then`]: it must not wait for these runs.
    #[cfg(feature = "capi")]
    pub(crate) fn in_callback() -> bool {
        promise::in_callback()
    }

    /// Finishes what was accepted, ends every wait with `unavailable`, and refuses everything from then on. Not from a callback
    /// of [`RunFuture::then`].
    pub fn close(&self) {
        self.parts().close();
    }

    /// Begins the same, and waits at most `timeout` for it; whether it is done. What was accepted is finished all the same, by threads
    /// of these runs, and neither [`close_within`](Runs::close_within) again nor the drop of the last handle waits longer: for an exit
    /// that must not hang on a file that another process keeps. (Where no thread is to be had, it takes as long as [`Runs::close`].)
    /// In a callback of [`RunFuture::then`] it does not wait.
    pub fn close_within(&self, timeout: Duration) -> bool {
        let parts = self.handle.parts.clone();
        if parts.poller.executor.is_forked() {
            return true;
        }
        if parts.end.begin() {
            let closing = parts.clone();
            let thread = std::thread::Builder::new().name("agenthost-close".into()).spawn(move || closing.finish());
            if thread.is_err() {
                parts.finish();
            }
        }
        parts.end.wait_timeout(if promise::in_callback() { Duration::ZERO } else { timeout })
    }
}
