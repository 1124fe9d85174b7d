//! Counts what is alive, so that tests can see that nothing is left behind. Only who holds the GIL counts, so a plain load and store
//! do.

use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::prelude::*;
use pyo3::types::PyDict;

static HOSTS: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Counts as one as long as it lives.
pub(crate) struct Live(&'static AtomicUsize);

impl Live {
    pub(crate) fn host() -> Live {
        Live::count(&HOSTS)
    }

    pub(crate) fn call() -> Live {
        Live::count(&CALLS)
    }

    fn count(counter: &'static AtomicUsize) -> Live {
        counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        Live(counter)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.0.store(self.0.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
    }
}

/// How many hosts and open calls this process holds at the moment.
#[pyfunction]
pub(crate) fn live(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let counts = PyDict::new(py);
    counts.set_item("hosts", HOSTS.load(Ordering::Relaxed))?;
    counts.set_item("calls", CALLS.load(Ordering::Relaxed))?;
    Ok(counts)
}
