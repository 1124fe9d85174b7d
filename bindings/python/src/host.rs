//! The two halves of a dispatch: open a message, complete its call. Whatever waits or runs a service's code in between is
//! Python, so no native frame is ever below it: an interrupt, an exit or a cancelled task unwinds Python alone.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agenthost::binding::{BadSetting, HostSettings, LogQueue};
use agenthost::dispatch::UnavailableReason;
use agenthost::host::{CloseError, Host, HostMisuse, LogLevel, OpenCall as Core, Opened};
use agenthost::protocol::{ErrorCode, HostError, Operation};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};

use crate::collector;
use crate::context::Call;
use crate::gil::{self, LARGE};
use crate::json::{self, free_json_of, text_of};
use crate::live::Live;
use crate::message::Message;
use crate::page::EventPage;
use crate::request;
use crate::result::{RunSubmission, RunView};
use crate::values::{self, named, str_of, text, type_name, wrong_type};

#[pyclass(frozen, subclass, module = "agenthost._native")]
pub(crate) struct NativeHost {
    pub(crate) host: Host,
    pub(crate) log: Arc<LogQueue>,
    /// From this many bytes on the GIL is released while the core works.
    pub(crate) large: usize,
    max_message_bytes: usize,
    _live: Live,
}

#[pymethods]
impl NativeHost {
    #[new]
    #[pyo3(signature = (max_message_bytes, sensitive_names, require_principal, large=LARGE))]
    fn new(max_message_bytes: usize, sensitive_names: Vec<String>, require_principal: bool, large: usize) -> PyResult<Self> {
        let log = Arc::new(LogQueue::default());
        let settings = settings(max_message_bytes, sensitive_names, require_principal);
        let options = settings.options(Some(log.hook())).map_err(bad_setting)?;
        Ok(NativeHost::of(Host::without_service(options), max_message_bytes, log, large))
    }

    /// `(call, operation, request)`, the operation as its place in the contract's order; `(None, 0, response)` when the message
    /// needs no service.
    #[pyo3(signature = (data, principal, /))]
    fn open<'py>(
        this: &Bound<'py, Self>,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        principal: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let principal = self::principal(principal)?;
        let message = Message::of(data)?;
        let bytes = message.bytes();
        let host = this.get();
        let open = || host.host.open(bytes, principal.map(Cow::Borrowed));
        let mut opened = if gil::is_given_up(bytes.len(), host.large) { gil::without(py, open) } else { open() };
        // Taken apart where it is: it is large, and each step in between would move it.
        match opened {
            Ok(Opened::Answered(response)) => {
                let response = PyBytes::new(py, &response);
                collector::paused(py, || (py.None(), 0, response).into_pyobject(py))
            }
            Ok(Opened::Call(ref call, ref mut request, open)) => {
                let (operation, source) = (call.operation, message.source());
                let open = OpenCall::new(open, operation, this.clone().unbind());
                let open = Bound::new(py, PyClassInitializer::from(Call::of(call, source)).add_subclass(open))?;
                let request = request::object(py, request, source)?;
                collector::paused(py, || (open, operation as usize, request).into_pyobject(py))
            }
            Err(misuse) => Err(self::misuse(misuse)),
        }
    }

    /// Refuses new calls. True when none is in flight.
    fn drain(&self) -> PyResult<bool> {
        self.host.drain(Some(Duration::ZERO)).map_err(not_closed)
    }

    /// Refuses new calls and answers all that are in flight. False when a thread is inside the core at this moment: again.
    fn close(&self) -> PyResult<bool> {
        match self.host.close(Some(Duration::ZERO)) {
            Ok(()) => Ok(true),
            Err(CloseError::TimedOut) => Ok(false),
            Err(error) => Err(not_closed(error)),
        }
    }

    /// What the core's log has to say since the last time: each as the name of `logging`'s method for its level, and its text.
    fn take_log(&self) -> Vec<(&'static str, String)> {
        take_log(&self.log)
    }

    /// Whether `name` is kept out of metadata by this host.
    fn is_sensitive_name(&self, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.host.is_sensitive_name(&text("name", name)?))
    }

    /// Whether this process is a fork of the one that made the host.
    fn is_forked(&self) -> bool {
        self.host.is_forked()
    }
}

impl NativeHost {
    pub(crate) fn of(host: Host, max_message_bytes: usize, log: Arc<LogQueue>, large: usize) -> Self {
        json::allow(max_message_bytes);
        NativeHost { host, log, large, max_message_bytes, _live: Live::host() }
    }
}

pub(crate) fn settings(max_message_bytes: usize, sensitive_names: Vec<String>, require_principal: bool) -> HostSettings {
    // How long a call may wait is Python's to say.
    HostSettings { max_message_bytes: Some(max_message_bytes), sensitive_names, require_principal, default_timeout: None }
}

pub(crate) fn bad_setting(bad: BadSetting) -> PyErr {
    PyValueError::new_err(bad.to_string())
}

/// Each record as the name of `logging`'s method for its level, and its text.
fn take_log(log: &LogQueue) -> Vec<(&'static str, String)> {
    if log.is_empty() {
        return Vec::new();
    }
    log.take_all().iter().map(|record| (log_method(record.level), record.line())).collect()
}

fn log_method(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Error => "error",
        LogLevel::Warn => "warning",
        LogLevel::Info => "info",
        LogLevel::Debug => "debug",
    }
}

/// Whom the transport authenticated; left out is `...` on Python's side. None is refused: a principal that is missing by mistake
/// must not turn into a call without one, which may see everything.
pub(crate) fn principal<'a>(principal: &'a Bound<'_, PyAny>) -> PyResult<Option<&'a str>> {
    if let Ok(text) = principal.cast::<PyString>() {
        return str_of("principal", text).map(Some);
    }
    if principal.is(principal.py().Ellipsis()) {
        return Ok(None);
    }
    Err(match principal.is_none() {
        true => PyTypeError::new_err("principal: expected a string, found None: leave it out for a call without a principal"),
        false => wrong_type("principal", "a string", principal),
    })
}

pub(crate) fn misuse(misuse: HostMisuse) -> PyErr {
    match misuse {
        HostMisuse::EmptyPrincipal | HostMisuse::NulInPrincipal => PyValueError::new_err(misuse.to_string()),
        HostMisuse::Forked => PyRuntimeError::new_err(misuse.to_string()),
    }
}

/// Why nobody waits any more.
pub(crate) fn reason(why: &str) -> PyResult<UnavailableReason> {
    [UnavailableReason::Timeout, UnavailableReason::Cancelled, UnavailableReason::Dropped]
        .into_iter()
        .find(|known| known.reason() == why)
        .ok_or_else(|| PyValueError::new_err("why: expected timeout, cancelled or dropped"))
}

fn not_closed(error: CloseError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// A call on its way to its answer, and what the service is told about it. It is answered once; whoever comes later gets the same
/// response.
#[pyclass(frozen, extends = Call, module = "agenthost._native")]
pub(crate) struct OpenCall {
    state: Mutex<State>,
    operation: Operation,
    host: Py<NativeHost>,
}

enum State {
    Open {
        open: Core,
        _live: Live,
    },
    /// Another thread is writing the response, without the GIL.
    Writing,
    Answered(Py<PyBytes>),
}

#[pymethods]
impl OpenCall {
    /// The response to a result. `None` when there is none yet, as the result is of no class of the package (something to await,
    /// perhaps), and also when the log has something to say: `response` says which.
    fn complete<'py>(&self, py: Python<'py>, result: &Bound<'py, PyAny>) -> PyResult<Option<Py<PyBytes>>> {
        let host = self.host.get();
        let response = if let Ok(run) = result.cast::<RunView>() {
            let run = run.get();
            self.answer(py, run.inner().result.as_str().len(), |open| open.complete_answer(&run.answer))
        } else if let Ok(submission) = result.cast::<RunSubmission>() {
            let submission = submission.get();
            self.answer(py, 0, |open| open.complete_answer(&submission.answer))
        } else if let Ok(page) = result.cast::<EventPage>() {
            let page = page.get();
            let events = page.events_of(py)?;
            let size = events.iter().map(|event| 260 + event.get().inner.data.as_str().len()).sum();
            self.answer(py, size, |open| {
                let events = events.iter().map(|event| &event.get().inner);
                open.complete_page(events, page.next_sequence, page.has_more, size)
            })
        } else if let Ok(dict) = result.cast::<PyDict>() {
            let name = format!("the answer to {}", self.operation.name());
            let text = text_of(&name, dict, agenthost::protocol::MAX_MESSAGE_DEPTH, host.max_message_bytes)?;
            self.answer(py, text.len(), |open| open.complete_json(&text))
        } else {
            None
        };
        Ok(response.filter(|_| host.log.is_empty()))
    }

    /// The response, when the call is answered.
    fn response(&self, py: Python<'_>) -> Option<Py<PyBytes>> {
        match &*self.state() {
            State::Answered(response) => Some(response.clone_ref(py)),
            _ => None,
        }
    }

    /// What a result that is of no class of the package is told.
    fn no_result(&self, result: &Bound<'_, PyAny>) -> String {
        let class = match self.operation {
            Operation::GetRun => "RunView",
            Operation::ListEvents => "EventPage",
            _ => "RunSubmission",
        };
        format!(
            "{} returned {}: expected {class}, or a dict with the contract's member names",
            self.operation.name(),
            type_name(result)
        )
    }

    /// The response to an error that the service raised: the members of an `agenthost.HostError`.
    fn refuse(
        &self,
        py: Python<'_>,
        code: &Bound<'_, PyAny>,
        message: &Bound<'_, PyAny>,
        retryable: bool,
        details: &Bound<'_, PyAny>,
        metadata: &Bound<'_, PyDict>,
    ) -> PyResult<Option<Py<PyBytes>>> {
        let code = named("code", code, ErrorCode::from_name, &ErrorCode::ALL.map(ErrorCode::name))?;
        let error = HostError::new(code, text("message", message)?)
            .with_retryable(retryable)
            .with_details(free_json_of("details", details, self.host.get().max_message_bytes)?)
            .with_metadata(values::metadata("metadata", Some(metadata))?);
        Ok(self.answer(py, error.details.as_str().len(), |open| open.complete(Err(error))))
    }

    /// The response `internal`; the cause has been logged.
    fn internal(&self, py: Python<'_>) -> Option<Py<PyBytes>> {
        self.answer(py, 0, |open| open.complete(Err(HostError::new(ErrorCode::Internal, ""))))
    }

    /// The response when nobody waits for the service any more; `why` is `timeout`, `cancelled` or `dropped`. `None`: another
    /// thread is writing the answer at this moment.
    fn give_up(&self, py: Python<'_>, why: &str) -> PyResult<Option<Py<PyBytes>>> {
        let why = reason(why)?;
        Ok(self.answer(py, 0, |open| open.give_up(why)))
    }

    /// What the host's log has to say, as [`NativeHost::take_log`].
    fn take_log(&self) -> Vec<(&'static str, String)> {
        take_log(&self.host.get().log)
    }

    /// Whether the host was closed: the service's answer is not wanted any more.
    fn is_abandoned(&self) -> bool {
        matches!(&*self.state(), State::Open { open, .. } if open.is_abandoned())
    }
}

impl OpenCall {
    fn new(open: Core, operation: Operation, host: Py<NativeHost>) -> Self {
        OpenCall { state: Mutex::new(State::Open { open, _live: Live::call() }), operation, host }
    }

    /// Answers with what `write` writes, about `size` bytes; or says what was answered before.
    fn answer(&self, py: Python<'_>, size: usize, write: impl FnOnce(Core) -> Vec<u8> + Send) -> Option<Py<PyBytes>> {
        let mut state = self.state();
        match &*state {
            State::Open { .. } => {}
            State::Writing => return None,
            State::Answered(response) => return Some(response.clone_ref(py)),
        }
        let State::Open { open, .. } = std::mem::replace(&mut *state, State::Writing) else { return None };
        let host = self.host.get();
        let response = if gil::is_given_up(size, host.large) {
            drop(state);
            let response = gil::without(py, || write(open));
            state = self.state();
            response
        } else {
            write(open)
        };
        let response = PyBytes::new(py, &response).unbind();
        *state = State::Answered(response.clone_ref(py));
        Some(response)
    }

    /// Held by who holds the GIL, and never while Python code runs: so nobody waits for it.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
