//! What every export does: it catches panics, and writes results to places that C gives.

use super::status::{AGENTHOST_NULL_ARGUMENT, AGENTHOST_OK, AGENTHOST_PANIC, agenthost_status};
use crate::host::panics::catch;

/// What the body of an export comes to, before it is a status.
pub(super) type StatusResult<T = ()> = Result<T, agenthost_status>;

/// Runs the body of an export that returns a status. A panic inside is a status too.
#[inline]
pub(super) fn guarded(body: impl FnOnce() -> StatusResult) -> agenthost_status {
    match catch(body) {
        Ok(Ok(())) => AGENTHOST_OK,
        Ok(Err(status)) => status,
        Err(_) => AGENTHOST_PANIC,
    }
}

/// Runs the body of an export that returns nothing.
pub(super) fn guarded_silently(body: impl FnOnce()) {
    // The panic hook has run; there is no status to return.
    let _ = catch(body);
}

/// Where C wants a result. No reference, as callbacks run before the result is there, and C may read its own variable in them.
pub(super) struct Place<T>(*mut *mut T);

impl<T> Place<T> {
    /// The place, set to NULL: whoever reads it after a failure finds NULL.
    ///
    /// # Safety
    /// `place` is NULL, or writable until the export returns.
    pub(super) unsafe fn of(place: *mut *mut T) -> StatusResult<Place<T>> {
        if place.is_null() {
            return Err(AGENTHOST_NULL_ARGUMENT);
        }
        // SAFETY: by this function's own contract.
        unsafe { place.write(std::ptr::null_mut()) };
        Ok(Place(place))
    }

    /// Puts the result there.
    pub(super) fn put(&self, result: *mut T) {
        // SAFETY: who made this has vouched for the place.
        unsafe { self.0.write(result) };
    }
}
