//! When the GIL is given up: around the core's work on large messages, and not any more once the interpreter is on its way out. A
//! thread that asks for the GIL then is ended where it stands, and must not stand in native code.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pyo3::marker::Ungil;
use pyo3::prelude::*;

/// From this many bytes on the GIL is released while the core works. Below, giving it up and getting it back costs more than
/// the work: see the benchmark.
pub(crate) const LARGE: usize = 256 << 10;

static EXITING: AtomicBool = AtomicBool::new(false);
static WITHOUT_GIL: AtomicUsize = AtomicUsize::new(0);

/// Runs `work` on about `size` bytes, without the GIL when they are `large` or more.
pub(crate) fn working<T: Ungil>(py: Python<'_>, size: usize, large: usize, work: impl FnOnce() -> T + Ungil) -> T {
    if is_given_up(size, large) { without(py, work) } else { work() }
}

/// Whether the GIL is given up around work on about `size` bytes.
pub(crate) fn is_given_up(size: usize, large: usize) -> bool {
    size >= large && !is_exiting()
}

/// Whether the interpreter is on its way out.
pub(crate) fn is_exiting() -> bool {
    EXITING.load(Ordering::Relaxed)
}

/// Runs `work` without the GIL.
pub(crate) fn without<T: Ungil>(py: Python<'_>, work: impl FnOnce() -> T + Ungil) -> T {
    WITHOUT_GIL.fetch_add(1, Ordering::Relaxed);
    let result = py.detach(work);
    WITHOUT_GIL.fetch_sub(1, Ordering::Relaxed);
    result
}

/// Runs `wait`, which waits, without the GIL.
pub(crate) fn waiting<T: Ungil>(py: Python<'_>, wait: impl FnOnce() -> T + Ungil) -> T {
    working(py, LARGE, LARGE, wait)
}

/// From now on no thread gives the GIL up in here. Returns how many still work without it: call again until it is 0.
#[pyfunction]
pub(crate) fn exiting() -> usize {
    EXITING.store(true, Ordering::Relaxed);
    WITHOUT_GIL.load(Ordering::Relaxed)
}
