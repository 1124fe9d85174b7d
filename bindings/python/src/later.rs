//! What another thread gives, and a thread of Python waits for. The other thread never needs the GIL: it may be the one that
//! every commit goes through, and it may still run when the interpreter is gone.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The place of a value that comes later. It is taken once.
pub(crate) struct Later<T> {
    value: Mutex<Option<T>>,
    given: Condvar,
}

impl<T: Send + 'static> Later<T> {
    pub(crate) fn new() -> Arc<Later<T>> {
        Arc::new(Later { value: Mutex::new(None), given: Condvar::new() })
    }

    /// What `work` returns, done by a thread of its own. When nobody waits any more it is dropped there.
    pub(crate) fn of(name: &str, work: impl FnOnce() -> T + Send + 'static) -> std::io::Result<Arc<Later<T>>> {
        let later = Later::new();
        let place = Arc::downgrade(&later);
        std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            let value = work();
            if let Some(place) = place.upgrade() {
                place.give(value);
            }
        })?;
        Ok(later)
    }

    pub(crate) fn give(&self, value: T) {
        *self.lock() = Some(value);
        self.given.notify_all();
    }

    /// The value, if it is there.
    pub(crate) fn take(&self) -> Option<T> {
        self.lock().take()
    }

    /// Waits for the value, up to `seconds`.
    pub(crate) fn wait(&self, seconds: f64) -> Option<T> {
        let until = Duration::try_from_secs_f64(seconds).ok().and_then(|wait| Instant::now().checked_add(wait));
        let mut value = self.lock();
        while value.is_none() {
            let left = until?.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
            value = self.given.wait_timeout(value, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        value.take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<T>> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
