//! Log records of the core on their way to Python's `logging`. The core may speak on any thread, with or without the GIL, so
//! records queue here, and a thread that holds the GIL anyway hands them on.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use agenthost::host::{LogHook, LogLevel};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// The most records that wait; of more only the number is kept.
const MOST: usize = 1024;

/// The records of one host that wait for the GIL.
#[derive(Default)]
pub(crate) struct LogQueue {
    /// Whether there is anything: cheaper to look at than the queue.
    waiting: AtomicBool,
    records: Mutex<Records>,
}

#[derive(Default)]
struct Records {
    waiting: VecDeque<(LogLevel, String)>,
    lost: usize,
}

impl LogQueue {
    /// What the core calls.
    pub(crate) fn hook(self: &Arc<Self>) -> LogHook {
        let queue = self.clone();
        Arc::new(move |level, message, fields| {
            let fields: String = fields.iter().map(|(name, value)| format!("; {name}: {value}")).collect();
            queue.push(level, format!("{message}{fields}"));
        })
    }

    fn push(&self, level: LogLevel, message: String) {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        if records.waiting.len() < MOST {
            records.waiting.push_back((level, message));
        } else {
            records.lost += 1;
        }
        self.waiting.store(true, Ordering::Release);
    }

    /// Hands the records on. What `logging` raises is shown as unraisable: it is not about the call at hand.
    #[inline]
    pub(crate) fn flush(&self, py: Python<'_>) {
        if self.waiting.load(Ordering::Acquire) {
            self.flush_waiting(py);
        }
    }

    #[cold]
    fn flush_waiting(&self, py: Python<'_>) {
        let records = {
            let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
            self.waiting.store(false, Ordering::Release);
            std::mem::take(&mut *records)
        };
        let lost =
            (records.lost > 0).then(|| (LogLevel::Warn, format!("{} log records were lost: too many waited", records.lost)));
        for (level, message) in records.waiting.into_iter().chain(lost) {
            if let Err(error) = emit(py, level, &message) {
                error.write_unraisable(py, None);
            }
        }
    }
}

/// Gives one record to the logger `agenthost`.
fn emit(py: Python<'_>, level: LogLevel, message: &str) -> PyResult<()> {
    static LOGGER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let logger = LOGGER
        .get_or_try_init(py, || Ok::<_, PyErr>(py.import("logging")?.getattr("getLogger")?.call1(("agenthost",))?.unbind()))?;
    let method = match level {
        LogLevel::Error => "error",
        LogLevel::Warn => "warning",
        LogLevel::Info => "info",
        LogLevel::Debug => "debug",
    };
    logger.bind(py).call_method1(method, ("%s", message)).map(drop)
}
