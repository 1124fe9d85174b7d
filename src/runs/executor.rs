//! Has jobs done by a store: work in a transaction, work in as many as it needs, and reads. Resolves each job's promise once it is
//! committed, and then hands on what the commit has changed. Does not know who waits for that.

use std::sync::Arc;

use super::decide::Rules;
use super::log::Log;
use super::promise::{BlockingTask, Promise, ResultFuture, RunFuture};
use super::refuse::{self, Refusal};
use super::work::{Notification, Notifications, Work, WorkResult};
use crate::host::panics::catch;
use crate::host::{LogLevel, fork};
use crate::store::{JobNumber, ReadJob, Reader, Store, StoreError, Stored, Transaction, WriteJob};

/// Hands on what a commit has changed. Runs on a thread of the store's: it must be short.
pub(crate) type OnCommit = Box<dyn Fn(Notification) + Send + Sync>;

pub(crate) struct Executor {
    store: Box<dyn Store>,
    rules: Rules,
    log: Log,
    on_commit: OnCommit,
    /// The process that opened the store: a fork of it has neither its threads nor, perhaps, its locks.
    process: u64,
}

impl Executor {
    pub(crate) fn new(store: Box<dyn Store>, rules: Rules, log: Log, on_commit: OnCommit) -> Executor {
        Executor { store, rules, log, on_commit, process: fork::generation() }
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    pub(crate) fn log(&self) -> &Log {
        &self.log
    }

    /// Whether this process is a fork of the one that opened the store: here it is closed, and can only be forgotten.
    pub(crate) fn is_forked(&self) -> bool {
        self.process != fork::generation()
    }

    /// Has work done in one transaction.
    pub(crate) fn write<W: Work>(self: &Arc<Executor>, work: W) -> ResultFuture<W::Output> {
        if self.is_forked() {
            return self.closed();
        }
        let (promise, future) = RunFuture::pair(&self.log);
        let notifications = Notifications::new();
        let job = Box::new(Job { executor: self.clone(), work, result: None, notifications, promise });
        // A store that panics has dropped the job, and the promise with it.
        let Some(number) = self.ask(|store| store.write(job)) else { return future };
        future.with_task(Some(Box::new(SubmittedJob { executor: self.clone(), number: Some(number) })))
    }

    /// Has work done in as many transactions as it needs, one after the other.
    pub(crate) fn write_long<L: LongWork>(self: &Arc<Executor>, work: L) -> ResultFuture<L::Output> {
        let mut first = self.write(work.step());
        let task = first.take_task();
        let (promise, future) = RunFuture::pair(&self.log);
        LongJob { executor: self.clone(), work, promise }.go_on_after(first);
        future.with_task(task)
    }

    /// Has something read.
    pub(crate) fn read<T: Send + 'static>(
        self: &Arc<Executor>,
        find: impl FnOnce(&mut dyn Reader) -> WorkResult<T> + Send + 'static,
    ) -> ResultFuture<T> {
        if self.is_forked() {
            return self.closed();
        }
        let (promise, future) = RunFuture::pair(&self.log);
        let job = Box::new(Read { executor: self.clone(), find, promise });
        self.ask(|store| store.read(job));
        future
    }

    /// Writes a copy of everything; blocks until it is there.
    pub(crate) fn backup(&self, to: &std::path::Path) -> Result<(), Refusal> {
        let copied = self.ask(|store| store.backup(to)).unwrap_or_else(|| Err(StoreError::Broken("it panicked".into())));
        copied.map_err(|error| self.refusal_of(&error))
    }

    /// Calls `changed` when another process has committed.
    pub(crate) fn watch(&self, changed: impl Fn() + Send + Sync + 'static) {
        self.ask(|store| store.watch(Arc::new(changed)));
    }

    /// Finishes what was accepted, and refuses everything from then on.
    pub(crate) fn close(&self) {
        self.ask(|store| store.close());
    }

    /// What a caller gets for a store's failure; the log gets why.
    pub(crate) fn refusal_of(&self, error: &StoreError) -> Refusal {
        if !matches!(error, StoreError::Closed | StoreError::Unsupported(_)) {
            self.log.write(LogLevel::Error, "a store failed", &[("error", &error.to_string())]);
        }
        refuse::store_failed(error)
    }

    pub(crate) fn closed<T: Send + 'static>(&self) -> ResultFuture<T> {
        RunFuture::ready_with(Err(refuse::store_failed(&StoreError::Closed)), self.log.clone())
    }

    /// A store may be the application's, and its clock is: when they panic nothing of ours ends.
    fn ask<T>(&self, ask: impl FnOnce(&dyn Store) -> T) -> Option<T> {
        self.log.run("a store panicked", || ask(&*self.store))
    }
}

/// Work on its way through the store.
struct Job<W: Work> {
    executor: Arc<Executor>,
    work: W,
    result: Option<Result<W::Output, Refusal>>,
    notifications: Notifications,
    promise: Promise<W::Output>,
}

impl<W: Work> WriteJob for Job<W> {
    fn run(&mut self, transaction: &mut dyn Transaction) -> Stored<()> {
        self.notifications.clear();
        let (work, notifications, rules) = (&self.work, &mut self.notifications, &self.executor.rules);
        // The rule of access is the application's, and a bug in ours must not take the store's thread with it either.
        let result = catch(|| work.run(transaction, rules, notifications));
        self.result = Some(result.unwrap_or_else(|panic| Err(StoreError::Broken(format!("a job panicked: {panic}"))))?);
        Ok(())
    }

    fn done(self: Box<Self>, committed: Stored<()>) {
        let Job { executor, result, notifications, promise, .. } = *self;
        match (committed, result) {
            (Ok(()), Some(result)) => promise.resolve(result),
            (Ok(()), None) => promise.resolve(Err(refuse::internal("a store has not run a job"))),
            (Err(error), _) => promise.resolve(Err(executor.refusal_of(&error))),
        }
        notifications.into_iter().for_each(|notification| (executor.on_commit)(notification));
    }
}

/// A job that was given to the store and is yet to begin.
struct SubmittedJob {
    executor: Arc<Executor>,
    /// None once it is begun.
    number: Option<JobNumber>,
}

impl BlockingTask for SubmittedJob {
    fn run(mut self: Box<Self>) {
        if let Some(number) = self.number.take()
            && !self.executor.is_forked()
        {
            self.executor.ask(|store| store.wait_for(number));
        }
    }
}

impl Drop for SubmittedJob {
    fn drop(&mut self) {
        if self.number.is_some() && !self.executor.is_forked() {
            self.executor.ask(|store| store.begin());
        }
    }
}

/// A read on its way through the store.
struct Read<T, F> {
    executor: Arc<Executor>,
    find: F,
    promise: Promise<T>,
}

impl<T, F> ReadJob for Read<T, F>
where
    T: Send + 'static,
    F: FnOnce(&mut dyn Reader) -> WorkResult<T> + Send + 'static,
{
    fn run(self: Box<Self>, reader: &mut dyn Reader) -> Box<dyn FnOnce() + Send> {
        let Read { executor, find, promise } = *self;
        let found = catch(|| find(reader));
        let found = found.unwrap_or_else(|panic| Err(StoreError::Broken(format!("a read panicked: {panic}"))));
        Box::new(move || promise.resolve(found.unwrap_or_else(|error| Err(executor.refusal_of(&error)))))
    }

    fn failed(self: Box<Self>, error: StoreError) {
        let refusal = self.executor.refusal_of(&error);
        self.promise.resolve(Err(refusal));
    }
}

/// Work that takes as many transactions as it needs. Each is short, so that others get their turns in between.
pub(crate) trait LongWork: Send + 'static {
    /// One transaction.
    type Step: Work;
    type Output: Send + 'static;

    /// The next transaction.
    fn step(&self) -> Self::Step;

    /// Takes what a transaction came to. The output, after the last.
    fn after(&mut self, output: <Self::Step as Work>::Output) -> Option<Self::Output>;
}

/// The output of one transaction of long work.
type StepOutput<L> = <<L as LongWork>::Step as Work>::Output;

/// Long work on its way through the store.
struct LongJob<L: LongWork> {
    executor: Arc<Executor>,
    work: L,
    promise: Promise<L::Output>,
}

impl<L: LongWork> LongJob<L> {
    /// Goes on when the step is done. A store may be done before it returns: a loop, so that no number of steps fills the stack.
    fn go_on_after(self, step: ResultFuture<StepOutput<L>>) {
        let (mut job, mut step) = (self, step);
        while let Some((again, result)) = step.then_or_take(job, LongJob::go_on_with) {
            let Some(next) = again.take_in(result) else { return };
            step = next.executor.write(next.work.step());
            job = next;
        }
    }

    fn go_on_with(self, result: Result<StepOutput<L>, Refusal>) {
        if let Some(job) = self.take_in(result) {
            let step = job.executor.write(job.work.step());
            job.go_on_after(step);
        }
    }

    /// Takes a step's result. The job, while it is not done.
    fn take_in(mut self, result: Result<StepOutput<L>, Refusal>) -> Option<LongJob<L>> {
        match result.map(|output| self.work.after(output)) {
            Ok(None) => return Some(self),
            Ok(Some(output)) => self.promise.resolve(Ok(output)),
            Err(refusal) => self.promise.resolve(Err(refusal)),
        }
        None
    }
}

#[cfg(test)]
mod tests;
