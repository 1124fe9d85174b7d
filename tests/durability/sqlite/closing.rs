//! Closing runs whose file another process keeps: it takes no longer than it may, and what was accepted is finished all the same.

use std::time::{Duration, Instant};

use agenthost::protocol::{ErrorCode, ExecutionContext, FreeJson, HostError, Metadata, Operation};
use agenthost::runs::{RunFuture, Runs, RunsOptions};
use agenthost::service::{Answer, Call, CreateRun, Request};
use agenthost::store::SqliteStore;
use agenthost::store::system_clock;
use libtest_mimic::Trial;

use crate::db::Db;
use crate::roles::{self, Scratch};
use crate::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("closing_within_a_bound_keeps_to_it_while_another_process_keeps_the_file", kept_to),
        trial("closing_within_a_bound_is_closing_when_nobody_keeps_the_file", closed_in_time),
        trial("closing_within_a_bound_and_closing_at_once_are_one_end", closed_together),
    ]
}

/// What the file would be waited for is ten seconds.
const AT_ONCE: Duration = Duration::from_secs(4);
const BOUND: Duration = Duration::from_millis(200);

fn create(runs: &Runs, run_id: &str) -> RunFuture<Result<Answer<'static>, HostError<'static>>> {
    let call = Call {
        operation: Operation::CreateRun,
        request_id: "request".into(),
        idempotency_key: run_id.to_owned().into(),
        metadata: Metadata::new(),
        principal: None,
    };
    let context = ExecutionContext { run_id: run_id.to_owned().into(), ..ExecutionContext::default() };
    runs.serve(&call, &Request::CreateRun(CreateRun { context, input: FreeJson::NULL, metadata: Metadata::new() }))
}

fn kept_to() {
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    let store = SqliteStore::open(&path, system_clock()).unwrap();
    let runs = Runs::over(Box::new(store), RunsOptions::default()).unwrap();
    let mut keeper = roles::start("hold-a-lock", &[path.to_str().unwrap(), "touch"]);
    roles::wait_for_signal(&mut keeper);
    let (answered, answer) = std::sync::mpsc::channel();
    create(&runs, "accepted").then(move |result| answered.send(result.is_ok()).unwrap());

    let begun = Instant::now();
    assert!(!runs.close_within(BOUND), "there is a call that cannot be finished");
    assert!(!runs.close_within(BOUND));
    let refused = create(&runs, "refused").wait().unwrap_err();
    assert_eq!(refused.code, ErrorCode::Unavailable);
    drop(runs);
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    assert!(answer.try_recv().is_err(), "it was answered while the file was kept");

    drop(keeper.stdin.take());
    assert!(keeper.wait().unwrap().success());
    assert_eq!(answer.recv_timeout(Duration::from_secs(60)), Ok(true), "what was accepted was not finished");
    assert_eq!(Db::open(&path).head("accepted"), Ok(Some(1)));
}

fn closed_in_time() {
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    let runs = Runs::open(&format!("sqlite:{}", path.display()), RunsOptions::default()).unwrap();
    create(&runs, "run").wait().unwrap();
    assert!(runs.close_within(Duration::from_secs(60)));
    assert!(!scratch.path("runs.db-wal").exists(), "the last to close moves the log");
    assert!(runs.close_within(Duration::ZERO));
    runs.close();
}

fn closed_together() {
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    let runs = Runs::open(&format!("sqlite:{}", path.display()), RunsOptions::default()).unwrap();
    let mut keeper = roles::start("hold-a-lock", &[path.to_str().unwrap(), "touch"]);
    roles::wait_for_signal(&mut keeper);
    create(&runs, "run").then(|result| drop(result.unwrap()));
    assert!(!runs.close_within(BOUND));
    let other = runs.clone();
    let closing = std::thread::spawn(move || {
        other.close();
        Instant::now()
    });
    let let_go = Instant::now();
    drop(keeper.stdin.take());
    assert!(keeper.wait().unwrap().success());
    assert!(closing.join().unwrap() >= let_go, "closing without a bound did not wait");
    assert!(runs.close_within(Duration::ZERO));
}
