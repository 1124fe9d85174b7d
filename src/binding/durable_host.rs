//! Durable runs and the host that they serve, for languages that must not block: opening may take seconds, as other processes may have
//! the file, and so may closing, as what was accepted is still committed.

use std::io;
use std::time::Duration;

use crate::host::{Host, HostOptions};
use crate::runs::{OpenError, Runs, RunsOptions};

/// Runs, and the host that they serve. Clones are handles of the same.
#[derive(Clone)]
pub struct DurableHost {
    /// Dispatches to the runs.
    pub host: Host,
    /// The side of workers and operators.
    pub runs: Runs,
}

impl DurableHost {
    /// Opens runs, and makes their host.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(url: &str, runs: RunsOptions, host: HostOptions) -> Result<DurableHost, OpenError> {
        let runs = Runs::open(url, runs)?;
        Ok(DurableHost { host: runs.host(host), runs })
    }

    /// Answers the calls that wait, commits what is accepted, and ends. Not from a callback of the host or the runs.
    pub fn close(&self) {
        // The first answers whoever waits; the second waits for responses that other threads are delivering.
        if self.host.close(Some(Duration::ZERO)).is_err() {
            let _ = self.host.close(None);
        }
        self.runs.close();
    }
}

/// Does `work` on a thread of its own.
///
/// # Errors
/// No thread can be started; `work` is dropped.
pub fn in_background(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}
