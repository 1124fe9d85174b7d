//! A struct that other structs of C's lead to.

use std::marker::PhantomData;
use std::ptr::NonNull;

/// A value on the heap with pointers to it elsewhere. No box: whoever moves a box may rely on nobody else's pointing into it.
pub(super) struct PointedTo<T>(NonNull<T>, PhantomData<T>);

impl<T> PointedTo<T> {
    pub(super) fn new(value: T) -> PointedTo<T> {
        PointedTo(NonNull::from(Box::leak(Box::new(value))), PhantomData)
    }

    /// Valid as long as this, wherever it is moved to.
    pub(super) fn as_ptr(&self) -> *const T {
        self.0.as_ptr()
    }
}

impl<T> Drop for PointedTo<T> {
    fn drop(&mut self) {
        // SAFETY: `new` has leaked it, and its pointers end with it.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}
