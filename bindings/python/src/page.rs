//! Events and pages of them, as frozen Python objects.

use agenthost::members;
use agenthost::service as core;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::context::NewArguments;
use crate::json::Argument;
use crate::members::{Kind, free_json, metadata, methods, name_of, optional_text, run_status, text, time, unsigned};
use crate::user_code;
use crate::values::{boolean, unsigned, wrong_type};

/// Something that happened in a run (protocol, "Response").
///
/// `sequence` is its place among the run's events, 1 to 2^53-1; `type` is not empty; `status` is the run's after it; `timestamp_unix_ms`
/// is in milliseconds since the Unix epoch. `data` is any JSON, None where there is nothing; it is copied now, parsed each time that it is
/// read, and `data_json` is its text. It leaves the host as it is: no secrets.
#[pyclass(frozen, eq, module = "agenthost")]
#[derive(PartialEq)]
pub(crate) struct Event {
    pub(crate) inner: core::Event<'static>,
}

impl Event {
    fn of(inner: core::Event<'static>) -> Self {
        Event { inner }
    }

    fn inner(&self) -> &core::Event<'static> {
        &self.inner
    }
}

members!(Event => methods! {
    (run_id, sequence, r#type, status, *, step_id=None, tool_call_id=None, timestamp_unix_ms=None, data=Argument::Absent,
        metadata=None, data_json=None)
    json data data_json
    repr |core::Event { run_id, sequence, event_type, .. }| {
        format!("Event(run_id={run_id:?}, sequence={sequence}, type={event_type:?}, …)")
    }
});

/// Events after a cursor, sequences rising (protocol, "Response").
///
/// `next_sequence` is the last event's sequence, or the request's cursor when there is no event. `has_more` says whether more events are
/// there already. Raises TypeError when `events` holds anything else.
#[pyclass(frozen, module = "agenthost")]
pub(crate) struct EventPage {
    /// A tuple of [`Event`]s.
    events: Py<PyTuple>,
    pub(crate) next_sequence: u64,
    pub(crate) has_more: bool,
}

impl EventPage {
    /// The page of the core's events.
    pub(crate) fn of(py: Python<'_>, page: core::EventPage<'static>) -> PyResult<Self> {
        let core::EventPage { events, next_sequence, has_more } = page;
        let events = events.into_iter().map(|inner| Py::new(py, Event { inner })).collect::<PyResult<Vec<_>>>()?;
        Ok(EventPage { events: PyTuple::new(py, events)?.unbind(), next_sequence, has_more })
    }

    /// The events, without a copy of any.
    pub(crate) fn events_of(&self, py: Python<'_>) -> PyResult<Vec<Py<Event>>> {
        self.events.bind(py).iter().map(|event| Ok(event.cast_into::<Event>()?.unbind())).collect()
    }
}

#[pymethods]
impl EventPage {
    #[new]
    #[pyo3(signature = (events, next_sequence, has_more=None), text_signature = "(events, next_sequence, has_more=False)")]
    fn new(
        py: Python<'_>,
        events: &Bound<'_, PyAny>,
        next_sequence: &Bound<'_, PyAny>,
        has_more: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        // An iterator may run a user's code, a tuple runs none.
        let events = match events.cast_exact::<PyTuple>() {
            Ok(events) => events.clone(),
            Err(_) => user_code::call(py.get_type::<PyTuple>().as_any(), events)?.cast_into::<PyTuple>()?,
        };
        for event in events.iter() {
            event.cast::<Event>().map_err(|_| wrong_type("events", "an Event", &event))?;
        }
        let next_sequence = unsigned("next_sequence", next_sequence)?;
        let has_more = has_more.map_or(Ok(false), |more| boolean("has_more", more))?;
        Ok(EventPage { events: events.unbind(), next_sequence, has_more })
    }

    #[getter]
    fn events(&self, py: Python<'_>) -> Py<PyTuple> {
        self.events.clone_ref(py)
    }

    #[getter]
    fn next_sequence(&self) -> u64 {
        self.next_sequence
    }

    #[getter]
    fn has_more(&self) -> bool {
        self.has_more
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast::<EventPage>() else { return Ok(false) };
        let (py, theirs) = (other.py(), other.get());
        let numbers = self.next_sequence == theirs.next_sequence && self.has_more == theirs.has_more;
        Ok(numbers && self.events.bind(py).eq(&theirs.events)?)
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<NewArguments<'py>> {
        let named = PyDict::new(py);
        named.set_item("events", &self.events)?;
        named.set_item("next_sequence", self.next_sequence)?;
        named.set_item("has_more", self.has_more)?;
        Ok((PyTuple::empty(py), named))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let count = self.events.bind(py).len();
        let more = if self.has_more { "True" } else { "False" };
        format!("EventPage(<{count} events>, next_sequence={}, has_more={more})", self.next_sequence)
    }
}
