//! The input of a request. One that is most of its message is not copied: the message is kept, and the input read in it.

use std::ops::Range;

use agenthost::protocol::FreeJson;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::loads::loads;

/// Free JSON that a request carries.
pub(crate) enum Input {
    Own(FreeJson<'static>),
    /// The message, and where the input is in it.
    InMessage(Py<PyBytes>, Range<usize>),
}

impl Input {
    /// The input of a request that was read out of `message`.
    pub(crate) fn of(input: FreeJson<'_>, message: Option<&Bound<'_, PyBytes>>) -> Input {
        let place = message.and_then(|message| Some((message, place(input.as_str(), message.as_bytes())?)));
        match place {
            // What is small would keep much that nobody wants.
            Some((message, place)) if place.len() >= message.as_bytes().len() / 2 => {
                Input::InMessage(message.clone().unbind(), place)
            }
            _ => Input::Own(input.into_owned()),
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
        std::str::from_utf8(self.bytes(py)).map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// Where `part` is in `whole`, when it is a part of it.
fn place(part: &str, whole: &[u8]) -> Option<Range<usize>> {
    let start = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    let end = start.checked_add(part.len())?;
    (end <= whole.len()).then_some(start..end)
}
