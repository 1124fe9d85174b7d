//! Callbacks of C's that have nowhere to report a failure to.

use std::ffi::c_void;

use super::export::guarded_silently;

/// The end of a callback's data; may be NULL. It runs once, after the last call that could use `data`.
pub type agenthost_destroy = Option<unsafe extern "C-unwind" fn(data: *mut c_void)>;

/// Runs a callback. A program in Rust may let it panic: the panic hook has told so, and nothing of the library's ends. What another
/// language throws ends the process, as the header says.
pub(super) fn run(callback: impl FnOnce()) {
    guarded_silently(callback);
}

/// Ends a callback's data.
///
/// # Safety
/// Called once for this data, after the last callback that could use it.
pub(super) unsafe fn destroy(destroy: agenthost_destroy, data: *mut c_void) {
    if let Some(destroy) = destroy {
        // SAFETY: by this function's own contract.
        run(|| unsafe { destroy(data) });
    }
}
