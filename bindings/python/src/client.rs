//! The client's functions: requests to bytes, responses to objects.

use agenthost::client::{self, Outcome, RequestOptions};
use agenthost::protocol::{HostError, SUPPORTED_VERSIONS, SensitiveNames};
use agenthost::service::Answer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyBytes;

use crate::gil::{self, LARGE};
use crate::loads::loads;
use crate::message::Message;
use crate::page::EventPage;
use crate::request::core_request;
use crate::result::{RunSubmission, RunView};
use crate::values::{dict, metadata, text};
use crate::words;

/// A request, frozen: `data` is the same bytes each time, so that a retry is a retry. Made by `encode_request`.
#[pyclass(frozen, module = "agenthost")]
pub(crate) struct PreparedRequest {
    inner: client::PreparedRequest,
    protocol_version: String,
}

#[pymethods]
impl PreparedRequest {
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.inner.bytes())
    }

    #[getter]
    fn operation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        words::operation(py, self.inner.operation())
    }

    #[getter]
    fn protocol_version(&self) -> &str {
        &self.protocol_version
    }

    #[getter]
    fn request_id(&self) -> &str {
        self.inner.request_id()
    }

    #[getter]
    fn idempotency_key(&self) -> &str {
        self.inner.idempotency_key()
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.data(py)
    }

    fn __repr__(&self) -> String {
        format!("PreparedRequest(operation='{}', request_id={:?}, …)", self.inner.operation().name(), self.inner.request_id())
    }
}

/// A response that was checked (protocol, "The client's side"). Made by `decode_response`.
///
/// Either `result` or `error` is None. `request_id` is empty in a refusal whose request could not be read; `operation` is None in a refusal
/// of a version and an operation that this library does not know.
#[pyclass(frozen, module = "agenthost")]
pub(crate) struct Response {
    protocol_version: String,
    request_id: String,
    operation: Option<agenthost::protocol::Operation>,
    result: Option<Py<PyAny>>,
    error: Option<Py<PyAny>>,
    /// The refusal as the core read it: it knows which version to try next.
    refusal: Option<client::Response<'static>>,
}

#[pymethods]
impl Response {
    #[getter]
    fn protocol_version(&self) -> &str {
        &self.protocol_version
    }

    #[getter]
    fn request_id(&self) -> &str {
        &self.request_id
    }

    #[getter]
    fn operation<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.operation.map(|operation| words::operation(py, operation)).transpose()
    }

    #[getter]
    fn result(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.result.as_ref().map(|result| result.clone_ref(py))
    }

    #[getter]
    fn error(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.error.as_ref().map(|error| error.clone_ref(py))
    }

    /// The version to try next after an `unsupported_protocol_version` error, or None when negotiation fails.
    fn next_version(&self, tried: &str) -> Option<&'static str> {
        self.refusal.as_ref().and_then(|refusal| refusal.next_version(tried))
    }

    /// The result; raises the error when there is one.
    fn unwrap(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match (&self.result, &self.error) {
            (Some(result), _) => Ok(result.clone_ref(py)),
            (None, Some(error)) => Err(PyErr::from_value(error.bind(py).clone())),
            (None, None) => Ok(py.None()),
        }
    }

    fn __repr__(&self) -> String {
        let ok = if self.error.is_none() { "True" } else { "False" };
        format!("Response(request_id={:?}, ok={ok})", self.request_id)
    }
}

/// Checks a request and writes it; ids, and keys for mutations, are made when they are left out (UUIDv7).
///
/// Raises ValueError for what breaks a rule of the contract, with the member's path; TypeError for a value of another type.
#[pyfunction]
#[pyo3(signature = (request, *, request_id=None, idempotency_key=None, protocol_version=None, metadata=None))]
pub(crate) fn encode_request(
    request: &Bound<'_, PyAny>,
    request_id: Option<&Bound<'_, PyAny>>,
    idempotency_key: Option<&Bound<'_, PyAny>>,
    protocol_version: Option<&Bound<'_, PyAny>>,
    metadata: Option<&Bound<'_, PyAny>>,
) -> PyResult<PreparedRequest> {
    let given = |name: &str, value: Option<&Bound<'_, PyAny>>| value.map(|value| text(name, value).map(Into::into)).transpose();
    let protocol_version =
        protocol_version.map_or(Ok(SUPPORTED_VERSIONS[0].to_owned()), |version| text("protocol_version", version))?;
    let options = RequestOptions {
        request_id: given("request_id", request_id)?,
        idempotency_key: given("idempotency_key", idempotency_key)?,
        protocol_version: Some(protocol_version.as_str().into()),
        metadata: self::metadata("metadata", metadata)?,
    };
    let inner = client::PreparedRequest::new(&core_request(request)?, &options)
        .map_err(|violation| PyValueError::new_err(violation.to_string()))?;
    Ok(PreparedRequest { inner, protocol_version })
}

/// Takes a response apart and checks it: that it answers `request`, when that is given, and else everything but that.
///
/// Raises BadResponse. An error that the other side answered is no exception here: it is `Response.error`.
#[pyfunction]
#[pyo3(signature = (data, *, request=None))]
pub(crate) fn decode_response(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    request: Option<&Bound<'_, PreparedRequest>>,
) -> PyResult<Response> {
    let message = Message::of(data)?;
    let (bytes, request) = (message.bytes(), request.map(|request| &request.get().inner));
    let parse = || match request {
        Some(request) => request.parse(bytes),
        None => client::parse_any(bytes),
    };
    let parsed = gil::working(py, bytes.len(), LARGE, parse);
    let response = parsed.map_err(|bad| bad_response(py, &bad))?;
    let (protocol_version, request_id) = (response.protocol_version.to_string(), response.request_id.to_string());
    let operation = response.operation;
    let response = response.into_owned();
    let (result, error, refusal) = match response.outcome {
        Outcome::Success(answer) => (Some(object(py, answer)?), None, None),
        Outcome::Error(ref error) => (None, Some(error_object(py, error)?), Some(response)),
    };
    Ok(Response { protocol_version, request_id, operation, result, error, refusal })
}

fn object(py: Python<'_>, answer: Answer<'static>) -> PyResult<Py<PyAny>> {
    Ok(match answer {
        Answer::Submission(submission) => Py::new(py, RunSubmission::of(submission))?.into_any(),
        Answer::Run(run) => Py::new(py, RunView::of(run))?.into_any(),
        Answer::Page(page) => Py::new(py, EventPage::of(py, page)?)?.into_any(),
    })
}

fn error_object(py: Python<'_>, error: &HostError<'_>) -> PyResult<Py<PyAny>> {
    static RECEIVED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let HostError { code, message, retryable, details, metadata, original_code } = error;
    let members = (code.name(), &**message, *retryable, loads(py, details.as_str())?, dict(py, metadata)?, &**original_code);
    RECEIVED.import(py, "agenthost._errors", "received")?.call1(members).map(Bound::unbind)
}

fn bad_response(py: Python<'_>, bad: &client::BadResponse) -> PyErr {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let violation = bad.violation();
    let error = CLASS
        .import(py, "agenthost._errors", "BadResponse")
        .and_then(|class| class.call1((violation.expected(), violation.path())));
    match error {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// The most preferred protocol version that this library and the other side speak, or None.
#[pyfunction]
pub(crate) fn negotiate_version(offered: &Bound<'_, PyAny>) -> PyResult<Option<&'static str>> {
    if offered.is_instance_of::<pyo3::types::PyString>() {
        return Err(crate::values::wrong_type("offered", "several versions", offered));
    }
    let offered = offered.try_iter()?.map(|version| text("offered", &version?)).collect::<PyResult<Vec<_>>>()?;
    Ok(agenthost::protocol::negotiate_version(offered))
}

/// Whether `name` looks as if its value were a secret.
#[pyfunction]
pub(crate) fn is_sensitive_name(name: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(SensitiveNames::built_in().contains(&text("name", name)?))
}
