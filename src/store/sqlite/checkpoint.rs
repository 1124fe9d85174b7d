//! Moves what the log has into the database, beside the writer, so that no commit has to. Knows pages, not rows.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use super::super::{StoreError, Stored};
use super::connection::failed;
use super::fair_lock::FairLock;

/// From how many pages in the log on it is moved.
const ENOUGH_PAGES: i64 = 2_000;

/// From how many on the writer waits until all is moved, so that the log can start anew. Well before SQLite would have a
/// commit do it (`wal_autocheckpoint`).
const TOO_MANY_PAGES: i64 = 8_000;

/// After how many pages the log is measured, about: a job writes ten beside its texts.
const PAGES_BETWEEN_CHECKS: usize = 1_000;
const PAGES_OF_A_JOB: usize = 10;
const PAGE: usize = 4096;

/// After how many bytes of text since the last check began whoever writes waits for the next: a thread that moves pages and is given
/// too little time, or a slow disk, must not let the log grow without end. It waits a second at most.
const BYTES_BEFORE_WAITING: usize = 16 << 20;
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// How long a pause in the commits is used to move the rest.
const QUIET: Duration = Duration::from_millis(500);

/// Says when the thread that moves pages has something to do.
#[derive(Default)]
pub(super) struct Checkpointer {
    state: Mutex<State>,
    changed: Condvar,
    /// A check has begun.
    begun: Condvar,
}

#[derive(Default)]
struct State {
    /// Written since the last check began, about.
    pages: usize,
    /// The texts among it.
    bytes: usize,
    closed: bool,
}

enum Next {
    Check,
    Quiet,
    Close,
}

impl Checkpointer {
    /// So many jobs were committed, with so many bytes of text. Waits while that is more than the log is moved.
    pub(super) fn committed(&self, jobs: usize, bytes: usize) {
        let mut state = self.lock();
        let before = state.pages;
        state.pages += jobs * PAGES_OF_A_JOB + bytes / PAGE;
        state.bytes += bytes;
        if before == 0 || state.pages >= PAGES_BETWEEN_CHECKS {
            self.changed.notify_one();
        }
        if state.bytes >= BYTES_BEFORE_WAITING {
            let too_much = |state: &mut State| state.bytes >= BYTES_BEFORE_WAITING && !state.closed;
            drop(self.begun.wait_timeout_while(state, LONGEST_WAIT, too_much).unwrap_or_else(PoisonError::into_inner));
        }
    }

    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
        self.begun.notify_all();
    }

    fn next(&self) -> Next {
        let mut state = self.lock();
        loop {
            if state.closed {
                return Next::Close;
            }
            if state.pages >= PAGES_BETWEEN_CHECKS {
                (state.pages, state.bytes) = (0, 0);
                self.begun.notify_all();
                return Next::Check;
            }
            if state.pages == 0 {
                state = self.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
                continue;
            }
            let before = state.pages;
            let waited = self.changed.wait_timeout(state, QUIET).unwrap_or_else(|poisoned| poisoned.into_inner());
            state = waited.0;
            if waited.1.timed_out() && state.pages == before {
                (state.pages, state.bytes) = (0, 0);
                return Next::Quiet;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Serves until the store closes. What fails is tried again at the next check: the log only grows meanwhile.
pub(super) fn serve(checkpointer: &Checkpointer, write_lock: &FairLock, connection: Connection) -> Option<Connection> {
    loop {
        let _ = match checkpointer.next() {
            Next::Check => move_if_large(write_lock, &connection),
            Next::Quiet => checkpoint(&connection, "PASSIVE").map(drop),
            Next::Close => return Some(connection),
        };
    }
}

fn move_if_large(write_lock: &FairLock, connection: &Connection) -> Stored<()> {
    let (pages, moved) = checkpoint(connection, "NOOP")?;
    if pages - moved < ENOUGH_PAGES && pages < TOO_MANY_PAGES {
        return Ok(());
    }
    let (pages, _) = checkpoint(connection, "PASSIVE")?;
    if pages < TOO_MANY_PAGES {
        return Ok(());
    }
    // Commits that came meanwhile are few pages. While nobody writes they are moved too, and the next commit starts at
    // the log's beginning.
    let guard = write_lock.acquire(Duration::from_secs(1))?;
    let moved = checkpoint(connection, "PASSIVE");
    drop(guard);
    moved.map(drop)
}

/// Gives the pages that are in the log and those of them that are in the database.
fn checkpoint(connection: &Connection, mode: &str) -> Stored<(i64, i64)> {
    let sql = format!("PRAGMA wal_checkpoint({mode})");
    let (busy, pages, moved): (i64, i64, i64) =
        connection.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).map_err(failed)?;
    if busy != 0 {
        return Err(StoreError::Unavailable("another process moves the log".to_owned()));
    }
    Ok((pages, moved))
}
