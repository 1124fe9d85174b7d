//! What the handles, calls and replies of one host share. It outlives the service: a deferred reply may be answered late, and
//! finds that nobody waits any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use slab::Slab;

use super::activity::{Activity, Entry};
use super::fork;
use super::lock::{Mutex, MutexGuard};
use super::log::{Log, LogHook, LogLevel};
use super::open_calls::{AbandonedHook, OpenCalls};
use super::panics::catch;
use crate::dispatch::{Dispatcher, UnavailableReason};
use crate::protocol::Violation;

/// The shared part of a host.
pub(crate) struct HostInner {
    pub(super) dispatcher: Dispatcher,
    pub(super) activity: Activity,
    /// The calls that are opened and not answered.
    pub(super) open_calls: OpenCalls,
    /// Ends the service, once: a service may keep its replies, which keep this.
    end_service: Mutex<Option<EndService>>,
    log: Log,
    /// The calls that are deferred and not finished.
    deferred: Mutex<Slab<Arc<dyn DeferredCall>>>,
    generation: u64,
}

/// Ends a service. It holds the service, and must not panic when it is dropped.
pub(super) type EndService = Box<dyn FnOnce() + Send>;

/// What closing has to know of a deferred call.
pub(super) trait DeferredCall: Send + Sync {
    /// Answers for the library. False: something else has answered.
    fn abandon(&self, why: UnavailableReason) -> bool;
}

/// A callback of the host on this thread's stack. Closing waits for its end, unless it began too late for that.
pub(crate) struct CallbackGuard<'a> {
    pub(super) inner: &'a Arc<HostInner>,
    entry: Option<Entry<'a>>,
}

impl HostInner {
    pub(super) fn new(dispatcher: Dispatcher, end_service: EndService, log: Option<LogHook>) -> HostInner {
        static HOSTS: AtomicU64 = AtomicU64::new(1);
        HostInner {
            dispatcher,
            activity: Activity::new(HOSTS.fetch_add(1, Ordering::Relaxed)),
            open_calls: OpenCalls::default(),
            end_service: Mutex::new(Some(end_service)),
            log: Log::new(log),
            deferred: Mutex::default(),
            generation: fork::generation(),
        }
    }

    /// Whether this process is a fork of the one that made the host.
    #[inline]
    pub(super) fn is_forked(&self) -> bool {
        fork::generation() != self.generation
    }

    /// A callback begins, unless the host is closing.
    #[inline]
    pub(super) fn enter(self: &Arc<Self>) -> Option<CallbackGuard<'_>> {
        Some(CallbackGuard { inner: self, entry: Some(self.activity.enter()?) })
    }

    /// A callback begins that ends what began before the host was closing.
    pub(super) fn enter_finishing(self: &Arc<Self>) -> CallbackGuard<'_> {
        CallbackGuard { inner: self, entry: Some(self.activity.enter_finishing()) }
    }

    /// A callback begins that closing does not wait for: what it belongs to began when the host was closing.
    pub(super) fn enter_uncounted(self: &Arc<Self>) -> CallbackGuard<'_> {
        CallbackGuard { inner: self, entry: Some(self.activity.enter_uncounted()) }
    }

    /// Logs why a service failed.
    #[cold]
    pub(crate) fn log_failure(self: &Arc<Self>, cause: &str, fields: &[(&str, &str)]) {
        self.enter_finishing().log(LogLevel::Error, cause, fields);
    }

    /// Keeps a call that is answered later, so that closing finds it.
    pub(super) fn register(&self, call: Arc<dyn DeferredCall>) -> usize {
        self.deferred().insert(call)
    }

    /// The call is finished.
    pub(super) fn unregister(&self, key: usize) {
        drop(self.deferred().try_remove(key));
        self.activity.changed();
    }

    /// Whether no call is deferred or open.
    pub(super) fn is_idle(&self) -> bool {
        self.deferred().is_empty() && self.open_calls.is_empty()
    }

    /// Answers every deferred or open call `unavailable`.
    pub(super) fn abandon_calls(self: &Arc<Self>) {
        let callback = self.enter_finishing();
        self.activity.begin_abandoning();
        for hook in self.open_calls.claim_all() {
            callback.run_hook(hook);
        }
        let calls: Vec<_> = self.deferred().iter().map(|(_, call)| call.clone()).collect();
        for call in calls {
            call.abandon(UnavailableReason::Closed);
        }
    }

    /// Ends the service and the log hook. Runs once, when no callback runs or will run. Never panics.
    pub(super) fn destroy(&self) {
        let end_service = self.end_service.lock().take();
        if let Err(panic) = catch(|| end_service.map(|end| end())) {
            self.log.write(LogLevel::Error, "the service panicked while it was destroyed", &[("panic", &panic)]);
        }
        self.log.end();
    }

    fn deferred(&self) -> MutexGuard<'_, Slab<Arc<dyn DeferredCall>>> {
        self.deferred.lock()
    }
}

impl CallbackGuard<'_> {
    /// Gives a record to the host's log hook.
    pub(super) fn log(&self, level: LogLevel, message: &str, fields: &[(&str, &str)]) {
        if self.entry.as_ref().is_some_and(Entry::is_counted) {
            self.inner.log.write(level, message, fields);
        } else if let entry = self.inner.activity.enter_finishing()
            && entry.is_counted()
        {
            self.inner.log.write(level, message, fields);
        }
    }

    /// Logs which rule an answer breaks.
    #[cold]
    pub(super) fn log_broken(&self, violation: &Violation) {
        let fields = [("path", violation.path()), ("expected", violation.expected())];
        self.log(LogLevel::Error, "the service's answer breaks a rule of the contract", &fields);
    }

    /// Logs that a slot has neither answered nor deferred.
    #[cold]
    pub(super) fn log_unanswered(&self) {
        self.log(LogLevel::Error, "the service returned without an answer", &[]);
    }

    /// Runs code of the application's. When it panics, `panicked` is logged, with what the panic says.
    #[inline]
    pub(super) fn run<T>(&self, panicked: &str, code: impl FnOnce() -> T) -> Option<T> {
        catch(code).map_err(|panic| self.log(LogLevel::Error, panicked, &[("panic", &panic)])).ok()
    }

    /// Runs the hook of a call that was given up, and drops it.
    pub(super) fn run_hook(&self, hook: AbandonedHook) {
        self.run("the hook of an abandoned call panicked", move || hook());
    }

    /// Drops a hook that does not run.
    pub(super) fn drop_hook(&self, hook: Option<AbandonedHook>) {
        self.run("the hook of an abandoned call panicked while it was dropped", move || drop(hook));
    }
}

impl Drop for CallbackGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        drop(self.entry.take());
        self.inner.activity.destroy_if_orphaned(|| self.inner.is_idle(), || self.inner.destroy());
    }
}

/// In a forked child nothing ends: what belongs to the parent is only forgotten.
impl Drop for HostInner {
    fn drop(&mut self) {
        if self.is_forked() {
            std::mem::forget(std::mem::take(&mut self.end_service));
            self.log.forget();
            std::mem::forget(std::mem::take(&mut self.open_calls));
        }
    }
}
