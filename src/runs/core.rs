//! What an opened set of runs is made of: a store, the rules, who waits, and the thread that keeps the time.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::decide::Rules;
use super::job::Touched;
use super::refuse::{self, Refusal};
use super::timers::{self, Timers};
use super::waits::{Topic, Waits};
use crate::host::{LogHook, LogLevel, fork};
use crate::protocol::SensitiveNames;
use crate::store::{Store, StoreError};

pub(crate) struct Core {
    pub(crate) store: Box<dyn Store>,
    pub(crate) rules: Rules,
    pub(crate) sensitive: SensitiveNames,
    pub(crate) require_principal: bool,
    pub(crate) lease_ms: i64,
    pub(crate) waits: Waits,
    pub(crate) timers: Timers,
    pub(crate) log: Option<LogHook>,
    pub(crate) timekeeper: Mutex<Option<JoinHandle<()>>>,
    /// The process that opened the runs: a fork of it has neither their threads nor, perhaps, their locks.
    pub(crate) process: u64,
}

impl Core {
    /// Whether this process is a fork of the one that opened the runs: here they are closed, and can only be forgotten.
    pub(crate) fn is_forked(&self) -> bool {
        self.process != fork::generation()
    }

    /// After a commit: whoever waits for what it changed looks.
    pub(crate) fn committed(self: &Arc<Core>, touched: Vec<Touched>) {
        for touched in touched {
            if let Some(deadline) = touched.deadline {
                self.timers.deadline_in(deadline.saturating_sub(touched.now));
            }
            if touched.news {
                self.waits.ring(self, &Topic::Run(touched.run_id));
            }
            if touched.work {
                self.waits.ring(self, &Topic::Work(touched.agent_id));
            }
        }
    }

    /// What a caller is told of a store's failure; the log is told why.
    pub(crate) fn store_failed(&self, error: &StoreError) -> Refusal {
        if !matches!(error, StoreError::Closed | StoreError::Unsupported(_)) {
            self.tell(LogLevel::Error, "a store failed", &[("error", &error.to_string())]);
        }
        refuse::store_failed(error)
    }

    pub(crate) fn tell(&self, level: LogLevel, message: &str, fields: &[(&str, &str)]) {
        if let Some(log) = &self.log {
            log(level, message, fields);
        }
    }

    /// Ends the work: nothing is accepted any more, what was accepted is finished, whoever waits is told.
    pub(crate) fn close(self: &Arc<Core>) {
        if self.is_forked() {
            return;
        }
        self.timers.stop();
        let timekeeper = self.timekeeper.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The thread may be the one that closes: it cannot wait for itself.
        if let Some(timekeeper) = timekeeper.filter(|_| !timers::is_timekeeper()) {
            let _ = timekeeper.join();
        }
        self.store.close();
        self.waits.ring_all(self);
    }
}
