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

/// Where C wants a result. No reference, as callbacks run before the result is there, and C may read its own variable in them.
pub(super) struct Place<T>(*mut *mut T);

impl<T> Place<T> {
    /// The place, set to NULL: whoever reads it after a failure finds NULL.
    ///
    /// # Safety
    /// `place` is NULL, or writable until the export returns.
    pub(super) unsafe fn of(place: *mut *mut T) -> Done<Place<T>> {
        if place.is_null() {
            return Err(AGENTHOST_NULL_ARGUMENT);
        }
        // SAFETY: by this function's own contract.
        unsafe { place.write(std::ptr::null_mut()) };
        Ok(Place(place))
    }

    /// Puts the result there.
    pub(super) fn put(self, result: *mut T) {
        // SAFETY: who made this has vouched for the place.
        unsafe { self.0.write(result) };
    }
}

/// What a pointer points to. No callback of C's may run while the result is used: it could free what is borrowed.
///
/// # Safety
/// `pointer` is NULL, or points to a valid `T` that nobody changes until the export returns.
pub(super) unsafe fn borrowed<'a, T>(pointer: *const T) -> Done<&'a T> {
    // SAFETY: by this function's own contract.
    unsafe { pointer.as_ref() }.ok_or(AGENTHOST_NULL_ARGUMENT)
}
