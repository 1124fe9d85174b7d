//! The execution context and the call: what stands around a request.

use std::borrow::Cow;

use agenthost::protocol::{ExecutionContext as Core, Operation};
use agenthost::service::Call as CoreCall;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use crate::message::Source;
use crate::texts::Texts;
use crate::values::{metadata, optional_unix_ms, text_or_empty};
use crate::words;

/// What `copy` and `pickle` make an object of again: keyword arguments of its class.
pub(crate) type NewArguments<'py> = (Bound<'py, PyTuple>, Bound<'py, PyDict>);

/// Where a run comes from (protocol, "Execution context"). Strings are empty where nothing is known.
///
/// `run_id` names the run: not empty in `CreateRun`, without U+0000, at most 1,024 bytes. `deadline_unix_ms` is in milliseconds since
/// the Unix epoch, within 8.64e15 of it, or None. A sensitive name in `metadata` refuses a request; it is dropped from an answer.
///
/// Raises TypeError for a value of another type (a bool is no integer), ValueError for text that UTF-8 cannot hold.
#[pyclass(frozen, module = "agenthost")]
pub(crate) struct ExecutionContext {
    /// The ten members that are texts, in the order of the contract, and then name and value of the metadata by turns; of four
    /// pairs at the most without a copy.
    texts: Texts<18>,
    deadline_unix_ms: Option<i64>,
}

impl ExecutionContext {
    const TEXTS: usize = 10;

    /// The core's context, which was read out of `source` when there is one.
    pub(crate) fn of(context: &Core<'_>, source: Option<Source<'_, '_>>) -> Self {
        let texts: [&str; Self::TEXTS] = [
            &context.run_id,
            &context.trace_id,
            &context.request_id,
            &context.tenant_id,
            &context.user_id,
            &context.application_id,
            &context.workspace_id,
            &context.conversation_id,
            &context.agent_id,
            &context.locale,
        ];
        let texts = Texts::of(source, &texts, &context.metadata);
        ExecutionContext { texts, deadline_unix_ms: context.deadline_unix_ms }
    }

    /// Whether both say the same.
    pub(crate) fn equal(&self, other: &ExecutionContext, py: Python<'_>) -> PyResult<bool> {
        Ok(self.deadline_unix_ms == other.deadline_unix_ms && self.texts.equal(&other.texts, py)?)
    }

    /// A copy, as the core wants it.
    pub(crate) fn core(&self, py: Python<'_>) -> PyResult<Core<'static>> {
        let text = |index| self.texts.get(py, index).map(|text| Cow::Owned(text.to_owned()));
        Ok(Core {
            run_id: text(0)?,
            trace_id: text(1)?,
            request_id: text(2)?,
            tenant_id: text(3)?,
            user_id: text(4)?,
            application_id: text(5)?,
            workspace_id: text(6)?,
            conversation_id: text(7)?,
            agent_id: text(8)?,
            locale: text(9)?,
            deadline_unix_ms: self.deadline_unix_ms,
            metadata: self.texts.metadata(py, Self::TEXTS)?,
        })
    }
}

#[pymethods]
impl ExecutionContext {
    #[new]
    #[pyo3(signature = (run_id=None, *, trace_id=None, request_id=None, tenant_id=None, user_id=None, application_id=None,
        workspace_id=None, conversation_id=None, agent_id=None, locale=None, deadline_unix_ms=None, metadata=None))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, one for each member of the contract")]
    fn new(
        run_id: Option<&Bound<'_, PyAny>>,
        trace_id: Option<&Bound<'_, PyAny>>,
        request_id: Option<&Bound<'_, PyAny>>,
        tenant_id: Option<&Bound<'_, PyAny>>,
        user_id: Option<&Bound<'_, PyAny>>,
        application_id: Option<&Bound<'_, PyAny>>,
        workspace_id: Option<&Bound<'_, PyAny>>,
        conversation_id: Option<&Bound<'_, PyAny>>,
        agent_id: Option<&Bound<'_, PyAny>>,
        locale: Option<&Bound<'_, PyAny>>,
        deadline_unix_ms: Option<&Bound<'_, PyAny>>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let context = Core {
            run_id: text_or_empty("run_id", run_id)?,
            trace_id: text_or_empty("trace_id", trace_id)?,
            request_id: text_or_empty("request_id", request_id)?,
            tenant_id: text_or_empty("tenant_id", tenant_id)?,
            user_id: text_or_empty("user_id", user_id)?,
            application_id: text_or_empty("application_id", application_id)?,
            workspace_id: text_or_empty("workspace_id", workspace_id)?,
            conversation_id: text_or_empty("conversation_id", conversation_id)?,
            agent_id: text_or_empty("agent_id", agent_id)?,
            locale: text_or_empty("locale", locale)?,
            deadline_unix_ms: optional_unix_ms("deadline_unix_ms", deadline_unix_ms)?,
            metadata: self::metadata("metadata", metadata)?,
        };
        Ok(ExecutionContext::of(&context, None))
    }

    #[getter]
    pub(crate) fn run_id<'a>(&'a self, py: Python<'a>) -> PyResult<&'a str> {
        self.texts.get(py, 0)
    }

    #[getter]
    fn trace_id<'a>(&'a self, py: Python<'a>) -> PyResult<&'a str> {
        self.texts.get(py, 1)
    }

    #[getter]
    fn request_id<'a>(&'a self, py: Python<'a>) -> PyResult<&'a str> {
        self.texts.get(py, 2)
    }

    #[getter]
    fn tenant_id<'a>(&'a self, py: Python<'a>) -> PyResult<&'a str> {
        self.texts.get(py, 3)
    }

    #[getter]
    fn user_id<'a>(&'a self, py: Python<'a>) -> PyResult<&'a str> {
        self.texts.get(py, 4)
    }

    #[getter]
    fn application_id<'a>(&'a self, py: Python<'a>) -> PyResult<&'a str> {
        self.texts.get(py, 5)
    }

    #[getter]
    fn workspace_id<'a>(&'a self, py: Python<'a>) -> PyResult<&'a str> {
        self.texts.get(py, 6)
    }

    #[getter]
    fn conversation_id<'a>(&'a self, py: Python<'a>) -> PyResult<&'a str> {
        self.texts.get(py, 7)
    }

    #[getter]
    fn agent_id<'a>(&'a self, py: Python<'a>) -> PyResult<&'a str> {
        self.texts.get(py, 8)
    }

    #[getter]
    fn locale<'a>(&'a self, py: Python<'a>) -> PyResult<&'a str> {
        self.texts.get(py, 9)
    }

    #[getter]
    fn deadline_unix_ms(&self) -> Option<i64> {
        self.deadline_unix_ms
    }

    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.texts.dict(py, Self::TEXTS)
    }

    fn __eq__(&self, other: &Bound<'_, ExecutionContext>) -> PyResult<bool> {
        self.equal(other.get(), other.py())
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<NewArguments<'py>> {
        let named = PyDict::new(py);
        named.set_item("run_id", self.run_id(py)?)?;
        named.set_item("trace_id", self.trace_id(py)?)?;
        named.set_item("request_id", self.request_id(py)?)?;
        named.set_item("tenant_id", self.tenant_id(py)?)?;
        named.set_item("user_id", self.user_id(py)?)?;
        named.set_item("application_id", self.application_id(py)?)?;
        named.set_item("workspace_id", self.workspace_id(py)?)?;
        named.set_item("conversation_id", self.conversation_id(py)?)?;
        named.set_item("agent_id", self.agent_id(py)?)?;
        named.set_item("locale", self.locale(py)?)?;
        named.set_item("deadline_unix_ms", self.deadline_unix_ms())?;
        named.set_item("metadata", self.metadata(py)?)?;
        Ok((PyTuple::empty(py), named))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("ExecutionContext(run_id={:?}, trace_id={:?}, …)", self.run_id(py)?, self.trace_id(py)?))
    }
}

/// What a service is told about a call, beside the request.
///
/// `request_id` names the request, `idempotency_key` the mutation (a retry carries the same one; empty for reads without one), `metadata`
/// is the envelope's, and `principal` is whom the transport authenticated, or None: it never comes from the message.
#[pyclass(frozen, subclass, module = "agenthost")]
pub(crate) struct Call {
    operation: Operation,
    /// The request id, the idempotency key, and then name and value of the metadata by turns; of four pairs at the most without
    /// a copy.
    texts: Texts<10>,
    principal: Option<Box<str>>,
}

impl Call {
    /// The core's call, which was read out of `source` when there is one.
    #[inline]
    pub(crate) fn of(call: &CoreCall<'_>, source: Option<Source<'_, '_>>) -> Call {
        let CoreCall { operation, request_id, idempotency_key, metadata, principal } = call;
        let texts = Texts::of(source, &[request_id, idempotency_key], metadata);
        Call { operation: *operation, texts, principal: principal.as_deref().map(Box::from) }
    }
}

#[pymethods]
impl Call {
    #[new]
    #[pyo3(signature = (operation, request_id, *, idempotency_key=None, metadata=None, principal=None))]
    fn new(
        operation: &Bound<'_, PyAny>,
        request_id: &Bound<'_, PyAny>,
        idempotency_key: Option<&Bound<'_, PyAny>>,
        metadata: Option<&Bound<'_, PyAny>>,
        principal: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let call = CoreCall {
            operation: words::read_operation(operation)?,
            request_id: text_or_empty("request_id", Some(request_id))?,
            idempotency_key: text_or_empty("idempotency_key", idempotency_key)?,
            metadata: self::metadata("metadata", metadata)?,
            principal: principal.map(|principal| text_or_empty("principal", Some(principal))).transpose()?,
        };
        Ok(Call::of(&call, None))
    }

    #[getter]
    fn operation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        words::operation(py, self.operation)
    }

    #[getter]
    fn request_id<'a>(&'a self, py: Python<'a>) -> PyResult<&'a str> {
        self.texts.get(py, 0)
    }

    #[getter]
    fn idempotency_key<'a>(&'a self, py: Python<'a>) -> PyResult<&'a str> {
        self.texts.get(py, 1)
    }

    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.texts.dict(py, 2)
    }

    #[getter]
    fn principal(&self) -> Option<&str> {
        self.principal.as_deref()
    }

    fn __eq__(&self, other: &Bound<'_, Call>) -> PyResult<bool> {
        let (py, other) = (other.py(), other.get());
        Ok(self.operation == other.operation && self.principal == other.principal && self.texts.equal(&other.texts, py)?)
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<NewArguments<'py>> {
        let named = PyDict::new(py);
        named.set_item("operation", self.operation.name())?;
        named.set_item("request_id", self.request_id(py)?)?;
        named.set_item("idempotency_key", self.idempotency_key(py)?)?;
        named.set_item("metadata", self.metadata(py)?)?;
        named.set_item("principal", self.principal())?;
        Ok((PyTuple::empty(py), named))
    }

    /// A copy is a plain call: nothing can be answered through it.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, NewCall<'py>)> {
        let (positional, named) = self.__getnewargs_ex__(py)?;
        Ok((py.import("copyreg")?.getattr("__newobj_ex__")?, (py.get_type::<Call>(), positional, named)))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Call(operation='{}', request_id={:?}, …)", self.operation.name(), self.request_id(py)?))
    }
}

/// What `copyreg` makes a call of.
type NewCall<'py> = (Bound<'py, PyType>, Bound<'py, PyTuple>, Bound<'py, PyDict>);
