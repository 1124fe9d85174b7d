//! A host of durable runs: opened by URL, dispatched without waiting, closed. Waiting is Python's: it polls from time to time, so
//! that an interrupt, a timeout or a cancelled task ends any wait. No rule of runs is known here.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use agenthost::binding::{self, Begun, DurableHost, DurableSettings, LogQueue, OneShot, PendingResponse, in_background};
use agenthost::runs::OpenError;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::gil::{self, LARGE};
use crate::host::{NativeHost, bad_setting, misuse, principal, reason, settings};
use crate::live::Live;
use crate::message::Message;
use crate::notifier::Notifier;
use crate::values::str_of;

/// Durable runs that are being opened, by a thread of their own: other processes may have the file for seconds.
#[pyclass(frozen, module = "agenthost._native")]
pub(crate) struct Opening {
    url: String,
    max_message_bytes: usize,
    log: Arc<LogQueue>,
    opened: Arc<OneShot<Result<DurableHost, OpenError>>>,
}

#[pymethods]
impl Opening {
    /// Begins to open. Times are in seconds.
    #[new]
    #[allow(clippy::too_many_arguments, reason = "one for each option")]
    fn new(
        url: &Bound<'_, PyString>,
        max_message_bytes: usize,
        sensitive_names: Vec<String>,
        require_principal: bool,
        lease: f64,
        max_attempts: u64,
        key_ttl: f64,
        operators: Vec<String>,
    ) -> PyResult<Self> {
        let url = str_of("url", url)?.to_owned();
        let log = Arc::new(LogQueue::default());
        let settings = DurableSettings {
            host: settings(max_message_bytes, sensitive_names, require_principal),
            lease: Some(seconds("lease", lease)?),
            max_attempts: Some(max_attempts),
            key_ttl: Some(seconds("key_ttl", key_ttl)?),
            operators,
        };
        let runs = settings.runs_options(Some(log.hook())).map_err(bad_setting)?;
        let host = settings.host.options(Some(log.hook())).map_err(bad_setting)?;
        let opened = Arc::new(OneShot::new());
        let (place, named) = (Arc::downgrade(&opened), url.clone());
        in_background("agenthost-open", move || {
            let result = DurableHost::open(&named, runs, host);
            // When nobody waits any more it is dropped here.
            if let Some(place) = place.upgrade() {
                place.give(result);
            }
        })?;
        Ok(Opening { url, max_message_bytes, log, opened })
    }

    /// Waits for the host, up to so many seconds. It is given once.
    fn wait(&self, py: Python<'_>, seconds: f64) -> PyResult<Option<Py<NativeDurableHost>>> {
        let Some(opened) = gil::waiting(py, || self.opened.wait(timeout(seconds))) else { return Ok(None) };
        let durable = opened.map_err(|error| not_opened(&self.url, &error))?;
        let host = NativeHost::of(durable.host.clone(), self.max_message_bytes, self.log.clone(), LARGE);
        Py::new(py, PyClassInitializer::from(host).add_subclass(NativeDurableHost { durable })).map(Some)
    }
}

fn seconds(name: &str, given: f64) -> PyResult<Duration> {
    binding::seconds(name, given).map_err(bad_setting)
}

/// How long to wait; not at all when it is not to be counted.
fn timeout(seconds: f64) -> Option<Duration> {
    Some(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

/// The file is named; what else may stand in a URL is not.
fn not_opened(url: &str, error: &OpenError) -> PyErr {
    match error {
        OpenError::Url(_) => PyValueError::new_err(format!("url: {error}")),
        OpenError::Option(_) => PyValueError::new_err(error.to_string()),
        OpenError::Store(_) => PyOSError::new_err(format!("{url}: {error}")),
    }
}

/// A host whose service are durable runs.
#[pyclass(frozen, extends = NativeHost, module = "agenthost._native")]
pub(crate) struct NativeDurableHost {
    durable: DurableHost,
}

#[pymethods]
impl NativeDurableHost {
    /// The response when it is there at once, else what to wait for. A notifier tells its loop the key when the call is answered.
    #[pyo3(signature = (data, principal, notifier=None, key=0, /))]
    fn start<'py>(
        this: PyRef<'py, Self>,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        principal: &Bound<'py, PyAny>,
        notifier: Option<&Bound<'py, Notifier>>,
        key: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let principal = self::principal(principal)?;
        let message = Message::of(data)?;
        let bytes = message.bytes();
        let calls = notifier.map(|notifier| notifier.get().calls.clone());
        let host: &NativeHost = this.as_super();
        let notify = move || {
            if let Some(calls) = calls {
                calls.push(key);
            }
        };
        let begin = || binding::begin(&host.host, bytes, principal.map(Cow::Borrowed), notify);
        match gil::working(py, bytes.len(), host.large, begin).map_err(misuse)? {
            Begun::Ready(response) => Ok(PyBytes::new(py, &response).into_any()),
            Begun::Pending(pending) => Ok(Bound::new(py, Waiting { pending, _live: Live::call() })?.into_any()),
        }
    }

    /// Begins to close the runs: what was accepted is finished. The host is closed before.
    fn close_runs(&self) -> PyResult<Closing> {
        let (runs, done) = (self.durable.runs.clone(), Arc::new(OneShot::new()));
        let place = done.clone();
        in_background("agenthost-close", move || {
            runs.close();
            place.give(());
        })?;
        Ok(Closing { done })
    }
}

impl Drop for NativeDurableHost {
    /// Closes the runs without the GIL: their threads finish what was accepted. At the exit of the interpreter they have had their
    /// second: they are left to the end of the process, as waiting for a file that another process keeps would take ten.
    fn drop(&mut self) {
        let runs = &self.durable.runs;
        if gil::is_exiting() {
            std::mem::forget(runs.clone());
        } else if Python::try_attach(|py| gil::waiting(py, || runs.close())).is_none() {
            runs.close();
        }
    }
}

/// A call that is not answered yet.
#[pyclass(frozen, module = "agenthost._native")]
pub(crate) struct Waiting {
    pending: PendingResponse,
    _live: Live,
}

#[pymethods]
impl Waiting {
    /// Waits for the response, up to so many seconds; 0 only polls. It is given once.
    fn wait<'py>(&self, py: Python<'py>, seconds: f64) -> Option<Bound<'py, PyBytes>> {
        let response = match self.pending.take() {
            None if seconds > 0.0 => gil::waiting(py, || self.pending.wait(timeout(seconds))),
            now => now,
        };
        response.map(|response| PyBytes::new(py, &response))
    }

    /// Answers `unavailable`, unless it is answered already. The runs do what they were asked all the same.
    fn give_up(&self, why: &str) -> PyResult<()> {
        self.pending.give_up(reason(why)?).map(drop).map_err(misuse)
    }
}

/// Durable runs that are being closed, by a thread of their own: what was accepted is on its way to the disk.
#[pyclass(frozen, module = "agenthost._native")]
pub(crate) struct Closing {
    done: Arc<OneShot<()>>,
}

#[pymethods]
impl Closing {
    /// Waits up to so many seconds. True when the runs are closed; that is said once.
    fn wait(&self, py: Python<'_>, seconds: f64) -> bool {
        gil::waiting(py, || self.done.wait(timeout(seconds))).is_some()
    }
}
