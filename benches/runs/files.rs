//! Costs that must not depend on what a run or a file holds: appends, pages, claims.

use std::path::Path;

use agenthost::protocol::{FreeJson, Metadata, Operation};
use agenthost::runs::{ClaimRequest, NewEvent, ToolResult};
use agenthost::service::{Answer, Call, ListEvents, Request};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::{Scratch, create, median, open, ratio, settle, wait_until_moved};

const ROUNDS: usize = 10;
const APPENDS: usize = 60;
/// Few enough for a log of SQLite's own size to grow through.
const GROWING: usize = 200;
const ADMITTED: usize = 5_000;
const CLAIMS: usize = 200;

/// An append by one caller at 0 and at 5,000 admitted results of 1 KiB, beside a bare commit of one row by SQLite: first while both
/// logs grow, then in logs that have their size.
pub(crate) fn appends(scratch: &Scratch) -> Value {
    let path = scratch.file();
    let runs = open(&path);
    create(&runs, "run").expect("a run is created");
    let request = ClaimRequest { agent_ids: vec!["agent".to_owned()], ..ClaimRequest::default() };
    let claimed = runs.claim(&request).wait().expect("it is claimed").expect("there is one");
    let data = FreeJson::new(r#"{"delta":"and so on, and so forth"}"#).expect("it is JSON").into_owned();
    let event = [NewEvent::new("delta", data)];
    let append = || {
        runs.append_events(&claimed.claim, &event, None).wait().expect("it is appended");
    };
    let bare = Bare::new(scratch);
    let commit = || bare.commit();

    let (growing, bare_growing) = (median(GROWING, append), median(GROWING, commit));
    settle(&runs, &path);
    bare.settle();
    let (at_0, bare_first) = in_turns(append, commit);
    let outcome = format!("\"{}\"", "x".repeat(1022));
    let admitted: Vec<_> = (0..ADMITTED)
        .map(|number| {
            let result = ToolResult {
                tool_call_id: format!("call-{number}"),
                tool_name: "tool".to_owned(),
                step_id: String::new(),
                key: "key".to_owned(),
                outcome: FreeJson::new(&outcome).expect("it is JSON").into_owned(),
            };
            runs.admit_tool_result(&claimed.claim, result)
        })
        .collect();
    admitted.into_iter().for_each(|later| drop(later.wait().expect("it is admitted")));
    wait_until_moved(&path);
    let (at_5000, bare_then) = in_turns(append, commit);
    json!({
        "at_0_admitted": at_0,
        "at_5000_admitted": at_5000,
        "bare_commit": [bare_first, bare_then],
        "at_5000_to_0": ratio(at_5000, at_0),
        "at_0_to_bare": ratio(at_0, bare_first),
        "at_5000_to_bare": ratio(at_5000, bare_then),
        "while_the_log_grows": growing,
        "bare_while_the_log_grows": bare_growing,
    })
}

/// Both measured in turns, so that what else the machine does meets both. Of several medians the lowest counts.
fn in_turns(one: impl Fn(), other: impl Fn()) -> (f64, f64) {
    let rounds: Vec<(f64, f64)> = (0..ROUNDS).map(|_| (median(APPENDS, &one), median(APPENDS, &other))).collect();
    let lowest = |of: fn(&(f64, f64)) -> f64| rounds.iter().map(of).fold(f64::INFINITY, f64::min);
    (lowest(|round| round.0), lowest(|round| round.1))
}

/// SQLite's own commit of one such row, with the same settings.
struct Bare {
    connection: Connection,
    rows: std::cell::Cell<i64>,
}

impl Bare {
    fn new(scratch: &Scratch) -> Bare {
        let connection = Connection::open(scratch.file()).expect("the database opens");
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
                 CREATE TABLE event (run, seq, data, PRIMARY KEY (run, seq)) WITHOUT ROWID; CREATE TABLE filler (data)",
            )
            .expect("it is set up");
        Bare { connection, rows: std::cell::Cell::new(0) }
    }

    fn commit(&self) {
        self.rows.set(self.rows.get() + 1);
        let mut insert = self.connection.prepare_cached("INSERT INTO event VALUES (1, ?1, ?2)").expect("it is prepared");
        insert.execute((self.rows.get(), r#"{"delta":"and so on, and so forth"}"#)).expect("it is committed");
    }

    /// As for runs: SQLite moves a log of 1,000 pages, and begins it anew.
    fn settle(&self) {
        for _ in 0..8 {
            self.connection.execute("INSERT INTO filler VALUES (zeroblob(1000000))", []).expect("it is committed");
        }
    }
}

/// The first 256 events of runs of several lengths.
pub(crate) fn pages(scratch: &Scratch, scale: usize) -> Value {
    let path = scratch.file();
    let lengths = [1_000, 100_000 / scale, 1_000_000 / scale];
    let runs = open(&path);
    for length in lengths {
        create(&runs, &format!("run-{length}")).expect("a run is created");
    }
    for length in lengths {
        fill(
            &path,
            "INSERT INTO event (id, at, status, type, step_id, tool_call_id, data, metadata) SELECT ((SELECT id FROM run WHERE run_id = ?2) << 32) + n + 1, 0, 2, 'delta', '', '', '{\"delta\":\"and so on, and so forth\"}', '{}' FROM number",
            length,
        );
        fill(&path, "UPDATE run SET head = ?1 + 1 WHERE run_id = ?2 AND (SELECT count(*) FROM number) > 0", length);
    }
    let mut took = serde_json::Map::new();
    for length in lengths {
        let run_id = format!("run-{length}");
        let page = || {
            let call = Call {
                operation: Operation::ListEvents,
                request_id: "request".into(),
                idempotency_key: "".into(),
                metadata: Metadata::new(),
                principal: None,
            };
            let request = ListEvents { run_id: run_id.as_str().into(), after_sequence: 0, limit: 256 };
            match runs.serve(&call, &Request::ListEvents(request)).wait() {
                Ok(Answer::Page(page)) => assert!(page.events.len() == 256 && page.has_more),
                other => panic!("no page: {other:?}"),
            }
        };
        took.insert(format!("of_{length}"), json!(median(300, page)));
    }
    Value::Object(took)
}

/// A claim among a million runs that wait: what finding the run takes, and the whole of it with its commit.
pub(crate) fn claims(scratch: &Scratch, scale: usize) -> Value {
    let path = scratch.file();
    let count = 1_000_000 / scale;
    let runs = open(&path);
    for number in 0..CLAIMS {
        create(&runs, &format!("early-{number}")).expect("a run is created");
    }
    settle(&runs, &path);
    let few = claim_among(&runs, CLAIMS);
    create(&runs, "run-again").expect("a run is created");
    let columns = "owner, agent_id, status, revision, head, first, epoch, worker, lease_ms, attempt, takeovers, ready_at, fp, created_at, updated_at";
    fill(
        &path,
        &format!(
            "INSERT INTO run (run_id, {columns}) SELECT 'run-' || n || ?2, {columns} FROM number, run WHERE run_id = 'run-again'"
        ),
        count,
    );
    for kind in 1..=3 {
        fill(
            &path,
            &format!(
                "INSERT INTO body (id, json) SELECT (id << 4) + {kind}, json FROM run, (SELECT json FROM body WHERE kind = {kind} LIMIT 1) \
                 WHERE run_id LIKE 'run-%run-%' AND id < ?1 / 100 AND ?2 != ''"
            ),
            count,
        );
    }
    // Whoever closes last moves what all this has left in the log: that is not a claim's cost.
    drop(runs);
    let runs = open(&path);
    let agents = ["agent".to_owned()];
    let find = median(CLAIMS, || {
        assert!(runs.wait_for_work(&agents, std::time::Duration::ZERO).wait().expect("it looks"));
    });
    let growing = claim_among(&runs, CLAIMS);
    settle(&runs, &path);
    let many = claim_among(&runs, CLAIMS);
    json!({
        format!("among_{count}"): many,
        format!("among_{CLAIMS}"): few,
        format!("among_{count}_while_the_log_grows"): growing,
        format!("find_among_{count}"): find,
    })
}

fn claim_among(runs: &agenthost::runs::Runs, count: usize) -> f64 {
    let request = ClaimRequest { agent_ids: vec!["agent".to_owned()], ..ClaimRequest::default() };
    median(count, || {
        runs.claim(&request).wait().expect("it is claimed").expect("there is one");
    })
}

/// Writes many rows at once, past the library: `number` counts from 1 to `count` (?1), ?2 is `run-COUNT`.
pub(crate) fn fill(path: &Path, sql: &str, count: usize) {
    let connection = Connection::open(path).expect("the database opens");
    connection.busy_timeout(std::time::Duration::from_secs(60)).expect("it is set");
    let count = i64::try_from(count).expect("a count of rows");
    let numbers = "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?1)";
    let sql = format!("{numbers} {sql}");
    connection.execute(&sql, (count, format!("run-{count}"))).expect("the rows are written");
}
