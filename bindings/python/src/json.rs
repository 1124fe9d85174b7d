//! Free JSON of Python objects. Which JSON the contract allows, the core judges; here it is only written.

use agenthost::protocol::{FreeJson, MAX_FREE_JSON_DEPTH};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::values::{str_of, type_name, wrong_type};

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
    FreeJson::new(text).map(FreeJson::into_owned).map_err(|violation| PyValueError::new_err(format!("{name}: {violation}")))
}

/// What `value` is as JSON.
pub(crate) fn dumps(name: &str, value: &Bound<'_, PyAny>) -> PyResult<FreeJson<'static>> {
    checked(name, &text_of(name, value, MAX_FREE_JSON_DEPTH)?)
}

/// What `value` is as JSON text that nests at most `depth` levels.
pub(crate) fn text_of(name: &str, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<String> {
    let mut out = Vec::with_capacity(128);
    write(&mut out, name, value, depth)?;
    String::from_utf8(out).map_err(|_| PyValueError::new_err(format!("{name}: expected text")))
}

fn write(out: &mut Vec<u8>, name: &str, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
    if let Ok(text) = value.cast::<PyString>() {
        write_string(out, name, text)
    } else if value.is_none() {
        out.extend_from_slice(b"null");
        Ok(())
    } else if let Ok(value) = value.cast::<PyBool>() {
        out.extend_from_slice(if value.is_true() { b"true" } else { b"false" });
        Ok(())
    } else if let Ok(integer) = value.cast::<PyInt>() {
        write_integer(out, name, integer)
    } else if let Ok(float) = value.cast::<PyFloat>() {
        let number = float.value();
        if !number.is_finite() {
            return Err(PyValueError::new_err(format!("{name}: expected JSON, which has no infinity and no NaN")));
        }
        written(serde_json::to_writer(out, &number))
    } else if let Ok(dict) = value.cast::<PyDict>() {
        write_dict(out, name, dict, deeper(name, depth)?)
    } else if let Ok(list) = value.cast::<PyList>() {
        write_array(out, name, list.iter(), deeper(name, depth)?)
    } else if let Ok(tuple) = value.cast::<PyTuple>() {
        write_array(out, name, tuple.iter(), deeper(name, depth)?)
    } else {
        let found = type_name(value);
        Err(PyTypeError::new_err(format!(
            "{name}: expected what JSON can hold (None, bool, int, float, str, list, tuple, dict), found {found} in it"
        )))
    }
}

fn deeper(name: &str, depth: usize) -> PyResult<usize> {
    depth.checked_sub(1).ok_or_else(|| {
        PyValueError::new_err(format!(
            "{name}: expected at most {MAX_FREE_JSON_DEPTH} levels of nesting, found more (or a cycle)"
        ))
    })
}

fn write_dict(out: &mut Vec<u8>, name: &str, dict: &Bound<'_, PyDict>, depth: usize) -> PyResult<()> {
    out.push(b'{');
    let mut first = true;
    for (key, value) in dict.iter() {
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        let key = key.cast::<PyString>().map_err(|_| {
            PyTypeError::new_err(format!("{name}: expected strings as the keys of its dicts, found {}", type_name(&key)))
        })?;
        write_string(out, name, key)?;
        out.push(b':');
        write(out, name, &value, depth)?;
    }
    out.push(b'}');
    Ok(())
}

fn write_array<'py>(
    out: &mut Vec<u8>,
    name: &str,
    values: impl Iterator<Item = Bound<'py, PyAny>>,
    depth: usize,
) -> PyResult<()> {
    out.push(b'[');
    for (index, value) in values.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(out, name, &value, depth)?;
    }
    out.push(b']');
    Ok(())
}

fn write_string(out: &mut Vec<u8>, name: &str, text: &Bound<'_, PyString>) -> PyResult<()> {
    written(serde_json::to_writer(out, str_of(name, text)?))
}

fn write_integer(out: &mut Vec<u8>, name: &str, integer: &Bound<'_, PyInt>) -> PyResult<()> {
    if let Ok(number) = integer.extract::<i64>() {
        return written(serde_json::to_writer(out, &number));
    }
    // `int.__str__`, also for subclasses that show themselves otherwise.
    let digits = integer.py().get_type::<PyInt>().call_method1("__repr__", (integer,))?;
    out.extend_from_slice(str_of(name, digits.cast::<PyString>()?)?.as_bytes());
    Ok(())
}

fn written(result: serde_json::Result<()>) -> PyResult<()> {
    result.map_err(|error| PyValueError::new_err(error.to_string()))
}
