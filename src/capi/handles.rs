//! What C holds of this side: pointers with one owner, and pointers that are counted.

use std::sync::Arc;

use super::export::{StatusResult, guarded_silently};
use super::status::AGENTHOST_NULL_ARGUMENT;

/// A handle with one owner, who frees it.
pub(super) trait OwnedHandle: Sized {
    /// The handle for C to own.
    fn into_raw(self) -> *mut Self {
        Box::into_raw(Box::new(self))
    }

    /// Frees a handle; NULL is fine.
    ///
    /// # Safety
    /// `handle` is NULL, or its owner gives up what [`OwnedHandle::into_raw`] has made.
    unsafe fn free(handle: *mut Self) {
        if !handle.is_null() {
            // SAFETY: by this function's own contract.
            guarded_silently(|| drop(unsafe { Box::from_raw(handle) }));
        }
    }
}

/// A handle that ends with its last count.
pub(super) trait CountedHandle: Sized {
    /// Whether this process may use the handle: not a fork of the one that made it.
    ///
    /// # Errors
    /// `AGENTHOST_FORKED`.
    fn check_process(&self) -> StatusResult;

    /// The handle for C: one count.
    fn into_raw(self) -> *mut Self {
        Arc::into_raw(Arc::new(self)).cast_mut()
    }

    /// Takes another count.
    ///
    /// # Safety
    /// `handle` is NULL, or the caller holds a count of what [`CountedHandle::into_raw`] has made.
    unsafe fn retain(handle: *const Self) -> StatusResult {
        // SAFETY: by this function's own contract.
        unsafe { borrowed(handle) }?.check_process()?;
        // SAFETY: as above.
        unsafe { Arc::increment_strong_count(handle) };
        Ok(())
    }

    /// Gives a count up; NULL is fine.
    ///
    /// # Safety
    /// `handle` is NULL, or the caller gives up a count of what [`CountedHandle::into_raw`] has made.
    unsafe fn release(handle: *const Self) {
        if !handle.is_null() {
            // SAFETY: by this function's own contract.
            guarded_silently(|| unsafe { Arc::decrement_strong_count(handle) });
        }
    }
}

/// What a pointer points to. No callback of C's may run while the result is used: it could free what is borrowed.
///
/// # Safety
/// `pointer` is NULL, or points to a valid `T` that nobody changes while the result is used.
pub(super) unsafe fn borrowed<'a, T>(pointer: *const T) -> StatusResult<&'a T> {
    // SAFETY: by this function's own contract.
    unsafe { pointer.as_ref() }.ok_or(AGENTHOST_NULL_ARGUMENT)
}

/// What `read` finds in a handle, or `default` for NULL.
///
/// # Safety
/// As [`borrowed`].
pub(super) unsafe fn read_or<'a, T: 'a, R>(handle: *const T, default: R, read: impl FnOnce(&'a T) -> R) -> R {
    // SAFETY: by this function's own contract.
    unsafe { borrowed(handle) }.map_or(default, read)
}
