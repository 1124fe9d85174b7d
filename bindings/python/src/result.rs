//! What a service answers, as frozen Python objects: the submission, the run's view and the approval in it. A value is
//! copied when its object is made; nothing that happens to it afterwards changes the object.

use std::hash::{Hash, Hasher};

use agenthost::members;
use agenthost::service::{self as core, Answer};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

use crate::context::ExecutionContext;
use crate::json::Argument;
use crate::members::{
    Kind, free_json, metadata, methods, name_of, optional_text, optional_time, resolution, run_status, text, time, unsigned,
};

/// What the four mutations answer: the run as it is now (protocol, "Response"). `revision` is 1 to 2^53-1.
///
/// Raises TypeError for a value of another type (a bool is no integer), ValueError for a status that the contract does not have.
#[pyclass(frozen, eq, hash, module = "agenthost")]
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

impl Hash for RunSubmission {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let core::RunSubmission { run_id, revision, status } = self.inner();
        (run_id, revision, status).hash(state);
    }
}

members!(RunSubmission => methods! {
    (run_id, revision, status)
    repr |core::RunSubmission { run_id, revision, status }| {
        format!("RunSubmission(run_id={run_id:?}, revision={revision}, status='{}')", status.name())
    }
});

/// What a run waits for, or waited for (protocol, "Response").
///
/// `tool_call_id` and `tool_name` are not empty. Times are in milliseconds since the Unix epoch; `resolved_at_unix_ms` is None while the
/// approval is pending, and only then.
#[pyclass(frozen, eq, module = "agenthost")]
#[derive(Clone, PartialEq)]
pub(crate) struct ApprovalView {
    inner: core::ApprovalView<'static>,
}

impl ApprovalView {
    pub(crate) fn of(inner: core::ApprovalView<'static>) -> Self {
        ApprovalView { inner }
    }

    pub(crate) fn inner(&self) -> &core::ApprovalView<'static> {
        &self.inner
    }
}

members!(ApprovalView => methods! {
    (approval_id, tool_call_id, tool_name, resolution, *, reason=None, created_at_unix_ms=None, resolved_at_unix_ms=None,
        metadata=None)
    repr |core::ApprovalView { approval_id, resolution, .. }| {
        format!("ApprovalView(approval_id={approval_id:?}, resolution='{}', …)", resolution.name())
    }
});

/// The kind of a run's context.
#[allow(non_camel_case_types, reason = "called as the core calls it")]
enum context {}

impl Kind for context {
    type Value = agenthost::protocol::ExecutionContext<'static>;
    type Argument<'py> = Bound<'py, ExecutionContext>;

    fn read(_: &str, given: Self::Argument<'_>) -> PyResult<Self::Value> {
        given.get().core(given.py())
    }

    fn get<'py>(py: Python<'py>, value: &Self::Value) -> PyResult<Bound<'py, PyAny>> {
        ExecutionContext::of(value, None).into_bound_py_any(py)
    }
}

/// The kind of a run's approval.
#[allow(non_camel_case_types, reason = "called as the core calls it")]
enum approval {}

impl Kind for approval {
    type Value = Option<core::ApprovalView<'static>>;
    type Argument<'py> = Option<Bound<'py, ApprovalView>>;

    fn read(_: &str, given: Self::Argument<'_>) -> PyResult<Self::Value> {
        Ok(given.map(|given| given.get().inner().clone()))
    }

    fn get<'py>(py: Python<'py>, value: &Self::Value) -> PyResult<Bound<'py, PyAny>> {
        value.clone().map(ApprovalView::of).into_bound_py_any(py)
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

members!(RunView => methods! {
    (run_id, revision, status, context, *, created_at_unix_ms=None, updated_at_unix_ms=None, completed_at_unix_ms=None,
        approval=None, result=Argument::Absent, error=None, metadata=None, result_json=None)
    json result result_json
    repr |core::RunView { run_id, revision, status, .. }| {
        format!("RunView(run_id={run_id:?}, revision={revision}, status='{}', …)", status.name())
    }
});
