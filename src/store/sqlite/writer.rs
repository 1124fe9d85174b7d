//! The thread that writes: takes what has queued since the last commit, runs it in one transaction, commits, and answers.
//! Knows jobs and batches; not what is in them.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;

use super::super::{StoreError, Stored, WriteJob};
use super::connection::{Purpose, failed};
use super::read::{Session, Written};
use super::shared::Shared;

/// The most jobs of one commit, so that other processes get their turns.
const MAX_BATCH: usize = 512;

/// How long a batch waits for its turn among the processes.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long the thread stays awake behind a batch. Who commits one thing after the other comes back within, and is spared the
/// time that it takes to wake a thread: as much as a third of a commit.
const AWAKE: Duration = Duration::from_micros(50);

type Jobs = Vec<Box<dyn WriteJob>>;

/// Serves the queue until it is closed and empty.
pub(super) fn serve(shared: &Arc<Shared>, connection: Connection) -> Connection {
    let mut writer = Writer { shared, connection };
    while let Some(first) = shared.writes.pop(AWAKE) {
        writer.serve_batch(vec![first]);
    }
    writer.connection
}

struct Writer<'s> {
    shared: &'s Arc<Shared>,
    connection: Connection,
}

/// Why a batch came to nothing.
struct Failure {
    /// The job that failed; none when the transaction did.
    job: Option<usize>,
    error: StoreError,
}

impl Writer<'_> {
    /// Commits the jobs and whatever queued while they waited for their turn, and answers all of them.
    fn serve_batch(&mut self, mut jobs: Jobs) {
        let turn = match self.shared.turns.take(PATIENCE) {
            Ok(turn) => turn,
            Err(error) => return answer(jobs.into_iter().map(|job| (job, Err(error.clone())))),
        };
        self.shared.writes.drain(&mut jobs, MAX_BATCH);
        let mut results: Vec<Stored<()>> = Vec::with_capacity(jobs.len());
        let mut written = Written::default();
        match self.commit(&mut jobs) {
            Ok(all) => {
                written = all;
                results.resize(jobs.len(), Ok(()));
            }
            Err(Failure { job: None, error }) => results.resize(jobs.len(), Err(error)),
            // One job must not take the others with it: each gets a transaction of its own.
            Err(Failure { job: Some(failed), error }) => {
                for index in 0..jobs.len() {
                    results.push(if index == failed {
                        Err(error.clone())
                    } else {
                        self.commit(&mut jobs[index..=index]).map(|one| written += one).map_err(|failure| failure.error)
                    });
                }
            }
        }
        let others = self.shared.bell.ring(written.news);
        drop(turn);
        let count = jobs.len();
        answer(jobs.into_iter().zip(results));
        if others {
            self.shared.tell_watcher();
        }
        self.shared.checkpointer.committed(count, written.bytes);
    }

    /// Runs the jobs in one transaction. Gives what they have written.
    fn commit(&mut self, jobs: &mut [Box<dyn WriteJob>]) -> Result<Written, Failure> {
        let result = self.transact(jobs);
        if result.is_err() {
            self.roll_back();
        }
        result
    }

    fn transact(&mut self, jobs: &mut [Box<dyn WriteJob>]) -> Result<Written, Failure> {
        let whole = |error| Failure { job: None, error: unavailable(failed(error)) };
        self.connection.prepare_cached("BEGIN IMMEDIATE").and_then(|mut begin| begin.execute([])).map_err(whole)?;
        let mut written = Written::default();
        for (index, job) in jobs.iter_mut().enumerate() {
            let mut session = Session { connection: &self.connection, now: (self.shared.clock)(), written: Written::default() };
            catch_unwind(AssertUnwindSafe(|| job.run(&mut session)))
                .unwrap_or_else(|panic| Err(panicked(&*panic)))
                .map_err(|error| Failure { job: Some(index), error })?;
            written += session.written;
        }
        self.connection.prepare_cached("COMMIT").and_then(|mut commit| commit.execute([])).map_err(whole)?;
        Ok(written)
    }

    /// Leaves the failed transaction. A connection that cannot is replaced by a new one, when there is one to be had.
    fn roll_back(&mut self) {
        if self.connection.is_autocommit() {
            return;
        }
        if self.connection.execute_batch("ROLLBACK").is_err()
            && let Ok(connection) = self.shared.place.connect(Purpose::Write)
        {
            self.connection = connection;
        }
    }
}

/// A commit that failed, for whatever reason: the outcome is not known.
fn unavailable(error: StoreError) -> StoreError {
    match error {
        StoreError::Unavailable(cause) | StoreError::Broken(cause) | StoreError::Unsupported(cause) => {
            StoreError::Unavailable(format!("the commit failed: {cause}"))
        }
        StoreError::Closed => StoreError::Closed,
    }
}

fn answer(jobs: impl Iterator<Item = (Box<dyn WriteJob>, Stored<()>)>) {
    for (job, committed) in jobs {
        // What a caller does with its answer must not end the thread that all others need.
        let _ = catch_unwind(AssertUnwindSafe(|| job.done(committed)));
    }
}

/// The text of a panic, for the log.
pub(super) fn panicked(panic: &(dyn Any + Send)) -> StoreError {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    StoreError::Broken(format!("a job panicked: {}", text.unwrap_or("without a text")))
}
