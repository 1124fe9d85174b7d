//! What hosts tell their logs, on its way to JavaScript.

use agenthost::host::LogLevel;

/// A log record: level, message, fields.
pub(crate) type Record = (&'static str, String, Vec<(String, String)>);

/// A record that outlives the call of the log hook.
pub(crate) fn record(level: LogLevel, message: &str, fields: &[(&str, &str)]) -> Record {
    let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    (level_name(level), message.to_owned(), fields)
}

fn level_name(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Error => "error",
        LogLevel::Warn => "warn",
        LogLevel::Info => "info",
        LogLevel::Debug => "debug",
    }
}
