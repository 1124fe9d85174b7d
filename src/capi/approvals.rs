//! Approvals of durable runs: what a suspension asks for, and the inbox.

use std::ffi::c_void;
use std::time::Duration;

use super::constants::{agenthost_approval_state, agenthost_on_denied, agenthost_resume_mode};
use super::operator::{optional_agent, optional_owner};
use super::outcome::{agenthost_outcome, agenthost_outcome_done};
use super::outcome_structs::OutcomeValue;
use super::run_calls::{Result, call, json, owned};
use super::runs::agenthost_runs;
use super::status::agenthost_status;
use super::struct_size::{self, sized_structs};
use super::text::{agenthost_optional_i64, agenthost_pairs, agenthost_str};
use super::values_from_c;
use crate::protocol::{FreeJson, Path};
use crate::runs::{ApprovalPage, ApprovalRequest, ResumeMode, Runs, Suspension};
use crate::store::{ApprovalFilter, OnDenied};

/// An approval that a worker asks for. Two may be about the same tool call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_approval_request {
    /// `sizeof(agenthost_approval_request)`.
    pub struct_size: usize,
    /// The tool call that needs it: 1 to 255 bytes.
    pub tool_call_id: agenthost_str,
    /// The tool: 1 to 255 bytes.
    pub tool_name: agenthost_str,
    /// Why it is needed, at most 64 KiB; may be empty.
    pub reason: agenthost_str,
    /// Strings that belong to it, at most 64 KiB, without sensitive names and names that begin with `agenthost.`.
    pub metadata: agenthost_pairs,
    /// JSON: what is to be approved, exactly, at most 64 KiB. Empty: nothing in particular. Whoever may see the run sees it.
    pub arguments: agenthost_str,
    /// When it is denied by itself, in milliseconds since the Unix epoch; null for never.
    pub expires_at_unix_ms: agenthost_optional_i64,
    /// What a denial does: `AGENTHOST_ON_DENIED_...`; 0 for `AGENTHOST_ON_DENIED_FAIL`.
    pub on_denied: agenthost_on_denied,
    /// 1: the owner of the run may not decide it (four eyes).
    pub not_owner: u32,
    /// The principals that may decide it, each once; they see the run from then on. May be NULL when there are none: then whoever may see
    /// the run may decide.
    pub approvers: *const agenthost_str,
    /// The number of `approvers`, at most 64.
    pub approver_count: usize,
}

/// What a run waits for, and how it goes on.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_suspension {
    /// `sizeof(agenthost_suspension)`.
    pub struct_size: usize,
    /// The approvals.
    pub approvals: *const *const agenthost_approval_request,
    /// The number of `approvals`, 1 to 64.
    pub approval_count: usize,
    /// JSON for the worker that goes on, at most 4 MiB; empty means null.
    pub continuation: agenthost_str,
    /// What makes the run go on once all is decided: `AGENTHOST_RESUME_...`; 0 for `AGENTHOST_RESUME_EXPLICIT`.
    pub resume: agenthost_resume_mode,
    /// 0.
    pub reserved: u32,
}

/// Which approvals. All that is given has to fit.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_approval_filter {
    /// `sizeof(agenthost_approval_filter)`.
    pub struct_size: usize,
    /// In this state; 0 for any.
    pub state: agenthost_approval_state,
    /// `AGENTHOST_OWNER_...`: of the run.
    pub has_owner: u32,
    /// A principal; empty unless `has_owner` is `AGENTHOST_OWNER_GIVEN`.
    pub owner: agenthost_str,
    /// 1: only of runs for `agent_id`.
    pub has_agent_id: u32,
    /// 0.
    pub reserved: u32,
    /// An agent; empty for runs without one, and when `has_agent_id` is 0.
    pub agent_id: agenthost_str,
    /// That name this principal among their approvers; empty for any.
    pub approver: agenthost_str,
    /// Of this run; empty for any.
    pub run_id: agenthost_str,
    /// For this tool; empty for any.
    pub tool_name: agenthost_str,
}

sized_structs!(agenthost_approval_request, agenthost_suspension, agenthost_approval_filter);

/// What a worker asks for, from C.
///
/// # Safety
/// `suspension` is NULL or leads to a suspension and everything in it, as the header says.
pub(super) unsafe fn suspension(suspension: *const agenthost_suspension) -> Result<Suspension> {
    // SAFETY: by this function's own contract, here and below.
    let suspension = unsafe { struct_size::read(suspension) }?;
    values_from_c::reserved(suspension.reserved, Path::ROOT)?;
    let mut approvals = Vec::new();
    // SAFETY: as above.
    for (index, approval) in unsafe { values_from_c::array(suspension.approvals, suspension.approval_count) }?.iter().enumerate()
    {
        let list = Path::ROOT.member("approvals");
        // SAFETY: as above.
        approvals.push(unsafe { approval_request(struct_size::read(*approval)?, list.element(index)) }?);
    }
    let resume = match suspension.resume {
        0 => ResumeMode::Explicit,
        mode => values_from_c::constant(mode, Path::ROOT.member("resume"))?,
    };
    // SAFETY: as above.
    Ok(Suspension { approvals, continuation: unsafe { json(suspension.continuation, "continuation") }?, resume })
}

/// # Safety
/// The texts lead to what they say, as the header says.
unsafe fn approval_request(request: agenthost_approval_request, path: Path<'_>) -> Result<ApprovalRequest> {
    // SAFETY: by this function's own contract.
    unsafe {
        let text = |value, name| Ok::<_, values_from_c::ReadError>(values_from_c::text(value, path.member(name))?.to_owned());
        let arguments = match request.arguments.len {
            0 => None,
            _ => Some(values_from_c::free_json(request.arguments, path.member("arguments"), FreeJson::NULL)?.into_owned()),
        };
        let approvers = values_from_c::array(request.approvers, request.approver_count)?;
        let list = path.member("approvers");
        let approvers = approvers
            .iter()
            .enumerate()
            .map(|(index, approver)| Ok(values_from_c::text(*approver, list.element(index))?.to_owned()));
        Ok(ApprovalRequest {
            tool_call_id: text(request.tool_call_id, "toolCallId")?,
            tool_name: text(request.tool_name, "toolName")?,
            reason: text(request.reason, "reason")?,
            metadata: values_from_c::pairs(request.metadata, path.member("metadata"))?.into_owned(),
            arguments,
            expires_at_unix_ms: values_from_c::optional(request.expires_at_unix_ms, path.member("expiresAtUnixMs"))?,
            on_denied: match request.on_denied {
                0 => OnDenied::Fail,
                on_denied => values_from_c::constant(on_denied, path.member("onDenied"))?,
            },
            approvers: approvers.collect::<Result<_>>()?,
            not_owner: values_from_c::flag(request.not_owner, path.member("notOwner"))?,
        })
    }
}

/// # Safety
/// `filter` is NULL or leads to a filter and its texts.
unsafe fn approval_filter(filter: *const agenthost_approval_filter) -> Result<ApprovalFilter> {
    if filter.is_null() {
        return Ok(ApprovalFilter::default());
    }
    // SAFETY: by this function's own contract.
    unsafe {
        let filter = struct_size::read(filter)?;
        values_from_c::reserved(filter.reserved, Path::ROOT)?;
        let given = |value, name| Ok::<_, values_from_c::ReadError>(Some(owned(value, name)?).filter(|text| !text.is_empty()));
        Ok(ApprovalFilter {
            state: match filter.state {
                0 => None,
                state => Some(values_from_c::constant(state, Path::ROOT.member("state"))?),
            },
            approver: given(filter.approver, "approver")?,
            owner: optional_owner(filter.has_owner, filter.owner)?,
            agent_id: optional_agent(filter.has_agent_id, filter.agent_id)?,
            run_id: given(filter.run_id, "runId")?,
            tool_name: given(filter.tool_name, "toolName")?,
        })
    }
}

fn inbox_outcome(page: ApprovalPage) -> OutcomeValue {
    OutcomeValue { inbox: page.approvals, next: page.next, has_more: page.has_more, ..OutcomeValue::default() }
}

/// Lists approvals, whoever owns their runs, in the order of their creation: those behind the cursor `after` (0: from the first), at
/// most `limit` (1 to 1000; 0 for 100) and 4 MiB. `filter` may be NULL: all. It costs by the page, not by what there is. Outcome:
/// approvals of the inbox, cursor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_list_approvals(
    runs: *mut agenthost_runs,
    filter: *const agenthost_approval_filter,
    after: u64,
    limit: u64,
    done: agenthost_outcome_done,
    data: *mut c_void,
    outcome: *mut *mut agenthost_outcome,
) -> agenthost_status {
    let start = |runs: &Runs| {
        // SAFETY: the caller keeps the header's rules.
        let filter = unsafe { approval_filter(filter) }?;
        Ok(runs.list_approvals(&filter, after, usize::try_from(limit).unwrap_or(usize::MAX)))
    };
    // SAFETY: as above.
    unsafe { call(runs, (done, data, outcome), start, inbox_outcome) }
}

/// The same, and waits for an approval, at most `timeout_ms`, when there is none yet: the feed of a notifier, which keeps the cursor of
/// what it has handled, and so loses none. The cursor of a page without approvals is `after`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_wait_approvals(
    runs: *mut agenthost_runs,
    filter: *const agenthost_approval_filter,
    after: u64,
    limit: u64,
    timeout_ms: u64,
    done: agenthost_outcome_done,
    data: *mut c_void,
    outcome: *mut *mut agenthost_outcome,
) -> agenthost_status {
    let start = |runs: &Runs| {
        // SAFETY: the caller keeps the header's rules.
        let filter = unsafe { approval_filter(filter) }?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Ok(runs.wait_approvals(&filter, after, limit, Duration::from_millis(timeout_ms)))
    };
    // SAFETY: as above.
    unsafe { call(runs, (done, data, outcome), start, inbox_outcome) }
}
