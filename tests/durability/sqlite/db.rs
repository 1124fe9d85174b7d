//! Small jobs on a store, without the rules of runs: what a test needs to write rows, and to read them.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use agenthost::protocol::{Operation, RunStatus};
use agenthost::store::sqlite::SqliteStore;
use agenthost::store::{
    BodyKind, Changes, EventRow, KeyRow, KeyScope, Outcome, ReadJob, Reader, RunChange, RunRow, Store, StoreError, Stored,
    Transaction, WriteJob, system_clock,
};

/// A store whose jobs the caller waits for.
#[derive(Clone)]
pub(crate) struct Db(pub(crate) Arc<SqliteStore>);

impl Db {
    pub(crate) fn open(path: &Path) -> Db {
        Db::try_open(path).expect("the database opens")
    }

    pub(crate) fn try_open(path: &Path) -> Stored<Db> {
        SqliteStore::open(path, system_clock()).map(|store| Db(Arc::new(store)))
    }

    pub(crate) fn open_through(path: &Path, vfs: &str) -> Stored<Db> {
        SqliteStore::open_through(path, system_clock(), Some(vfs)).map(|store| Db(Arc::new(store)))
    }

    /// Runs `work` in a transaction, and waits until it is committed.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut dyn Transaction) -> Stored<T> + Send + 'static,
    ) -> Stored<T> {
        let (answer, answered) = sync_channel(1);
        let job = self.0.write(Box::new(Writing { work, result: None, answer }));
        self.0.wait_for(job);
        answered.recv().expect("every job is answered")
    }

    /// Runs `work` over a snapshot, and waits for what it gives.
    pub(crate) fn read<T: Send + 'static>(&self, work: impl FnOnce(&mut dyn Reader) -> Stored<T> + Send + 'static) -> Stored<T> {
        let (answer, answered) = sync_channel(1);
        self.0.read(Box::new(Reading { work, answer }));
        answered.recv().expect("every job is answered")
    }

    /// Inserts a run with its texts, one event and the key of its creation.
    pub(crate) fn create(&self, run_id: &str) -> Stored<()> {
        let run_id = run_id.to_owned();
        self.write(move |transaction| create(transaction, &run_id))
    }

    /// Adds events to a run; gives its head.
    pub(crate) fn append(&self, run_id: &str, count: u64, data: &str) -> Stored<u64> {
        let (run_id, data) = (run_id.to_owned(), data.to_owned());
        self.write(move |transaction| append(transaction, &run_id, count, &data))
    }

    /// The head of a run; none where there is no such run.
    pub(crate) fn head(&self, run_id: &str) -> Stored<Option<u64>> {
        let run_id = run_id.to_owned();
        self.read(move |reader| Ok(reader.run(&run_id)?.map(|run| run.head)))
    }
}

pub(crate) fn create(transaction: &mut dyn Transaction, run_id: &str) -> Stored<()> {
    transaction.apply(&creation(run_id, "agent", "", transaction.now()))
}

pub(crate) fn creation(run_id: &str, agent_id: &str, owner: &str, now: i64) -> Changes {
    let row = RunRow {
        id: 0,
        run_id: run_id.to_owned(),
        owner: owner.to_owned(),
        agent_id: agent_id.to_owned(),
        status: RunStatus::Created,
        revision: 1,
        head: 1,
        first: 1,
        epoch: 0,
        claim: None,
        worker: String::new(),
        lease_ms: 30_000,
        attempt: 0,
        takeovers: 0,
        ready_at: Some(now),
        deadline: None,
        approval_id: None,
        suspension: None,
        first_approval: 0,
        last_approval: 0,
        approval_expiry: None,
        auto_resume: false,
        fingerprint: [7; 32],
        resume_fingerprint: None,
        last: None,
        created_at: now,
        updated_at: now,
        completed_at: None,
    };
    let key = KeyRow {
        fingerprint: [7; 32],
        outcome: Outcome::Success,
        revision: 1,
        status: RunStatus::Created,
        pending_approvals: 0,
        expires_at: now + 86_400_000,
    };
    let context = format!("{{\"runId\":\"{run_id}\",\"agentId\":\"{agent_id}\"}}");
    Changes {
        bodies: vec![
            (BodyKind::Context, Some(context)),
            (BodyKind::Input, Some("{\"question\":\"how long is a piece of string?\"}".to_owned())),
            (BodyKind::Metadata, Some("{}".to_owned())),
        ],
        events: vec![event(1, now, RunStatus::Created, "run_created", "{}")],
        key: Some((KeyScope::new(owner, Operation::CreateRun, run_id), key)),
        run: Some(RunChange::Insert(row)),
        ..Changes::default()
    }
}

pub(crate) fn append(transaction: &mut dyn Transaction, run_id: &str, count: u64, data: &str) -> Stored<u64> {
    let before = transaction.run(run_id)?.ok_or_else(|| StoreError::Broken(format!("no run {run_id}")))?;
    let now = transaction.now();
    let events = (1..=count).map(|n| event(before.head + n, now, before.status, "note", data)).collect();
    let after = RunRow { head: before.head + count, updated_at: now, ready_at: Some(now + 30_000), ..before.clone() };
    let head = after.head;
    transaction.apply(&Changes { run: Some(RunChange::Update { before, after }), events, ..Changes::default() })?;
    Ok(head)
}

pub(crate) fn event(sequence: u64, at: i64, status: RunStatus, event_type: &str, data: &str) -> EventRow {
    EventRow {
        sequence,
        at,
        status,
        event_type: event_type.to_owned(),
        step_id: String::new(),
        tool_call_id: String::new(),
        data: data.to_owned(),
        metadata: "{}".to_owned(),
    }
}

struct Writing<W, T> {
    work: W,
    result: Option<T>,
    answer: SyncSender<Stored<T>>,
}

impl<T: Send, W: FnMut(&mut dyn Transaction) -> Stored<T> + Send> WriteJob for Writing<W, T> {
    fn run(&mut self, transaction: &mut dyn Transaction) -> Stored<()> {
        self.result = Some((self.work)(transaction)?);
        Ok(())
    }

    fn done(self: Box<Self>, committed: Stored<()>) {
        let Writing { result, answer, .. } = *self;
        let result = committed.map(|()| result.expect("a committed job has run"));
        answer.send(result).expect("its caller waits");
    }
}

struct Reading<W, T> {
    work: W,
    answer: SyncSender<Stored<T>>,
}

impl<T: Send + 'static, W: FnOnce(&mut dyn Reader) -> Stored<T> + Send> ReadJob for Reading<W, T> {
    fn run(self: Box<Self>, reader: &mut dyn Reader) -> Box<dyn FnOnce() + Send> {
        let Reading { work, answer } = *self;
        let result = work(reader);
        Box::new(move || answer.send(result).expect("its caller waits"))
    }

    fn failed(self: Box<Self>, error: StoreError) {
        self.answer.send(Err(error)).expect("its caller waits");
    }
}
