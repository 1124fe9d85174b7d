//! From Python values to the core's. Only types are judged here; which values the contract allows is the core's to say.
//! Messages name the argument and what stood there, never the value.

use std::borrow::Cow;

use agenthost::protocol::{Metadata, Operation, Resolution, RunStatus};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyInt, PyString, PyType};

use crate::{collector, enums, user_code};

/// The error for a value of another type.
pub(crate) fn wrong_type(name: &str, expected: &str, value: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("{name}: expected {expected}, found {}", type_name(value)))
}

/// The name of a value's type.
pub(crate) fn type_name(value: &Bound<'_, PyAny>) -> String {
    static NAME: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = value.py();
    let named = || -> PyResult<String> {
        // What `type` itself says: a metaclass of the user's could run code for `__name__`.
        let name =
            NAME.get_or_try_init(py, || py.get_type::<PyType>().getattr("__dict__")?.get_item("__name__").map(Bound::unbind))?;
        Ok(name.bind(py).call_method1("__get__", (value.get_type(),))?.cast_into::<PyString>()?.to_string())
    };
    named().unwrap_or_else(|_| "another object".to_owned())
}

/// A string, as UTF-8.
pub(crate) fn text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    str_of(name, value.cast::<PyString>().map_err(|_| wrong_type(name, "a string", value))?).map(str::to_owned)
}

/// The UTF-8 of a Python string.
pub(crate) fn str_of<'a>(name: &str, value: &'a Bound<'_, PyString>) -> PyResult<&'a str> {
    value
        .to_str()
        .map_err(|_| PyValueError::new_err(format!("{name}: expected text that UTF-8 can hold, found a lone surrogate in it")))
}

/// A string that may be left out.
pub(crate) fn text_or_empty(name: &str, value: Option<&Bound<'_, PyAny>>) -> PyResult<Cow<'static, str>> {
    value.map_or(Ok(Cow::Borrowed("")), |value| text(name, value).map(Cow::Owned))
}

/// An integer that is not negative; a `bool` is none.
pub(crate) fn unsigned(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u64> {
    integer(name, value, "an integer of 0 or more that 64 bits can hold")
}

/// A time in milliseconds since the Unix epoch.
pub(crate) fn unix_ms(name: &str, value: &Bound<'_, PyAny>) -> PyResult<i64> {
    integer(name, value, "an integer of milliseconds that 64 bits can hold")
}

/// A time that may be left out.
pub(crate) fn optional_unix_ms(name: &str, value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<i64>> {
    value.map(|value| unix_ms(name, value)).transpose()
}

fn integer<'py, T>(name: &str, value: &Bound<'py, PyAny>, range: &str) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    if value.is_instance_of::<PyBool>() {
        return Err(wrong_type(name, "an integer", value));
    }
    let converted = if value.is_instance_of::<PyInt>() { value.clone() } else { indexed(name, value)? };
    converted.extract::<T>().map_err(|error| match error.is_instance_of::<PyOverflowError>(value.py()) {
        true => PyValueError::new_err(format!("{name}: expected {range}")),
        false => wrong_type(name, "an integer", value),
    })
}

/// The integer that `__index__` gives.
fn indexed<'py>(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    user_code::call(enums::index(value.py())?, value).map_err(|error| match error.is_instance_of::<PyTypeError>(value.py()) {
        true => wrong_type(name, "an integer", value),
        false => error,
    })
}

/// True or False.
pub(crate) fn boolean(name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.cast::<PyBool>().map(|value| value.is_true()).map_err(|_| wrong_type(name, "a bool", value))
}

/// A mapping of strings, or nothing.
pub(crate) fn metadata(name: &str, value: Option<&Bound<'_, PyAny>>) -> PyResult<Metadata<'static>> {
    let Some(value) = value else { return Ok(Metadata::new()) };
    if let Ok(dict) = value.cast::<PyDict>() {
        return dict.iter().map(|(key, value)| pair(name, &key, &value)).collect();
    }
    let copy = user_code::call(enums::copy_mapping(value.py())?, value)?;
    let dict = copy.cast::<PyDict>().map_err(|_| wrong_type(name, "a mapping of strings", value))?;
    dict.iter().map(|(key, value)| pair(name, &key, &value)).collect()
}

fn pair(name: &str, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<(String, String)> {
    let key = key.cast::<PyString>().map_err(|_| wrong_type(&format!("a name in {name}"), "a string", key))?;
    let key = str_of(&format!("a name in {name}"), key)?;
    let value = match value.cast::<PyString>().map(|text| text.to_str()) {
        Ok(Ok(text)) => text.to_owned(),
        _ => text(&format!("{name}[{key:?}]"), value)?,
    };
    Ok((key.to_owned(), value))
}

/// Metadata as a new dict.
pub(crate) fn dict<'py>(py: Python<'py>, metadata: &Metadata<'_>) -> PyResult<Bound<'py, PyDict>> {
    let dict = collector::paused(py, || PyDict::new(py));
    for (name, value) in metadata.iter() {
        dict.set_item(name, value)?;
    }
    Ok(dict)
}

/// A run's status, by its name or its member.
pub(crate) fn run_status(value: &Bound<'_, PyAny>) -> PyResult<RunStatus> {
    named("status", value, RunStatus::from_name, &RunStatus::ALL.map(RunStatus::name))
}

/// An operation, by its name or its member.
pub(crate) fn operation(value: &Bound<'_, PyAny>) -> PyResult<Operation> {
    named("operation", value, Operation::from_name, &Operation::ALL.map(Operation::name))
}

/// An approval's resolution, by its name or its member.
pub(crate) fn resolution(value: &Bound<'_, PyAny>) -> PyResult<Resolution> {
    named("resolution", value, Resolution::from_name, &Resolution::ALL.map(Resolution::name))
}

/// A word of the contract.
pub(crate) fn named<T>(
    name: &str,
    value: &Bound<'_, PyAny>,
    from_name: impl Fn(&str) -> Option<T>,
    known: &[&str],
) -> PyResult<T> {
    let word = value.cast::<PyString>().map_err(|_| wrong_type(name, "a string", value))?;
    from_name(str_of(name, word)?)
        .ok_or_else(|| PyValueError::new_err(format!("{name}: expected one of {}, found {}", known.join(", "), shown(value))))
}

/// A short `repr`, for a message about a word that is not known.
fn shown(value: &Bound<'_, PyAny>) -> String {
    // `str.__repr__`, also for subclasses that show themselves otherwise.
    let shown = value.py().get_type::<PyString>().call_method1("__repr__", (value,));
    let text = shown.map(|text| text.to_string()).unwrap_or_default();
    if text.chars().count() <= 80 { text } else { text.chars().take(79).chain(['…']).collect() }
}
