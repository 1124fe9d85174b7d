//! The six requests as frozen Python objects.

use agenthost::protocol::{DEFAULT_CANCEL_REASON, DEFAULT_PAGE_EVENTS, FreeJson};
use agenthost::service::{self as core, Request};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::context::{ExecutionContext, NewArguments};
use crate::json::{Argument, free_json, loads};
use crate::values::{dict, metadata, resolution, text, text_or_empty, unsigned, wrong_type};
use crate::words;

/// The Python object of a request.
pub(crate) fn object<'py>(py: Python<'py>, request: Request<'static>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match request {
        Request::CreateRun(core::CreateRun { context, input, metadata }) => {
            let context = Py::new(py, ExecutionContext { inner: context })?;
            Bound::new(py, CreateRun { context, input, metadata })?.into_any()
        }
        Request::GetRun(inner) => Bound::new(py, GetRun { inner })?.into_any(),
        Request::CancelRun(inner) => Bound::new(py, CancelRun { inner })?.into_any(),
        Request::ResolveApproval(inner) => Bound::new(py, ResolveApproval { inner })?.into_any(),
        Request::ResumeRun(inner) => Bound::new(py, ResumeRun { inner })?.into_any(),
        Request::ListEvents(inner) => Bound::new(py, ListEvents { inner })?.into_any(),
    })
}

/// The core's request of a Python object.
pub(crate) fn core_request(object: &Bound<'_, PyAny>) -> PyResult<Request<'static>> {
    if let Ok(request) = object.cast::<CreateRun>() {
        let CreateRun { context, input, metadata } = request.get();
        let context = context.get().inner.clone();
        return Ok(Request::CreateRun(core::CreateRun { context, input: input.clone(), metadata: metadata.clone() }));
    }
    if let Ok(request) = object.cast::<GetRun>() {
        return Ok(Request::GetRun(request.get().inner.clone()));
    }
    if let Ok(request) = object.cast::<CancelRun>() {
        return Ok(Request::CancelRun(request.get().inner.clone()));
    }
    if let Ok(request) = object.cast::<ResolveApproval>() {
        return Ok(Request::ResolveApproval(request.get().inner.clone()));
    }
    if let Ok(request) = object.cast::<ResumeRun>() {
        return Ok(Request::ResumeRun(request.get().inner.clone()));
    }
    if let Ok(request) = object.cast::<ListEvents>() {
        return Ok(Request::ListEvents(request.get().inner.clone()));
    }
    Err(wrong_type("request", "one of the six requests", object))
}

/// Submits a run (protocol, "Request").
///
/// `context.run_id` names it. `input` is any JSON, `{}` when left out; it is parsed each time that it is read, and `input_json` is its
/// text. Give one or the other. Raises TypeError and ValueError for what is no JSON.
#[pyclass(frozen, module = "agenthost")]
pub(crate) struct CreateRun {
    context: Py<ExecutionContext>,
    input: FreeJson<'static>,
    metadata: agenthost::protocol::Metadata<'static>,
}

#[pymethods]
impl CreateRun {
    #[new]
    #[pyo3(signature = (context, input=Argument::Absent, *, input_json=None, metadata=None))]
    fn new(
        context: Py<ExecutionContext>,
        input: Argument<'_>,
        input_json: Option<&Bound<'_, PyAny>>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let input = free_json("input", input, input_json, FreeJson::EMPTY_OBJECT)?;
        Ok(CreateRun { context, input, metadata: self::metadata("metadata", metadata)? })
    }

    #[getter]
    fn context(&self, py: Python<'_>) -> Py<ExecutionContext> {
        self.context.clone_ref(py)
    }

    #[getter]
    fn input<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        loads(py, &self.input)
    }

    #[getter]
    fn input_json<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.input.as_str().as_bytes())
    }

    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, &self.metadata)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<CreateRun>().is_ok_and(|other| {
            let other = other.get();
            self.context.get() == other.context.get() && self.input == other.input && self.metadata == other.metadata
        })
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<NewArguments<'py>> {
        let named = PyDict::new(py);
        named.set_item("context", &self.context)?;
        named.set_item("input_json", self.input_json(py))?;
        named.set_item("metadata", self.metadata(py)?)?;
        Ok((PyTuple::empty(py), named))
    }

    fn __repr__(&self) -> String {
        let bytes = self.input.as_str().len();
        format!("CreateRun(run_id={:?}, input=<{bytes} bytes>, …)", self.context.get().inner.run_id)
    }
}

/// Reads a run (protocol, "Request").
#[pyclass(frozen, eq, module = "agenthost")]
#[derive(PartialEq)]
pub(crate) struct GetRun {
    inner: core::GetRun<'static>,
}

#[pymethods]
impl GetRun {
    #[new]
    fn new(run_id: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(GetRun { inner: core::GetRun { run_id: text("run_id", run_id)?.into() } })
    }

    #[getter]
    fn run_id(&self) -> &str {
        &self.inner.run_id
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<NewArguments<'py>> {
        let named = PyDict::new(py);
        named.set_item("run_id", self.run_id())?;
        Ok((PyTuple::empty(py), named))
    }

    fn __repr__(&self) -> String {
        format!("GetRun(run_id={:?})", self.inner.run_id)
    }
}

/// Cancels a run that is still at `expected_revision`, 1 to 2^53-1 (protocol, "Request"). `reason` has the contract's default.
#[pyclass(frozen, eq, module = "agenthost")]
#[derive(PartialEq)]
pub(crate) struct CancelRun {
    inner: core::CancelRun<'static>,
}

#[pymethods]
impl CancelRun {
    #[new]
    #[pyo3(signature = (run_id, expected_revision, reason=None))]
    fn new(run_id: &Bound<'_, PyAny>, expected_revision: &Bound<'_, PyAny>, reason: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let inner = core::CancelRun {
            run_id: text("run_id", run_id)?.into(),
            expected_revision: unsigned("expected_revision", expected_revision)?,
            reason: reason.map_or(Ok(DEFAULT_CANCEL_REASON.into()), |reason| text("reason", reason).map(Into::into))?,
        };
        Ok(CancelRun { inner })
    }

    #[getter]
    fn run_id(&self) -> &str {
        &self.inner.run_id
    }

    #[getter]
    fn expected_revision(&self) -> u64 {
        self.inner.expected_revision
    }

    #[getter]
    fn reason(&self) -> &str {
        &self.inner.reason
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<NewArguments<'py>> {
        let named = PyDict::new(py);
        named.set_item("run_id", self.run_id())?;
        named.set_item("expected_revision", self.expected_revision())?;
        named.set_item("reason", self.reason())?;
        Ok((PyTuple::empty(py), named))
    }

    fn __repr__(&self) -> String {
        format!("CancelRun(run_id={:?}, expected_revision={}, …)", self.inner.run_id, self.inner.expected_revision)
    }
}

/// Approves or denies what a run waits for (protocol, "Request").
///
/// `expected_revision` is 1 to 2^53-1, `resolution` is `approved` or `denied`.
#[pyclass(frozen, eq, module = "agenthost")]
#[derive(PartialEq)]
pub(crate) struct ResolveApproval {
    inner: core::ResolveApproval<'static>,
}

#[pymethods]
impl ResolveApproval {
    #[new]
    #[pyo3(signature = (run_id, expected_revision, approval_id, resolution, reason=None, *, metadata=None))]
    fn new(
        run_id: &Bound<'_, PyAny>,
        expected_revision: &Bound<'_, PyAny>,
        approval_id: &Bound<'_, PyAny>,
        resolution: &Bound<'_, PyAny>,
        reason: Option<&Bound<'_, PyAny>>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let inner = core::ResolveApproval {
            run_id: text("run_id", run_id)?.into(),
            expected_revision: unsigned("expected_revision", expected_revision)?,
            approval_id: text("approval_id", approval_id)?.into(),
            resolution: self::resolution(resolution)?,
            reason: text_or_empty("reason", reason)?,
            metadata: self::metadata("metadata", metadata)?,
        };
        Ok(ResolveApproval { inner })
    }

    #[getter]
    fn run_id(&self) -> &str {
        &self.inner.run_id
    }

    #[getter]
    fn expected_revision(&self) -> u64 {
        self.inner.expected_revision
    }

    #[getter]
    fn approval_id(&self) -> &str {
        &self.inner.approval_id
    }

    #[getter]
    fn resolution<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        words::resolution(py, self.inner.resolution)
    }

    #[getter]
    fn reason(&self) -> &str {
        &self.inner.reason
    }

    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, &self.inner.metadata)
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<NewArguments<'py>> {
        let named = PyDict::new(py);
        named.set_item("run_id", self.run_id())?;
        named.set_item("expected_revision", self.expected_revision())?;
        named.set_item("approval_id", self.approval_id())?;
        named.set_item("resolution", self.inner.resolution.name())?;
        named.set_item("reason", self.reason())?;
        named.set_item("metadata", self.metadata(py)?)?;
        Ok((PyTuple::empty(py), named))
    }

    fn __repr__(&self) -> String {
        format!(
            "ResolveApproval(run_id={:?}, approval_id={:?}, resolution='{}', …)",
            self.inner.run_id,
            self.inner.approval_id,
            self.inner.resolution.name()
        )
    }
}

/// Lets an approved run go on (protocol, "Request").
///
/// `expected_revision` is 1 to 2^53-1. `input` is any JSON, `{}` when left out; it is parsed each time that it is read, and `input_json`
/// is its text.
#[pyclass(frozen, eq, module = "agenthost")]
#[derive(PartialEq)]
pub(crate) struct ResumeRun {
    inner: core::ResumeRun<'static>,
}

#[pymethods]
impl ResumeRun {
    #[new]
    #[pyo3(signature = (run_id, expected_revision, approval_id, input=Argument::Absent, *, input_json=None))]
    fn new(
        run_id: &Bound<'_, PyAny>,
        expected_revision: &Bound<'_, PyAny>,
        approval_id: &Bound<'_, PyAny>,
        input: Argument<'_>,
        input_json: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let inner = core::ResumeRun {
            run_id: text("run_id", run_id)?.into(),
            expected_revision: unsigned("expected_revision", expected_revision)?,
            approval_id: text("approval_id", approval_id)?.into(),
            input: free_json("input", input, input_json, FreeJson::EMPTY_OBJECT)?,
        };
        Ok(ResumeRun { inner })
    }

    #[getter]
    fn run_id(&self) -> &str {
        &self.inner.run_id
    }

    #[getter]
    fn expected_revision(&self) -> u64 {
        self.inner.expected_revision
    }

    #[getter]
    fn approval_id(&self) -> &str {
        &self.inner.approval_id
    }

    #[getter]
    fn input<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        loads(py, &self.inner.input)
    }

    #[getter]
    fn input_json<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.inner.input.as_str().as_bytes())
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<NewArguments<'py>> {
        let named = PyDict::new(py);
        named.set_item("run_id", self.run_id())?;
        named.set_item("expected_revision", self.expected_revision())?;
        named.set_item("approval_id", self.approval_id())?;
        named.set_item("input_json", self.input_json(py))?;
        Ok((PyTuple::empty(py), named))
    }

    fn __repr__(&self) -> String {
        let bytes = self.inner.input.as_str().len();
        let (run, approval) = (&self.inner.run_id, &self.inner.approval_id);
        format!("ResumeRun(run_id={run:?}, approval_id={approval:?}, input=<{bytes} bytes>, …)")
    }
}

/// Reads events after a cursor (protocol, "Request").
///
/// Events with a sequence above `after_sequence` are asked for, 0 for all; at most `limit` of them, 1 to 1000, 256 when left out.
#[pyclass(frozen, eq, module = "agenthost")]
#[derive(PartialEq)]
pub(crate) struct ListEvents {
    inner: core::ListEvents<'static>,
}

#[pymethods]
impl ListEvents {
    #[new]
    #[pyo3(signature = (run_id, after_sequence=None, limit=None))]
    fn new(
        run_id: &Bound<'_, PyAny>,
        after_sequence: Option<&Bound<'_, PyAny>>,
        limit: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let inner = core::ListEvents {
            run_id: text("run_id", run_id)?.into(),
            after_sequence: after_sequence.map_or(Ok(0), |value| unsigned("after_sequence", value))?,
            limit: limit.map_or(Ok(DEFAULT_PAGE_EVENTS), |value| unsigned("limit", value))?,
        };
        Ok(ListEvents { inner })
    }

    #[getter]
    fn run_id(&self) -> &str {
        &self.inner.run_id
    }

    #[getter]
    fn after_sequence(&self) -> u64 {
        self.inner.after_sequence
    }

    #[getter]
    fn limit(&self) -> u64 {
        self.inner.limit
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<NewArguments<'py>> {
        let named = PyDict::new(py);
        named.set_item("run_id", self.run_id())?;
        named.set_item("after_sequence", self.after_sequence())?;
        named.set_item("limit", self.limit())?;
        Ok((PyTuple::empty(py), named))
    }

    fn __repr__(&self) -> String {
        let core::ListEvents { run_id, after_sequence, limit } = &self.inner;
        format!("ListEvents(run_id={run_id:?}, after_sequence={after_sequence}, limit={limit})")
    }
}
