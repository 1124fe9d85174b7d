//! What the handles, calls and replies of one host share. It outlives the service: a deferred reply may be answered late, and
//! finds that nobody waits any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use slab::Slab;

use super::activity::{Activity, Running};
use super::call::{CallShared, run_hook};
use super::lock::{Mutex, MutexGuard};
use super::log::{Log, LogHook, LogLevel};
use super::open::NoService;
use super::opened::OpenCalls;
use super::{DeferringService, fork};
use crate::dispatch::{Dispatcher, Unanswered};
use crate::protocol::Violation;

/// The shared part of a host.
pub(crate) struct Core {
    pub(super) dispatcher: Dispatcher,
    pub(super) default_timeout: Option<Duration>,
    pub(super) activity: Activity,
    service: Box<dyn DeferringService>,
    log: Log,
    /// The calls that are deferred and not finished.
    deferred: Mutex<Slab<Arc<CallShared>>>,
    /// The calls that are opened and not answered.
    pub(super) open_calls: OpenCalls,
    generation: u64,
}

/// A callback of the host on this thread's stack.
pub(super) struct Callback<'a> {
    core: &'a Core,
    running: Option<Running<'a>>,
}

impl Core {
    pub(super) fn new(
        dispatcher: Dispatcher,
        default_timeout: Option<Duration>,
        service: Box<dyn DeferringService>,
        log: Option<LogHook>,
    ) -> Core {
        static HOSTS: AtomicU64 = AtomicU64::new(1);
        Core {
            dispatcher,
            default_timeout,
            activity: Activity::new(HOSTS.fetch_add(1, Ordering::Relaxed)),
            service,
            log: Log::new(log),
            deferred: Mutex::default(),
            open_calls: OpenCalls::default(),
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
    pub(super) fn enter(&self) -> Option<Callback<'_>> {
        Some(Callback { core: self, running: Some(self.activity.enter()?) })
    }

    /// A callback begins that ends what began before the host was closing.
    pub(super) fn enter_late(&self) -> Callback<'_> {
        Callback { core: self, running: Some(self.activity.enter_late()) }
    }

    /// Keeps a call that is answered later, so that closing finds it.
    pub(super) fn register(&self, call: Arc<CallShared>) -> usize {
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
    pub(super) fn abandon_calls(&self) {
        self.activity.begin_abandoning();
        let hooks = self.open_calls.claim_all();
        if !hooks.is_empty() {
            let _callback = self.enter_late();
            hooks.into_iter().for_each(|hook| run_hook(Some(hook)));
        }
        let calls: Vec<_> = self.deferred().iter().map(|(_, call)| call.clone()).collect();
        for call in calls {
            call.abandon(Unanswered::Closed);
        }
    }

    /// Ends the service and the log hook. Runs once, when no callback runs or will run.
    pub(super) fn destroy(&self) {
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.service.destroy()));
        if ended.is_err() {
            self.log.write(LogLevel::Error, "the service panicked while it was destroyed", &[]);
        }
        self.log.end();
    }

    /// Gives a record to the host's log hook.
    pub(super) fn log(&self, level: LogLevel, message: &str, fields: &[(&str, &str)]) {
        self.log.write(level, message, fields);
    }

    /// Tells which rule an answer breaks.
    #[cold]
    pub(super) fn log_broken(&self, violation: &Violation) {
        let fields = [("path", violation.path()), ("expected", violation.expected())];
        self.log(LogLevel::Error, "the service's answer breaks a rule of the contract", &fields);
    }

    /// Tells that a slot has neither answered nor deferred.
    #[cold]
    pub(super) fn log_unanswered(&self) {
        self.log(LogLevel::Error, "the service returned without an answer", &[]);
    }

    pub(super) fn service(&self, _running: &Callback<'_>) -> &dyn DeferringService {
        &*self.service
    }

    fn deferred(&self) -> MutexGuard<'_, Slab<Arc<CallShared>>> {
        self.deferred.lock()
    }
}

impl Drop for Callback<'_> {
    #[inline]
    fn drop(&mut self) {
        drop(self.running.take());
        self.core.activity.destroy_if_orphaned(|| self.core.is_idle(), || self.core.destroy());
    }
}

/// In a forked child nothing ends: what belongs to the parent is only forgotten.
impl Drop for Core {
    fn drop(&mut self) {
        if self.is_forked() {
            std::mem::forget(std::mem::replace(&mut self.service, Box::new(NoService)));
            self.log.forget();
            std::mem::forget(std::mem::take(&mut self.open_calls));
        }
    }
}
