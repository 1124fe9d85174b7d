//! What every test needs: a store of each kind with a clock that only the test moves, and short ways to call.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use agenthost::protocol::{ErrorCode, ExecutionContext, FreeJson, HostError, Metadata, Operation, Resolution, RunStatus};
use agenthost::runs::{
    ApprovalRequest, Claim, ClaimRequest, Claimed, Reason, ResumeMode, Runs, RunsOptions, Suspended, Suspension,
};
use agenthost::service::{
    Answer, Call, CancelRun, CreateRun, EventPage, GetRun, ListEvents, Request, ResolveApproval, ResumeRun, RunSubmission,
    RunView,
};
use agenthost::store::{Clock, MemoryStore, Store};

/// Makes a test of each store out of each function.
macro_rules! on_every_store {
    ($($promise:ident),* $(,)?) => {
        mod memory {
            $(#[test] fn $promise() { super::$promise(&crate::support::Setup::memory()); })*
        }
        #[cfg(feature = "sqlite")]
        mod sqlite {
            $(#[test] fn $promise() { super::$promise(&crate::support::Setup::sqlite()); })*
        }
    };
}

/// When the tests' clock starts.
pub(crate) const START: i64 = 1_700_000_000_000;
/// How long anything may take that comes at once: a bound for a hang, not a measure.
pub(crate) const SOON: Duration = Duration::from_secs(30);

pub(crate) type Called<T> = Result<T, HostError<'static>>;

/// A kind of store, and the time in it.
pub(crate) struct Setup {
    clock: Arc<AtomicI64>,
    directory: Option<PathBuf>,
}

impl Setup {
    pub(crate) fn memory() -> Setup {
        Setup { clock: Arc::new(AtomicI64::new(START)), directory: None }
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn sqlite() -> Setup {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!("agenthost-durability-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&directory).unwrap();
        let clock = Arc::new(AtomicI64::new(START));
        Setup { clock, directory: Some(directory) }
    }

    pub(crate) fn now(&self) -> i64 {
        self.clock.load(Ordering::SeqCst)
    }

    pub(crate) fn pass(&self, ms: i64) {
        self.clock.fetch_add(ms, Ordering::SeqCst);
    }

    pub(crate) fn clock(&self) -> Clock {
        let clock = self.clock.clone();
        Arc::new(move || clock.load(Ordering::SeqCst))
    }

    /// Whether runs outlive what opened them.
    pub(crate) fn persists(&self) -> bool {
        self.directory.is_some()
    }

    pub(crate) fn store(&self) -> Box<dyn Store> {
        self.store_with(self.clock())
    }

    pub(crate) fn store_with(&self, clock: Clock) -> Box<dyn Store> {
        match &self.directory {
            None => Box::new(MemoryStore::new(clock)),
            #[cfg(feature = "sqlite")]
            Some(directory) => Box::new(agenthost::store::SqliteStore::open(&directory.join("runs.db"), clock).unwrap()),
            #[cfg(not(feature = "sqlite"))]
            Some(_) => unreachable!(),
        }
    }

    /// A file that is not there yet.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.directory.clone().unwrap_or_else(std::env::temp_dir).join(name)
    }

    pub(crate) fn open(&self) -> Runs {
        self.open_with(RunsOptions::default())
    }

    pub(crate) fn open_with(&self, options: RunsOptions) -> Runs {
        Runs::over(self.store(), options).unwrap()
    }

    /// The same runs after a restart; in memory, where there is none, the same ones.
    pub(crate) fn restart(&self, runs: Runs) -> Runs {
        if !self.persists() {
            return runs;
        }
        runs.close();
        drop(runs);
        self.open()
    }
}

impl Drop for Setup {
    fn drop(&mut self) {
        if let Some(directory) = &self.directory {
            let _ = std::fs::remove_dir_all(directory);
        }
    }
}

/// A client: a principal, or none, and the runs that it calls.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) runs: Runs,
    pub(crate) principal: Option<&'static str>,
}

pub(crate) fn client(runs: &Runs) -> Client {
    Client { runs: runs.clone(), principal: None }
}

/// A key that no call had before.
pub(crate) fn new_key() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("key {}", COUNT.fetch_add(1, Ordering::Relaxed))
}

impl Client {
    pub(crate) fn serve(&self, key: &str, request: Request<'_>) -> Called<Answer<'static>> {
        let call = Call {
            operation: request.operation(),
            request_id: "request".into(),
            idempotency_key: key.to_owned().into(),
            metadata: Metadata::new(),
            principal: self.principal.map(Into::into),
        };
        self.runs.serve(&call, &request).wait()
    }

    fn submit(&self, key: &str, request: Request<'_>) -> Called<RunSubmission<'static>> {
        match self.serve(key, request)? {
            Answer::Submission(submission) => Ok(submission),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn create(&self, key: &str, run_id: &str) -> Called<RunSubmission<'static>> {
        self.create_run(key, new_run(run_id))
    }

    pub(crate) fn create_run(&self, key: &str, request: CreateRun<'_>) -> Called<RunSubmission<'static>> {
        self.submit(key, Request::CreateRun(request))
    }

    pub(crate) fn cancel(&self, key: &str, run_id: &str, expected_revision: u64) -> Called<RunSubmission<'static>> {
        let run_id = run_id.to_owned().into();
        self.submit(key, Request::CancelRun(CancelRun { run_id, expected_revision, reason: "stop".into() }))
    }

    pub(crate) fn resolve(
        &self,
        key: &str,
        run_id: &str,
        revision: u64,
        approval: &str,
        resolution: Resolution,
    ) -> Called<RunSubmission<'static>> {
        self.submit(
            key,
            Request::ResolveApproval(ResolveApproval {
                run_id: run_id.to_owned().into(),
                expected_revision: revision,
                approval_id: approval.to_owned().into(),
                resolution,
                reason: "so".into(),
                metadata: [("by", "a person")].into_iter().collect(),
            }),
        )
    }

    pub(crate) fn resume(
        &self,
        key: &str,
        run_id: &str,
        revision: u64,
        approval: &str,
        input: &str,
    ) -> Called<RunSubmission<'static>> {
        self.submit(
            key,
            Request::ResumeRun(ResumeRun {
                run_id: run_id.to_owned().into(),
                expected_revision: revision,
                approval_id: approval.to_owned().into(),
                input: json(input),
            }),
        )
    }

    pub(crate) fn get(&self, run_id: &str) -> Called<RunView<'static>> {
        match self.serve("", Request::GetRun(GetRun { run_id: run_id.to_owned().into() }))? {
            Answer::Run(view) => Ok(view),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn events(&self, run_id: &str, after_sequence: u64, limit: u64) -> Called<EventPage<'static>> {
        let run_id = run_id.to_owned().into();
        match self.serve("", Request::ListEvents(ListEvents { run_id, after_sequence, limit }))? {
            Answer::Page(page) => Ok(page),
            other => panic!("{other:?}"),
        }
    }

    /// The types of all events.
    pub(crate) fn story(&self, run_id: &str) -> Vec<String> {
        let page = self.events(run_id, 0, 1000).unwrap();
        page.events.iter().map(|event| event.event_type.to_string()).collect()
    }

    /// Has a new run claimed and suspended; the claim that suspended it and the approval's id.
    pub(crate) fn suspended(&self, run_id: &str) -> (Claim, String) {
        self.create(&new_key(), run_id).unwrap();
        let claim = claim(&self.runs).unwrap().claim;
        let suspended = self.runs.suspend(&claim, suspension()).wait().unwrap();
        (claim, only(suspended))
    }
}

pub(crate) fn json(text: &str) -> FreeJson<'static> {
    FreeJson::new(text.to_owned()).unwrap()
}

pub(crate) fn new_run(run_id: &str) -> CreateRun<'static> {
    CreateRun {
        context: ExecutionContext { run_id: run_id.to_owned().into(), ..ExecutionContext::default() },
        input: json(r#"{"question":"why"}"#),
        metadata: [("colour", "blue")].into_iter().collect(),
    }
}

pub(crate) fn with_deadline(run_id: &str, deadline: i64) -> CreateRun<'static> {
    let mut run = new_run(run_id);
    run.context.deadline_unix_ms = Some(deadline);
    run
}

pub(crate) fn suspension() -> Suspension {
    Suspension { approvals: vec![approval()], continuation: json(r#"{"step":3}"#), resume: ResumeMode::Explicit }
}

pub(crate) fn approval() -> ApprovalRequest {
    ApprovalRequest {
        reason: "it deletes".into(),
        metadata: [("risk", "high")].into_iter().collect(),
        ..ApprovalRequest::new("call 1", "delete_files")
    }
}

/// The id of the one approval that was asked for.
pub(crate) fn only(suspended: Suspended) -> String {
    let [approval_id] = <[String; 1]>::try_from(suspended.approval_ids).unwrap();
    approval_id
}

pub(crate) fn claim_request() -> ClaimRequest {
    ClaimRequest { agent_ids: vec![String::new()], worker: "worker".into(), lease: None }
}

pub(crate) fn claim(runs: &Runs) -> Option<Claimed> {
    runs.claim(&claim_request()).wait().unwrap()
}

/// The default lease.
pub(crate) const LEASE: i64 = 30_000;

pub(crate) fn reason<T: std::fmt::Debug>(result: Called<T>) -> Reason {
    let error = result.unwrap_err();
    Reason::of(&error).unwrap_or_else(|| panic!("{error:?}"))
}

pub(crate) fn code<T: std::fmt::Debug>(result: Called<T>) -> ErrorCode {
    result.unwrap_err().code
}

/// A member of the error's details.
pub(crate) fn detail<T: std::fmt::Debug>(result: &Called<T>, member: &str) -> serde_json::Value {
    let details: serde_json::Value = result.as_ref().unwrap_err().details.parse().unwrap();
    details[member].clone()
}

pub(crate) fn submission(run_id: &str, revision: u64, status: RunStatus) -> RunSubmission<'static> {
    RunSubmission { run_id: run_id.to_owned().into(), revision, status }
}

/// A message of a client, as JSON.
pub(crate) fn message(operation: Operation, key: &str, body: &str) -> String {
    let name = operation.name();
    format!(r#"{{"protocolVersion":"2026-07-01","requestId":"r","idempotencyKey":"{key}","operation":"{name}","body":{body}}}"#)
}
