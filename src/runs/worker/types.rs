//! What workers send and get, and how much of it.

use std::time::Duration;

use crate::protocol::{ExecutionContext, FreeJson, Metadata};
use crate::runs::token::ClaimToken;
use crate::service::{ApprovalView, RunSubmission};
use crate::store::OnDenied;

/// The longest `result`, continuation, and admitted outcome, in bytes.
pub const MAX_JSON_BYTES: usize = 4 << 20;
/// The longest data of an event, in bytes.
pub const MAX_EVENT_DATA_BYTES: usize = 1 << 20;
/// The longest metadata of an event, as JSON, in bytes.
pub const MAX_EVENT_METADATA_BYTES: usize = 64 << 10;
/// The most approvals of one `suspend`, and the most approvers of one approval.
pub const MAX_APPROVALS: usize = 64;
/// The longest arguments of an approval, in bytes.
pub const MAX_ARGUMENTS_BYTES: usize = 64 << 10;
/// The most events of one `append_events`.
pub const MAX_APPENDED_EVENTS: usize = 1000;
/// The events that the library writes. Workers write others.
pub const LIBRARY_EVENTS: [&str; 13] = [
    "run_created",
    "run_started",
    "approval_required",
    "approval_granted",
    "approval_denied",
    "run_resumed",
    "run_resume_reclaimed",
    "run_reclaimed",
    "tool_result_admitted",
    "run_completed",
    "run_failed",
    "run_cancelled",
    "run_timed_out",
];

/// Which work a worker claims.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimRequest {
    /// The agents whose runs it works on, at least one; the empty string for runs without one.
    pub agent_ids: Vec<String>,
    /// How it calls itself, for people; may be empty.
    pub worker: String,
    /// How long it may be silent before somebody else may take over, 1 ms to 24 h; none for the default of these runs (30 s).
    pub lease: Option<Duration>,
}

/// A claim: which run, and the right to work on it. Every call of a worker carries it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The run.
    pub run_id: String,
    /// The right to work on it.
    pub token: ClaimToken,
}

/// A run that was claimed, with all that there is to go on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// What every call about the run carries.
    pub claim: Claim,
    /// The principal that created the run; none for embedded use.
    pub owner: Option<String>,
    /// How often the run has been claimed since it started or was resumed last: 1 for the first time.
    pub attempt: u64,
    /// The run's revision.
    pub revision: u64,
    /// When the lease ends unless it is renewed, in milliseconds since the Unix epoch by the store's clock. A heartbeat is due
    /// after a third of the lease.
    pub lease_ends_at_unix_ms: i64,
    /// The lease, in milliseconds.
    pub lease_ms: u64,
    /// Where the run comes from.
    pub context: ExecutionContext<'static>,
    /// What it is to work on.
    pub input: FreeJson<'static>,
    /// Strings that belong to the run.
    pub metadata: Metadata<'static>,
    /// After a resume: the approvals that were asked for, in order, all decided.
    pub approvals: Vec<DecidedApproval>,
    /// After a resume: what `suspend` was given to go on from. Not for anybody else's eyes.
    pub continuation: Option<FreeJson<'static>>,
    /// After a resume: the input of `resume_run`.
    pub resume_input: Option<FreeJson<'static>>,
}

/// Something that happened, as a worker appends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEvent {
    /// What kind of event: 1 to 255 bytes, none of [`LIBRARY_EVENTS`].
    pub event_type: String,
    /// The step that it belongs to, or empty.
    pub step_id: String,
    /// The tool call that it belongs to, or empty.
    pub tool_call_id: String,
    /// What happened, at most 1 MiB. Every caller that may see the run sees it.
    pub data: FreeJson<'static>,
    /// Strings, without sensitive names, at most 64 KiB.
    pub metadata: Metadata<'static>,
}

impl NewEvent {
    /// An event of that type with that data, and nothing else.
    pub fn new(event_type: impl Into<String>, data: FreeJson<'static>) -> NewEvent {
        let (step_id, tool_call_id) = (String::new(), String::new());
        NewEvent { event_type: event_type.into(), step_id, tool_call_id, data, metadata: Metadata::new() }
    }
}

/// An approval that was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecidedApproval {
    /// The approval.
    pub view: ApprovalView<'static>,
    /// What was approved or denied, exactly: execute these and no others. None where the suspension gave none.
    pub arguments: Option<FreeJson<'static>>,
    /// The principal that decided; none without one, and when nobody did in time.
    pub decided_by: Option<String>,
    /// Whether nobody decided in time: it counts as denied.
    pub expired: bool,
}

/// What a run waits for, and how it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspension {
    /// The approvals that are needed: 1 to 64.
    pub approvals: Vec<ApprovalRequest>,
    /// Whatever the worker that goes on needs, at most 4 MiB. Nobody else gets it.
    pub continuation: FreeJson<'static>,
    /// What makes the run go on once all is decided.
    pub resume: ResumeMode,
}

/// What makes a run go on once all its approvals are decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ResumeMode {
    /// A client calls `resume_run`.
    #[default]
    Explicit,
    /// The last decision does, in the same transaction; the resume input is then `{}`.
    Auto,
}

impl ResumeMode {
    /// Both.
    pub const ALL: [ResumeMode; 2] = [ResumeMode::Explicit, ResumeMode::Auto];

    /// The name, as in `resume`.
    pub const fn name(self) -> &'static str {
        match self {
            ResumeMode::Explicit => "explicit",
            ResumeMode::Auto => "auto",
        }
    }
}

/// An approval that a worker asks for. Two may be about the same tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalRequest {
    /// The tool call that needs it: 1 to 255 bytes.
    pub tool_call_id: String,
    /// The tool: 1 to 255 bytes.
    pub tool_name: String,
    /// Why it is needed, at most 64 KiB; may be empty.
    pub reason: String,
    /// Strings that belong to the approval, without sensitive names and without names that begin with `agenthost.`, at most 64 KiB.
    pub metadata: Metadata<'static>,
    /// What is to be approved, exactly, at most 64 KiB. Whoever may see the run sees it.
    pub arguments: Option<FreeJson<'static>>,
    /// When it is denied by itself, in milliseconds since the Unix epoch by the store's clock; none for never.
    pub expires_at_unix_ms: Option<i64>,
    /// What a denial does.
    pub on_denied: OnDenied,
    /// The principals that may decide it, at most 64, each once; none for whoever may see the run. They see the run from then on.
    pub approvers: Vec<String>,
    /// Whether the owner of the run may not decide it (four eyes).
    pub not_owner: bool,
}

impl ApprovalRequest {
    /// An approval for a tool call, of whoever may see the run, for ever, that ends the run when it is denied.
    pub fn new(tool_call_id: impl Into<String>, tool_name: impl Into<String>) -> ApprovalRequest {
        ApprovalRequest {
            tool_call_id: tool_call_id.into(),
            tool_name: tool_name.into(),
            reason: String::new(),
            metadata: Metadata::new(),
            arguments: None,
            expires_at_unix_ms: None,
            on_denied: OnDenied::Fail,
            approvers: Vec::new(),
            not_owner: false,
        }
    }
}

/// What a tool call came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// The step that it belongs to, or empty.
    pub step_id: String,
    /// The tool call: 1 to 255 bytes. One result is admitted for each.
    pub tool_call_id: String,
    /// The tool, not empty.
    pub tool_name: String,
    /// Names the execution: 1 to 255 bytes. A retry carries the same.
    pub key: String,
    /// The outcome, at most 4 MiB.
    pub outcome: FreeJson<'static>,
}

/// How long a claim is safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// When it ends, in milliseconds since the Unix epoch by the store's clock.
    pub ends_at_unix_ms: i64,
}

/// Where appended events stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The sequence of the first.
    pub first_sequence: u64,
    /// The sequence of the last.
    pub last_sequence: u64,
    /// The renewed lease.
    pub lease: Lease,
}

/// The outcome of a tool call that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// The tool call.
    pub tool_call_id: String,
    /// The tool.
    pub tool_name: String,
    /// The execution's key.
    pub key: String,
    /// The sequence of the event `tool_result_admitted`.
    pub sequence: u64,
    /// The outcome that was admitted first.
    pub outcome: FreeJson<'static>,
    /// Whether it had been admitted before this call.
    pub repeated: bool,
}

/// A run that waits for approvals now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspended {
    /// The run as it was then.
    pub submission: RunSubmission<'static>,
    /// The approvals, in the order in which they were asked for: for `resolve_approval` and `resume_run`.
    pub approval_ids: Vec<String>,
}
