//! Functions of the application's that opened runs keep.

use std::sync::Arc;

use crate::host::panics::catch;

/// A function of the application's. What it holds may panic when it is dropped, on whatever thread drops it last: that ends nothing
/// of ours.
pub(crate) struct Hook<F: ?Sized>(Option<Arc<F>>);

impl<F: ?Sized> Hook<F> {
    pub(crate) fn new(function: Arc<F>) -> Hook<F> {
        Hook(Some(function))
    }

    /// The function: there until the drop.
    pub(crate) fn function(&self) -> Option<&F> {
        self.0.as_deref()
    }
}

impl<F: ?Sized> Clone for Hook<F> {
    fn clone(&self) -> Hook<F> {
        Hook(self.0.clone())
    }
}

impl<F: ?Sized> Drop for Hook<F> {
    fn drop(&mut self) {
        if let Some(function) = self.0.take() {
            let _ = catch(|| drop(function));
        }
    }
}
