//! A message as Python hands it over. Bytes are borrowed, what can change meanwhile is copied.

use std::ops::Range;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};

use crate::values::type_name;

/// The bytes of a message.
pub(crate) enum Message<'a, 'py> {
    Bytes(Source<'a, 'py>),
    Text(&'a str),
    Copied(Vec<u8>),
}

/// A message that can be kept, as it never changes.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a, 'py> {
    pub(crate) object: &'a Bound<'py, PyBytes>,
    pub(crate) bytes: &'a [u8],
}

impl<'a, 'py> Message<'a, 'py> {
    /// The bytes of `data`. A string that UTF-8 cannot hold is handed on as bytes that are not UTF-8: the core refuses them.
    #[inline]
    pub(crate) fn of(data: &'a Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(object) = data.cast_exact::<PyBytes>() {
            return Ok(Message::Bytes(Source { object, bytes: object.as_bytes() }));
        }
        Message::of_others(data)
    }

    fn of_others(data: &'a Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = data.cast::<PyString>() {
            if let Ok(text) = text.to_str() {
                return Ok(Message::Text(text));
            }
            let encode = data.py().get_type::<PyString>().getattr("encode")?;
            return copied(encode.call1((text, "utf-8", "surrogatepass"))?);
        }
        if let Ok(bytes) = data.cast::<PyBytes>() {
            // Of a class of the user's: not kept, its end may run code.
            return Ok(Message::Copied(bytes.as_bytes().to_vec()));
        }
        if let Ok(bytes) = data.cast::<PyByteArray>() {
            return Ok(Message::Copied(bytes.to_vec()));
        }
        if let Ok(view) = data.cast::<PyMemoryView>() {
            return copied(view.call_method0("tobytes")?);
        }
        Err(PyTypeError::new_err(format!(
            "expected a message as bytes, bytearray, memoryview or str, found {}: pass its JSON text, the bytes as they \
             were received or json.dumps(...)",
            type_name(data)
        )))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Message::Bytes(source) => source.bytes,
            Message::Text(text) => text.as_bytes(),
            Message::Copied(bytes) => bytes,
        }
    }

    /// The message, when it can be kept.
    pub(crate) fn source(&self) -> Option<Source<'a, 'py>> {
        match self {
            Message::Bytes(source) => Some(*source),
            _ => None,
        }
    }
}

impl Source<'_, '_> {
    /// Where `part` is in the message, when it is a part of it.
    #[inline]
    pub(crate) fn place(&self, part: &str) -> Option<Range<usize>> {
        if part.is_empty() {
            return Some(0..0);
        }
        let start = (part.as_ptr() as usize).checked_sub(self.bytes.as_ptr() as usize)?;
        let end = start.checked_add(part.len())?;
        (end <= self.bytes.len()).then_some(start..end)
    }

    /// The message, kept.
    pub(crate) fn keep(&self) -> Py<PyBytes> {
        self.object.clone().unbind()
    }
}

/// A part of a message, as the text that it is.
pub(crate) fn utf8(part: &[u8]) -> PyResult<&str> {
    std::str::from_utf8(part).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn copied<'a, 'py>(bytes: Bound<'py, PyAny>) -> PyResult<Message<'a, 'py>> {
    Ok(Message::Copied(bytes.cast_into::<PyBytes>()?.as_bytes().to_vec()))
}
