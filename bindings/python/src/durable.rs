//! A host of durable runs: opened by URL, dispatched without waiting, closed. Waiting is Python's: it looks from time to time,
//! so that an interrupt, a timeout or a cancelled task ends any wait. No rule of runs is known here.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use agenthost::dispatch::Dispatcher;
use agenthost::host::{HostOptions, Pending};
use agenthost::runs::{OpenError, Runs, RunsOptions};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::bell::{Bell, Ringing};
use crate::gil::{self, LARGE};
use crate::host::{NativeHost, misuse, options, principal, reason, sensitive_names};
use crate::later::Later;
use crate::live::Live;
use crate::log::LogQueue;
use crate::message::Message;
use crate::values::str_of;

/// Durable runs that are being opened, by a thread of their own: other processes may have the file for seconds.
#[pyclass(frozen, module = "agenthost._native")]
pub(crate) struct Opening {
    url: String,
    runs: Arc<Later<Result<Runs, OpenError>>>,
    host: Mutex<Option<(HostOptions, Arc<LogQueue>)>>,
}

#[pymethods]
impl Opening {
    /// Begins to open. Times are in seconds.
    #[new]
    fn new(
        url: &Bound<'_, PyString>,
        max_message_bytes: usize,
        sensitive_names: Vec<String>,
        require_principal: bool,
        lease: f64,
        max_attempts: u64,
        key_ttl: f64,
    ) -> PyResult<Self> {
        let url = str_of("url", url)?.to_owned();
        let sensitive_names = self::sensitive_names(sensitive_names)?;
        let (options, log) =
            options(Dispatcher { max_message_bytes, sensitive_names: sensitive_names.clone(), require_principal });
        let runs = RunsOptions {
            lease: duration("lease", lease)?,
            max_attempts,
            key_ttl: duration("key_ttl", key_ttl)?,
            require_principal,
            sensitive_names,
            log: Some(log.hook()),
            access: None,
        };
        let opened = url.clone();
        let runs = Later::of("agenthost-open", move || Runs::open(&opened, runs))?;
        Ok(Opening { url, runs, host: Mutex::new(Some((options, log))) })
    }

    /// Waits for the host, up to so many seconds.
    fn wait(&self, py: Python<'_>, seconds: f64) -> PyResult<Option<Py<NativeDurableHost>>> {
        let Some(opened) = gil::waiting(py, || self.runs.wait(seconds)) else { return Ok(None) };
        let runs = opened.map_err(|error| not_opened(&self.url, &error))?;
        let host = self.host.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((options, log)) = host else { return Ok(None) };
        let host = NativeHost::of(runs.host(options), log, LARGE);
        Py::new(py, PyClassInitializer::from(host).add_subclass(NativeDurableHost { runs })).map(Some)
    }
}

fn duration(name: &str, seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| PyValueError::new_err(format!("{name}: expected seconds that a clock can count")))
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
    runs: Runs,
}

#[pymethods]
impl NativeDurableHost {
    /// The response when it is there at once, else what to wait for. With a bell it rings with the key when the call is answered.
    #[pyo3(signature = (data, principal=None, bell=None, key=0, /))]
    fn start<'py>(
        this: PyRef<'py, Self>,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        principal: Option<&Bound<'py, PyAny>>,
        bell: Option<&Bound<'py, Bell>>,
        key: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let principal = self::principal(principal)?;
        let message = Message::of(data)?;
        let bytes = message.bytes();
        let bell = bell.map(|bell| (bell.get().ringing.clone(), key));
        let call = Arc::new(Call { response: Later::new(), bell: OnceLock::new() });
        let (answered, pending) = (call.clone(), OnceLock::new());
        let host: &NativeHost = this.as_super();
        let started = gil::working(py, bytes.len(), host.large, || {
            let keep = |handle| drop(pending.set(handle));
            host.host.dispatch_async(bytes, principal.map(Cow::Borrowed), keep, move |response| answered.answer(response))
        });
        started.map_err(misuse)?;
        host.log.flush(py);
        if let Some(response) = call.now_or_at(bell) {
            return Ok(PyBytes::new(py, &response).into_any());
        }
        let pending = pending.into_inner().ok_or_else(|| PyRuntimeError::new_err("the host started no call"))?;
        Ok(Bound::new(py, Waiting { call, pending, log: host.log.clone(), _live: Live::call() })?.into_any())
    }

    /// Begins to close the runs: what was accepted is finished. The host is closed before.
    fn close_runs(&self) -> PyResult<Closing> {
        let runs = self.runs.clone();
        Ok(Closing { done: Later::of("agenthost-close", move || runs.close())? })
    }
}

impl Drop for NativeDurableHost {
    /// Closes the runs without the GIL: their threads finish what was accepted.
    fn drop(&mut self) {
        if Python::try_attach(|py| gil::waiting(py, || self.runs.close())).is_none() {
            self.runs.close();
        }
    }
}

/// A call on its way to its response.
struct Call {
    response: Arc<Later<Vec<u8>>>,
    bell: OnceLock<(Arc<Ringing>, u64)>,
}

impl Call {
    /// What the core calls, on any thread.
    fn answer(&self, response: Vec<u8>) {
        self.response.give(response);
        if let Some((ringing, key)) = self.bell.get() {
            ringing.ring(*key);
        }
    }

    /// The response when it is there. Else the bell will ring; it may ring all the same.
    fn now_or_at(&self, bell: Option<(Arc<Ringing>, u64)>) -> Option<Vec<u8>> {
        let now = self.response.take();
        match bell {
            Some(bell) if now.is_none() => {
                let _ = self.bell.set(bell);
                self.response.take()
            }
            _ => now,
        }
    }
}

/// A call that is not answered yet.
#[pyclass(frozen, module = "agenthost._native")]
pub(crate) struct Waiting {
    call: Arc<Call>,
    pending: Pending,
    log: Arc<LogQueue>,
    _live: Live,
}

#[pymethods]
impl Waiting {
    /// Waits for the response, up to so many seconds; 0 only looks. It is given once.
    fn wait<'py>(&self, py: Python<'py>, seconds: f64) -> Option<Bound<'py, PyBytes>> {
        let response = match self.call.response.take() {
            None if seconds > 0.0 => gil::waiting(py, || self.call.response.wait(seconds)),
            now => now,
        };
        self.log.flush(py);
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
    done: Arc<Later<()>>,
}

#[pymethods]
impl Closing {
    /// Waits up to so many seconds. True when the runs are closed; that is said once.
    fn wait(&self, py: Python<'_>, seconds: f64) -> bool {
        gil::waiting(py, || self.done.wait(seconds)).is_some()
    }
}
