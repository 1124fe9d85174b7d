//! Several processes on one database: none waits for long, and each is notified of what the others commit.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use agenthost::runs::{ClaimRequest, Claimed, Runs, RunsOptions};
use agenthost::store::{SqliteStore, Store, system_clock};
use libtest_mimic::Trial;

use crate::db::Db;
use crate::roles::{self, Scratch};
use crate::trial;

/// Less than a store polls, and far more than a notification takes.
const SOON: Duration = Duration::from_secs(2);

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("of_four_writing_processes_none_waits_over_a_second", fairness),
        trial("a_commit_in_another_process_notifies_this_one", notified_by_a_commit),
        trial("a_killed_process_notifies_this_one", notified_by_a_kill),
        trial("two_stores_of_one_process_notify_each_other_and_not_themselves", notified_by_a_neighbour),
        trial("a_store_without_neighbours_notifies_nobody", notifies_neighbours),
        trial("the_time_of_one_process_is_never_behind_what_another_has_written", never_behind),
        trial("a_time_far_ahead_is_taken_back_as_the_documentation_says", taken_back),
        trial("what_a_foreign_sqlite_commits_is_seen_at_the_next_poll", seen_later),
    ]
}

/// Writes for some seconds; says how many commits it made and how long the longest took.
pub(crate) fn write_for_a_while(path: &Path) {
    let db = Db::open(path);
    roles::signal_parent();
    roles::wait_for_parent();
    let begun = Instant::now();
    let threads: Vec<_> = (0..2)
        .map(|thread| {
            let db = db.clone();
            thread::spawn(move || {
                let (mut commits, mut longest) = (0_u64, Duration::ZERO);
                while begun.elapsed() < Duration::from_secs(3) {
                    let asked = Instant::now();
                    db.create(&format!("{}-{thread}-{commits}", std::process::id())).expect("a run is created");
                    longest = longest.max(asked.elapsed());
                    commits += 1;
                }
                (commits, longest)
            })
        })
        .collect();
    let results: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let commits: u64 = results.iter().map(|(commits, _)| commits).sum();
    let longest = results.iter().map(|(_, longest)| longest.as_millis()).max().unwrap();
    println!("{commits} {longest}");
}

fn fairness() {
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    let mut children: Vec<_> = (0..4).map(|_| roles::start("write-for-a-while", &[path.to_str().unwrap()])).collect();
    children.iter_mut().for_each(roles::wait_for_signal);
    children.iter_mut().for_each(|child| drop(child.stdin.take()));
    let said: Vec<Vec<u64>> = children
        .into_iter()
        .map(|mut child| {
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            assert!(child.wait().unwrap().success());
            line.split_whitespace().map(|number| number.parse().unwrap()).collect()
        })
        .collect();
    let all: u64 = said.iter().map(|said| said[0]).sum();
    for process in &said {
        assert!(process[1] < 1000, "one waited {} ms: {said:?}", process[1]);
        assert!(process[0] > all / 20, "one wrote seldom: {said:?}");
    }
}

/// What the store calls back, with the first call, which comes without cause, taken.
fn watched(db: &Db) -> Receiver<()> {
    let (changed, notified) = channel();
    db.0.watch(Arc::new(move || changed.send(()).unwrap_or_default()));
    notified.recv_timeout(SOON).expect("the first call is at once");
    notified
}

fn notified_by_a_commit() {
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    let db = Db::open(&path);
    let notified = watched(&db);
    let mut child = roles::start("create-one", &[path.to_str().unwrap(), "from-afar"]);
    notified.recv_timeout(SOON).expect("it is notified");
    assert!(child.wait().unwrap().success());
    assert_eq!(db.head("from-afar"), Ok(Some(1)));
}

fn notified_by_a_kill() {
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    let db = Db::open(&path);
    let mut child = roles::start("write-for-a-while", &[path.to_str().unwrap()]);
    roles::wait_for_signal(&mut child);
    let notified = watched(&db);
    child.kill().unwrap();
    child.wait().unwrap();
    notified.recv_timeout(SOON).expect("it is notified");
}

fn notified_by_a_neighbour() {
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    let (one, two) = (Db::open(&path), Db::open(&path));
    let (one_notified, two_notified) = (watched(&one), watched(&two));
    one.create("a").unwrap();
    two_notified.recv_timeout(SOON).expect("the neighbour is notified");
    assert!(one_notified.recv_timeout(Duration::from_millis(100)).is_err(), "it notifies itself");
    two.create("b").unwrap();
    one_notified.recv_timeout(SOON).expect("the neighbour is notified");
}

fn notifies_neighbours() {
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    let written = || std::fs::metadata(scratch.path("runs.db-wake")).unwrap().len() > 0;
    let db = Db::open(&path);
    db.create("alone").unwrap();
    // Elsewhere nobody knows.
    assert_eq!(written(), !cfg!(all(target_os = "linux", target_pointer_width = "64")));
    let neighbour = Db::open(&path);
    db.create("beside-another").unwrap();
    assert!(written());
    drop(neighbour);
}

const HOUR: i64 = 3_600_000;

/// A process whose clock is an hour ahead creates a run.
pub(crate) fn create_an_hour_ahead(path: &Path, run_id: &str) {
    let clock = system_clock();
    let db = Db(Arc::new(SqliteStore::open(path, Arc::new(move || clock() + HOUR)).expect("the database opens")));
    db.create(run_id).expect("a run is created");
}

fn claim(runs: &Runs) -> Option<Claimed> {
    let request = ClaimRequest { agent_ids: vec!["agent".to_owned()], ..ClaimRequest::default() };
    runs.claim(&request).wait().expect("the store answers")
}

fn open_runs(path: &Path) -> Runs {
    Runs::open(&format!("sqlite:{}", path.display()), RunsOptions::default()).expect("the runs open")
}

/// That one's clock has been set back meanwhile is the same as that the other's was ahead.
fn never_behind() {
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    let runs = open_runs(&path);
    let now = system_clock()();
    let agents = ["agent".to_owned()];
    for run_id in ["opened-before", "opened-after"] {
        let waiting = runs.wait_for_work(&agents, Duration::from_secs(60));
        assert!(roles::start("create-an-hour-ahead", &[path.to_str().unwrap(), run_id]).wait().unwrap().success());
        assert_eq!(waiting.wait(), Ok(true));
        let runs = if run_id == "opened-after" { open_runs(&path) } else { runs.clone() };
        let claimed = claim(&runs).expect("it can be claimed");
        assert_eq!(claimed.claim.run_id, run_id);
        assert!(claimed.lease_ends_at_unix_ms >= now + HOUR + 30_000, "{claimed:?}");
    }
}

/// The statements of the documentation, with a tool of SQLite's own, while no process has the file open.
fn taken_back() {
    const DOCUMENT: &str = include_str!("../../../docs/sqlite.md");
    let cure = DOCUMENT.split("```sql\n").nth(1).and_then(|rest| rest.split("```").next()).expect("the document says how");
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    let path_text = path.to_str().unwrap();
    assert!(roles::start("create-an-hour-ahead", &[path_text, "waits"]).wait().unwrap().success());
    assert!(roles::start("create-an-hour-ahead", &[path_text, "leased"]).wait().unwrap().success());
    let runs = open_runs(&path);
    claim(&runs).expect("it can be claimed");
    runs.close();
    drop(runs);

    rusqlite::Connection::open(&path).unwrap().execute_batch(cure).unwrap();
    let runs = open_runs(&path);
    let first = claim(&runs).expect("all can be claimed, whoever had it");
    let second = claim(&runs).expect("all can be claimed, whoever had it");
    let now = system_clock()();
    for claimed in [first, second] {
        assert!(claimed.lease_ends_at_unix_ms <= now + 30_000, "{claimed:?} at {now}");
    }
    let connection = rusqlite::Connection::open(&path).unwrap();
    let late: i64 = connection.query_row("SELECT max(expires_at) FROM request", [], |row| row.get(0)).unwrap();
    assert!(late <= now + 86_400_000, "{late} at {now}");
}

fn seen_later() {
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    let db = Db::open(&path);
    db.create("a").unwrap();
    let notified = watched(&db);
    let foreign = rusqlite::Connection::open(&path).unwrap();
    foreign.execute("UPDATE run SET worker = 'somebody'", []).unwrap();
    notified.recv_timeout(Duration::from_secs(20)).expect("it polls from time to time");
}
