//! A lock among the processes that write to one database, given in about the order in which they ask. SQLite alone lets whoever asks at
//! the right moment write next, and starves the others. Knows nothing of what is written.

use std::fs::TryLockError;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::super::StoreError;
use super::locks::OwnFile;

/// Two locks one behind the other, on files of their own. Who holds `next` waits for `held`, and nobody else does: who has
/// just let go waits for `next` again, with all others. A killed process's locks are gone with it.
#[derive(Debug)]
pub(super) struct FairLock {
    next: OwnFile,
    held: OwnFile,
}

/// The right to write; ends when it is dropped.
#[derive(Debug)]
pub(super) struct FairLockGuard<'a>(&'a FairLock);

impl FairLock {
    /// `next` and `held` are two paths beside the database.
    pub(super) fn open(next: &Path, held: &Path) -> Result<FairLock, StoreError> {
        let open = |path: &Path| {
            OwnFile::open(path).map_err(|error| StoreError::Unavailable(format!("{} cannot be opened: {error}", path.display())))
        };
        Ok(FairLock { next: open(next)?, held: open(held)? })
    }

    /// Waits for the lock, `timeout` at most.
    pub(super) fn acquire(&self, timeout: Duration) -> Result<FairLockGuard<'_>, StoreError> {
        // While nobody else waits this is two calls. Waiting is polling, as a call that waits for a lock of a file has no timeout.
        let until = Instant::now() + timeout;
        acquire(&self.next, until)?;
        let held = acquire(&self.held, until);
        let next = self.next.unlock();
        held?;
        next.map_err(lock_failed)?;
        Ok(FairLockGuard(self))
    }
}

impl Drop for FairLockGuard<'_> {
    fn drop(&mut self) {
        // Fails for no lock that is held.
        let _ = self.0.held.unlock();
    }
}

fn acquire(file: &OwnFile, until: Instant) -> Result<(), StoreError> {
    let mut pause = Duration::from_micros(20);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(lock_failed(error)),
            Err(TryLockError::WouldBlock) if Instant::now() >= until => {
                return Err(StoreError::Unavailable("other processes kept the database from being written".to_owned()));
            }
            Err(TryLockError::WouldBlock) => {
                thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_micros(500));
            }
        }
    }
}

fn lock_failed(error: std::io::Error) -> StoreError {
    StoreError::Unavailable(format!("the lock for writing failed: {error}"))
}
