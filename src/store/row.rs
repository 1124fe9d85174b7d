//! The rows of a store. They carry no rules: what may stand in them is decided in `runs`.

use crate::protocol::{Operation, RunStatus};

/// A SHA-256.
pub type Digest = [u8; 32];

/// A run's place in the order of creation, from 1. Given by the store when it inserts the run; never used again.
pub type RunKey = i64;

/// The run's row: what a command has to look at. Small, and free of callers' JSON, as every append touches it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RunRow {
    /// The place in the order of creation; 0 until it is inserted. Primary key.
    pub id: RunKey,
    /// The run's name. Unique in the store.
    pub run_id: String,
    /// The principal that created it; empty for none. Index (owner, id).
    pub owner: String,
    /// The agent that is to do it; may be empty.
    pub agent_id: String,
    /// The state.
    pub status: RunStatus,
    /// The number of state changes.
    pub revision: u64,
    /// The sequence of the last event.
    pub head: u64,
    /// The sequence of the first event that is still there.
    pub first: u64,
    /// How often the right to work on the run has changed hands (claims and resumes).
    pub epoch: u64,
    /// The SHA-256 of the claim token of who works on it; none when nobody does.
    pub claim: Option<Digest>,
    /// The name that the last claimer gave itself; may be empty.
    pub worker: String,
    /// The lease that the last claimer asked for, in milliseconds.
    pub lease_ms: i64,
    /// How often the run has been claimed since it started or was resumed last.
    pub attempt: u64,
    /// How many of these claims took it from a worker whose lease had ended.
    pub takeovers: u64,
    /// From when on it can be claimed; none when it cannot: waiting for an approval, or ended. While held, the lease's end.
    /// Index (agent_id, ready_at, id) where not null.
    pub ready_at: Option<i64>,
    /// When it has to end; none when there is no deadline, and once it has ended. Index where not null.
    pub deadline: Option<i64>,
    /// The approval that the run's view shows: of the latest suspension the oldest that is pending, or the one decided last.
    pub approval_id: Option<String>,
    /// How far the latest suspension is.
    pub suspension: Option<SuspensionState>,
    /// The number of the first approval of the latest suspension; 0 where there was none.
    pub first_approval: u64,
    /// The number of the last approval of the run.
    pub last_approval: u64,
    /// When the next of the pending approvals expires; none where none does, and once the run goes on or has ended. Index where
    /// not null.
    pub approval_expiry: Option<i64>,
    /// Whether the last decision of the latest suspension resumes the run.
    pub auto_resume: bool,
    /// The fingerprint of the request that created the run.
    pub fingerprint: Digest,
    /// The fingerprint of the input of the first `resume_run` of the latest approval.
    pub resume_fingerprint: Option<Digest>,
    /// The last accepted suspend, complete or fail, for its retries.
    pub last: Option<LastOp>,
    /// When it was created.
    pub created_at: i64,
    /// When it got its last event.
    pub updated_at: i64,
    /// When it ended. Index where not null.
    pub completed_at: Option<i64>,
}

/// How far a suspension is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SuspensionState {
    /// Something is to be decided yet.
    Pending,
    /// All is decided, and nothing keeps the run from going on.
    Decided,
    /// A denial ended the run.
    Denied,
}

impl SuspensionState {
    /// All three.
    pub const ALL: [SuspensionState; 3] = [SuspensionState::Pending, SuspensionState::Decided, SuspensionState::Denied];
}

/// A worker's call that ends its claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the calls'")]
pub enum WorkerOp {
    Suspend,
    Complete,
    Fail,
}

impl WorkerOp {
    /// A number for the store: 1 to 3.
    pub const fn number(self) -> u8 {
        self as u8 + 1
    }

    /// The call of that number.
    pub fn from_number(number: u8) -> Option<WorkerOp> {
        [WorkerOp::Suspend, WorkerOp::Complete, WorkerOp::Fail].into_iter().find(|op| op.number() == number)
    }
}

/// The last accepted suspend, complete or fail of a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LastOp {
    /// The SHA-256 of the token of the claim that it ended.
    pub claim: Digest,
    /// Which call it was.
    pub op: WorkerOp,
    /// The fingerprint of what it brought.
    pub fingerprint: Digest,
    /// The run's revision after it.
    pub revision: u64,
}

/// Which of a run's texts. All are JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are the protocol's")]
pub enum BodyKind {
    Context,
    Input,
    Metadata,
    Continuation,
    ResumeInput,
    Result,
    Error,
}

impl BodyKind {
    /// All seven.
    pub const ALL: [BodyKind; 7] = [
        BodyKind::Context,
        BodyKind::Input,
        BodyKind::Metadata,
        BodyKind::Continuation,
        BodyKind::ResumeInput,
        BodyKind::Result,
        BodyKind::Error,
    ];

    /// A number for the store. 4 was the approval's, before approvals had rows of their own.
    pub const fn number(self) -> u8 {
        match self {
            BodyKind::Context => 1,
            BodyKind::Input => 2,
            BodyKind::Metadata => 3,
            BodyKind::Continuation => 5,
            BodyKind::ResumeInput => 6,
            BodyKind::Result => 7,
            BodyKind::Error => 8,
        }
    }
}

/// Something that happened in a run. Primary key (run, sequence).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EventRow {
    /// Its place among the run's events, from 1.
    pub sequence: u64,
    /// When, in milliseconds since the Unix epoch.
    pub at: i64,
    /// The run's status after it.
    pub status: RunStatus,
    /// What kind of event.
    pub event_type: String,
    /// The step, or empty.
    pub step_id: String,
    /// The tool call, or empty.
    pub tool_call_id: String,
    /// JSON.
    pub data: String,
    /// A JSON object of strings.
    pub metadata: String,
}

/// The result of a tool call, admitted once. Primary key (run, tool_call_id).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AdmittedRow {
    /// The tool call.
    pub tool_call_id: String,
    /// The worker's key of the execution.
    pub key: String,
    /// The tool.
    pub tool_name: String,
    /// The sequence of the event that says so.
    pub sequence: u64,
    /// JSON.
    pub outcome: String,
}

/// What a key of `append_events` stands for. Primary key (run, key). It outlives the compaction of its events.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BatchRow {
    /// The worker's key.
    pub key: String,
    /// The fingerprint of the events.
    pub fingerprint: Digest,
    /// The sequence of the first of them.
    pub first: u64,
}

/// Whose key, for what. Primary key of the key records.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyScope {
    /// The principal; empty for none.
    pub principal: String,
    /// The operation, by its name: compares in any store.
    pub operation: &'static str,
    /// The idempotency key.
    pub key: String,
}

impl KeyScope {
    /// The scope of a call.
    pub fn new(principal: impl Into<String>, operation: Operation, key: impl Into<String>) -> KeyScope {
        KeyScope { principal: principal.into(), operation: operation.name(), key: key.into() }
    }
}

/// What a call with a key came to. Index (expires_at).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyRow {
    /// The fingerprint of the request.
    pub fingerprint: Digest,
    /// What it came to.
    pub outcome: Outcome,
    /// The run's revision then; 0 where it is not to be told.
    pub revision: u64,
    /// The run's status then.
    pub status: RunStatus,
    /// How many approvals were pending then, where that was the reason; else 0.
    pub pending_approvals: u64,
    /// From when on the record does not count, in milliseconds since the Unix epoch.
    pub expires_at: i64,
}

/// What a recorded call came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the reasons of the conflicts")]
pub enum Outcome {
    Success,
    RevisionMismatch,
    InvalidState,
    ApprovalMismatch,
    RunExists,
}

impl Outcome {
    /// All five.
    pub const ALL: [Outcome; 5] =
        [Outcome::Success, Outcome::RevisionMismatch, Outcome::InvalidState, Outcome::ApprovalMismatch, Outcome::RunExists];

    /// A number for the store: 1 to 5.
    pub const fn number(self) -> u8 {
        self as u8 + 1
    }

    /// The outcome of that number.
    pub fn from_number(number: u8) -> Option<Outcome> {
        Outcome::ALL.into_iter().find(|outcome| outcome.number() == number)
    }
}

/// Which runs. All that is given has to fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// In this state.
    pub status: Option<RunStatus>,
    /// Of this principal; the empty string for runs without one.
    pub owner: Option<String>,
    /// For this agent; the empty string for runs without one.
    pub agent_id: Option<String>,
}

impl RunFilter {
    /// Whether the run is one of these.
    pub fn fits(&self, row: &RunRow) -> bool {
        self.status.is_none_or(|status| status == row.status)
            && self.owner.as_ref().is_none_or(|owner| *owner == row.owner)
            && self.agent_id.as_ref().is_none_or(|agent_id| *agent_id == row.agent_id)
    }
}
