//! A host whose service does what a test says, and what came out of it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use agenthost::host::{DeferredReply, DeferringService, Host, HostOptions, Pending, Reply};
use agenthost::protocol::{FreeJson, Metadata, RunStatus, Violation};
use agenthost::service::{Answer, Call, Event, Request, RunSubmission};
use serde_json::Value;

pub(crate) const CREATE: &[u8] = br#"{"protocolVersion":"2026-07-01","requestId":"req-1","idempotencyKey":"k","operation":"create_run","body":{"context":{"runId":"run-1"}}}"#;

pub(crate) const LIST: &[u8] =
    br#"{"protocolVersion":"2026-07-01","requestId":"req-1","operation":"list_events","body":{"runId":"run-1"}}"#;

type Serve = dyn Fn(&mut Reply<'_>) + Send + Sync;

struct Service {
    serve: Box<Serve>,
    destroyed: Arc<AtomicUsize>,
}

impl DeferringService for Service {
    fn serve(&self, _: &Call<'_>, _: Request<'_>, reply: &mut Reply<'_>) {
        (self.serve)(reply);
    }

    fn destroy(&self) {
        self.destroyed.fetch_add(1, Ordering::SeqCst);
    }
}

/// What a test looks at beside responses.
#[derive(Clone, Default)]
pub(crate) struct Stage {
    destroyed: Arc<AtomicUsize>,
    log: Arc<Mutex<Vec<String>>>,
    held: Arc<Mutex<Option<DeferredReply>>>,
}

impl Stage {
    pub(crate) fn host(&self, serve: impl Fn(&mut Reply<'_>) + Send + Sync + 'static) -> Host {
        let service = Service { serve: Box::new(serve), destroyed: self.destroyed.clone() };
        Host::deferring(Box::new(service), self.options())
    }

    /// A host whose service defers each reply, for [`Stage::take`] to get.
    pub(crate) fn deferring(&self) -> Host {
        let held = self.held.clone();
        self.host(move |reply| *held.lock().unwrap() = Some(reply.defer().unwrap()))
    }

    pub(crate) fn options(&self) -> HostOptions {
        let log = self.log.clone();
        let hook = move |_, message: &str, fields: &[(&str, &str)]| log.lock().unwrap().push(format!("{message} {fields:?}"));
        HostOptions { log: Some(Arc::new(hook)), ..HostOptions::default() }
    }

    pub(crate) fn take(&self) -> DeferredReply {
        self.held.lock().unwrap().take().expect("a call is deferred")
    }

    pub(crate) fn destroyed(&self) -> usize {
        self.destroyed.load(Ordering::SeqCst)
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }
}

pub(crate) fn well() -> Answer<'static> {
    Answer::Submission(RunSubmission { run_id: "run-1".into(), revision: 1, status: RunStatus::Created })
}

pub(crate) fn event(sequence: u64) -> Event<'static> {
    Event {
        run_id: "run-1".into(),
        sequence,
        event_type: "note".into(),
        status: RunStatus::Running,
        step_id: "".into(),
        tool_call_id: "".into(),
        timestamp_unix_ms: 1,
        data: FreeJson::NULL,
        metadata: Metadata::new(),
    }
}

/// A broken rule, as a binding finds one.
pub(crate) fn violation() -> Violation {
    FreeJson::new("").expect_err("no JSON")
}

/// `ok`, the code, or `unavailable/REASON` with everything that goes with it.
pub(crate) fn outcome(response: &[u8]) -> String {
    let response: Value = serde_json::from_slice(response).expect("JSON");
    let error = &response["error"];
    match error["code"].as_str() {
        None => "ok".into(),
        Some("unavailable") => {
            assert_eq!((&response["requestId"], &response["operation"]), (&"req-1".into(), &"create_run".into()));
            assert_eq!(error["retryable"], true);
            format!("unavailable/{}", error["details"]["reason"].as_str().expect("a reason"))
        }
        Some(code) => code.into(),
    }
}

/// Dispatches without waiting: where the response arrives, and the handle to cancel with.
pub(crate) fn dispatch(host: &Host) -> (mpsc::Receiver<Vec<u8>>, Pending) {
    dispatch_message(host, CREATE)
}

/// The same with another message.
pub(crate) fn dispatch_message(host: &Host, message: &[u8]) -> (mpsc::Receiver<Vec<u8>>, Pending) {
    let (sender, receiver) = mpsc::channel();
    let mut pending = None;
    host.dispatch_async(message, None, |started| pending = Some(started), move |response| sender.send(response).unwrap())
        .expect("dispatched");
    (receiver, pending.expect("started"))
}

/// The one response that has arrived by now.
pub(crate) fn arrived(receiver: &mpsc::Receiver<Vec<u8>>) -> String {
    let response = receiver.try_recv().expect("delivered by now");
    assert!(receiver.try_recv().is_err(), "delivered twice");
    outcome(&response)
}

/// What comes out of a dispatch that waits, and of one that does not: their replies are held in two ways.
pub(crate) fn both_ways(host: &Host) -> [String; 2] {
    [outcome(&host.dispatch_json(CREATE)), arrived(&dispatch(host).0)]
}
