//! The locks of a host. A panic does not poison them: callbacks, the only code that may panic, run outside of them, and what they
//! guard is whole whenever they are unlocked.
//!
//! They are the standard library's. It is not built with ThreadSanitizer, which would not see that a lock is taken on the slow
//! path or inside of a wait; `tests/c/tsan.sh` therefore sets `agenthost_tsan` and gets locks that are built with it.

use std::time::Duration;

#[cfg(agenthost_tsan)]
use parking_lot as locks;
#[cfg(not(agenthost_tsan))]
use std::sync as locks;

pub(super) use locks::MutexGuard;

/// Mutual exclusion.
#[derive(Default)]
pub(super) struct Mutex<T>(locks::Mutex<T>);

/// Many readers or one writer.
pub(super) struct RwLock<T>(locks::RwLock<T>);

/// Waits for a change of what a mutex guards.
#[derive(Default)]
pub(super) struct Condvar(locks::Condvar);

impl<T> Mutex<T> {
    pub(super) fn new(value: T) -> Mutex<T> {
        Mutex(locks::Mutex::new(value))
    }

    #[inline]
    pub(super) fn lock(&self) -> MutexGuard<'_, T> {
        whole(self.0.lock())
    }
}

impl<T: Clone> RwLock<T> {
    pub(super) fn new(value: T) -> RwLock<T> {
        RwLock(locks::RwLock::new(value))
    }

    /// A copy of what is there.
    pub(super) fn get(&self) -> T {
        whole(self.0.read()).clone()
    }

    /// Puts something else there.
    pub(super) fn replace(&self, value: T) -> T {
        std::mem::replace(&mut *whole(self.0.write()), value)
    }

    /// What is there, when nobody shares it.
    pub(super) fn get_mut(&mut self) -> &mut T {
        whole(self.0.get_mut())
    }
}

impl Condvar {
    pub(super) fn notify_all(&self) {
        self.0.notify_all();
    }

    pub(super) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        #[cfg(not(agenthost_tsan))]
        return whole(self.0.wait(guard));
        #[cfg(agenthost_tsan)]
        {
            let mut guard = guard;
            self.0.wait(&mut guard);
            guard
        }
    }

    /// Waits for `most` at the most.
    pub(super) fn wait_timeout<'a, T>(&self, guard: MutexGuard<'a, T>, most: Duration) -> MutexGuard<'a, T> {
        #[cfg(not(agenthost_tsan))]
        return whole(self.0.wait_timeout(guard, most)).0;
        #[cfg(agenthost_tsan)]
        {
            let mut guard = guard;
            self.0.wait_for(&mut guard, most);
            guard
        }
    }
}

#[cfg(not(agenthost_tsan))]
#[inline]
fn whole<T>(locked: locks::LockResult<T>) -> T {
    locked.unwrap_or_else(locks::PoisonError::into_inner)
}

#[cfg(agenthost_tsan)]
fn whole<T>(locked: T) -> T {
    locked
}
