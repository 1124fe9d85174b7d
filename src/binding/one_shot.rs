//! A value that one thread gives and another waits for.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The place of a value that comes later. It is given once, and taken once, by any threads. Neither needs anything of a language's: the
/// giving thread may be the one that every commit goes through, and may outlive the interpreter.
#[derive(Debug)]
pub struct OneShot<T> {
    value: Mutex<Option<T>>,
    given: Condvar,
}

impl<T> Default for OneShot<T> {
    fn default() -> OneShot<T> {
        OneShot { value: Mutex::new(None), given: Condvar::new() }
    }
}

impl<T> OneShot<T> {
    /// An empty place.
    pub fn new() -> OneShot<T> {
        OneShot::default()
    }

    /// Gives the value, and wakes whoever waits.
    pub fn give(&self, value: T) {
        *self.lock() = Some(value);
        self.given.notify_all();
    }

    /// The value, if it is there.
    pub fn take(&self) -> Option<T> {
        self.lock().take()
    }

    /// Waits for the value, for `timeout` at the most; without one for as long as it takes. Whoever has to look after other things
    /// meanwhile, as signals, waits in short pieces.
    pub fn wait(&self, timeout: Option<Duration>) -> Option<T> {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut value = self.lock();
        while value.is_none() {
            value = match deadline {
                None => self.given.wait(value).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
                    self.given.wait_timeout(value, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        value.take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<T>> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_value_is_taken_once_however_it_is_waited_for() {
        let place = OneShot::new();
        assert_eq!(place.take(), None);
        assert_eq!(place.wait(Some(Duration::ZERO)), None);
        assert_eq!(place.wait(Some(Duration::from_millis(1))), None);
        place.give(1);
        assert_eq!(place.wait(Some(Duration::ZERO)), Some(1));
        assert_eq!(place.take(), None);
    }

    #[test]
    fn whoever_waits_is_woken() {
        for timeout in [None, Some(Duration::MAX), Some(Duration::from_secs(60))] {
            let place = Arc::new(OneShot::new());
            let waiting = place.clone();
            let waiter = std::thread::spawn(move || waiting.wait(timeout));
            place.give("value");
            assert_eq!(waiter.join().unwrap(), Some("value"));
        }
    }
}
