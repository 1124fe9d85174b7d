//! The six requests as frozen Python objects.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::take;

use agenthost::members;
use agenthost::protocol::{DEFAULT_PAGE_EVENTS, FreeJson, Metadata};
use agenthost::service::{self as core, Request};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::context::{ExecutionContext, NewArguments};
use crate::input::Input;
use crate::json::{Argument, free_json};
use crate::members::{Kind, cancel_reason, metadata, methods, name_of, optional_text, resolution, text, unsigned};
use crate::message::Source;
use crate::texts::Texts;
use crate::values::{metadata, text, unsigned, wrong_type};

/// The Python object of a request, which was read out of `source` when there is one. What it needs is taken out of the request,
/// which is large and seldom needed as a whole.
#[inline]
pub(crate) fn object<'py>(
    py: Python<'py>,
    request: &mut Request<'_>,
    source: Option<Source<'_, '_>>,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(match request {
        Request::CreateRun(request) => CreateRun::object(py, request, source)?.into_any(),
        Request::GetRun(core::GetRun { run_id }) => Bound::new(py, GetRun { run_id: run_id_of(run_id, source) })?.into_any(),
        Request::CancelRun(request) => CancelRun::object(py, request)?.into_any(),
        Request::ResolveApproval(request) => ResolveApproval::object(py, request)?.into_any(),
        Request::ResumeRun(request) => ResumeRun::object(py, request, source)?.into_any(),
        Request::ListEvents(core::ListEvents { run_id, after_sequence, limit }) => {
            let (run_id, after_sequence, limit) = (run_id_of(run_id, source), *after_sequence, *limit);
            Bound::new(py, ListEvents { run_id, after_sequence, limit })?.into_any()
        }
    })
}

fn run_id_of(run_id: &str, source: Option<Source<'_, '_>>) -> Texts<1> {
    Texts::of(source, &[run_id], &Metadata::new())
}

/// What `hash` says of equal values.
fn hash_of(parts: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// A text that is taken out of a request.
fn own(text: &mut Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(take(text).into_owned())
}

/// The core's request of a Python object.
pub(crate) fn core_request(object: &Bound<'_, PyAny>) -> PyResult<Request<'static>> {
    if let Ok(request) = object.cast::<CreateRun>() {
        let CreateRun { context, input, metadata } = request.get();
        let (context, input) = (context.get().core(object.py())?, input.core(object.py())?);
        let metadata = metadata.metadata(object.py(), 0)?;
        return Ok(Request::CreateRun(core::CreateRun { context, input, metadata }));
    }
    if let Ok(request) = object.cast::<GetRun>() {
        return Ok(Request::GetRun(core::GetRun { run_id: request.get().run_id(object.py())?.to_owned().into() }));
    }
    if let Ok(request) = object.cast::<CancelRun>() {
        return Ok(Request::CancelRun(request.get().inner.clone()));
    }
    if let Ok(request) = object.cast::<ResolveApproval>() {
        return Ok(Request::ResolveApproval(request.get().inner.clone()));
    }
    if let Ok(request) = object.cast::<ResumeRun>() {
        let ResumeRun { run_id, expected_revision, approval_id, input } = request.get();
        return Ok(Request::ResumeRun(core::ResumeRun {
            run_id: run_id.clone().into(),
            expected_revision: *expected_revision,
            approval_id: approval_id.clone().into(),
            input: input.core(object.py())?,
        }));
    }
    if let Ok(request) = object.cast::<ListEvents>() {
        let request = request.get();
        let (run_id, after_sequence, limit) = (request.run_id(object.py())?, request.after_sequence, request.limit);
        return Ok(Request::ListEvents(core::ListEvents { run_id: run_id.to_owned().into(), after_sequence, limit }));
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
    input: Input,
    /// Name and value by turns; of four pairs at the most without a copy.
    metadata: Texts<8>,
}

impl CreateRun {
    #[inline(never)]
    fn object<'py>(
        py: Python<'py>,
        request: &mut core::CreateRun<'_>,
        source: Option<Source<'_, '_>>,
    ) -> PyResult<Bound<'py, Self>> {
        let core::CreateRun { context, input, metadata } = request;
        let context = Py::new(py, ExecutionContext::of(context, source))?;
        Bound::new(py, CreateRun { context, input: Input::of(input, source), metadata: Texts::of(source, &[], metadata) })
    }
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
        let input = Input::Own(free_json("input", input, input_json, FreeJson::EMPTY_OBJECT)?);
        Ok(CreateRun { context, input, metadata: Texts::of(None, &[], &self::metadata("metadata", metadata)?) })
    }

    #[getter]
    fn context(&self, py: Python<'_>) -> Py<ExecutionContext> {
        self.context.clone_ref(py)
    }

    #[getter]
    fn input<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.input.loads(py)
    }

    #[getter]
    fn input_json<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.input.bytes(py))
    }

    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.metadata.dict(py, 0)
    }

    fn __eq__(&self, other: &Bound<'_, CreateRun>) -> PyResult<bool> {
        let (py, other) = (other.py(), other.get());
        Ok(self.context.get().equal(other.context.get(), py)?
            && self.input.bytes(py) == other.input.bytes(py)
            && self.metadata.equal(&other.metadata, py)?)
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<NewArguments<'py>> {
        let named = PyDict::new(py);
        named.set_item("context", &self.context)?;
        named.set_item("input_json", self.input_json(py))?;
        named.set_item("metadata", self.metadata(py)?)?;
        Ok((PyTuple::empty(py), named))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let bytes = self.input.bytes(py).len();
        Ok(format!("CreateRun(run_id={:?}, input=<{bytes} bytes>, …)", self.context.get().run_id(py)?))
    }
}

/// Reads a run (protocol, "Request").
#[pyclass(frozen, module = "agenthost")]
pub(crate) struct GetRun {
    run_id: Texts<1>,
}

#[pymethods]
impl GetRun {
    #[new]
    fn new(run_id: &Bound<'_, PyAny>) -> PyResult<Self> {
        let run_id = text("run_id", run_id)?;
        Ok(GetRun { run_id: run_id_of(&run_id, None) })
    }

    #[getter]
    fn run_id<'a>(&'a self, py: Python<'a>) -> PyResult<&'a str> {
        self.run_id.get(py, 0)
    }

    fn __eq__(&self, other: &Bound<'_, GetRun>) -> PyResult<bool> {
        self.run_id.equal(&other.get().run_id, other.py())
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(hash_of(&self.run_id(py)?))
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<NewArguments<'py>> {
        let named = PyDict::new(py);
        named.set_item("run_id", self.run_id(py)?)?;
        Ok((PyTuple::empty(py), named))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("GetRun(run_id={:?})", self.run_id(py)?))
    }
}

/// Cancels a run that is still at `expected_revision`, 1 to 2^53-1 (protocol, "Request"). `reason` has the contract's default.
#[pyclass(frozen, eq, hash, module = "agenthost")]
#[derive(PartialEq)]
pub(crate) struct CancelRun {
    inner: core::CancelRun<'static>,
}

impl CancelRun {
    fn of(inner: core::CancelRun<'static>) -> Self {
        CancelRun { inner }
    }

    fn inner(&self) -> &core::CancelRun<'static> {
        &self.inner
    }

    #[inline(never)]
    fn object<'py>(py: Python<'py>, request: &mut core::CancelRun<'_>) -> PyResult<Bound<'py, Self>> {
        let core::CancelRun { run_id, expected_revision, reason } = request;
        let inner = core::CancelRun { run_id: own(run_id), expected_revision: *expected_revision, reason: own(reason) };
        Bound::new(py, CancelRun { inner })
    }
}

impl Hash for CancelRun {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let core::CancelRun { run_id, expected_revision, reason } = &self.inner;
        (run_id, expected_revision, reason).hash(state);
    }
}

members!(CancelRun => methods! {
    (run_id, expected_revision, reason=None)
    repr |core::CancelRun { run_id, expected_revision, .. }| {
        format!("CancelRun(run_id={run_id:?}, expected_revision={expected_revision}, …)")
    }
});

/// Approves or denies what a run waits for (protocol, "Request").
///
/// `expected_revision` is 1 to 2^53-1, `resolution` is `approved` or `denied`.
#[pyclass(frozen, eq, module = "agenthost")]
#[derive(PartialEq)]
pub(crate) struct ResolveApproval {
    inner: core::ResolveApproval<'static>,
}

impl ResolveApproval {
    fn of(inner: core::ResolveApproval<'static>) -> Self {
        ResolveApproval { inner }
    }

    fn inner(&self) -> &core::ResolveApproval<'static> {
        &self.inner
    }

    #[inline(never)]
    fn object<'py>(py: Python<'py>, request: &mut core::ResolveApproval<'_>) -> PyResult<Bound<'py, Self>> {
        let core::ResolveApproval { run_id, expected_revision, approval_id, resolution, reason, metadata } = request;
        let inner = core::ResolveApproval {
            run_id: own(run_id),
            expected_revision: *expected_revision,
            approval_id: own(approval_id),
            resolution: *resolution,
            reason: own(reason),
            metadata: take(metadata).into_owned(),
        };
        Bound::new(py, ResolveApproval { inner })
    }
}

members!(ResolveApproval => methods! {
    (run_id, expected_revision, approval_id, resolution, reason=None, *, metadata=None)
    repr |core::ResolveApproval { run_id, approval_id, resolution, .. }| {
        format!("ResolveApproval(run_id={run_id:?}, approval_id={approval_id:?}, resolution='{}', …)", resolution.name())
    }
});

/// Lets an approved run go on (protocol, "Request").
///
/// `expected_revision` is 1 to 2^53-1. `input` is any JSON, `{}` when left out; it is parsed each time that it is read, and `input_json`
/// is its text.
#[pyclass(frozen, module = "agenthost")]
pub(crate) struct ResumeRun {
    run_id: String,
    expected_revision: u64,
    approval_id: String,
    input: Input,
}

impl ResumeRun {
    #[inline(never)]
    fn object<'py>(
        py: Python<'py>,
        request: &mut core::ResumeRun<'_>,
        source: Option<Source<'_, '_>>,
    ) -> PyResult<Bound<'py, Self>> {
        let core::ResumeRun { run_id, expected_revision, approval_id, input } = request;
        let (run_id, approval_id) = (take(run_id).into_owned(), take(approval_id).into_owned());
        let (expected_revision, input) = (*expected_revision, Input::of(input, source));
        Bound::new(py, ResumeRun { run_id, expected_revision, approval_id, input })
    }
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
        Ok(ResumeRun {
            run_id: text("run_id", run_id)?,
            expected_revision: unsigned("expected_revision", expected_revision)?,
            approval_id: text("approval_id", approval_id)?,
            input: Input::Own(free_json("input", input, input_json, FreeJson::EMPTY_OBJECT)?),
        })
    }

    #[getter]
    fn run_id(&self) -> &str {
        &self.run_id
    }

    #[getter]
    fn expected_revision(&self) -> u64 {
        self.expected_revision
    }

    #[getter]
    fn approval_id(&self) -> &str {
        &self.approval_id
    }

    #[getter]
    fn input<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.input.loads(py)
    }

    #[getter]
    fn input_json<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.input.bytes(py))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let py = other.py();
        other.cast::<ResumeRun>().is_ok_and(|other| {
            let other = other.get();
            self.run_id == other.run_id
                && self.expected_revision == other.expected_revision
                && self.approval_id == other.approval_id
                && self.input.bytes(py) == other.input.bytes(py)
        })
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<NewArguments<'py>> {
        let named = PyDict::new(py);
        named.set_item("run_id", self.run_id())?;
        named.set_item("expected_revision", self.expected_revision())?;
        named.set_item("approval_id", self.approval_id())?;
        named.set_item("input_json", self.input_json(py))?;
        Ok((PyTuple::empty(py), named))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let bytes = self.input.bytes(py).len();
        let (run, approval) = (&self.run_id, &self.approval_id);
        format!("ResumeRun(run_id={run:?}, approval_id={approval:?}, input=<{bytes} bytes>, …)")
    }
}

/// Reads events after a cursor (protocol, "Request").
///
/// Events with a sequence above `after_sequence` are asked for, 0 for all; at most `limit` of them, 1 to 1000, 256 when left out.
#[pyclass(frozen, module = "agenthost")]
pub(crate) struct ListEvents {
    run_id: Texts<1>,
    after_sequence: u64,
    limit: u64,
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
        let run_id = text("run_id", run_id)?;
        Ok(ListEvents {
            run_id: run_id_of(&run_id, None),
            after_sequence: after_sequence.map_or(Ok(0), |value| unsigned("after_sequence", value))?,
            limit: limit.map_or(Ok(DEFAULT_PAGE_EVENTS), |value| unsigned("limit", value))?,
        })
    }

    #[getter]
    fn run_id<'a>(&'a self, py: Python<'a>) -> PyResult<&'a str> {
        self.run_id.get(py, 0)
    }

    #[getter]
    fn after_sequence(&self) -> u64 {
        self.after_sequence
    }

    #[getter]
    fn limit(&self) -> u64 {
        self.limit
    }

    fn __eq__(&self, other: &Bound<'_, ListEvents>) -> PyResult<bool> {
        let (py, other) = (other.py(), other.get());
        let same = (self.after_sequence, self.limit) == (other.after_sequence, other.limit);
        Ok(same && self.run_id.equal(&other.run_id, py)?)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(hash_of(&(self.run_id(py)?, self.after_sequence, self.limit)))
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<NewArguments<'py>> {
        let named = PyDict::new(py);
        named.set_item("run_id", self.run_id(py)?)?;
        named.set_item("after_sequence", self.after_sequence())?;
        named.set_item("limit", self.limit())?;
        Ok((PyTuple::empty(py), named))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (run_id, after_sequence, limit) = (self.run_id(py)?, self.after_sequence, self.limit);
        Ok(format!("ListEvents(run_id={run_id:?}, after_sequence={after_sequence}, limit={limit})"))
    }
}
