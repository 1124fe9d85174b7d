//! Opening runs: by URL, or over a store.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::access::{AccessHook, AccessRule};
use super::client::ClientApi;
use super::deadlines;
use super::decide::Rules;
use super::executor::{Executor, OnCommit};
use super::handle::{End, Parts, Runs};
use super::limits::{key_ttl_ms, lease_ms};
use super::log::Log;
use super::poller::Poller;
use super::timers::{TimedTasks, Timers};
use super::waiters::{Topic, Waiters};
use super::work::Notification;
use crate::host::LogHook;
use crate::protocol::SensitiveNames;
use crate::store::{MemoryStore, Store, StoreError, system_clock};

/// What a deployment can set. The default is what the documentation says.
#[derive(Clone)]
pub struct RunsOptions {
    /// How long a worker may be silent before somebody else may take over, unless its claim says otherwise: 1 ms to 24 h,
    /// default 30 s.
    pub lease: Duration,
    /// How often a run may be taken over from a silent worker before it fails with `too many attempts`; default 10. A resume
    /// begins anew.
    pub max_attempts: u64,
    /// How long an idempotency key is remembered from its request on: 1 ms or more, default 24 h. A key that is forgotten at once
    /// would let a retry do its work twice.
    pub key_ttl: Duration,
    /// Whether a client's call without a principal is `unauthorized`.
    pub require_principal: bool,
    /// Names that are refused in metadata, beside the built-in ones.
    pub sensitive_names: SensitiveNames,
    /// Principals that may do everything with every run, beside its owner.
    pub operators: Vec<String>,
    /// Replaces the rule of who may do what with a run; it must be quick and must not call these runs.
    pub access: Option<AccessHook>,
    /// Where causes of failures are logged that callers do not learn.
    pub log: Option<LogHook>,
}

impl Default for RunsOptions {
    fn default() -> RunsOptions {
        RunsOptions {
            lease: Duration::from_secs(30),
            max_attempts: 10,
            key_ttl: Duration::from_secs(24 * 3600),
            require_principal: false,
            sensitive_names: SensitiveNames::built_in(),
            operators: Vec::new(),
            access: None,
            log: None,
        }
    }
}

/// Why runs could not be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The URL names no store that this library has.
    #[error("{0}")]
    Url(String),
    /// An option is out of its range.
    #[error("{0}")]
    Option(&'static str),
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl OpenError {
    /// What was refused: `url`, `option` or `store`.
    pub const fn refused(&self) -> &'static str {
        match self {
            OpenError::Url(_) => "url",
            OpenError::Option(_) => "option",
            OpenError::Store(_) => "store",
        }
    }
}

impl Runs {
    /// Opens runs: `memory:` for runs that end with the process, `sqlite:path` for a file, which is made where there is none.
    /// What is overdue is ended before this returns.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(url: &str, options: RunsOptions) -> Result<Runs, OpenError> {
        let store: Box<dyn Store> = match url.split_once(':') {
            Some(("memory", "")) => Box::new(MemoryStore::new(system_clock())),
            Some(("memory", _)) => return Err(OpenError::Url("expected \"memory:\" and nothing behind it".into())),
            Some(("sqlite", "")) => {
                return Err(OpenError::Url("expected a path behind \"sqlite:\", as in \"sqlite:runs.db\"".into()));
            }
            // Elsewhere "//" begins a host's name, and "///" stands before a relative path: here both would be the root's.
            Some(("sqlite", path)) if path.starts_with("//") => {
                return Err(OpenError::Url(
                    "expected a path behind \"sqlite:\", found \"//\": write \"sqlite:runs.db\" or \"sqlite:/var/lib/runs.db\""
                        .into(),
                ));
            }
            Some(("sqlite", path)) => open_sqlite(PathBuf::from(path))?,
            // Of other URLs only the scheme is shown: they may hold a password.
            Some((scheme, _)) => {
                return Err(OpenError::Url(format!(
                    "expected \"memory:\" or \"sqlite:path\", found a URL \"{}:\"",
                    scheme.escape_debug()
                )));
            }
            None => return Err(OpenError::Url("expected \"memory:\" or \"sqlite:path\", found no scheme before a colon".into())),
        };
        Runs::over(store, options)
    }

    /// Opens runs over a store.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn over(store: Box<dyn Store>, options: RunsOptions) -> Result<Runs, OpenError> {
        let RunsOptions { lease, max_attempts, key_ttl, require_principal, sensitive_names, operators, access, log } = options;
        let lease_ms = lease_ms(lease).ok_or(OpenError::Option("lease: expected 1 ms to 24 hours"))?;
        let key_ttl_ms = key_ttl_ms(key_ttl).ok_or(OpenError::Option("key_ttl: expected 1 ms or more"))?;
        let access = AccessRule::new(access, operators);
        let rules = Rules { max_takeovers: max_attempts, key_ttl_ms, access };
        let log = Log::new(log);
        let (waiters, timers) = (Arc::new(Waiters::default()), Arc::new(Timers::new()));
        let executor = Arc::new(Executor::new(store, rules, log.clone(), notifier(&waiters, &timers)));
        let client = ClientApi { executor: executor.clone(), sensitive: sensitive_names.clone(), require_principal };
        let poller = Poller { executor, waiters, timers };
        let parts =
            Parts { client: Arc::new(client), poller: poller.clone(), sensitive: sensitive_names, lease_ms, end: End::default() };
        // From here on what fails is closed again.
        let runs = Runs::of(parts);
        if let Err(refusal) = deadlines::end_all(&poller.executor, &poller.timers).wait() {
            return Err(StoreError::Unavailable(refusal.message.into_owned()).into());
        }
        let waiters = Arc::downgrade(&poller.waiters);
        poller.executor.watch(move || {
            if let Some(waiters) = waiters.upgrade() {
                waiters.notify_all();
            }
        });
        let timers = poller.timers.clone();
        timers.start(log, poller).map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(runs)
    }
}

/// Notifies whoever waits for what a commit has changed.
fn notifier(waiters: &Arc<Waiters>, timers: &Arc<Timers>) -> OnCommit {
    let (waiters, timers) = (waiters.clone(), timers.clone());
    Box::new(move |Notification { run_id, agent_id, news, work, approvals, timer, now }| {
        if let Some(timer) = timer {
            timers.due_in(timer.saturating_sub(now));
        }
        if news {
            waiters.notify(&Topic::Run(run_id));
        }
        if approvals {
            waiters.notify(&Topic::Approvals);
        }
        if work {
            waiters.notify(&Topic::Work(agent_id));
        }
    })
}

impl TimedTasks for Poller {
    fn run_due(&self) {
        deadlines::end_some(&self.executor, &self.timers);
    }

    fn poll_all(&self) {
        self.waiters.notify_all();
    }
}

#[cfg(feature = "sqlite")]
fn open_sqlite(path: PathBuf) -> Result<Box<dyn Store>, OpenError> {
    Ok(Box::new(crate::store::SqliteStore::open(&path, system_clock())?))
}

#[cfg(not(feature = "sqlite"))]
fn open_sqlite(_path: PathBuf) -> Result<Box<dyn Store>, OpenError> {
    Err(OpenError::Url("this build has no SQLite: the feature \"sqlite\" is off".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_that_names_no_store_says_what_was_expected_and_shows_no_password() {
        for (url, expected) in [
            ("", "found no scheme before a colon"),
            ("runs.db", "found no scheme before a colon"),
            ("memory:runs", "expected \"memory:\" and nothing behind it"),
            ("sqlite:", "as in \"sqlite:runs.db\""),
            ("sqlite://runs.db", "found \"//\": write \"sqlite:runs.db\""),
            ("sqlite:///var/lib/runs.db", "or \"sqlite:/var/lib/runs.db\""),
            ("mysql://root:hunter2@db/runs", "found a URL \"mysql:\""),
        ] {
            let Err(OpenError::Url(refused)) = Runs::open(url, RunsOptions::default()) else { panic!("{url} was opened") };
            assert!(refused.contains(expected) && !refused.contains("hunter2"), "{url}: {refused}");
        }
    }
}
