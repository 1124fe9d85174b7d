//! The garbage collector rests while a native frame makes containers. Up to Python 3.11 it runs whenever one is made, and may end
//! objects of a user's: their code must not run below a native frame, see `user_code`.
#![allow(unsafe_code, reason = "the framework has no function for the collector")]

use pyo3::ffi;
use pyo3::prelude::*;

/// Runs `work`, which keeps the GIL, without the collector.
pub(crate) fn paused<T>(_py: Python<'_>, work: impl FnOnce() -> T) -> T {
    // SAFETY: this thread is attached to the interpreter, as `_py` proves, and stays so for the call.
    let resumed = Resume(unsafe { ffi::PyGC_Disable() } == 1);
    let result = work();
    drop(resumed);
    result
}

/// Lets the collector run again when it ran before.
struct Resume(bool);

impl Drop for Resume {
    fn drop(&mut self) {
        if self.0 {
            // SAFETY: made and dropped inside `paused`, whose thread is attached.
            unsafe { ffi::PyGC_Enable() };
        }
    }
}
