//! The executor alone, over the store in memory.

use std::sync::{Mutex, mpsc};

use super::*;
use crate::host::LogHook;
use crate::protocol::ErrorCode;
use crate::runs::access::AccessRule;
use crate::runs::command::{Command, NewRun, Retry};
use crate::store::{Changes, Clock, KeyScope, MemoryStore, RunChange};

/// What a small thread of a server has.
const LITTLE_STACK: usize = 128 << 10;

fn rules() -> Rules {
    Rules { max_takeovers: 1, key_ttl_ms: 1000, access: AccessRule::default() }
}

fn executor(clock: Clock, log: Log, on_commit: OnCommit) -> Arc<Executor> {
    Arc::new(Executor::new(Box::new(MemoryStore::new(clock)), rules(), log, on_commit))
}

fn quiet() -> Arc<Executor> {
    executor(Arc::new(|| 1), Log::default(), Box::new(|_| {}))
}

/// The next number of a count, or a refusal.
struct Next(Option<u64>);

impl Work for Next {
    type Output = u64;

    fn run(&self, _: &mut dyn Transaction, _: &Rules, _: &mut Notifications) -> WorkResult<u64> {
        Ok(self.0.map(|number| number + 1).ok_or_else(refuse::not_found))
    }
}

/// Counts, one transaction for each number.
struct Count {
    reached: u64,
    until: u64,
    refused_at: u64,
}

impl LongWork for Count {
    type Step = Next;
    type Output = u64;

    fn step(&self) -> Next {
        Next(Some(self.reached).filter(|reached| *reached != self.refused_at))
    }

    fn after(&mut self, reached: u64) -> Option<u64> {
        self.reached = reached;
        (reached == self.until).then_some(reached)
    }
}

#[test]
fn a_million_transactions_need_the_stack_of_one() {
    let work = Count { reached: 0, until: 1_000_000, refused_at: u64::MAX };
    let counting = std::thread::Builder::new().stack_size(LITTLE_STACK).spawn(|| quiet().write_long(work).wait());
    assert_eq!(counting.unwrap().join().unwrap(), Ok(1_000_000));
}

#[test]
fn long_work_ends_with_its_first_refusal() {
    let refused = quiet().write_long(Count { reached: 0, until: 10, refused_at: 7 }).wait();
    assert_eq!(refused.unwrap_err().code, ErrorCode::NotFound);
}

#[test]
fn a_commit_is_handed_on_after_its_promise_is_resolved() {
    let (sender, happened) = mpsc::channel();
    let committed = sender.clone();
    let on_commit = Box::new(move |notification: Notification| {
        let Notification { run_id, agent_id, news, work, approvals, timer, now } = notification;
        committed.send(format!("{run_id} {agent_id} {news} {work} {approvals} {timer:?} {now}")).unwrap();
    });
    let executor = executor(Arc::new(|| 5), Log::default(), on_commit);
    let run = NewRun {
        run_id: "run".into(),
        agent_id: "agent".into(),
        deadline: Some(9),
        context: "{}".into(),
        input: "1".into(),
        metadata: "{}".into(),
    };
    let scope = KeyScope { principal: String::new(), operation: "create_run", key: "k".into() };
    let create = Command::Create { retry: Retry { scope, fingerprint: [0; 32] }, run };
    executor.write(create.clone()).then(move |result| sender.send(format!("{}", result.is_ok())).unwrap());
    // The result is there before `then` is called, as this store does everything at once.
    assert_eq!(happened.recv().unwrap(), "run agent true true false Some(9) 5");
    assert_eq!(happened.recv().unwrap(), "true");
    // A replay changes nothing.
    executor.write(create).wait().unwrap();
    assert!(happened.try_recv().is_err());
}

/// A store of an application's, with a bug in each of its methods.
struct Panicking;

impl Store for Panicking {
    fn write(&self, _: Box<dyn WriteJob>) -> JobNumber {
        panic!("write")
    }

    fn read(&self, _: Box<dyn ReadJob>) {
        panic!("read")
    }

    fn watch(&self, _: Arc<dyn Fn() + Send + Sync>) {
        panic!("watch")
    }

    fn backup(&self, _: &std::path::Path) -> Stored<()> {
        panic!("backup")
    }

    fn close(&self) {
        panic!("close")
    }
}

#[test]
fn a_store_that_panics_resolves_the_promise_and_is_logged() {
    let records = Arc::new(Mutex::new(Vec::new()));
    let into = records.clone();
    let hook: LogHook = Arc::new(move |_, message, fields| into.lock().unwrap().push(format!("{message} {fields:?}")));
    let executor = Arc::new(Executor::new(Box::new(Panicking), rules(), Log::new(Some(hook)), Box::new(|_| {})));
    let logged =
        |text| records.lock().unwrap().drain(..).any(|record| record == format!("a store panicked [(\"panic\", \"{text}\")]"));
    assert_eq!(executor.write(Next(Some(1))).wait().unwrap_err().code, ErrorCode::Unavailable);
    assert!(logged("write"));
    assert_eq!(executor.read(|_| Ok(Ok(1))).wait().unwrap_err().code, ErrorCode::Unavailable);
    assert!(logged("read"));
    executor.watch(|| {});
    assert!(logged("watch"));
    assert_eq!(executor.backup("copy".as_ref()).unwrap_err().code, ErrorCode::Internal);
    assert!(logged("backup"));
    executor.close();
    assert!(logged("close"));
}

#[test]
fn a_clock_that_panics_answers_unavailable() {
    let executor = executor(Arc::new(|| panic!("the clock")), Log::default(), Box::new(|_| {}));
    assert_eq!(executor.write(Next(Some(1))).wait().unwrap_err().code, ErrorCode::Unavailable);
    executor.close();
    assert_eq!(executor.write(Next(Some(1))).wait().unwrap_err().message, "the runs are closed");
}

/// Work with a bug.
struct Bug;

impl Work for Bug {
    type Output = ();

    fn run(&self, transaction: &mut dyn Transaction, _: &Rules, _: &mut Notifications) -> WorkResult<()> {
        transaction.apply(&Changes { run: None::<RunChange>, ..Changes::default() })?;
        panic!("a bug");
    }
}

#[test]
fn work_that_panics_answers_internal_and_the_next_goes_on() {
    let executor = quiet();
    assert_eq!(executor.write(Bug).wait().unwrap_err().code, ErrorCode::Internal);
    assert_eq!(executor.read::<()>(|_| panic!("a bug")).wait().unwrap_err().code, ErrorCode::Internal);
    assert_eq!(executor.write(Next(Some(1))).wait(), Ok(2));
}
