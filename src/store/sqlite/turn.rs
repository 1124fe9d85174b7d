//! Turns among the processes that write to one database. SQLite alone lets whoever asks at the right moment write next, and
//! starves the others. Knows nothing of what is written.

use std::fs::TryLockError;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::super::StoreError;
use super::locks::OwnFile;

/// Two locks one behind the other, on files of their own. Who holds `next` waits for `now`, and nobody else does: who has
/// just had a turn stands in line for `next` again, with all others. A killed process's locks are gone with it.
#[derive(Debug)]
pub(super) struct Turns {
    next: OwnFile,
    now: OwnFile,
}

/// The right to write; ends when it is dropped.
#[derive(Debug)]
pub(super) struct Turn<'a>(&'a Turns);

impl Turns {
    /// `next` and `now` are two paths beside the database.
    pub(super) fn open(next: &Path, now: &Path) -> Result<Turns, StoreError> {
        let open = |path: &Path| {
            OwnFile::open(path).map_err(|error| StoreError::Unavailable(format!("{} cannot be opened: {error}", path.display())))
        };
        Ok(Turns { next: open(next)?, now: open(now)? })
    }

    /// Waits for a turn, `patience` at most.
    pub(super) fn take(&self, patience: Duration) -> Result<Turn<'_>, StoreError> {
        // With nobody in line this is two calls. Waiting is by asking again, as a lock that waits cannot be told to give up.
        let until = Instant::now() + patience;
        acquire(&self.next, until)?;
        let now = acquire(&self.now, until);
        let next = self.next.unlock();
        now?;
        next.map_err(lock_failed)?;
        Ok(Turn(self))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // Fails for no lock that is held.
        let _ = self.0.now.unlock();
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
