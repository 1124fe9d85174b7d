//! The rows of approvals, and which of them an inbox asks for.

use super::row::RunRow;
use crate::protocol::Resolution;

/// One approval of a run. Primary key (run, number); its id is unique in the store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ApprovalRow {
    /// Its place among the approvals of its run, from 1; never used again.
    pub number: u64,
    /// Its name on the wire.
    pub approval_id: String,
    /// The tool call that waits for it.
    pub tool_call_id: String,
    /// The tool.
    pub tool_name: String,
    /// Why it is needed, and once it is decided with a reason, that reason.
    pub reason: String,
    /// Strings by their names: those of the suspension, and over them those of the decision.
    pub metadata: Vec<(String, String)>,
    /// What became of it. One that was pending when its run ended stays pending.
    pub resolution: Resolution,
    /// Whether it can still be decided: pending, and its run has not ended.
    pub open: bool,
    /// What a denial does.
    pub on_denied: OnDenied,
    /// Who may decide it; empty for everybody who may see the run.
    pub approvers: Vec<String>,
    /// Whether the owner of the run may not decide it.
    pub not_owner: bool,
    /// When its run was suspended.
    pub created_at: i64,
    /// When it is denied by itself; none for never.
    pub expires_at: Option<i64>,
    /// When it was decided: once it is.
    pub resolved_at: Option<i64>,
    /// The principal that decided it; none without one, and when it expired.
    pub decided_by: Option<String>,
    /// Whether nobody decided it in time.
    pub expired: bool,
}

/// What a denial does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnDenied {
    /// It ends the run.
    #[default]
    Fail,
    /// The run goes on once all is decided, and its worker is told.
    Resume,
}

impl OnDenied {
    /// Both.
    pub const ALL: [OnDenied; 2] = [OnDenied::Fail, OnDenied::Resume];

    /// The name, as in `onDenied`.
    pub const fn name(self) -> &'static str {
        match self {
            OnDenied::Fail => "fail",
            OnDenied::Resume => "resume",
        }
    }
}

/// What a transaction writes of an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalChange {
    /// It is new. Its arguments are JSON; none where there are none.
    Insert(ApprovalRow, Option<String>),
    /// It was decided or closed: `reason`, `metadata`, `resolution`, `open`, `resolved_at`, `decided_by` and `expired` may differ.
    Update(ApprovalRow),
}

/// In which state an approval is, for who lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ApprovalState {
    /// It can be decided.
    Open,
    /// It was approved.
    Approved,
    /// It was denied, or expired.
    Denied,
    /// Its run ended before anybody decided it.
    Closed,
}

impl ApprovalState {
    /// All four.
    pub const ALL: [ApprovalState; 4] =
        [ApprovalState::Open, ApprovalState::Approved, ApprovalState::Denied, ApprovalState::Closed];

    /// A number for the store: 1 to 4.
    pub const fn number(self) -> u8 {
        self as u8 + 1
    }

    /// The name, for people and bindings.
    pub const fn name(self) -> &'static str {
        match self {
            ApprovalState::Open => "pending",
            ApprovalState::Approved => "approved",
            ApprovalState::Denied => "denied",
            ApprovalState::Closed => "closed",
        }
    }
}

impl ApprovalRow {
    /// About how much text it holds, in bytes, without its arguments.
    pub(crate) fn text_bytes(&self) -> usize {
        self.reason.len() + self.metadata.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>()
    }

    /// The state that it is listed in.
    pub fn state(&self) -> ApprovalState {
        match self.resolution {
            Resolution::Pending if self.open => ApprovalState::Open,
            Resolution::Pending => ApprovalState::Closed,
            Resolution::Approved => ApprovalState::Approved,
            Resolution::Denied => ApprovalState::Denied,
        }
    }
}

/// Which approvals. All that is given has to fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApprovalFilter {
    /// In this state.
    pub state: Option<ApprovalState>,
    /// That name this principal among their approvers.
    pub approver: Option<String>,
    /// Of runs of this principal; the empty string for runs without one.
    pub owner: Option<String>,
    /// Of runs for this agent; the empty string for runs without one.
    pub agent_id: Option<String>,
    /// Of this run.
    pub run_id: Option<String>,
    /// For this tool.
    pub tool_name: Option<String>,
}

impl ApprovalFilter {
    /// Whether the approval is one of these.
    pub fn fits(&self, row: &ApprovalRow, run: &RunRow) -> bool {
        self.state.is_none_or(|state| state == row.state())
            && self.approver.as_ref().is_none_or(|approver| row.approvers.contains(approver))
            && self.owner.as_ref().is_none_or(|owner| *owner == run.owner)
            && self.agent_id.as_ref().is_none_or(|agent_id| *agent_id == run.agent_id)
            && self.run_id.as_ref().is_none_or(|run_id| *run_id == run.run_id)
            && self.tool_name.as_ref().is_none_or(|tool_name| *tool_name == row.tool_name)
    }
}

/// An approval as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedApproval {
    /// Its place in the order of creation of all approvals, from 1: the cursor. Never used again.
    pub position: i64,
    /// The approval.
    pub row: ApprovalRow,
    /// Its run, as it is now.
    pub run: RunRow,
    /// Its arguments, as JSON.
    pub arguments: Option<String>,
}
