//! The input of a request. One that is most of its message is not copied: the message is kept, and the input read in it.

use std::ops::Range;

use agenthost::protocol::FreeJson;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::loads::loads;
use crate::message::{Source, utf8};

/// Free JSON that a request carries.
pub(crate) enum Input {
    Own(FreeJson<'static>),
    /// The message, and where the input is in it.
    InMessage(Py<PyBytes>, Range<usize>),
}

impl Input {
    /// The input of a request, which was read out of `source` when there is one.
    pub(crate) fn of(input: &FreeJson<'_>, source: Option<Source<'_, '_>>) -> Input {
        match source.and_then(|source| Some((source, source.place(input.as_str())?))) {
            // What is small would keep much that nobody wants.
            Some((source, place)) if place.len() >= source.bytes.len() / 2 => Input::InMessage(source.keep(), place),
            _ => Input::Own(input.borrowed().into_owned()),
        }
    }

    pub(crate) fn bytes<'a>(&'a self, py: Python<'a>) -> &'a [u8] {
        match self {
            Input::Own(json) => json.as_str().as_bytes(),
            Input::InMessage(message, place) => &message.as_bytes(py)[place.clone()],
        }
    }

    /// What `json.loads` makes of it.
    pub(crate) fn loads<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Input::Own(json) => loads(py, json.as_str()),
            Input::InMessage(..) => loads(py, self.text(py)?),
        }
    }

    /// A copy, as the core wants it.
    pub(crate) fn core(&self, py: Python<'_>) -> PyResult<FreeJson<'static>> {
        match self {
            Input::Own(json) => Ok(json.clone()),
            Input::InMessage(..) => FreeJson::new(self.text(py)?)
                .map(FreeJson::into_owned)
                .map_err(|violation| PyValueError::new_err(violation.to_string())),
        }
    }

    fn text<'a>(&'a self, py: Python<'a>) -> PyResult<&'a str> {
        utf8(self.bytes(py))
    }
}
