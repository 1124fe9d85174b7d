//! One piece of work for the store: reads what a command has to know, decides, applies, and tells its taker after the commit.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::command::{Command, Reply};
use super::core::Core;
use super::decide::{Rules, Snapshot, decide};
use super::promise::{Errand, Promise, RunFuture};
use super::refuse::{self, Refusal};
use super::views;
use crate::store::{BodyKind, Changes, JobNumber, ReadJob, Reader, RunChange, RunRow, StoreError, Stored, Transaction, WriteJob};

/// What is done in a transaction, perhaps more than once.
pub(crate) trait Work: Send + 'static {
    type Output: Send + 'static;

    fn run(&self, transaction: &mut dyn Transaction, rules: &Rules, touched: &mut Vec<Touched>) -> Done<Self::Output>;
}

/// What became of work: the store failed, the caller was refused, or it is done.
pub(crate) type Done<T> = Stored<Result<T, Refusal>>;

/// The result of work, later.
pub(crate) type ResultFuture<T> = RunFuture<Result<T, Refusal>>;

/// What others may wait for and a commit has changed.
#[derive(Debug)]
pub(crate) struct Touched {
    pub(crate) run_id: String,
    pub(crate) agent_id: String,
    /// Somebody who follows the run, or works on it, has to look.
    pub(crate) news: bool,
    /// Somebody who waits for work has to look.
    pub(crate) work: bool,
    /// The run's deadline, when the run is new.
    pub(crate) deadline: Option<i64>,
    /// The store's time.
    pub(crate) now: i64,
}

impl Touched {
    fn of(changes: &Changes, now: i64) -> Option<Touched> {
        let (before, after) = match changes.run.as_ref()? {
            RunChange::Insert(row) => (None, row),
            RunChange::Update { before, after } => (Some(before), after),
        };
        let claim_changed = before.is_none_or(|before| before.claim != after.claim);
        Some(Touched {
            run_id: after.run_id.clone(),
            agent_id: after.agent_id.clone(),
            news: claim_changed || !changes.events.is_empty(),
            work: after.claim.is_none() && after.ready_at.is_some(),
            deadline: after.deadline.filter(|_| before.is_none()),
            now,
        })
    }
}

/// Decides about one run, and applies the decision.
pub(crate) fn execute(
    transaction: &mut dyn Transaction,
    rules: &Rules,
    run: Option<RunRow>,
    command: &Command,
    touched: &mut Vec<Touched>,
) -> Done<Reply> {
    let key = command.retry().map(|retry| transaction.key(&retry.scope)).transpose()?.flatten();
    let (mut approval, mut batch, mut admitted) = (None, None, None);
    if let Some(run) = &run {
        match command {
            Command::Resolve { .. } if run.approval.is_some() => {
                let text = views::required(transaction, run.id, BodyKind::Approval)?;
                approval = Some(views::approval_of(&text)?);
            }
            Command::Append { key: Some((key, _)), .. } => batch = transaction.batch(run.id, key)?,
            Command::Admit { tool_call_id, .. } => admitted = transaction.admitted(run.id, tool_call_id)?,
            _ => {}
        }
    }
    let now = transaction.now();
    let decision = decide(&Snapshot { rules, run, key, approval, batch, admitted }, command, now);
    if decision.changes != Changes::default() {
        transaction.apply(&decision.changes)?;
        touched.extend(Touched::of(&decision.changes, now));
    }
    Ok(decision.reply)
}

/// A command that says itself which run it is about.
impl Work for Command {
    type Output = Reply;

    fn run(&self, transaction: &mut dyn Transaction, rules: &Rules, touched: &mut Vec<Touched>) -> Done<Reply> {
        let run = self.run_id().map(|run_id| transaction.run(run_id)).transpose()?.flatten();
        execute(transaction, rules, run, self, touched)
    }
}

/// Work on its way through the store.
struct Job<W: Work> {
    core: Arc<Core>,
    work: W,
    result: Option<Result<W::Output, Refusal>>,
    touched: Vec<Touched>,
    answer: Answer<W::Output>,
}

impl<W: Work> WriteJob for Job<W> {
    fn run(&mut self, transaction: &mut dyn Transaction) -> Stored<()> {
        self.touched.clear();
        let (work, touched, rules) = (&self.work, &mut self.touched, &self.core.rules);
        // A bug in the rules must not take the store's thread with it.
        let result = catch_unwind(AssertUnwindSafe(|| work.run(transaction, rules, touched)));
        self.result = Some(result.unwrap_or_else(|_| Err(StoreError::Broken("a job panicked".into())))?);
        Ok(())
    }

    fn done(mut self: Box<Self>, committed: Stored<()>) {
        let result = match committed {
            Ok(()) => self.result.take(),
            Err(error) => Some(Err(self.core.store_failed(&error))),
        };
        let touched = std::mem::take(&mut self.touched);
        let _callback = Callback::enter();
        if let Some(result) = result {
            self.answer.give(result);
        }
        self.core.committed(touched);
    }
}

/// A job that was brought to the store and is yet to begin.
struct Brought {
    core: Arc<Core>,
    /// None once it is begun.
    job: Option<JobNumber>,
}

impl Errand for Brought {
    fn run(mut self: Box<Self>) {
        if let Some(job) = self.job.take()
            && !self.core.is_forked()
        {
            self.core.store.wait_for(job);
        }
    }
}

impl Drop for Brought {
    fn drop(&mut self) {
        if self.job.is_some() && !self.core.is_forked() {
            self.core.store.begin();
        }
    }
}

/// A read on its way through the store.
struct Look<T: Send + 'static, F> {
    core: Arc<Core>,
    find: F,
    answer: Answer<T>,
}

impl<T, F> ReadJob for Look<T, F>
where
    T: Send + 'static,
    F: FnOnce(&mut dyn Reader) -> Done<T> + Send + 'static,
{
    fn run(self: Box<Self>, reader: &mut dyn Reader) -> Box<dyn FnOnce() + Send> {
        let Look { core, find, mut answer } = *self;
        let found = catch_unwind(AssertUnwindSafe(|| find(reader)));
        let found = found.unwrap_or_else(|_| Err(StoreError::Broken("a read panicked".into())));
        Box::new(move || {
            let _callback = Callback::enter();
            answer.give(found.unwrap_or_else(|error| Err(core.store_failed(&error))));
            drop(core);
        })
    }

    fn failed(mut self: Box<Self>, error: StoreError) {
        let refusal = self.core.store_failed(&error);
        self.answer.give(Err(refusal));
    }
}

/// A promise that is kept even when a store drops its job.
struct Answer<T: Send + 'static>(Option<Promise<Result<T, Refusal>>>);

impl<T: Send + 'static> Answer<T> {
    fn give(&mut self, result: Result<T, Refusal>) {
        if let Some(promise) = self.0.take() {
            // Whoever takes it may panic: that is not the store's trouble.
            let _ = catch_unwind(AssertUnwindSafe(|| promise.give(result)));
        }
    }
}

impl<T: Send + 'static> Drop for Answer<T> {
    fn drop(&mut self) {
        self.give(Err(refuse::store_failed(&StoreError::Closed)));
    }
}

thread_local! {
    static CALLBACKS: Cell<u32> = const { Cell::new(0) };
}

/// Whether this thread runs a callback of a store: it must not wait for the store.
pub(crate) fn in_callback() -> bool {
    CALLBACKS.get() > 0
}

struct Callback;

impl Callback {
    fn enter() -> Callback {
        CALLBACKS.set(CALLBACKS.get() + 1);
        Callback
    }
}

impl Drop for Callback {
    fn drop(&mut self) {
        CALLBACKS.set(CALLBACKS.get() - 1);
    }
}

impl Core {
    pub(crate) fn closed<T: Send + 'static>(&self) -> ResultFuture<T> {
        RunFuture::ready(Err(refuse::store_failed(&StoreError::Closed)))
    }

    /// Has work done in a transaction.
    pub(crate) fn write<W: Work>(self: &Arc<Core>, work: W) -> ResultFuture<W::Output> {
        if self.is_forked() {
            return self.closed();
        }
        let (promise, later) = RunFuture::pair();
        let answer = Answer(Some(promise));
        let job = self.store.write(Box::new(Job { core: self.clone(), work, result: None, touched: Vec::new(), answer }));
        later.of(Brought { core: self.clone(), job: Some(job) })
    }

    /// Has something read.
    pub(crate) fn read<T: Send + 'static>(
        self: &Arc<Core>,
        find: impl FnOnce(&mut dyn Reader) -> Done<T> + Send + 'static,
    ) -> ResultFuture<T> {
        if self.is_forked() {
            return self.closed();
        }
        let (promise, later) = RunFuture::pair();
        self.store.read(Box::new(Look { core: self.clone(), find, answer: Answer(Some(promise)) }));
        later
    }
}
