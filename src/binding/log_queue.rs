//! Log records on their way to a language's own logging. The core may log on any thread, also on one that must not run the language's
//! code; so records queue, and a thread that may write them takes them.

use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::host::{LogHook, LogLevel};

/// The most records that wait; of more only the number is kept.
pub const MAX_QUEUED_RECORDS: usize = 1024;

/// What a log hook was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRecord {
    /// How much it matters.
    pub level: LogLevel,
    /// For people.
    pub message: String,
    /// Names of members and causes of failures, never a request's or answer's values.
    pub fields: Vec<(String, String)>,
}

impl LogRecord {
    /// A copy of what a log hook is given.
    pub fn new(level: LogLevel, message: &str, fields: &[(&str, &str)]) -> LogRecord {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        LogRecord { level, message: message.to_owned(), fields }
    }

    /// The message and the fields in one line.
    pub fn line(&self) -> String {
        let mut line = self.message.clone();
        for (name, value) in &self.fields {
            // A string takes everything.
            let _ = write!(line, "; {name}: {value}");
        }
        line
    }
}

/// The records of one host that wait to be written.
#[derive(Debug, Default)]
pub struct LogQueue {
    /// Whether there is anything: cheaper to see than the queue.
    waiting: AtomicBool,
    records: Mutex<Records>,
}

#[derive(Debug, Default)]
struct Records {
    waiting: Vec<LogRecord>,
    lost: usize,
}

impl LogQueue {
    /// A hook that puts records into the queue.
    pub fn hook(self: &Arc<Self>) -> LogHook {
        let queue = self.clone();
        Arc::new(move |level, message, fields| queue.push(LogRecord::new(level, message, fields)))
    }

    /// Puts a record in.
    pub fn push(&self, record: LogRecord) {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        if records.waiting.len() < MAX_QUEUED_RECORDS {
            records.waiting.push(record);
        } else {
            records.lost += 1;
        }
        self.waiting.store(true, Ordering::Release);
    }

    /// Whether there is nothing to write.
    #[inline]
    pub fn is_empty(&self) -> bool {
        !self.waiting.load(Ordering::Acquire)
    }

    /// Takes the records out, in their order. When some were lost the last one says how many.
    pub fn take_all(&self) -> Vec<LogRecord> {
        let Records { mut waiting, lost } = {
            let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
            self.waiting.store(false, Ordering::Release);
            std::mem::take(&mut *records)
        };
        if lost > 0 {
            waiting.push(LogRecord::new(LogLevel::Warn, &format!("{lost} log records were lost: too many waited"), &[]));
        }
        waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_out_in_order_and_once() {
        let queue = Arc::new(LogQueue::default());
        let hook = queue.hook();
        assert!(queue.is_empty() && queue.take_all().is_empty());
        hook(LogLevel::Error, "no disk", &[("path", "/x"), ("cause", "gone")]);
        hook(LogLevel::Info, "closed", &[]);
        assert!(!queue.is_empty());
        let records = queue.take_all();
        assert_eq!(records.iter().map(LogRecord::line).collect::<Vec<_>>(), ["no disk; path: /x; cause: gone", "closed"]);
        assert_eq!(records[0].level, LogLevel::Error);
        assert!(queue.is_empty() && queue.take_all().is_empty());
    }

    #[test]
    fn of_too_many_the_number_is_kept() {
        let queue = Arc::new(LogQueue::default());
        for _ in 0..MAX_QUEUED_RECORDS + 3 {
            queue.push(LogRecord::new(LogLevel::Info, "much", &[]));
        }
        let records = queue.take_all();
        assert_eq!(records.len(), MAX_QUEUED_RECORDS + 1);
        assert_eq!(records.last().map(LogRecord::line).as_deref(), Some("3 log records were lost: too many waited"));
        assert!(queue.take_all().is_empty());
    }
}
