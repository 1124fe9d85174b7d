//! A store in one file, with the SQLite that this library brings along.
//!
//! One thread writes, and makes one commit of what queued during the last one; who waits for a job while nothing else is written
//! writes it itself (`writer`); a few read, each over a snapshot (`readers`); one moves the log into the database
//! (`checkpoint`); one watches what other processes commit (`watch`, `notifier`).
//! Any number of processes may have the file open: one at a time writes (`fair_lock`), and a foreign SQLite in any of them does
//! no harm (`locks`). Beside `runs.db` stand SQLite's `runs.db-wal` and `runs.db-shm`, and `runs.db-queue` and
//! `runs.db-wake`, which hold nothing and may be deleted when no process has the database open.
//!
//! It knows the tables, and no rule of runs: what is written is decided by the jobs.

mod approvals;
mod backup;
mod checkpoint;
mod connection;
mod fair_lock;
#[doc(hidden)]
pub mod locks;
mod notifier;
#[cfg(test)]
mod plans;
mod queue;
mod read;
mod readers;
mod rows;
mod schema;
mod shared;
mod version_2;
mod watch;
mod write;
mod writer;

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::Connection;

use super::time::StoreTime;
use super::{Clock, JobNumber, ReadJob, Store, StoreError, Stored, WriteJob};
use crate::host::fork;
use checkpoint::Checkpointer;
use connection::{Place, Purpose, failed, set_up};
use fair_lock::FairLock;
use notifier::Notifier;
use queue::Queue;
use shared::{Shared, Watcher};
use watch::Stop;

/// How many threads read.
const READERS: usize = 2;

/// How long opening waits for other processes that write.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);

/// Runs in a SQLite file.
///
/// Everything acknowledged is on disk and outlives a killed process and a loss of power. Methods may be called from any thread.
/// In a child that was forked while the store was open it is closed: its jobs get [`StoreError::Closed`], and it may be dropped. On
/// Linux the child can open the same file, or another, anew.
pub struct SqliteStore {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<Option<Connection>>>>,
    stop: Arc<Stop>,
}

impl SqliteStore {
    /// Opens the file, and makes it when there is none. A file of an older version is brought forward.
    ///
    /// # Errors
    /// [`StoreError::Unsupported`], with a text for the caller: the path cannot be a file, the file is not a database, belongs
    /// to another application, was written by a newer version of this library or is damaged. [`StoreError::Unavailable`]: it could not be opened, read or written, or other processes kept it.
    pub fn open(path: &Path, clock: Clock) -> Stored<SqliteStore> {
        SqliteStore::open_through(path, clock, None)
    }

    /// Opens the file through a VFS that is registered with SQLite under that name. For tests that lose power.
    ///
    /// # Errors
    /// Those of [`SqliteStore::open`].
    #[doc(hidden)]
    pub fn open_through(path: &Path, clock: Clock, vfs: Option<&str>) -> Stored<SqliteStore> {
        let place = Place::new(path, vfs)?;
        let mut first = place.open()?;
        // Before anything is written or stands beside the file: it may be somebody else's.
        schema::recognise(&first, schema::MIGRATIONS)?;
        // The file is there by now: a link that led nowhere leads to it.
        let place = Place::new(&place.path, vfs)?;
        let write_lock = FairLock::open(&place.beside("-queue"), &place.beside("-wake"))?;
        {
            let _guard = write_lock.acquire(OPEN_TIMEOUT)?;
            use_log(&first)?;
            schema::migrate(&mut first, schema::MIGRATIONS)?;
        }
        schema::check(&first)?;
        backup::sync_directory_of(&place.path)
            .map_err(|error| StoreError::Unavailable(format!("the directory of the database cannot be synced: {error}")))?;

        let notifier = Notifier::open(&place.beside("-wake"))?;
        let shared = Arc::new(Shared {
            process: fork::generation(),
            place,
            time: StoreTime::new(clock),
            writes: Queue::new(),
            writer: Mutex::new(None),
            reads: Queue::new(),
            write_lock,
            notifier,
            checkpointer: Checkpointer::default(),
            watcher: OnceLock::new(),
        });
        let store = SqliteStore { shared, threads: Mutex::new(Vec::new()), stop: Arc::new(Stop::new()?) };
        set_up(&first, Purpose::Write)?;
        *store.shared.writer.lock().unwrap_or_else(PoisonError::into_inner) = Some(first);
        let writing = Arc::clone(&store.shared);
        store.spawn("write", move || {
            writer::serve(&writing);
            None
        })?;
        let connect = |purpose| store.shared.place.connect(purpose);
        store.start("checkpoint", connect(Purpose::Write)?, |shared, connection| {
            checkpoint::serve(&shared.checkpointer, &shared.write_lock, connection)
        })?;
        for _ in 0..READERS {
            store.start("read", connect(Purpose::Read)?, readers::serve)?;
        }
        Ok(store)
    }

    /// Starts a thread that has a connection, and gives it back at its end. Without it the store is not opened, and the drop ends
    /// the others.
    fn start(&self, name: &str, connection: Connection, serve: fn(&Arc<Shared>, Connection) -> Option<Connection>) -> Stored<()> {
        let shared = Arc::clone(&self.shared);
        self.spawn(name, move || serve(&shared, connection))
    }

    fn take_threads(&self) -> Vec<JoinHandle<Option<Connection>>> {
        std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn spawn(&self, name: &str, work: impl FnOnce() -> Option<Connection> + Send + 'static) -> Stored<()> {
        let thread = thread::Builder::new().name(format!("agenthost-{name}")).spawn(work);
        let thread = thread.map_err(|error| StoreError::Unavailable(format!("no thread could be started: {error}")))?;
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
        Ok(())
    }
}

/// Makes the database one with a write-ahead log. It stays one.
fn use_log(connection: &Connection) -> Stored<()> {
    connection.execute_batch("PRAGMA synchronous = FULL").map_err(failed)?;
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0)).map_err(failed)?;
    if mode == "wal" {
        return Ok(());
    }
    Err(StoreError::Unsupported(format!(
        "the database cannot have a write-ahead log (its journal mode stays {mode}): put it on a local file system"
    )))
}

impl Store for SqliteStore {
    fn write(&self, job: Box<dyn WriteJob>) -> JobNumber {
        let pushed = if self.shared.is_forked() { Err(job) } else { self.shared.writes.push(job) };
        pushed.unwrap_or_else(|job| {
            job.done(Err(StoreError::Closed));
            JobNumber::MAX
        })
    }

    fn begin(&self) {
        if !self.shared.is_forked() {
            self.shared.writes.hurry();
        }
    }

    fn wait_for(&self, job: JobNumber) {
        if !self.shared.is_forked() && !writer::serve_here(&self.shared, job) {
            self.shared.writes.hurry();
        }
    }

    fn read(&self, job: Box<dyn ReadJob>) {
        if self.shared.is_forked() {
            return job.failed(StoreError::Closed);
        }
        if let Err(job) = self.shared.reads.push(job) {
            job.failed(StoreError::Closed);
        }
    }

    fn watch(&self, changed: Watcher) {
        if self.shared.is_forked() || self.shared.watcher.set(changed).is_err() {
            return;
        }
        let (shared, stop) = (Arc::clone(&self.shared), Arc::clone(&self.stop));
        // Without the thread, waiters still poll from time to time.
        let _ = self.spawn("watch", move || {
            watch::watch(&shared.notifier, &stop, || shared.notify_watcher());
            None
        });
    }

    fn backup(&self, to: &Path) -> Stored<()> {
        if self.shared.is_forked() {
            return Err(StoreError::Closed);
        }
        backup::backup(&self.shared.place, to)
    }

    fn close(&self) {
        if self.shared.is_forked() {
            // The threads are the parent's: here their handles may stand for others.
            std::mem::forget(self.take_threads());
            return;
        }
        self.shared.writes.close();
        self.shared.reads.close();
        self.shared.checkpointer.close();
        self.stop.stop();
        let others = self.take_threads().into_iter().filter(|thread| thread.thread().id() != thread::current().id());
        // A thread of ours does not panic: jobs are caught.
        let mut connections: Vec<_> = others.filter_map(|thread| thread.join().ok().flatten()).collect();
        // Who writes for himself finishes first.
        connections.extend(self.shared.writer.lock().unwrap_or_else(PoisonError::into_inner).take());
        // One after the other: of two that close at once neither is the last, which tidies up.
        connections.into_iter().for_each(drop);
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.close();
    }
}
