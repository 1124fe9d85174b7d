//! Writes: takes what has queued since the last commit, runs it in one transaction, commits, and answers. One thread does
//! it for all; who waits for a job that is alone does it for itself. Knows jobs and batches; not what is in them.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError, TryLockError};
use std::time::Duration;

use rusqlite::Connection;

use super::super::{StoreError, Stored, WriteJob};
use super::connection::{Purpose, failed};
use super::read::{Session, Written};
use super::shared::Shared;

/// The most jobs of one commit, so that other processes can write, too.
const MAX_BATCH: usize = 512;

/// How long a batch waits for other processes that write.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a job waits that nobody has begun: its caller may be about to, on its own thread.
const POLL_EVERY: Duration = Duration::from_millis(1);

type Jobs = Vec<Box<dyn WriteJob>>;

/// Serves the queue until it is closed and empty.
pub(super) fn serve(shared: &Arc<Shared>) {
    while shared.writes.wait(POLL_EVERY) {
        // Taken before any job is: jobs are run in the order of the queue, whoever runs them. It is held until all are answered:
        // those who then come back make up the next batch.
        let mut connection = shared.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut jobs = Jobs::new();
        shared.writes.drain(&mut jobs, 1);
        match &mut *connection {
            Some(connection) if !jobs.is_empty() => {
                let served = Writer { shared, connection }.serve_batch(jobs, MAX_BATCH);
                served.answer(shared);
                // A caller forked on this thread, and its child has come back to here: there is nothing to serve.
                if shared.is_forked() {
                    return;
                }
            }
            Some(_) => {}
            None => return jobs.into_iter().for_each(|job| answer(job, Err(StoreError::Closed))),
        }
    }
}

/// Serves the job of that number on this thread, which waits for it, and says whether it did: only if nothing else is written or
/// waits to be. That spares waking another thread and being woken by it, as much as a third of a commit. Only that job, so that
/// no other caller's callback runs here.
pub(super) fn serve_here(shared: &Arc<Shared>, number: u64) -> bool {
    let mut connection = match shared.writer.try_lock() {
        Ok(connection) => connection,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return false,
    };
    let Some(open) = &mut *connection else { return false };
    let Some(job) = shared.writes.take_only(number) else { return false };
    let served = Writer { shared, connection: open }.serve_batch(vec![job], 1);
    drop(connection);
    if shared.is_forked() {
        // The job has forked, and this is the child: its caller is here too, and waits.
        served.jobs.into_iter().for_each(|job| answer(job, Err(StoreError::Closed)));
    } else {
        served.answer(shared);
    }
    true
}

struct Writer<'s> {
    shared: &'s Arc<Shared>,
    connection: &'s mut Connection,
}

/// A batch with its results.
struct Served {
    jobs: Jobs,
    results: Vec<Stored<()>>,
    written: Written,
    /// Other processes have committed since this one did.
    others: bool,
}

impl Served {
    fn answer(self, shared: &Shared) {
        let count = self.jobs.len();
        for (job, committed) in self.jobs.into_iter().zip(self.results) {
            // In a forked child the callers are the parent's: they are answered there.
            if shared.is_forked() {
                std::mem::forget(job);
            } else {
                answer(job, committed);
            }
        }
        if shared.is_forked() {
            return;
        }
        if self.others {
            shared.notify_watcher();
        }
        shared.checkpointer.committed(count, self.written.bytes);
    }
}

/// Why a batch came to nothing.
struct Failure {
    /// The job that failed; none when the transaction did.
    job: Option<usize>,
    error: StoreError,
}

impl Writer<'_> {
    /// Commits the jobs and whatever queued while they waited for the lock, `most` of them.
    fn serve_batch(&mut self, mut jobs: Jobs, most: usize) -> Served {
        let guard = match self.shared.write_lock.acquire(LOCK_TIMEOUT) {
            Ok(guard) => guard,
            Err(error) => {
                let results = jobs.iter().map(|_| Err(error.clone())).collect();
                return Served { jobs, results, written: Written::default(), others: false };
            }
        };
        self.shared.writes.drain(&mut jobs, most);
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
        let others = written.notifies && self.shared.notifier.notify();
        drop(guard);
        Served { jobs, results, written, others }
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
        // Not a job's fault.
        let of_none = |error| Failure { job: None, error: unavailable(error) };
        let mut session = Session { connection: self.connection, now: i64::MIN, written: Written::default() };
        let before = session.written_time().map_err(of_none)?;
        for (index, job) in jobs.iter_mut().enumerate() {
            session.now = self.shared.time.now(before).map_err(of_none)?;
            let done = catch_unwind(AssertUnwindSafe(|| job.run(&mut session)));
            // The job has forked, and this is the child: the transaction is the parent's.
            if self.shared.is_forked() {
                return Err(of_none(StoreError::Closed));
            }
            done.unwrap_or_else(|panic| Err(panicked(&*panic))).map_err(|error| Failure { job: Some(index), error })?;
        }
        if session.written.rows && session.now > before {
            session.write_time().map_err(of_none)?;
        }
        let written = session.written;
        self.connection.prepare_cached("COMMIT").and_then(|mut commit| commit.execute([])).map_err(whole)?;
        Ok(written)
    }

    /// Leaves the failed transaction. A connection that cannot is replaced by a new one, when there is one to be had.
    fn roll_back(&mut self) {
        // In a forked child the transaction is the parent's.
        if self.shared.is_forked() || self.connection.is_autocommit() {
            return;
        }
        if self.connection.execute_batch("ROLLBACK").is_err()
            && let Ok(connection) = self.shared.place.connect(Purpose::Write)
        {
            *self.connection = connection;
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

fn answer(job: Box<dyn WriteJob>, committed: Stored<()>) {
    // What a caller does with its answer must not end the thread that all others need.
    let _ = catch_unwind(AssertUnwindSafe(|| job.done(committed)));
}

/// The text of a panic, for the log.
pub(super) fn panicked(panic: &(dyn Any + Send)) -> StoreError {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    StoreError::Broken(format!("a job panicked: {}", text.unwrap_or("without a text")))
}
