//! What a service answers, as frozen Python objects: the submission, the run's view and the approval in it. A value is
//! copied when its object is made; nothing that happens to it afterwards changes the object.

use agenthost::protocol::FreeJson;
use agenthost::service::{self as core, Answer};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::context::{ExecutionContext, NewArguments};
use crate::json::{Argument, free_json};
use crate::loads::loads;
use crate::values::{dict, metadata, optional_unix_ms, resolution, run_status, text, text_or_empty, unix_ms, unsigned};
use crate::words;

/// What the four mutations answer: the run as it is now (protocol, "Response"). `revision` is 1 to 2^53-1.
///
/// Raises TypeError for a value of another type (a bool is no integer), ValueError for a status that the contract does not have.
#[pyclass(frozen, eq, module = "agenthost")]
#[derive(PartialEq)]
pub(crate) struct RunSubmission {
    /// A [`core::RunSubmission`], as the core wants it.
    pub(crate) answer: Answer<'static>,
}

impl RunSubmission {
    pub(crate) fn of(inner: core::RunSubmission<'static>) -> Self {
        RunSubmission { answer: Answer::Submission(inner) }
    }

    fn inner(&self) -> &core::RunSubmission<'static> {
        match &self.answer {
            Answer::Submission(inner) => inner,
            _ => unreachable!("made of a submission"),
        }
    }
}

#[pymethods]
impl RunSubmission {
    #[new]
    fn new(run_id: &Bound<'_, PyAny>, revision: &Bound<'_, PyAny>, status: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(RunSubmission::of(core::RunSubmission {
            run_id: text("run_id", run_id)?.into(),
            revision: unsigned("revision", revision)?,
            status: run_status(status)?,
        }))
    }

    #[getter]
    fn run_id(&self) -> &str {
        &self.inner().run_id
    }

    #[getter]
    fn revision(&self) -> u64 {
        self.inner().revision
    }

    #[getter]
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        words::run_status(py, self.inner().status)
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<NewArguments<'py>> {
        let named = PyDict::new(py);
        named.set_item("run_id", self.run_id())?;
        named.set_item("revision", self.revision())?;
        named.set_item("status", self.inner().status.name())?;
        Ok((PyTuple::empty(py), named))
    }

    fn __repr__(&self) -> String {
        let core::RunSubmission { run_id, revision, status } = self.inner();
        format!("RunSubmission(run_id={run_id:?}, revision={revision}, status='{}')", status.name())
    }
}

/// What a run waits for, or waited for (protocol, "Response").
///
/// `tool_call_id` and `tool_name` are not empty. Times are in milliseconds since the Unix epoch; `resolved_at_unix_ms` is None while the
/// approval is pending, and only then.
#[pyclass(frozen, eq, module = "agenthost")]
#[derive(Clone, PartialEq)]
pub(crate) struct ApprovalView {
    inner: core::ApprovalView<'static>,
}

#[pymethods]
impl ApprovalView {
    #[new]
    #[pyo3(signature = (approval_id, tool_call_id, tool_name, resolution, *, reason=None, created_at_unix_ms=None,
        resolved_at_unix_ms=None, metadata=None))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, one for each member of the contract")]
    fn new(
        approval_id: &Bound<'_, PyAny>,
        tool_call_id: &Bound<'_, PyAny>,
        tool_name: &Bound<'_, PyAny>,
        resolution: &Bound<'_, PyAny>,
        reason: Option<&Bound<'_, PyAny>>,
        created_at_unix_ms: Option<&Bound<'_, PyAny>>,
        resolved_at_unix_ms: Option<&Bound<'_, PyAny>>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let inner = core::ApprovalView {
            approval_id: text("approval_id", approval_id)?.into(),
            tool_call_id: text("tool_call_id", tool_call_id)?.into(),
            tool_name: text("tool_name", tool_name)?.into(),
            resolution: self::resolution(resolution)?,
            reason: text_or_empty("reason", reason)?,
            created_at_unix_ms: created_at_unix_ms.map_or(Ok(0), |time| unix_ms("created_at_unix_ms", time))?,
            resolved_at_unix_ms: optional_unix_ms("resolved_at_unix_ms", resolved_at_unix_ms)?,
            metadata: self::metadata("metadata", metadata)?,
        };
        Ok(ApprovalView { inner })
    }

    #[getter]
    fn approval_id(&self) -> &str {
        &self.inner.approval_id
    }

    #[getter]
    fn tool_call_id(&self) -> &str {
        &self.inner.tool_call_id
    }

    #[getter]
    fn tool_name(&self) -> &str {
        &self.inner.tool_name
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
    fn created_at_unix_ms(&self) -> i64 {
        self.inner.created_at_unix_ms
    }

    #[getter]
    fn resolved_at_unix_ms(&self) -> Option<i64> {
        self.inner.resolved_at_unix_ms
    }

    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, &self.inner.metadata)
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<NewArguments<'py>> {
        let named = PyDict::new(py);
        named.set_item("approval_id", self.approval_id())?;
        named.set_item("tool_call_id", self.tool_call_id())?;
        named.set_item("tool_name", self.tool_name())?;
        named.set_item("resolution", self.inner.resolution.name())?;
        named.set_item("reason", self.reason())?;
        named.set_item("created_at_unix_ms", self.created_at_unix_ms())?;
        named.set_item("resolved_at_unix_ms", self.resolved_at_unix_ms())?;
        named.set_item("metadata", self.metadata(py)?)?;
        Ok((PyTuple::empty(py), named))
    }

    fn __repr__(&self) -> String {
        let core::ApprovalView { approval_id, resolution, .. } = &self.inner;
        format!("ApprovalView(approval_id={approval_id:?}, resolution='{}', …)", resolution.name())
    }
}

/// A run as `get_run` answers it (protocol, "Response").
///
/// `revision` is 1 to 2^53-1; times are in milliseconds since the Unix epoch. `result` is any JSON, None where there is nothing; it is
/// copied now, parsed each time that it is read, and `result_json` is its text. It leaves the host as it is, as `error` does: no secrets.
///
/// Raises TypeError for a value of another type (a bool is no integer), ValueError for a status that the contract does not have and
/// for what is no JSON.
#[pyclass(frozen, eq, module = "agenthost")]
#[derive(PartialEq)]
pub(crate) struct RunView {
    /// A [`core::RunView`], as the core wants it.
    pub(crate) answer: Answer<'static>,
}

impl RunView {
    pub(crate) fn of(inner: core::RunView<'static>) -> Self {
        RunView { answer: Answer::Run(inner) }
    }

    pub(crate) fn inner(&self) -> &core::RunView<'static> {
        match &self.answer {
            Answer::Run(inner) => inner,
            _ => unreachable!("made of a view"),
        }
    }
}

#[pymethods]
impl RunView {
    #[new]
    #[pyo3(signature = (run_id, revision, status, context, *, created_at_unix_ms=None, updated_at_unix_ms=None,
        completed_at_unix_ms=None, approval=None, result=Argument::Absent, result_json=None, error=None, metadata=None))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, one for each member of the contract")]
    fn new(
        run_id: &Bound<'_, PyAny>,
        revision: &Bound<'_, PyAny>,
        status: &Bound<'_, PyAny>,
        context: &Bound<'_, ExecutionContext>,
        created_at_unix_ms: Option<&Bound<'_, PyAny>>,
        updated_at_unix_ms: Option<&Bound<'_, PyAny>>,
        completed_at_unix_ms: Option<&Bound<'_, PyAny>>,
        approval: Option<&Bound<'_, ApprovalView>>,
        result: Argument<'_>,
        result_json: Option<&Bound<'_, PyAny>>,
        error: Option<&Bound<'_, PyAny>>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        Ok(RunView::of(core::RunView {
            run_id: text("run_id", run_id)?.into(),
            revision: unsigned("revision", revision)?,
            status: run_status(status)?,
            context: context.get().core(context.py())?,
            created_at_unix_ms: created_at_unix_ms.map_or(Ok(0), |time| unix_ms("created_at_unix_ms", time))?,
            updated_at_unix_ms: updated_at_unix_ms.map_or(Ok(0), |time| unix_ms("updated_at_unix_ms", time))?,
            completed_at_unix_ms: optional_unix_ms("completed_at_unix_ms", completed_at_unix_ms)?,
            approval: approval.map(|approval| approval.get().inner.clone()),
            result: free_json("result", result, result_json, FreeJson::NULL)?,
            error: text_or_empty("error", error)?,
            metadata: self::metadata("metadata", metadata)?,
        }))
    }

    #[getter]
    fn run_id(&self) -> &str {
        &self.inner().run_id
    }

    #[getter]
    fn revision(&self) -> u64 {
        self.inner().revision
    }

    #[getter]
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        words::run_status(py, self.inner().status)
    }

    #[getter]
    fn context(&self) -> ExecutionContext {
        ExecutionContext::of(&self.inner().context, None)
    }

    #[getter]
    fn created_at_unix_ms(&self) -> i64 {
        self.inner().created_at_unix_ms
    }

    #[getter]
    fn updated_at_unix_ms(&self) -> i64 {
        self.inner().updated_at_unix_ms
    }

    #[getter]
    fn completed_at_unix_ms(&self) -> Option<i64> {
        self.inner().completed_at_unix_ms
    }

    #[getter]
    fn approval(&self) -> Option<ApprovalView> {
        self.inner().approval.clone().map(|inner| ApprovalView { inner })
    }

    #[getter]
    fn result<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        loads(py, self.inner().result.as_str())
    }

    #[getter]
    fn result_json<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.inner().result.as_str().as_bytes())
    }

    #[getter]
    fn error(&self) -> &str {
        &self.inner().error
    }

    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, &self.inner().metadata)
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<NewArguments<'py>> {
        let named = PyDict::new(py);
        named.set_item("run_id", self.run_id())?;
        named.set_item("revision", self.revision())?;
        named.set_item("status", self.inner().status.name())?;
        named.set_item("context", self.context())?;
        named.set_item("created_at_unix_ms", self.created_at_unix_ms())?;
        named.set_item("updated_at_unix_ms", self.updated_at_unix_ms())?;
        named.set_item("completed_at_unix_ms", self.completed_at_unix_ms())?;
        named.set_item("approval", self.approval())?;
        named.set_item("result_json", self.result_json(py))?;
        named.set_item("error", self.error())?;
        named.set_item("metadata", self.metadata(py)?)?;
        Ok((PyTuple::empty(py), named))
    }

    fn __repr__(&self) -> String {
        let core::RunView { run_id, revision, status, .. } = self.inner();
        format!("RunView(run_id={run_id:?}, revision={revision}, status='{}', …)", status.name())
    }
}
