//! Commands: what may be asked of one run, checked and complete. Whatever is random or takes time (tokens, approval ids,
//! fingerprints) is in them already, so that deciding is pure and short.

use crate::protocol::{Operation, Resolution, RunStatus};
use crate::store::{Digest, EventRow, KeyScope, OnDenied, RunRow, WorkerOp};

/// Something to be decided about one run.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    /// `create_run`.
    Create { retry: Retry, run: NewRun },
    /// `cancel_run`.
    Cancel { retry: Retry, target: Target, reason: String },
    /// `resolve_approval`. The metadata is a checked JSON object.
    Resolve { retry: Retry, target: Target, approval_id: String, resolution: Resolution, reason: String, metadata: Pairs },
    /// `resume_run`.
    Resume { retry: Retry, target: Target, approval_id: String, input: String, input_fingerprint: Digest },
    /// A worker wants this run, which is the longest claimable.
    Claim { claim: Digest, worker: String, lease_ms: i64 },
    /// A worker says that it is alive.
    Heartbeat { holder: ClaimHolder },
    /// A worker appends events, which get their place and time here.
    Append { holder: ClaimHolder, events: Vec<EventRow>, key: Option<(String, Digest)> },
    /// A worker's tool call has an outcome, for good.
    Admit { holder: ClaimHolder, step_id: String, tool_call_id: String, tool_name: String, key: String, outcome: String },
    /// A worker gives the run back until `delay_ms` from now.
    Release { holder: ClaimHolder, delay_ms: i64 },
    /// A worker suspends, completes or fails the run: the calls that end a claim.
    End { holder: ClaimHolder, fingerprint: Digest, end: End },
    /// A timer: the run ends if its deadline has passed.
    TimeOut,
    /// An operator removes the events up to and with `through`, at most `most` of them.
    Compact { through: u64, most: u64 },
}

/// A client's key and request.
#[derive(Clone, Debug)]
pub(crate) struct Retry {
    pub(crate) scope: KeyScope,
    pub(crate) fingerprint: Digest,
}

/// Strings by their names, in order.
pub(crate) type Pairs = Vec<(String, String)>;

/// Which run a client means, and as what it saw it.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) run_id: String,
    pub(crate) expected_revision: u64,
}

/// Which run a worker means, and the SHA-256 of the claim that it holds.
#[derive(Clone, Debug)]
pub(crate) struct ClaimHolder {
    pub(crate) run_id: String,
    pub(crate) claim: Digest,
}

/// A run that is to be. The texts are JSON.
#[derive(Clone, Debug)]
pub(crate) struct NewRun {
    pub(crate) run_id: String,
    pub(crate) agent_id: String,
    pub(crate) deadline: Option<i64>,
    pub(crate) context: String,
    pub(crate) input: String,
    pub(crate) metadata: String,
}

/// An approval that is to be asked for. The arguments are JSON.
#[derive(Clone, Debug)]
pub(crate) struct NewApproval {
    pub(crate) approval_id: String,
    pub(crate) tool_call_id: String,
    pub(crate) tool_name: String,
    pub(crate) reason: String,
    pub(crate) metadata: Pairs,
    pub(crate) arguments: Option<String>,
    pub(crate) expires_at: Option<i64>,
    pub(crate) on_denied: OnDenied,
    pub(crate) approvers: Vec<String>,
    pub(crate) not_owner: bool,
}

/// How a worker's claim ends.
#[derive(Clone, Debug)]
pub(crate) enum End {
    Suspend { approvals: Vec<NewApproval>, continuation: String, auto_resume: bool },
    Complete { result: String },
    Fail { error: String },
}

impl End {
    pub(crate) fn op(&self) -> WorkerOp {
        match self {
            End::Suspend { .. } => WorkerOp::Suspend,
            End::Complete { .. } => WorkerOp::Complete,
            End::Fail { .. } => WorkerOp::Fail,
        }
    }
}

impl Command {
    /// The run, where the command itself says which.
    pub(crate) fn run_id(&self) -> Option<&str> {
        Some(match self {
            Command::Create { run, .. } => &run.run_id,
            Command::Cancel { target, .. } | Command::Resolve { target, .. } | Command::Resume { target, .. } => &target.run_id,
            Command::Heartbeat { holder }
            | Command::Append { holder, .. }
            | Command::Admit { holder, .. }
            | Command::Release { holder, .. }
            | Command::End { holder, .. } => &holder.run_id,
            Command::Claim { .. } | Command::TimeOut | Command::Compact { .. } => return None,
        })
    }

    /// The operation of a client's command; of others, one that asks for nothing.
    pub(crate) fn operation(&self) -> Operation {
        match self {
            Command::Create { .. } => Operation::CreateRun,
            Command::Cancel { .. } => Operation::CancelRun,
            Command::Resolve { .. } => Operation::ResolveApproval,
            Command::Resume { .. } => Operation::ResumeRun,
            _ => Operation::GetRun,
        }
    }

    /// The approval that a client decides.
    pub(crate) fn approval_id(&self) -> Option<&str> {
        match self {
            Command::Resolve { approval_id, .. } => Some(approval_id),
            _ => None,
        }
    }

    /// Whether the decision depends on the approvals of the run's latest suspension: while it waits, anything may meet one that has
    /// expired; afterwards the retry of a suspend names them, and so does a resume.
    pub(crate) fn needs_approvals(&self, run: &RunRow) -> bool {
        run.status == RunStatus::WaitingForApproval
            || run.first_approval > 0 && matches!(self, Command::Resolve { .. } | Command::Resume { .. } | Command::End { .. })
    }

    /// The client's key.
    pub(crate) fn retry(&self) -> Option<&Retry> {
        match self {
            Command::Create { retry, .. }
            | Command::Cancel { retry, .. }
            | Command::Resolve { retry, .. }
            | Command::Resume { retry, .. } => Some(retry),
            _ => None,
        }
    }
}

/// What a command came to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CommandOutput {
    /// Of the four client commands.
    Submission { revision: u64, status: RunStatus },
    /// The worker has the run.
    Claimed { lease_ends_at: i64 },
    /// The run cannot be had, as it has just ended: another may be there.
    NotClaimed,
    /// The claim goes on.
    Renewed { lease_ends_at: i64 },
    /// The events are there.
    Appended { first: u64, last: u64, lease_ends_at: i64 },
    /// The outcome that counts, which may be an earlier one.
    Admitted { sequence: u64, outcome: String, repeated: bool },
    /// The claim has ended: by suspend (with the approvals' ids, in order), complete or fail.
    Ended { revision: u64, status: RunStatus, approval_ids: Vec<String> },
    /// The run is free from that time on.
    Released { ready_at: i64 },
    /// A timer's or an operator's command is done: the run's first event.
    Done { first: u64 },
}
