//! Calls of a user's Python code from a native frame. Where it can be, user code is called from Python; this is for what an
//! argument's own methods have to say (a mapping's items, `__index__`, an iterator).
//!
//! Until Python 3.13 a thread that asks for the GIL of an interpreter that is going away is ended where it stands, by unwinding.
//! That must not go through a native frame: the process would abort. So the thread stops here, for as long as the process lives,
//! which is what Python 3.14 does by itself.
#![allow(unsafe_code, reason = "only a call that may unwind lets a frame of ours see it, and the framework declares none")]

use pyo3::ffi::PyObject;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::collector;

unsafe extern "C-unwind" {
    /// The framework declares this function as one that never unwinds. It does when the interpreter ends the thread.
    #[link_name = "PyObject_CallObject"]
    fn call_object(callable: *mut PyObject, arguments: *mut PyObject) -> *mut PyObject;
}

/// What `callable(argument)` returns.
pub(crate) fn call<'py>(callable: &Bound<'py, PyAny>, argument: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let arguments = collector::paused(callable.py(), || PyTuple::new(callable.py(), [argument]))?;
    let stop = StopThread;
    // SAFETY: both objects are alive, and this thread is attached to the interpreter, as `callable.py()` proves. A thread that
    // is ended inside unwinds to this frame and stops in it, so nothing above is ever unwound.
    let result = unsafe { call_object(callable.as_ptr(), arguments.as_ptr()) };
    std::mem::forget(stop);
    // SAFETY: the function returns a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(callable.py(), result) }
}

/// Dropped only while a thread is being unwound out of the call.
struct StopThread;

impl Drop for StopThread {
    fn drop(&mut self) {
        loop {
            std::thread::park();
        }
    }
}
