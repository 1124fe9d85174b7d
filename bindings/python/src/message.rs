//! A message as Python hands it over. Bytes are borrowed, what can change meanwhile is copied.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};

use crate::values::type_name;

/// The bytes of a message.
pub(crate) enum Message<'a> {
    Borrowed(&'a [u8]),
    Copied(Vec<u8>),
}

impl<'a> Message<'a> {
    /// The bytes of `data`. A string that UTF-8 cannot hold is handed on as bytes that are not UTF-8: the core refuses them.
    pub(crate) fn of(data: &'a Bound<'_, PyAny>) -> PyResult<Message<'a>> {
        if let Ok(bytes) = data.cast::<PyBytes>() {
            return Ok(Message::Borrowed(bytes.as_bytes()));
        }
        if let Ok(text) = data.cast::<PyString>() {
            if let Ok(text) = text.to_str() {
                return Ok(Message::Borrowed(text.as_bytes()));
            }
            return copied(text.call_method1("encode", ("utf-8", "surrogatepass"))?);
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
            Message::Borrowed(bytes) => bytes,
            Message::Copied(bytes) => bytes,
        }
    }
}

fn copied<'a>(bytes: Bound<'_, PyAny>) -> PyResult<Message<'a>> {
    Ok(Message::Copied(bytes.cast_into::<PyBytes>()?.as_bytes().to_vec()))
}
