//! What every export does first: catch panics, check pointers.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::status::{AGENTHOST_NULL_ARGUMENT, AGENTHOST_OK, AGENTHOST_PANIC, agenthost_status};

/// The body of an export that says how it went.
pub(super) type Done<T = ()> = Result<T, agenthost_status>;

/// Runs the body of an export that returns a status. A panic inside is a status too.
#[inline]
pub(super) fn entry(body: impl FnOnce() -> Done) -> agenthost_status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => AGENTHOST_OK,
        Ok(Err(status)) => status,
        Err(_) => AGENTHOST_PANIC,
    }
}

/// Runs the body of an export that returns nothing.
pub(super) fn quietly(body: impl FnOnce()) {
    // A panic has told the panic hook; there is no status to return.
    let _ = catch_unwind(AssertUnwindSafe(body));
}

/// A place for a result, set to NULL: whoever looks after a failure finds NULL.
///
/// # Safety
/// `place` is NULL, or writable and not used by anybody else until the export returns.
pub(super) unsafe fn place<'a, T>(place: *mut *mut T) -> Done<&'a mut *mut T> {
    // SAFETY: by this function's own contract.
    let place = unsafe { place.as_mut() }.ok_or(AGENTHOST_NULL_ARGUMENT)?;
    *place = std::ptr::null_mut();
    Ok(place)
}

/// What a pointer points to.
///
/// # Safety
/// `pointer` is NULL, or points to a valid `T` that nobody changes until the export returns.
pub(super) unsafe fn borrowed<'a, T>(pointer: *const T) -> Done<&'a T> {
    // SAFETY: by this function's own contract.
    unsafe { pointer.as_ref() }.ok_or(AGENTHOST_NULL_ARGUMENT)
}
