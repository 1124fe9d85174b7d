//! What durable runs need of a store: rows, and jobs that run in transactions.
//!
//! A store keeps rows and applies [`Changes`] atomically. It does not know what a run may do: that is decided by
//! `runs::decide`, inside a job, between the store's reads and its [`Transaction::apply`]. So a store is
//! small: the reads and writes below, a way to run jobs and commit them, and a signal when another process has committed.

mod approval;
mod changes;
pub(crate) mod memory;
mod row;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod time;

pub use approval::{ApprovalChange, ApprovalFilter, ApprovalRow, ApprovalState, ListedApproval, OnDenied};
pub use changes::{Changes, RunChange};
pub use memory::MemoryStore;
pub use row::{
    AdmittedRow, BatchRow, BodyKind, Digest, EventRow, KeyRow, KeyScope, LastOp, Outcome, RunFilter, RunKey, RunRow,
    SuspensionState, WorkerOp,
};
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

/// Tells the time: milliseconds since the Unix epoch. A store asks it for each job. It may be set back: the store's own time never goes
/// back ([`Reader::now`]).
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// The system's clock.
pub fn system_clock() -> Clock {
    Arc::new(|| {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}

/// Why a store could not do its work. The text is for the log: it may name files, and never reaches a caller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Not now: the disk is full, an input or output error, a lock that was not given in time, a commit that failed. Whether
    /// what was to be written is there is not known.
    #[error("the store is not available: {0}")]
    Unavailable(String),
    /// What the store holds cannot be read, or a bug.
    #[error("the store is broken: {0}")]
    Broken(String),
    /// The store cannot do that at all; the text is for the caller.
    #[error("{0}")]
    Unsupported(String),
    /// The store has been closed.
    #[error("the store is closed")]
    Closed,
}

/// What a read of a store gives.
pub type Stored<T> = Result<T, StoreError>;

/// Which of the jobs that were submitted to a store to write.
pub type JobNumber = u64;

/// A store of runs. Every method may be called from any thread and returns soon: work is done elsewhere or is short.
pub trait Store: Send + Sync + 'static {
    /// Runs `job` in a transaction and commits it, perhaps together with other jobs, one after the other. Then calls
    /// [`WriteJob::done`], once, on any thread, with no lock held. Jobs that one thread submits one after the other run in
    /// that order. It may begin a moment later, when neither [`Store::begin`] nor [`Store::wait_for`] is called.
    fn write(&self, job: Box<dyn WriteJob>) -> JobNumber;

    /// Begins what was submitted.
    fn begin(&self) {}

    /// Begins that job, for which this thread waits from now on and does nothing else: a store that is not busy may run it, and
    /// call its `done`, on this thread before it returns. No other job is run here.
    fn wait_for(&self, _job: JobNumber) {}

    /// Runs `job` over one consistent state that holds every commit whose `done` was called before, then calls what the job
    /// returned, once, on any thread, with no lock held.
    fn read(&self, job: Box<dyn ReadJob>);

    /// Asks to be called, soon, after another process (or another opened store on the same data) has committed something that
    /// somebody may wait for. Called at most once. A store that cannot be shared never calls.
    fn watch(&self, changed: Arc<dyn Fn() + Send + Sync>);

    /// Writes a consistent copy of everything committed to `to`, which must not exist. Blocks until it is done; writers go
    /// on meanwhile.
    ///
    /// # Errors
    /// [`StoreError::Unsupported`] where there is no such copy or the file exists; [`StoreError::Unavailable`] when it could
    /// not be written.
    fn backup(&self, to: &Path) -> Stored<()>;

    /// Finishes the jobs that it has, then refuses more with [`StoreError::Closed`], and gives its resources back. May be
    /// called again. Must not be called from a `done`.
    fn close(&self);
}

/// Work in one transaction.
pub trait WriteJob: Send {
    /// Reads and writes. May be called again, in a new transaction, when the one before came to nothing. When it fails, nothing
    /// of what it applied may stay: the store rolls back, and runs the other jobs of the batch again.
    ///
    /// # Errors
    /// What the transaction's methods gave.
    fn run(&mut self, transaction: &mut dyn Transaction) -> Stored<()>;

    /// The transaction is committed (`Ok`: and synced to disk, where there is one), or it is not. Must be short.
    fn done(self: Box<Self>, committed: Stored<()>);
}

/// Work that only reads.
pub trait ReadJob: Send {
    /// Reads, and returns what hands on what it found. Must be short, and so must be what it returns.
    fn run(self: Box<Self>, reader: &mut dyn Reader) -> Box<dyn FnOnce() + Send>;
    /// The store cannot run it.
    fn failed(self: Box<Self>, error: StoreError);
}

/// What can be read, in any transaction. Each read costs by what it gives, not by what the store or the run holds.
pub trait Reader {
    /// The store's time when the job began, in milliseconds since the Unix epoch: the clock's, but never less than any time that was
    /// written to the store. While the clock is behind, it goes on at half its pace.
    fn now(&self) -> i64;
    /// The run of that id.
    fn run(&mut self, run_id: &str) -> Stored<Option<RunRow>>;
    /// One of the run's texts.
    fn body(&mut self, run: RunKey, kind: BodyKind) -> Stored<Option<String>>;
    /// The run's events after a sequence, rising, at most `limit`. Ends before the event that would make the texts of the page
    /// (data and metadata) longer than `max_bytes`, but not before the first.
    fn events(&mut self, run: RunKey, after: u64, limit: usize, max_bytes: usize) -> Stored<Vec<EventRow>>;
    /// The admitted result of that tool call.
    fn admitted(&mut self, run: RunKey, tool_call_id: &str) -> Stored<Option<AdmittedRow>>;
    /// The admitted results whose tool call id follows `after` (as bytes), rising, ended like a page of events.
    fn admitted_page(&mut self, run: RunKey, after: &str, limit: usize, max_bytes: usize) -> Stored<Vec<AdmittedRow>>;
    /// Runs that fit `filter`, in the order of their creation, after the run `after` (0: from the first), at most `limit`.
    fn runs(&mut self, filter: &RunFilter, after: RunKey, limit: usize) -> Stored<Vec<RunRow>>;
    /// The approval of that id, in whatever run.
    fn approval(&mut self, approval_id: &str) -> Stored<Option<ApprovalRow>>;
    /// The run's approvals with these numbers, rising.
    fn approvals(&mut self, run: RunKey, numbers: RangeInclusive<u64>) -> Stored<Vec<ApprovalRow>>;
    /// The arguments of an approval, as JSON.
    fn arguments(&mut self, run: RunKey, number: u64) -> Stored<Option<String>>;
    /// Whether an approval of the run has ever named that principal among its approvers.
    fn is_approver(&mut self, run: RunKey, principal: &str) -> Stored<bool>;
    /// Approvals that fit `filter`, in the order of their creation, after the position `after` (0: from the first), ended like a
    /// page of events (texts: arguments and metadata).
    fn list_approvals(
        &mut self,
        filter: &ApprovalFilter,
        after: i64,
        limit: usize,
        max_bytes: usize,
    ) -> Stored<Vec<ListedApproval>>;
    /// The agent's run with the smallest (`ready_at`, `id`), also when that time is still to come.
    fn next_ready(&mut self, agent_id: &str) -> Stored<Option<RunRow>>;
    /// The earliest `deadline` or `approval_expiry` of all runs.
    fn next_deadline(&mut self) -> Stored<Option<i64>>;
    /// The earliest `expires_at` of all keys. May be wrong by up to a minute.
    fn next_expiry(&mut self) -> Stored<Option<i64>>;
}

/// What can be done in a transaction that writes. It sees what it has written.
pub trait Transaction: Reader {
    /// The record of an idempotency key, an expired one too.
    fn key(&mut self, scope: &KeyScope) -> Stored<Option<KeyRow>>;
    /// What a worker's key of `append_events` stands for.
    fn batch(&mut self, run: RunKey, key: &str) -> Stored<Option<BatchRow>>;
    /// Runs whose `deadline` or `approval_expiry` is at or before `now`, of each the earliest first, at most `limit`.
    fn overdue(&mut self, now: i64, limit: usize) -> Stored<Vec<RunRow>>;
    /// Runs whose `completed_at` is before a time, the earliest first, at most `limit`.
    fn ended_before(&mut self, before: i64, limit: usize) -> Stored<Vec<RunRow>>;

    /// Writes a decision.
    fn apply(&mut self, changes: &Changes) -> Stored<()>;
    /// Deletes the run's events up to and with `through`; says nothing to the run's row. (The caller bounds the number.)
    fn delete_events(&mut self, run: RunKey, through: u64) -> Stored<()>;
    /// Deletes at most `limit` of the run's admitted results and batches; says how many.
    fn delete_admitted_and_batches(&mut self, run: RunKey, limit: usize) -> Stored<usize>;
    /// Deletes a run and all that belongs to it, but for keys. (The caller has deleted its events, admitted results and batches but a
    /// few.)
    fn delete_run(&mut self, run: RunKey) -> Stored<()>;
    /// Deletes at most `limit` keys whose `expires_at` is at or before `now`; says how many.
    fn delete_keys(&mut self, now: i64, limit: usize) -> Stored<usize>;
}
