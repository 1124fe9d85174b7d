//! Free JSON of Python objects. Which JSON the contract allows, the core judges; here it is only written.

use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

use agenthost::dispatch::DEFAULT_MAX_MESSAGE_BYTES;
use agenthost::protocol::{FreeJson, MAX_FREE_JSON_DEPTH, Violation};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::values::{str_of, type_name, wrong_type};

/// The most bytes that a Python value may have as JSON when its object is made, where no host is known: the largest limit of a
/// host so far, and at least the default one. Text that is JSON already has no such limit.
static LARGEST_LIMIT: AtomicUsize = AtomicUsize::new(DEFAULT_MAX_MESSAGE_BYTES);

/// A host with that limit was made.
pub(crate) fn allow(max_message_bytes: usize) {
    LARGEST_LIMIT.fetch_max(max_message_bytes, Ordering::Relaxed);
}

/// An argument that may be absent: `None` is JSON's null, and not that.
pub(crate) enum Argument<'py> {
    Absent,
    Given(Bound<'py, PyAny>),
}

impl<'py> FromPyObject<'_, 'py> for Argument<'py> {
    type Error = std::convert::Infallible;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> Result<Self, Self::Error> {
        Ok(Argument::Given(object.to_owned()))
    }
}

/// The JSON of `value`, or of `text`, which is JSON already; `default` when both are absent.
pub(crate) fn free_json(
    name: &str,
    value: Argument<'_>,
    text: Option<&Bound<'_, PyAny>>,
    default: FreeJson<'static>,
) -> PyResult<FreeJson<'static>> {
    match (value, text) {
        (Argument::Absent, None) => Ok(default),
        (Argument::Given(value), None) => dumps(name, &value),
        (Argument::Absent, Some(text)) => of_text(&format!("{name}_json"), text),
        (Argument::Given(_), Some(_)) => Err(both(name)),
    }
}

/// What was read of a member that holds JSON, unless its text is given instead.
pub(crate) fn free_json_or_text(
    name: &str,
    read: FreeJson<'static>,
    text: Option<&Bound<'_, PyAny>>,
) -> PyResult<FreeJson<'static>> {
    match text {
        None => Ok(read),
        Some(text) if read == FreeJson::NULL => of_text(&format!("{name}_json"), text),
        Some(_) => Err(both(name)),
    }
}

fn both(name: &str) -> PyErr {
    PyTypeError::new_err(format!("{name}: expected either {name} or {name}_json, found both"))
}

/// JSON that is text already, as `str`, `bytes` or `bytearray`.
fn of_text(name: &str, text: &Bound<'_, PyAny>) -> PyResult<FreeJson<'static>> {
    if let Ok(text) = text.cast::<PyString>() {
        return checked(name, str_of(name, text)?);
    }
    let copied;
    let bytes = match (text.cast::<PyBytes>(), text.cast::<PyByteArray>()) {
        (Ok(bytes), _) => bytes.as_bytes(),
        (_, Ok(bytes)) => {
            copied = bytes.to_vec();
            &copied
        }
        _ => return Err(wrong_type(name, "JSON text as str, bytes or bytearray", text)),
    };
    checked(name, std::str::from_utf8(bytes).map_err(|_| PyValueError::new_err(format!("{name}: expected UTF-8")))?)
}

fn checked(name: &str, text: &str) -> PyResult<FreeJson<'static>> {
    FreeJson::new(text).map(FreeJson::into_owned).map_err(|violation| refused(name, &violation))
}

fn owned(name: &str, text: String) -> PyResult<FreeJson<'static>> {
    FreeJson::new(text).map_err(|violation| refused(name, &violation))
}

fn refused(name: &str, violation: &Violation) -> PyErr {
    PyValueError::new_err(format!("{name}: {violation}"))
}

/// What `value` is as JSON.
fn dumps(name: &str, value: &Bound<'_, PyAny>) -> PyResult<FreeJson<'static>> {
    free_json_of(name, value, LARGEST_LIMIT.load(Ordering::Relaxed))
}

/// What `value` is as JSON of at most `max_bytes`.
pub(crate) fn free_json_of(name: &str, value: &Bound<'_, PyAny>, max_bytes: usize) -> PyResult<FreeJson<'static>> {
    owned(name, text_of(name, value, MAX_FREE_JSON_DEPTH, max_bytes)?)
}

/// What `value` is as JSON text of at most `max_bytes` that nests at most `depth` levels. What is larger costs no more than that:
/// a list that is in many lists is written as often, so a small object can be a large text.
pub(crate) fn text_of(name: &str, value: &Bound<'_, PyAny>, depth: usize, max_bytes: usize) -> PyResult<String> {
    let mut writer = Writer { text: Vec::with_capacity(128), name, max_bytes };
    writer.value(value, depth)?;
    String::from_utf8(writer.text).map_err(|_| PyValueError::new_err(format!("{name}: expected text")))
}

/// Writes the value of the argument `name`.
struct Writer<'a> {
    text: Vec<u8>,
    name: &'a str,
    max_bytes: usize,
}

impl Writer<'_> {
    fn value(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        if let Ok(text) = value.cast::<PyString>() {
            self.string(text)
        } else if value.is_none() {
            self.push(b"null")
        } else if let Ok(value) = value.cast::<PyBool>() {
            self.push(if value.is_true() { b"true" } else { b"false" })
        } else if let Ok(integer) = value.cast::<PyInt>() {
            self.integer(integer)
        } else if let Ok(float) = value.cast::<PyFloat>() {
            let number = float.value();
            if !number.is_finite() {
                let name = self.name;
                return Err(PyValueError::new_err(format!("{name}: expected JSON, which has no infinity and no NaN")));
            }
            self.serialized(&number)
        } else if let Ok(dict) = value.cast::<PyDict>() {
            self.dict(dict, self.deeper(depth)?)
        } else if let Ok(list) = value.cast::<PyList>() {
            self.array(list.iter(), self.deeper(depth)?)
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            self.array(tuple.iter(), self.deeper(depth)?)
        } else {
            Err(PyTypeError::new_err(format!(
                "{}: expected what JSON can hold (None, bool, int, float, str, list, tuple, dict), found {} in it",
                self.name,
                type_name(value)
            )))
        }
    }

    fn deeper(&self, depth: usize) -> PyResult<usize> {
        depth.checked_sub(1).ok_or_else(|| {
            let name = self.name;
            PyValueError::new_err(format!(
                "{name}: expected at most {MAX_FREE_JSON_DEPTH} levels of nesting, found more (or a cycle)"
            ))
        })
    }

    fn dict(&mut self, dict: &Bound<'_, PyDict>, depth: usize) -> PyResult<()> {
        self.push(b"{")?;
        let mut first = true;
        for (key, value) in dict.iter() {
            if !std::mem::take(&mut first) {
                self.push(b",")?;
            }
            let key = key.cast::<PyString>().map_err(|_| {
                let (name, found) = (self.name, type_name(&key));
                PyTypeError::new_err(format!("{name}: expected strings as the keys of its dicts, found {found}"))
            })?;
            self.string(key)?;
            self.push(b":")?;
            self.value(&value, depth)?;
        }
        self.push(b"}")
    }

    fn array<'py>(&mut self, values: impl Iterator<Item = Bound<'py, PyAny>>, depth: usize) -> PyResult<()> {
        self.push(b"[")?;
        for (index, value) in values.enumerate() {
            if index > 0 {
                self.push(b",")?;
            }
            self.value(&value, depth)?;
        }
        self.push(b"]")
    }

    fn string(&mut self, text: &Bound<'_, PyString>) -> PyResult<()> {
        let text = str_of(self.name, text)?;
        self.serialized(text)
    }

    fn integer(&mut self, integer: &Bound<'_, PyInt>) -> PyResult<()> {
        if let Ok(number) = integer.extract::<i64>() {
            return self.serialized(&number);
        }
        // `int.__repr__`, also for subclasses that show themselves otherwise.
        let digits = integer.py().get_type::<PyInt>().call_method1("__repr__", (integer,))?;
        self.push(str_of(self.name, digits.cast::<PyString>()?)?.as_bytes())
    }

    fn serialized<T: serde::Serialize + ?Sized>(&mut self, value: &T) -> PyResult<()> {
        serde_json::to_writer(&mut *self, value).map_err(|error| match error.io_error_kind() {
            Some(kind) => self.full(kind),
            None => PyValueError::new_err(error.to_string()),
        })
    }

    fn push(&mut self, bytes: &[u8]) -> PyResult<()> {
        self.write_all(bytes).map_err(|error| self.full(error.kind()))
    }

    /// Why there is no room for more.
    fn full(&self, kind: ErrorKind) -> PyErr {
        let (name, most) = (self.name, self.max_bytes);
        match kind {
            ErrorKind::OutOfMemory => PyMemoryError::new_err(format!("{name}: there is no memory for its JSON")),
            _ => PyValueError::new_err(format!(
                "{name}: expected at most {most} bytes of JSON, the largest limit of a host, found more"
            )),
        }
    }
}

impl Write for Writer<'_> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() > self.text.capacity() - self.text.len() {
            self.text.try_reserve(bytes.len())?;
        }
        if bytes.len() > self.max_bytes - self.text.len() {
            return Err(ErrorKind::FileTooLarge.into());
        }
        self.text.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
