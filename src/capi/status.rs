//! Status codes: misuse of the interface. Failures of the protocol are no misuse, they are OK plus a response.

use std::ffi::c_char;

/// What a function of this interface came to. Protocol failures are `AGENTHOST_OK` plus an envelope.
pub type agenthost_status = i32;

/// Done.
pub const AGENTHOST_OK: agenthost_status = 0;
/// A required pointer is NULL. Nothing happened.
pub const AGENTHOST_NULL_ARGUMENT: agenthost_status = 1;
/// A value is out of range; `why`, where a function offers it, names it. Nothing happened.
pub const AGENTHOST_INVALID_ARGUMENT: agenthost_status = 2;
/// A `struct_size` is too small or over 4096, or the struct has an unknown tail that is not 0. Nothing happened.
pub const AGENTHOST_INVALID_SIZE: agenthost_status = 3;
/// The host is closing or closed (never from dispatch: that answers `unavailable`).
pub const AGENTHOST_CLOSED: agenthost_status = 4;
/// This process is a fork of the one that made the handle. The handle can only be released.
pub const AGENTHOST_FORKED: agenthost_status = 5;
/// Answered, cancelled or deferred before: this call changed nothing.
pub const AGENTHOST_ALREADY_DONE: agenthost_status = 6;
/// This kind of answer does not fit the operation: nothing changed.
pub const AGENTHOST_WRONG_OPERATION: agenthost_status = 7;
/// The answer breaks a rule of the contract: it went out as `internal`, the rule is logged.
pub const AGENTHOST_BAD_ANSWER: agenthost_status = 8;
/// Client: not a valid answer to this request; `why` says which rule it breaks.
pub const AGENTHOST_BAD_RESPONSE: agenthost_status = 9;
/// Close only: a callback is still on some thread's stack.
pub const AGENTHOST_TIMED_OUT: agenthost_status = 10;
/// The call could only wait for itself.
pub const AGENTHOST_WOULD_DEADLOCK: agenthost_status = 11;
/// A port of another major version.
pub const AGENTHOST_ABI_MISMATCH: agenthost_status = 12;
/// A bug in the library or in a service written in Rust; logged.
pub const AGENTHOST_PANIC: agenthost_status = 13;

/// What a status means, for people. Static text, NUL-terminated, never NULL, also for a number that is no status.
#[unsafe(no_mangle)]
pub extern "C" fn agenthost_status_text(status: agenthost_status) -> *const c_char {
    let text = match status {
        AGENTHOST_OK => c"ok",
        AGENTHOST_NULL_ARGUMENT => c"a required pointer is NULL",
        AGENTHOST_INVALID_ARGUMENT => c"a value is out of range",
        AGENTHOST_INVALID_SIZE => c"a struct_size is too small or over 4096, or an unknown tail is not 0",
        AGENTHOST_CLOSED => c"the host is closing or closed",
        AGENTHOST_FORKED => c"this process is a fork of the one that made the handle",
        AGENTHOST_ALREADY_DONE => c"answered, cancelled or deferred before: nothing changed",
        AGENTHOST_WRONG_OPERATION => c"this kind of answer does not fit the operation: nothing changed",
        AGENTHOST_BAD_ANSWER => c"the answer breaks a rule of the contract: it went out as internal",
        AGENTHOST_BAD_RESPONSE => c"not a valid answer to this request",
        AGENTHOST_TIMED_OUT => c"a callback of the host is still running: close again",
        AGENTHOST_WOULD_DEADLOCK => c"the call could only wait for itself",
        AGENTHOST_ABI_MISMATCH => c"a port of another major version",
        AGENTHOST_PANIC => c"a bug in the library or in a service written in Rust",
        _ => c"not a status of agenthost",
    };
    text.as_ptr()
}
