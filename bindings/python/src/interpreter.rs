//! Subinterpreters are refused: the objects that the module keeps belong to the interpreter that first imported it.
#![allow(unsafe_code, reason = "which interpreter runs is asked of CPython itself; the framework has no safe way")]

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;

/// Refuses every interpreter but the main one, whose number is 0.
pub(crate) fn refuse_subinterpreters(_py: Python<'_>) -> PyResult<()> {
    // SAFETY: this thread is attached to an interpreter, as `_py` proves, so the current one is there, and stays for the call.
    let number = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    if number == 0 {
        return Ok(());
    }
    Err(PyImportError::new_err("agenthost works in the main interpreter only, not in a subinterpreter"))
}
