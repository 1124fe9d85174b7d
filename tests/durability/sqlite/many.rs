//! Files with many rows: no call holds the file for long, and none needs a large stack.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use agenthost::protocol::RunStatus;
use agenthost::runs::{ListRuns, Runs, RunsOptions};
use libtest_mimic::Trial;
use rusqlite::Connection;

use crate::db::Db;
use crate::roles::Scratch;
use crate::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("fifty_thousand_overdue_runs_are_ended_at_opening_with_little_stack", overdue),
        trial("a_purge_of_a_run_with_many_results_and_batches_lets_others_write_in_between", purged),
    ]
}

fn open(path: &Path) -> Runs {
    Runs::open(&format!("sqlite:{}", path.display()), RunsOptions::default()).expect("the runs open")
}

fn fill(path: &Path, sql: &str, count: u64) {
    let connection = Connection::open(path).unwrap();
    let numbers = "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?1)";
    let sql = sql.replace("NUMBERS", numbers);
    connection.execute(&sql, [i64::try_from(count).unwrap()]).unwrap();
}

const COLUMNS: &str = "owner, agent_id, status, revision, head, first, epoch, worker, lease_ms, attempt, takeovers, ready_at, fp, \
                       created_at, updated_at";

fn overdue() {
    const RUNS: u64 = 50_000;
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    let db = Db::open(&path);
    db.create("first").unwrap();
    drop(db);
    let copies = format!(
        "INSERT INTO run (run_id, deadline, {COLUMNS}) NUMBERS SELECT 'run-' || n, 1, {COLUMNS} FROM number, run WHERE run_id = 'first'"
    );
    fill(&path, &copies, RUNS);
    let runs = thread::scope(|scope| {
        let opening = thread::Builder::new().stack_size(128 << 10).spawn_scoped(scope, || open(&path)).unwrap();
        opening.join().expect("the runs open")
    });
    let last = ListRuns { after: RUNS, status: Some(RunStatus::TimedOut), ..ListRuns::default() };
    assert_eq!(runs.list_runs(last).wait().unwrap().runs.len(), 1);
    let left = ListRuns { status: Some(RunStatus::Created), ..ListRuns::default() };
    assert_eq!(runs.list_runs(left).wait().unwrap().runs.len(), 1);
}

fn purged() {
    const ROWS: u64 = 100_000;
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    let db = Db::open(&path);
    db.create("ended").unwrap();
    drop(db);
    fill(&path, "INSERT INTO admitted NUMBERS SELECT 1, 'call-' || n, 'key', 'tool', 1, '1' FROM number", ROWS);
    fill(&path, "INSERT INTO batch NUMBERS SELECT 1, 'key-' || n, x'00', 1 FROM number", ROWS);
    fill(&path, "UPDATE run SET status = 4, ready_at = NULL, completed_at = ?1", 1);

    let runs = open(&path);
    let neighbour = Db::open(&path);
    let done = Arc::new(AtomicBool::new(false));
    let purging = {
        let (runs, done) = (runs.clone(), done.clone());
        thread::spawn(move || {
            let purged = runs.purge(2).wait();
            done.store(true, Ordering::SeqCst);
            purged
        })
    };
    let mut between = 0;
    while !done.load(Ordering::SeqCst) {
        neighbour.create(&format!("between-{between}")).unwrap();
        between += 1;
        thread::sleep(Duration::from_micros(100));
    }
    assert_eq!(purging.join().unwrap(), Ok(1));
    // 200 transactions, and the neighbour can write after each.
    assert!(between > 20, "others wrote {between} times");
    let connection = Connection::open(&path).unwrap();
    for table in ["admitted", "batch"] {
        let left = connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, i64>(0));
        assert_eq!(left, Ok(0), "{table}");
    }
}
