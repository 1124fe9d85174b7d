//! However many rows a call has to go through, it needs no more stack than for one of them. The calls are made on a thread with
//! little stack, and over so many rows that a frame for each would overflow a whole one too.

use std::sync::mpsc;

use agenthost::protocol::RunStatus;
use agenthost::runs::{Runs, RunsOptions};
use agenthost::store::{Changes, RunChange, RunRow, Store, Stored, Transaction, WriteJob};

use crate::support::{START, Setup, claim, client, new_run};

on_every_store!(
    opening_over_many_overdue_runs_needs_little_stack,
    a_claim_past_many_runs_that_have_just_failed_needs_little_stack,
    purging_many_runs_needs_little_stack,
    purging_a_long_run_needs_little_stack,
    compacting_a_long_run_needs_little_stack,
);

/// What a small thread of a server has.
const LITTLE: usize = 128 << 10;

/// How many transactions a call needs here: in memory so many that their frames would fill any stack (the executor's own tests take a
/// million); in a file, where each is a commit, enough to see that they follow each other.
fn transactions(setup: &Setup) -> u64 {
    if setup.persists() { 20 } else { 10_000 }
}

fn with_little_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(LITTLE).spawn_scoped(scope, work).unwrap();
        thread.join().unwrap()
    })
}

/// Writes rows as they are, so that a test need not live through what led to them.
struct Insert {
    rows: Vec<RunRow>,
    done: mpsc::Sender<Stored<()>>,
}

impl WriteJob for Insert {
    fn run(&mut self, transaction: &mut dyn Transaction) -> Stored<()> {
        for row in &self.rows {
            transaction.apply(&Changes { run: Some(RunChange::Insert(row.clone())), ..Changes::default() })?;
        }
        Ok(())
    }

    fn done(self: Box<Self>, committed: Stored<()>) {
        self.done.send(committed).unwrap();
    }
}

fn filled(setup: &Setup, rows: Vec<RunRow>) -> Box<dyn Store> {
    let store = setup.store();
    let (done, committed) = mpsc::channel();
    store.write(Box::new(Insert { rows, done }));
    store.begin();
    committed.recv().unwrap().unwrap();
    store
}

fn opened(setup: &Setup, rows: Vec<RunRow>) -> Runs {
    Runs::over(filled(setup, rows), RunsOptions::default()).unwrap()
}

/// A run that waits for its first worker.
fn row(number: u64) -> RunRow {
    RunRow {
        id: 0,
        run_id: format!("run {number}"),
        owner: String::new(),
        agent_id: String::new(),
        status: RunStatus::Created,
        revision: 1,
        head: 1,
        first: 1,
        epoch: 0,
        claim: None,
        worker: String::new(),
        lease_ms: 0,
        attempt: 0,
        takeovers: 0,
        ready_at: Some(START),
        deadline: None,
        approval_id: None,
        suspension: None,
        first_approval: 0,
        last_approval: 0,
        approval_expiry: None,
        auto_resume: false,
        fingerprint: [0; 32],
        resume_fingerprint: None,
        last: None,
        created_at: START,
        updated_at: START,
        completed_at: None,
    }
}

/// A run that has ended, with that many events.
fn ended(number: u64, events: u64) -> RunRow {
    RunRow { status: RunStatus::Completed, head: events, ready_at: None, completed_at: Some(START), ..row(number) }
}

fn opening_over_many_overdue_runs_needs_little_stack(setup: &Setup) {
    // 100 of them a transaction.
    let count = transactions(setup) * 5;
    let store = filled(setup, (0..count).map(|number| RunRow { deadline: Some(START), ..row(number) }).collect());
    let runs = with_little_stack(|| Runs::over(store, RunsOptions::default()).unwrap());
    let page = runs.list_runs(agenthost::runs::ListRuns { after: count - 1, ..Default::default() }).wait().unwrap();
    assert_eq!((page.runs.len(), page.runs[0].status), (1, RunStatus::TimedOut));
}

fn a_claim_past_many_runs_that_have_just_failed_needs_little_stack(setup: &Setup) {
    // 32 of them a transaction.
    let count = transactions(setup) * 4;
    let given_up = |number| RunRow { status: RunStatus::Running, claim: Some([1; 32]), takeovers: 10, ..row(number) };
    let runs = opened(setup, (0..count).map(given_up).collect());
    assert!(with_little_stack(|| claim(&runs)).is_none());
    let failed = agenthost::runs::ListRuns { status: Some(RunStatus::Failed), after: count - 1, ..Default::default() };
    assert_eq!(runs.list_runs(failed).wait().unwrap().runs.len(), 1);
    client(&runs).create_run("k", new_run("another")).unwrap();
    assert!(claim(&runs).is_some());
}

fn purging_many_runs_needs_little_stack(setup: &Setup) {
    // One of them a transaction, as two have more events than one may delete.
    let count = transactions(setup);
    let runs = opened(setup, (0..count).map(|number| ended(number, 600)).collect());
    assert_eq!(with_little_stack(|| runs.purge(START + 1).wait()), Ok(count));
    assert_eq!(runs.list_runs(Default::default()).wait().unwrap().runs, []);
}

fn purging_a_long_run_needs_little_stack(setup: &Setup) {
    // 1000 of its events a transaction.
    let runs = opened(setup, vec![ended(0, transactions(setup) * 1000)]);
    assert_eq!(with_little_stack(|| runs.purge(START + 1).wait()), Ok(1));
}

fn compacting_a_long_run_needs_little_stack(setup: &Setup) {
    // 1000 of its events a transaction.
    let events = transactions(setup) * 1000;
    let runs = opened(setup, vec![ended(0, events)]);
    assert_eq!(with_little_stack(|| runs.compact("run 0", events).wait()), Ok(events));
}
