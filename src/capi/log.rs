//! Log hooks.

use std::ffi::c_void;
use std::sync::Arc;

use super::callback::{self, agenthost_destroy};
use super::constants::Constant;
use super::text::{agenthost_pair, agenthost_pairs, agenthost_str};
use super::values_to_c;
use crate::host::{LogHook, LogLevel};

/// Log level: a service failed or broke a rule of the contract, and a caller got `internal`.
pub const AGENTHOST_LOG_ERROR: i32 = 1;
/// Log level: something that should not happen, and did no harm.
pub const AGENTHOST_LOG_WARN: i32 = 2;
/// Log level: the life of the host.
pub const AGENTHOST_LOG_INFO: i32 = 3;
/// Log level: for finding a fault.
pub const AGENTHOST_LOG_DEBUG: i32 = 4;

/// A log hook: level (`AGENTHOST_LOG_...`), message and fields, borrowed for the call. Runs on any thread that has something
/// to say, with no lock of the library held. It gets names of members and causes of failures, never the values of requests
/// and answers.
pub type agenthost_log =
    Option<unsafe extern "C-unwind" fn(data: *mut c_void, level: i32, message: agenthost_str, fields: agenthost_pairs)>;

/// C's log hook, whose data ends with it.
struct LogCallback {
    log: agenthost_log,
    data: *mut c_void,
    destroy: agenthost_destroy,
}

// SAFETY: the header says that the hook runs on any thread, any number at once.
unsafe impl Send for LogCallback {}
// SAFETY: as above.
unsafe impl Sync for LogCallback {}

/// C's log hook as the core has it. None when there is nothing to call and nothing to end.
pub(super) fn hook(log: agenthost_log, data: *mut c_void, destroy: agenthost_destroy) -> Option<LogHook> {
    let callback = (log.is_some() || destroy.is_some()).then_some(LogCallback { log, data, destroy })?;
    Some(Arc::new(move |level, message, fields| callback.log(level, message, fields)))
}

impl LogCallback {
    fn log(&self, level: LogLevel, message: &str, fields: &[(&str, &str)]) {
        let Some(log) = self.log else { return };
        let pair = |&(key, value): &(&str, &str)| agenthost_pair { key: values_to_c::text(key), value: values_to_c::text(value) };
        let pairs: Vec<_> = fields.iter().map(pair).collect();
        let fields = agenthost_pairs { items: pairs.as_ptr(), count: pairs.len() };
        // SAFETY: the data lives until this struct ends, what is handed out until the hook returns.
        callback::run(|| unsafe { log(self.data, level.to_number(), values_to_c::text(message), fields) });
    }
}

impl Drop for LogCallback {
    fn drop(&mut self) {
        // SAFETY: the hook is dropped once, when it does not run and will not run.
        unsafe { callback::destroy(self.destroy, self.data) };
    }
}
