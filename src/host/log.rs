//! Where a host logs for its operator what its callers may not learn.

use std::sync::Arc;

use super::lock::RwLock;
use super::panics::catch;

/// How much a log record matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// A service failed, or broke a rule of the contract: a caller got `internal`.
    Error,
    /// Something that should not happen, and did no harm.
    Warn,
    /// The life of the host.
    Info,
    /// For whoever looks for a fault.
    Debug,
}

impl LogLevel {
    /// All of them, what matters most first. Language bindings number them in this order, from 1.
    pub const ALL: [LogLevel; 4] = [LogLevel::Error, LogLevel::Warn, LogLevel::Info, LogLevel::Debug];

    /// What the level is called everywhere: `error`, `warn`, `info` or `debug`.
    pub const fn name(self) -> &'static str {
        match self {
            LogLevel::Error => "error",
            LogLevel::Warn => "warn",
            LogLevel::Info => "info",
            LogLevel::Debug => "debug",
        }
    }
}

/// A log hook: level, message, and fields as name and value. No library lock is held while it runs; it runs on whatever
/// thread has something to say. It is given names of members and causes of failures, never a request's or answer's values. A host and
/// the durable runs behind it can share one.
pub type LogHook = Arc<dyn Fn(LogLevel, &str, &[(&str, &str)]) + Send + Sync>;

/// The hook of one host, until the host is destroyed.
pub(super) struct Log {
    hook: RwLock<Option<LogHook>>,
}

impl Log {
    pub(super) fn new(hook: Option<LogHook>) -> Log {
        Log { hook: RwLock::new(hook) }
    }

    /// Gives a record to the hook. The caller is counted as a callback of the host.
    pub(super) fn write(&self, level: LogLevel, message: &str, fields: &[(&str, &str)]) {
        if let Some(hook) = self.hook.get() {
            // A hook that panics has no other place to say so.
            let _ = catch(|| hook(level, message, fields));
        }
    }

    /// Forgets the hook without ending it.
    pub(super) fn forget(&mut self) {
        std::mem::forget(self.hook.get_mut().take());
    }

    /// Drops the hook: it is not called any more.
    pub(super) fn end(&self) {
        let hook = self.hook.replace(None);
        // As above: the log is what ends here.
        let _ = catch(|| drop(hook));
    }
}
