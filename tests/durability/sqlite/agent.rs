//! The worker of the torture as a library, so that it runs in a process that has Python's `sqlite3` too.

#![allow(unsafe_code, reason = "called from Python through C")]

#[allow(dead_code, reason = "shared with the tests")]
mod db;
mod worker;

use std::ffi::{CStr, c_char, c_int};
use std::path::Path;

/// Writes until the process is killed. Both strings end with NUL.
///
/// # Safety
/// Both are valid for the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn durability_agent(path: *const c_char, name: *const c_char, with_override: c_int) {
    // SAFETY: as the function says.
    let (path, name) = unsafe { (CStr::from_ptr(path), CStr::from_ptr(name)) };
    let (Ok(path), Ok(name)) = (path.to_str(), name.to_str()) else { return };
    if with_override == 0 {
        agenthost::store::sqlite::locks::switch_off_for_a_test();
    }
    worker::work(Path::new(path), name, std::io::stdout());
}
