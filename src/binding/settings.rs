//! Options as a language has them - numbers, strings, nothing where the default is wanted - and what the core makes of them.

use std::time::Duration;

use crate::dispatch::{DEFAULT_MAX_MESSAGE_BYTES, Dispatcher};
use crate::host::{HostOptions, LogHook};
use crate::protocol::SensitiveNames;
use crate::runs::RunsOptions;

/// A setting that is refused: which, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting}: {expected}")]
pub struct BadSetting {
    /// The setting's name, as it was given.
    pub setting: String,
    /// What was expected.
    pub expected: String,
}

/// What a host is told when it is made. What is absent has the core's default.
#[derive(Clone, Debug, Default)]
pub struct HostSettings {
    /// The most bytes of a message and of a response.
    pub max_message_bytes: Option<usize>,
    /// Names that are sensitive beside the built-in ones. One list holds for a host and for the durable runs behind it.
    pub sensitive_names: Vec<String>,
    /// Whether a call without a principal is `unauthorized`.
    pub require_principal: bool,
    /// How long a synchronous dispatch waits for a deferred answer; for ever when there is none.
    pub default_timeout: Option<Duration>,
}

/// What a host of durable runs is told when it is opened. What is absent has the core's default.
#[derive(Clone, Debug, Default)]
pub struct DurableSettings {
    /// What its host is told.
    pub host: HostSettings,
    /// How long a worker may be silent: 1 ms to 24 h.
    pub lease: Option<Duration>,
    /// How often a run may be taken over from a silent worker.
    pub max_attempts: Option<u64>,
    /// How long an idempotency key is remembered.
    pub key_ttl: Option<Duration>,
    /// Principals that may do everything with every run, beside its owner and calls without a principal.
    pub operators: Vec<String>,
}

impl HostSettings {
    /// The options of a host.
    ///
    /// # Errors
    /// See [`BadSetting`].
    pub fn options(&self, log: Option<LogHook>) -> Result<HostOptions, BadSetting> {
        let dispatcher = Dispatcher {
            max_message_bytes: self.max_message_bytes.unwrap_or(DEFAULT_MAX_MESSAGE_BYTES),
            sensitive_names: self.names()?,
            require_principal: self.require_principal,
        };
        Ok(HostOptions { dispatcher, default_timeout: self.default_timeout, log })
    }

    fn names(&self) -> Result<SensitiveNames, BadSetting> {
        SensitiveNames::with(&self.sensitive_names).map_err(|error| bad("sensitive_names", error.to_string()))
    }
}

impl DurableSettings {
    /// The options of runs. Ranges that are the runs' own are checked when they are opened.
    ///
    /// # Errors
    /// See [`BadSetting`].
    pub fn runs_options(&self, log: Option<LogHook>) -> Result<RunsOptions, BadSetting> {
        let default = RunsOptions::default();
        Ok(RunsOptions {
            lease: self.lease.unwrap_or(default.lease),
            max_attempts: self.max_attempts.unwrap_or(default.max_attempts),
            key_ttl: self.key_ttl.unwrap_or(default.key_ttl),
            require_principal: self.host.require_principal,
            sensitive_names: self.host.names()?,
            operators: self.operators.clone(),
            access: None,
            log,
        })
    }
}

/// A time that is given in milliseconds.
///
/// # Errors
/// See [`BadSetting`]: it is negative, no number, or more than a clock can count.
pub fn milliseconds(setting: &str, given: f64) -> Result<Duration, BadSetting> {
    time(setting, given / 1000.0, "milliseconds")
}

/// A time that is given in seconds.
///
/// # Errors
/// As [`milliseconds`].
pub fn seconds(setting: &str, given: f64) -> Result<Duration, BadSetting> {
    time(setting, given, "seconds")
}

fn time(setting: &str, seconds: f64, unit: &str) -> Result<Duration, BadSetting> {
    Duration::try_from_secs_f64(seconds).map_err(|_| bad(setting, format!("expected {unit} that a clock can count")))
}

fn bad(setting: &str, expected: String) -> BadSetting {
    BadSetting { setting: setting.to_owned(), expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_absent_is_the_default_and_one_list_of_names_holds_for_both() {
        let options = HostSettings::default().options(None).unwrap();
        assert_eq!((options.dispatcher.max_message_bytes, options.default_timeout), (DEFAULT_MAX_MESSAGE_BYTES, None));
        let (runs, default) = (DurableSettings::default().runs_options(None).unwrap(), RunsOptions::default());
        assert_eq!((runs.lease, runs.max_attempts, runs.key_ttl), (default.lease, default.max_attempts, default.key_ttl));

        let host = HostSettings {
            max_message_bytes: Some(9),
            sensitive_names: vec!["pin".into()],
            require_principal: true,
            default_timeout: Some(Duration::from_secs(1)),
        };
        let lease = Some(Duration::from_millis(5));
        let settings =
            DurableSettings { host, lease, max_attempts: Some(2), key_ttl: Some(Duration::from_secs(3)), operators: vec![] };
        let options = settings.host.options(None).unwrap();
        assert_eq!((options.dispatcher.max_message_bytes, options.default_timeout), (9, Some(Duration::from_secs(1))));
        let runs = settings.runs_options(None).unwrap();
        assert_eq!((runs.lease, runs.max_attempts, runs.key_ttl), (Duration::from_millis(5), 2, Duration::from_secs(3)));
        assert!(options.dispatcher.require_principal && runs.require_principal);
        assert!(options.dispatcher.sensitive_names.contains("card_pin") && runs.sensitive_names.contains("card_pin"));
    }

    #[test]
    fn a_refusal_names_the_setting_and_says_what_was_expected() {
        let settings = HostSettings { sensitive_names: vec!["--".into()], ..HostSettings::default() };
        let Err(refused) = settings.options(None) else { panic!("a name without a letter") };
        assert!(refused.to_string().starts_with("sensitive_names: "), "{refused}");
        for given in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
            assert_eq!(
                milliseconds("leaseMs", given).unwrap_err().to_string(),
                "leaseMs: expected milliseconds that a clock can count"
            );
            assert_eq!(seconds("lease", given).unwrap_err().to_string(), "lease: expected seconds that a clock can count");
        }
        assert_eq!(milliseconds("leaseMs", 1.5), Ok(Duration::from_micros(1500)));
        assert_eq!(seconds("lease", 1.5), Ok(Duration::from_millis(1500)));
    }
}
