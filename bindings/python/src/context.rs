//! The execution context and the call: what stands around a request.

use std::borrow::Cow;

use agenthost::members;
use agenthost::protocol::{ExecutionContext as Core, Operation};
use agenthost::service::Call as CoreCall;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use crate::enums;
use crate::message::Source;
use crate::texts::Texts;
use crate::values::{metadata, optional_unix_ms, text, text_or_empty};

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

/// Writes the class of the context: the members that are texts first, and then the two that are not.
macro_rules! methods_of_context {
    ({ $class:ident $signature:tt } ExecutionContext { $($members:tt)* }) => {
        methods_of_context!(@ $class $signature [] $($members)*);
    };
    (@ $class:ident $signature:tt [$($text:ident)*] $name:ident = $field:ident: optional_text, $($rest:tt)*) => {
        methods_of_context!(@ $class $signature [$($text)* $name] $($rest)*);
    };
    (@ $class:ident $signature:tt [$($text:ident)*]
        deadline_unix_ms = $deadline:ident: optional_time, metadata = $metadata:ident: metadata,) => {
        /// Where each text stands.
        #[allow(non_camel_case_types, reason = "called as the members are")]
        enum Place {
            $($text,)*
            Metadata,
        }

        impl ExecutionContext {
            /// The core's context, which was read out of `source` when there is one.
            pub(crate) fn of(context: &Core<'_>, source: Option<Source<'_, '_>>) -> Self {
                let texts = Texts::of(source, &[$(&*context.$text),*], &context.metadata);
                ExecutionContext { texts, deadline_unix_ms: context.deadline_unix_ms }
            }

            /// A copy, as the core wants it.
            pub(crate) fn core(&self, py: Python<'_>) -> PyResult<Core<'static>> {
                Ok(Core {
                    $($text: Cow::Owned(self.texts.get(py, Place::$text as usize)?.to_owned()),)*
                    deadline_unix_ms: self.deadline_unix_ms,
                    metadata: self.texts.metadata(py, Place::Metadata as usize)?,
                })
            }
        }

        #[pymethods]
        impl $class {
            #[new]
            #[pyo3(signature = $signature)]
            #[allow(clippy::too_many_arguments, reason = "keyword arguments, one for each member of the contract")]
            fn new(
                $($text: Option<&Bound<'_, PyAny>>,)*
                $deadline: Option<&Bound<'_, PyAny>>,
                $metadata: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Self> {
                let context = Core {
                    $($text: text_or_empty(stringify!($text), $text)?,)*
                    deadline_unix_ms: optional_unix_ms("deadline_unix_ms", $deadline)?,
                    metadata: self::metadata("metadata", $metadata)?,
                };
                Ok(ExecutionContext::of(&context, None))
            }

            $(
                #[getter]
                pub(crate) fn $text<'a>(&'a self, py: Python<'a>) -> PyResult<&'a str> {
                    self.texts.get(py, Place::$text as usize)
                }
            )*

            #[getter]
            fn deadline_unix_ms(&self) -> Option<i64> {
                self.deadline_unix_ms
            }

            #[getter]
            fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
                self.texts.dict(py, Place::Metadata as usize)
            }

            fn __eq__(&self, other: &Bound<'_, ExecutionContext>) -> PyResult<bool> {
                self.equal(other.get(), other.py())
            }

            fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<NewArguments<'py>> {
                let named = PyDict::new(py);
                $(named.set_item(stringify!($text), self.$text(py)?)?;)*
                named.set_item("deadline_unix_ms", self.deadline_unix_ms)?;
                named.set_item("metadata", self.metadata(py)?)?;
                Ok((PyTuple::empty(py), named))
            }

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                Ok(format!("ExecutionContext(run_id={:?}, trace_id={:?}, …)", self.run_id(py)?, self.trace_id(py)?))
            }
        }
    };
}

members!(ExecutionContext => methods_of_context! {
    ExecutionContext (run_id=None, *, trace_id=None, request_id=None, tenant_id=None, user_id=None, application_id=None, workspace_id=None,
        conversation_id=None, agent_id=None, locale=None, deadline_unix_ms=None, metadata=None)
});

impl ExecutionContext {
    /// Whether both say the same.
    pub(crate) fn equal(&self, other: &ExecutionContext, py: Python<'_>) -> PyResult<bool> {
        Ok(self.deadline_unix_ms == other.deadline_unix_ms && self.texts.equal(&other.texts, py)?)
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

/// Whom a call is from: never nobody by mistake.
fn principal(value: &Bound<'_, PyAny>) -> PyResult<Cow<'static, str>> {
    let principal = text("principal", value)?;
    if principal.is_empty() || principal.contains('\0') {
        return Err(PyValueError::new_err("principal: expected a string that is not empty and has no U+0000"));
    }
    Ok(principal.into())
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
            operation: crate::values::operation(operation)?,
            request_id: text_or_empty("request_id", Some(request_id))?,
            idempotency_key: text_or_empty("idempotency_key", idempotency_key)?,
            metadata: self::metadata("metadata", metadata)?,
            principal: principal.map(self::principal).transpose()?,
        };
        Ok(Call::of(&call, None))
    }

    #[getter]
    fn operation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        enums::operation(py, self.operation)
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
