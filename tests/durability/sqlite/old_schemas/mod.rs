//! Files of older schemas: each opens, has what was in it, and every run in it goes on from where it was.
//!
//! `schema-N` holds files with schema N as the last library that wrote it left them; `make` says how they came to be.

mod make;

pub(crate) use make::files as make_files;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use agenthost::protocol::Operation;
use agenthost::runs::{Claim, Claimed, ListRuns, NewEvent};
use libtest_mimic::Trial;
use make::{CONTINUATION, ERROR, INPUT, Opened, RESULT, Record, RunRecord, batch, free, message, tool_result, unzip};
use serde_json::{Value, json};

use crate::roles::Scratch;
use crate::trial;

/// The schemas before the one of this library.
const SCHEMAS: [i64; 1] = [1];

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_file_of_an_older_schema_has_every_run_and_event_and_answers_every_key_as_before", read_back),
        trial("every_run_in_a_file_of_an_older_schema_goes_on_from_where_it_was", gone_on_with),
        trial("a_clock_that_is_behind_a_file_of_an_older_schema_does_not_take_its_time_back", not_taken_back),
        trial("the_files_of_older_schemas_can_be_made_as_it_is_said", made),
    ]
}

const LEASE: Duration = Duration::from_secs(60);

struct Older {
    opened: Opened,
    record: Record,
    clock: Arc<AtomicI64>,
    path: PathBuf,
    _scratch: Scratch,
}

/// Opens copies of the files of a directory, of the closed and of the killed process, so many milliseconds after they were made.
fn each_in(directory: &Path, later: i64, mut test: impl FnMut(Older)) {
    for name in ["closed", "killed"] {
        let scratch = Scratch::new();
        let path = scratch.path("runs.db");
        for suffix in ["", "-wal"] {
            let file = directory.join(format!("{name}.db{suffix}.gz"));
            if file.exists() {
                unzip(&file, &scratch.path(&format!("runs.db{suffix}")));
            }
        }
        unzip(&directory.join("record.json.gz"), &scratch.path("record.json"));
        let record = std::fs::read(scratch.path("record.json")).expect("the record is there");
        let record: Record = serde_json::from_slice(&record).expect("it is the record");
        let clock = Arc::new(AtomicI64::new(record.now + later));
        let opened = Opened::new(&path, &clock);
        test(Older { opened, record, clock, path, _scratch: scratch });
    }
}

const MINUTE: i64 = 60_000;

fn each(later: i64, mut test: impl FnMut(Older)) {
    for schema in SCHEMAS {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/durability/sqlite/schema-{schema}"));
        assert_eq!(schema_of(&directory), schema, "{directory:?}");
        each_in(&directory, later, &mut test);
    }
}

fn schema_of(directory: &Path) -> i64 {
    let scratch = Scratch::new();
    let path = scratch.path("looked-at.db");
    unzip(&directory.join("closed.db.gz"), &path);
    let connection = rusqlite::Connection::open(path).expect("it is a database");
    connection.pragma_query_value(None, "user_version", |row| row.get(0)).expect("it has a version")
}

/// Whether everything that was recorded is there: later versions may say more.
fn holds(found: &Value, recorded: &Value) -> bool {
    match (found, recorded) {
        (Value::Object(found), Value::Object(recorded)) => {
            recorded.iter().all(|(name, value)| found.get(name).is_some_and(|found| holds(found, value)))
        }
        (Value::Array(found), Value::Array(recorded)) => {
            found.len() == recorded.len() && found.iter().zip(recorded).all(|(found, recorded)| holds(found, recorded))
        }
        _ => found == recorded,
    }
}

fn read_back() {
    each(MINUTE, |older| {
        let Older { opened, record, .. } = &older;
        for (run, recorded) in &record.runs {
            if run == "overdue" {
                assert_eq!(opened.get(run)["body"]["status"], "timed_out");
                continue;
            }
            let found = opened.get(run);
            assert!(holds(&found, &recorded.get), "{found}\n{}", recorded.get);
            let after = if run == "compacted" { 4 } else { 0 };
            let found = opened.events(run, after);
            assert!(holds(&found, &recorded.events), "{found}\n{}", recorded.events);
            if let Some(owner) = &recorded.owner {
                let get = message(Operation::GetRun, "", &json!({ "runId": run }).to_string());
                assert_eq!(opened.ask(Some("eve"), &get)["error"]["code"], "not_found");
                assert!(holds(&opened.ask(Some(owner), &get), &recorded.get));
            }
        }
        let all = opened.runs.list_runs(ListRuns { limit: 1000, ..ListRuns::default() }).wait().expect("they are listed");
        assert_eq!(all.runs.len(), record.runs.len());
        // The key of the first has expired: it is free for another request.
        for mutation in &record.mutations[1..] {
            let again = opened.ask(mutation.principal.as_deref(), &mutation.message);
            assert!(holds(&again, &mutation.response), "{}\n{again}\n{}", mutation.message, mutation.response);
        }
        let create = |key, run| message(Operation::CreateRun, key, &json!({ "context": { "runId": run } }).to_string());
        let kept = opened.ask(None, &create("key-2", "new-1"));
        assert_eq!(kept["error"]["details"]["reason"], "idempotency_mismatch", "{kept}");
        let expired = opened.ask(None, &create("key-1", "new-2"));
        assert_eq!(expired["body"]["status"], "created", "{expired}");
        assert_eq!(opened.events("compacted", 0)["error"]["details"]["reason"], "cursor_expired");
    });
}

impl Older {
    fn record(&self, run: &str) -> &RunRecord {
        &self.record.runs[run]
    }

    fn noted_claim(&self, run: &str) -> Claim {
        let token = self.record(run).claim.as_deref().expect("a claim was noted").parse().expect("it is a token");
        Claim { run_id: run.to_owned(), token }
    }

    fn claim(&self, run: &str) -> Claimed {
        let claimed = self.opened.claim(run, LEASE).unwrap_or_else(|| panic!("{run} cannot be claimed"));
        assert_eq!((&*claimed.claim.run_id, claimed.input.as_str()), (run, INPUT));
        assert_eq!(claimed.context.tenant_id, "tenant");
        assert_eq!(claimed.metadata.get("colour"), Some("blue"));
        claimed
    }

    fn claim_resumed(&self, run: &str) -> Claimed {
        let claimed = self.claim(run);
        assert_eq!(claimed.continuation.as_ref().map(|json| json.as_str()), Some(CONTINUATION));
        assert_eq!(claimed.resume_input.as_ref().map(|json| json.as_str()), Some("{\"go\":\"on\"}"));
        let approval = &claimed.approvals.first().expect("it was approved").view;
        assert_eq!((&*approval.tool_name, &*approval.reason), ("delete_files", "looked at it"));
        assert_eq!((approval.metadata.get("risk"), approval.metadata.get("by")), (Some("high"), Some("a person")));
        claimed
    }

    fn complete(&self, claim: &Claim) {
        let run = &claim.run_id;
        self.opened.runs.complete(claim, free(RESULT)).wait().unwrap_or_else(|error| panic!("{run}: {error:?}"));
        let view = self.opened.get(run);
        assert_eq!((&view["body"]["status"], &view["body"]["result"]["pages"]), (&json!("completed"), &json!(3)), "{view}");
    }

    fn mutate(&self, operation: Operation, run: &str, members: Value) -> Value {
        let view = self.opened.get(run);
        let mut body = json!({ "runId": run, "expectedRevision": view["body"]["revision"] });
        if operation != Operation::CancelRun {
            body["approvalId"] = view["body"]["approval"]["approvalId"].clone();
        }
        body.as_object_mut().expect("an object").extend(members.as_object().expect("an object").clone());
        self.opened.ask(None, &message(operation, &format!("later {} {run}", operation.name()), &body.to_string()))
    }

    fn approve(&self, run: &str) {
        let members = json!({ "resolution": "approved", "reason": "looked at it", "metadata": { "by": "a person" } });
        let response = self.mutate(Operation::ResolveApproval, run, members);
        assert_eq!(response["body"]["status"], "waiting_for_approval", "{response}");
    }

    fn resume(&self, run: &str) {
        let response = self.mutate(Operation::ResumeRun, run, json!({ "input": { "go": "on" } }));
        assert_eq!(response["body"]["status"], "running", "{response}");
    }

    /// What the claim's holder wrote before is there for its retries, and it writes on.
    fn hold_on(&self, run: &str) -> Claim {
        let (runs, claim) = (&self.opened.runs, self.noted_claim(run));
        runs.heartbeat(&claim).wait().unwrap_or_else(|error| panic!("{run}: {error:?}"));
        let head = runs.append_events(&claim, &[NewEvent::new("note", free("4"))], None).wait().expect("it is appended");
        if !["taken-over", "claim-ended"].contains(&run) {
            let again = runs.append_events(&claim, &batch(), Some("batch")).wait().expect("it is the same batch");
            assert!(again.last_sequence < head.first_sequence, "{run}: {again:?}");
            let admitted = runs.admit_tool_result(&claim, tool_result()).wait().expect("it was admitted");
            assert!(admitted.repeated && admitted.outcome == tool_result().outcome, "{run}: {admitted:?}");
            let page = runs.admitted_results(run, "", 10).wait().expect("there is a page");
            assert_eq!(page.results.len(), 1, "{run}");
        }
        claim
    }

    fn has_ended(&self, run: &str, status: &str) {
        let view = self.opened.get(run);
        assert_eq!(view["body"]["status"], status, "{view}");
        let refused = self.mutate(Operation::CancelRun, run, json!({ "reason": "too late" }));
        assert_eq!(refused["error"]["details"]["reason"], "invalid_state", "{refused}");
    }
}

fn gone_on_with() {
    each(MINUTE, |older| {
        for run in ["created", "created-with-deadline", "created-for-ann", "created-in-the-log", "key-forgotten"] {
            older.complete(&older.claim(run).claim);
        }
        for run in ["running", "taken-over", "compacted", "resumed-and-running"] {
            older.complete(&older.hold_on(run));
        }
        // A claim whose lease has ended writes on, until somebody takes over.
        let late = older.hold_on("claim-ended");
        older.clock.fetch_add(70_000, Ordering::SeqCst);
        let claimed = older.claim("claim-ended");
        assert_eq!(claimed.attempt, 2);
        assert!(older.opened.runs.heartbeat(&late).wait().is_err());
        older.complete(&claimed.claim);

        for run in ["pending", "pending-again", "pending-in-the-log"] {
            older.approve(run);
            older.resume(run);
            older.complete(&older.claim_resumed(run).claim);
        }
        older.resume("approved");
        for run in ["approved", "resumed", "resumed-twice"] {
            older.complete(&older.claim_resumed(run).claim);
        }
        assert!(older.opened.claim("released", LEASE).is_none(), "its delay has not passed");
        older.clock.fetch_add(3_600_000, Ordering::SeqCst);
        older.complete(&older.claim("released").claim);

        let runs = &older.opened.runs;
        for run in ["completed", "completed-after-approval"] {
            let again = runs.complete(&older.noted_claim(run), free(RESULT)).wait().expect("an equal retry");
            assert_eq!(Some(again.revision), older.record(run).get["body"]["revision"].as_u64());
            older.has_ended(run, "completed");
        }
        runs.fail(&older.noted_claim("failed"), ERROR).wait().expect("an equal retry");
        for (run, status) in [
            ("failed", "failed"),
            ("denied", "failed"),
            ("attempted-often", "failed"),
            ("cancelled", "cancelled"),
            ("cancelled-while-pending", "cancelled"),
            ("timed-out", "timed_out"),
            ("overdue", "timed_out"),
        ] {
            older.has_ended(run, status);
        }
        let page = runs.list_runs(ListRuns { limit: 1000, ..ListRuns::default() }).wait().expect("they are listed");
        let open: Vec<_> = page.runs.iter().filter(|run| run.completed_at_unix_ms.is_none()).collect();
        assert!(open.is_empty(), "the test forgets {open:#?}");

        check_whole(&older.path);
        let copy = older.path.with_file_name("copy.db");
        runs.backup(&copy).wait().expect("it is copied");
        check_whole(&copy);
        assert_eq!(runs.purge(i64::MAX).wait(), Ok(page.runs.len() as u64));
        check_whole(&older.path);
    });
}

fn not_taken_back() {
    each(-60 * MINUTE, |older| {
        let Older { opened, record, .. } = &older;
        let create = message(Operation::CreateRun, "new", &json!({ "context": { "runId": "new" } }).to_string());
        opened.ask(None, &create);
        let created = opened.get("new")["body"]["createdAtUnixMs"].as_i64();
        assert!(created >= Some(record.now), "{created:?}");
    });
}

fn check_whole(path: &Path) {
    let connection = rusqlite::Connection::open(path).expect("it is a database");
    let result: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("it is checked");
    assert_eq!(result, "ok", "{path:?}");
}

/// What makes the files makes, today, files of today's schema with which the same can be done.
fn made() {
    let scratch = Scratch::new();
    let directory = scratch.path("files");
    make_files(&directory);
    assert!(Some(&schema_of(&directory)) > SCHEMAS.last());
    let mut files = 0;
    each_in(&directory, MINUTE, |older| {
        older.complete(&older.hold_on("running"));
        older.approve("pending-in-the-log");
        files += 1;
    });
    assert_eq!(files, 2);
}
