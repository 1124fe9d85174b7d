//! Callbacks of C's that nobody above waits for, and the ends of their data.

use std::ffi::c_void;

use crate::host::panics::catch;

/// The end of a callback's data; may be NULL. It runs once, after the last call that could use `data`.
pub type agenthost_destroy = Option<unsafe extern "C-unwind" fn(data: *mut c_void)>;

/// Runs what may panic in a program written in Rust, where there is no log to write to: the panic hook has run, and nothing of the
/// library's ends. What another language throws ends the process, as the header says.
pub(super) fn run(callback: impl FnOnce()) {
    let _ = catch(callback);
}

/// Ends a callback's data.
///
/// # Safety
/// Called once for this data, after the last callback that could use it.
pub(super) unsafe fn destroy(destroy: agenthost_destroy, data: *mut c_void) {
    // SAFETY: by this function's own contract.
    run(|| unsafe { destroy_or_unwind(destroy, data) });
}

/// Like [`destroy`], below somebody who logs the panic.
///
/// # Safety
/// As [`destroy`].
pub(super) unsafe fn destroy_or_unwind(destroy: agenthost_destroy, data: *mut c_void) {
    if let Some(destroy) = destroy {
        // SAFETY: by this function's own contract.
        unsafe { destroy(data) };
    }
}
