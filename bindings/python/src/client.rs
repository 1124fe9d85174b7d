//! The client's functions: requests to bytes, responses to objects.

use agenthost::client::{self, Outcome, RequestOptions};
use agenthost::protocol::{HostError, SUPPORTED_VERSIONS, SensitiveNames};
use agenthost::service::Answer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};

use crate::enums;
use crate::gil::{self, LARGE};
use crate::loads::loads;
use crate::message::Message;
use crate::page::EventPage;
use crate::request::core_request;
use crate::result::{RunSubmission, RunView};
use crate::values::{dict, metadata, text};

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
        enums::operation(py, self.inner.operation())
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

/// The refusal of a version: it knows which one to try next.
#[pyclass(frozen, module = "agenthost._native")]
pub(crate) struct Refusal(client::Response<'static>);

#[pymethods]
impl Refusal {
    /// The version to try next after `tried`, or None when there is none.
    fn next_version(&self, tried: &str) -> Option<&'static str> {
        self.0.next_version(tried)
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
/// `(expected, path)` of the rule that is broken; `(version, request id, operation, result)`; or, for an error, `(version, request
/// id, operation, (code, message, retryable, details, metadata, original code), Refusal)`. The package makes its exceptions of
/// them: those run Python code.
#[pyfunction]
#[pyo3(signature = (data, request=None, /))]
pub(crate) fn decode<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    request: Option<&Bound<'py, PreparedRequest>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let message = Message::of(data)?;
    let (bytes, request) = (message.bytes(), request.map(|request| &request.get().inner));
    let parse = || match request {
        Some(request) => request.parse(bytes),
        None => client::parse_any(bytes),
    };
    let response = match gil::working(py, bytes.len(), LARGE, parse) {
        Ok(response) => response.into_owned(),
        Err(bad) => return (bad.violation().expected(), bad.violation().path()).into_pyobject(py),
    };
    let operation = response.operation.map(|operation| enums::operation(py, operation)).transpose()?;
    let (version, id) = (PyString::new(py, &response.protocol_version), PyString::new(py, &response.request_id));
    match response.outcome {
        Outcome::Success(answer) => (version, id, operation, object(py, answer)?).into_pyobject(py),
        Outcome::Error(ref error) => {
            let HostError { code, message, retryable, details, metadata, original_code } = error;
            let details = loads(py, details.as_str())?;
            let error = (code.name(), &**message, *retryable, details, dict(py, metadata)?, &**original_code);
            (version, id, operation, error.into_pyobject(py)?, Refusal(response)).into_pyobject(py)
        }
    }
}

fn object(py: Python<'_>, answer: Answer<'static>) -> PyResult<Py<PyAny>> {
    Ok(match answer {
        Answer::Submission(submission) => Py::new(py, RunSubmission::of(submission))?.into_any(),
        Answer::Run(run) => Py::new(py, RunView::of(run))?.into_any(),
        Answer::Page(page) => Py::new(py, EventPage::of(py, page)?)?.into_any(),
    })
}

/// The most preferred protocol version that this library and the other side speak, or None.
#[pyfunction]
pub(crate) fn negotiate_version(offered: Vec<Bound<'_, PyAny>>) -> PyResult<Option<&'static str>> {
    let offered = offered.iter().map(|version| text("offered", version)).collect::<PyResult<Vec<_>>>()?;
    Ok(agenthost::protocol::negotiate_version(offered))
}

/// Whether `name` looks as if its value were a secret.
#[pyfunction]
pub(crate) fn is_sensitive_name(name: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(SensitiveNames::built_in().contains(&text("name", name)?))
}
