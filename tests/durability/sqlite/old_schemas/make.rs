//! Makes the files that later versions have to open: a run in every state, and what belongs to runs.
//!
//! `cargo test --test durability_sqlite -- make-files DIRECTORY` writes them, with the schema of the library that it is built with. A
//! new schema version has its own directory, made once, by the last commit that has the schema; files are never made anew.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use agenthost::host::{DispatchOptions, Host, HostOptions};
use agenthost::protocol::{FreeJson, Metadata, Operation};
use agenthost::runs::{ApprovalRequest, Claim, ClaimRequest, NewEvent, ResumeMode, Runs, RunsOptions, Suspension, ToolResult};
use agenthost::store::SqliteStore;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::roles::Scratch;

/// What is written beside the files: what a test cannot read out of them, and what it is to find there.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Record {
    /// The store's time at the end, in milliseconds since the Unix epoch.
    pub(super) now: i64,
    pub(super) runs: BTreeMap<String, RunRecord>,
    /// Mutations in their order, each to be answered again as it was then.
    pub(super) mutations: Vec<Mutation>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct RunRecord {
    pub(super) owner: Option<String>,
    /// The token of the last claim, as text.
    pub(super) claim: Option<String>,
    /// The response to `get_run`, and to `list_events` from the first that is there.
    pub(super) get: Value,
    pub(super) events: Value,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Mutation {
    pub(super) principal: Option<String>,
    pub(super) message: String,
    pub(super) response: Value,
}

/// Runs that are opened, with a clock that only the program moves.
pub(super) struct Opened {
    pub(super) runs: Runs,
    pub(super) host: Host,
}

impl Opened {
    pub(super) fn new(path: &Path, clock: &Arc<AtomicI64>) -> Opened {
        let clock = clock.clone();
        let store = SqliteStore::open(path, Arc::new(move || clock.load(Ordering::SeqCst))).expect("the file opens");
        let runs = Runs::over(Box::new(store), RunsOptions::default()).expect("the runs open");
        let host = runs.host(HostOptions::default());
        Opened { runs, host }
    }

    pub(super) fn ask(&self, principal: Option<&str>, message: &str) -> Value {
        let options = DispatchOptions { principal: principal.map(Into::into), ..DispatchOptions::default() };
        let response = self.host.dispatch(message.as_bytes(), options).expect("the host answers");
        serde_json::from_slice(&response).expect("a response is JSON")
    }

    pub(super) fn get(&self, run: &str) -> Value {
        self.ask(None, &message(Operation::GetRun, "", &json!({ "runId": run }).to_string()))
    }

    pub(super) fn events(&self, run: &str, after: u64) -> Value {
        let body = json!({ "runId": run, "afterSequence": after, "limit": 1000 });
        self.ask(None, &message(Operation::ListEvents, "", &body.to_string()))
    }

    /// Claims the run, which is the only one of the agent of its name.
    pub(super) fn claim(&self, run: &str, lease: Duration) -> Option<agenthost::runs::Claimed> {
        let request = ClaimRequest { agent_ids: vec![run.to_owned()], worker: "worker".into(), lease: Some(lease) };
        self.runs.claim(&request).wait().expect("the store answers")
    }
}

/// The body is text, whose numbers keep their spelling.
pub(super) fn message(operation: Operation, key: &str, body: &str) -> String {
    let key = if key.is_empty() { String::new() } else { format!("\"idempotencyKey\":\"{key}\",") };
    let name = operation.name();
    format!("{{\"protocolVersion\":\"2026-07-01\",\"requestId\":\"1\",{key}\"operation\":\"{name}\",\"body\":{body}}}")
}

pub(super) fn free(text: &str) -> FreeJson<'static> {
    FreeJson::new(text.to_owned()).expect("it is JSON")
}

/// The events of the keyed batch of every run that has one.
pub(super) fn batch() -> [NewEvent; 3] {
    ["1", "\"two\"", "[3]"].map(|data| NewEvent::new("note", free(data)))
}

pub(super) fn tool_result() -> ToolResult {
    ToolResult {
        step_id: "step".into(),
        tool_call_id: "call-admitted".into(),
        tool_name: "read_file".into(),
        key: "execution".into(),
        outcome: free("{\"bytes\":17}"),
    }
}

pub(super) const RESULT: &str = "{\"pages\":3}";
pub(super) const ERROR: &str = "out of paper";
pub(super) const CONTINUATION: &str = "{\"step\":3,\"secret\":\"of the worker\"}";
pub(super) const INPUT: &str =
    "{\"exact\":9007199254740993,\"spelled\":1.50e3,\"odd\":\"\\u0000 \\ud83d\\ude00 é\",\"deep\":[[[{}]]]}";
const LONG: Duration = Duration::from_secs(600);
const SHORT: Duration = Duration::from_secs(1);

struct Maker {
    clock: Arc<AtomicI64>,
    opened: Opened,
    record: Record,
    claims: BTreeMap<String, Claim>,
    owners: BTreeMap<String, Option<String>>,
    keys: u32,
}

impl Maker {
    fn pass(&self, ms: i64) {
        self.clock.fetch_add(ms, Ordering::SeqCst);
    }

    /// A mutation with a key of its own, which is recorded.
    fn mutate(&mut self, operation: Operation, principal: Option<&str>, body: &str) -> Value {
        self.keys += 1;
        let message = message(operation, &format!("key-{}", self.keys), body);
        let response = self.opened.ask(principal, &message);
        let principal = principal.map(str::to_owned);
        self.record.mutations.push(Mutation { principal, message, response: response.clone() });
        response
    }

    fn create_with(&mut self, run: &str, owner: Option<&str>, deadline: Option<i64>) {
        let context = json!({ "runId": run, "agentId": run, "tenantId": "tenant", "deadlineUnixMs": deadline });
        let body = format!("{{\"context\":{context},\"input\":{INPUT},\"metadata\":{{\"colour\":\"blue\"}}}}");
        let response = self.mutate(Operation::CreateRun, owner, &body);
        assert_eq!(response["body"]["status"], "created", "{response}");
        self.owners.insert(run.to_owned(), owner.map(str::to_owned));
    }

    fn create(&mut self, run: &str) {
        self.create_with(run, None, None);
    }

    fn claim(&mut self, run: &str, lease: Duration) {
        let claimed = self.opened.claim(run, lease).expect("the run can be claimed");
        self.claims.insert(run.to_owned(), claimed.claim);
    }

    /// Creates, claims, and writes events of every kind.
    fn running(&mut self, run: &str) {
        self.create(run);
        self.claim(run, LONG);
        let (runs, claim) = (&self.opened.runs, &self.claims[run]);
        let plain = NewEvent { metadata: [("unit", "page")].into_iter().collect(), ..NewEvent::new("progress", free("50")) };
        runs.append_events(claim, &[plain], None).wait().expect("it is appended");
        runs.append_events(claim, &batch(), Some("batch")).wait().expect("it is appended");
        runs.admit_tool_result(claim, tool_result()).wait().expect("it is admitted");
    }

    fn suspend(&mut self, run: &str) {
        let suspension = Suspension {
            approvals: vec![ApprovalRequest {
                reason: "it deletes".into(),
                metadata: [("risk", "high")].into_iter().collect::<Metadata<'static>>(),
                ..ApprovalRequest::new("call-1", "delete_files")
            }],
            resume: ResumeMode::Explicit,
            continuation: free(CONTINUATION),
        };
        self.opened.runs.suspend(&self.claims[run], suspension).wait().expect("it is suspended");
    }

    fn pending(&mut self, run: &str) {
        self.running(run);
        self.suspend(run);
    }

    /// The members that say which approval of which state of the run.
    fn target(&self, run: &str) -> Value {
        let view = self.opened.get(run);
        json!({ "runId": run, "expectedRevision": view["body"]["revision"], "approvalId": view["body"]["approval"]["approvalId"] })
    }

    fn resolve(&mut self, run: &str, resolution: &str) {
        let mut body = self.target(run);
        body["resolution"] = resolution.into();
        body["reason"] = "looked at it".into();
        body["metadata"] = json!({ "by": "a person" });
        let owner = self.owners[run].clone();
        self.mutate(Operation::ResolveApproval, owner.as_deref(), &body.to_string());
    }

    fn resume(&mut self, run: &str) {
        let mut body = self.target(run);
        body["input"] = json!({ "go": "on" });
        self.mutate(Operation::ResumeRun, None, &body.to_string());
    }

    fn approved(&mut self, run: &str) {
        self.pending(run);
        self.resolve(run, "approved");
    }

    fn resumed(&mut self, run: &str) {
        self.approved(run);
        self.resume(run);
    }

    fn cancel(&mut self, run: &str) {
        let mut body = self.target(run);
        body.as_object_mut().expect("an object").remove("approvalId");
        body["reason"] = "no more need".into();
        self.mutate(Operation::CancelRun, None, &body.to_string());
    }

    fn complete(&self, run: &str) {
        self.opened.runs.complete(&self.claims[run], free(RESULT)).wait().expect("it is completed");
    }

    /// Every run but those of the log.
    fn every_state(&mut self) {
        self.create("key-forgotten");
        self.pass(25 * 3_600_000);

        self.create("created");
        self.create_with("created-for-ann", Some("ann"), None);
        let now = self.clock.load(Ordering::SeqCst);
        self.create_with("created-with-deadline", None, Some(now + 86_400_000));
        self.create_with("overdue", None, Some(now + 60_000));
        self.create_with("timed-out", None, Some(now + 1_000));
        self.create("claim-ended");
        self.claim("claim-ended", SHORT);
        self.create("taken-over");
        self.claim("taken-over", SHORT);
        self.create("attempted-often");
        self.claim("attempted-often", Duration::from_millis(1));
        for _ in 0..10 {
            self.pass(5);
            self.claim("attempted-often", Duration::from_millis(1));
        }
        self.pass(1_500);
        assert!(self.opened.claim("attempted-often", SHORT).is_none(), "it has had its attempts");
        self.claim("taken-over", LONG);

        self.running("running");
        self.running("compacted");
        self.opened.runs.compact("compacted", 4).wait().expect("it is compacted");
        self.running("released");
        let released = self.opened.runs.release(&self.claims["released"], Duration::from_secs(3_600));
        released.wait().expect("it is released");

        self.pending("pending");
        self.approved("approved");
        self.pending("denied");
        self.resolve("denied", "denied");
        self.resumed("resumed");
        self.resumed("resumed-and-running");
        self.claim("resumed-and-running", LONG);
        self.resumed("pending-again");
        self.claim("pending-again", LONG);
        self.suspend("pending-again");
        self.resumed("resumed-twice");
        self.claim("resumed-twice", SHORT);
        self.pass(1_500);
        self.resume("resumed-twice");

        self.running("completed");
        self.complete("completed");
        self.resumed("completed-after-approval");
        self.claim("completed-after-approval", LONG);
        self.complete("completed-after-approval");
        self.running("failed");
        self.opened.runs.fail(&self.claims["failed"], ERROR).wait().expect("it fails");
        self.running("cancelled");
        self.cancel("cancelled");
        self.pending("cancelled-while-pending");
        self.cancel("cancelled-while-pending");
        self.refused();
    }

    /// Refusals that are remembered with their keys.
    fn refused(&mut self) {
        let (running, pending) = (self.target("running"), self.target("pending"));
        let stale = json!({ "runId": "running", "expectedRevision": 1, "reason": "" });
        let not_waiting =
            json!({ "runId": "running", "expectedRevision": running["expectedRevision"], "approvalId": "a", "input": {} });
        let another = json!({ "runId": "pending", "expectedRevision": pending["expectedRevision"], "approvalId": "a",
            "resolution": "approved", "reason": "", "metadata": {} });
        let exists = json!({ "context": { "runId": "running" }, "input": 1 });
        for (operation, body, reason) in [
            (Operation::CancelRun, stale, "revision_mismatch"),
            (Operation::ResumeRun, not_waiting, "invalid_state"),
            (Operation::ResolveApproval, another, "approval_mismatch"),
            (Operation::CreateRun, exists, "run_exists"),
        ] {
            let response = self.mutate(operation, None, &body.to_string());
            assert_eq!(response["error"]["details"]["reason"], reason, "{response}");
        }
    }

    fn note(&mut self) {
        self.record.now = self.clock.load(Ordering::SeqCst);
        for (run, owner) in &self.owners {
            let get = self.opened.get(run);
            assert_eq!(get["body"]["runId"], run.as_str(), "{get}");
            let after = if run == "compacted" { 4 } else { 0 };
            let events = self.opened.events(run, after);
            let claim = self.claims.get(run).map(|claim| claim.token.reveal());
            self.record.runs.insert(run.clone(), RunRecord { owner: owner.clone(), claim, get, events });
        }
    }
}

/// Writes `closed.db.gz`, of a process that closed its runs; `killed.db.gz` and `killed.db-wal.gz`, of one that was killed before;
/// and `record.json.gz`, a [`Record`].
pub(crate) fn files(directory: &Path) {
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    let clock = Arc::new(AtomicI64::new(1_700_000_000_000));
    let mut maker = Maker {
        opened: Opened::new(&path, &clock),
        clock,
        record: Record::default(),
        claims: BTreeMap::new(),
        owners: BTreeMap::new(),
        keys: 0,
    };
    maker.every_state();
    // All this goes into the database: what follows stays in the log.
    maker.close();
    maker.opened = Opened::new(&path, &maker.clock);
    maker.create("created-in-the-log");
    maker.pending("pending-in-the-log");
    maker.note();
    std::fs::create_dir_all(directory).expect("the directory is made");
    for suffix in ["", "-wal"] {
        zip(&scratch.path(&format!("runs.db{suffix}")), &directory.join(format!("killed.db{suffix}.gz")));
    }
    maker.close();
    zip(&path, &directory.join("closed.db.gz"));
    let record = scratch.path("record.json");
    std::fs::write(&record, serde_json::to_vec_pretty(&maker.record).expect("it is JSON")).expect("the record is written");
    zip(&record, &directory.join("record.json.gz"));
}

impl Maker {
    fn close(&self) {
        self.opened.host.close(None).expect("the host closes");
        self.opened.runs.close();
    }
}

fn zip(file: &Path, to: &PathBuf) {
    let file = std::fs::File::open(file).expect("the file is there");
    let to = std::fs::File::create(to).expect("the directory can be written");
    let status = std::process::Command::new("gzip").arg("-9n").stdin(file).stdout(to).status().expect("gzip is there");
    assert!(status.success(), "gzip ended with {status}");
}

/// The opposite.
pub(super) fn unzip(file: &Path, to: &Path) {
    let file = std::fs::File::open(file).expect("the file is in the repository");
    let to = std::fs::File::create(to).expect("the directory can be written");
    let status = std::process::Command::new("gzip").arg("-dc").stdin(file).stdout(to).status().expect("gzip is there");
    assert!(status.success(), "gzip ended with {status}");
}
