//! The side of workers of durable runs.
//!
//! Every call has the same end: `done` and `data`, or `outcome`. With `done` the call returns at once and `done` gets the outcome;
//! with `outcome` (and `done` NULL) it waits, and `*outcome` is the caller's.

use std::ffi::c_void;
use std::time::Duration;

use super::approvals::{self, agenthost_suspension};
use super::outcome::{agenthost_outcome, agenthost_outcome_done};
use super::outcome_structs::OutcomeValue;
use super::run_calls::{agents, call, claim, json, number, owned, submission};
use super::runs::agenthost_runs;
use super::status::agenthost_status;
use super::struct_size::{self, sized_structs};
use super::text::{agenthost_pairs, agenthost_str};
use super::values_from_c;
use crate::protocol::{Path, RunStatus};
use crate::runs::{ClaimRequest, NewEvent, Runs, ToolResult};

/// What a worker looks for.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_claim_request {
    /// `sizeof(agenthost_claim_request)`.
    pub struct_size: usize,
    /// The agents whose runs it works on; the empty text for runs without one.
    pub agent_ids: *const agenthost_str,
    /// The number of `agent_ids`, at least 1.
    pub agent_id_count: usize,
    /// How it calls itself, for people; may be empty.
    pub worker: agenthost_str,
    /// How long it may be silent, in milliseconds, at most 24 h. 0: the default of the runs.
    pub lease_ms: u64,
}

sized_structs!(agenthost_claim_request);

/// Something that happened, from a worker.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_new_event {
    /// `sizeof(agenthost_new_event)`.
    pub struct_size: usize,
    /// What kind of event: 1 to 255 bytes, none of the library's own.
    pub r#type: agenthost_str,
    /// The step that it belongs to, or empty.
    pub step_id: agenthost_str,
    /// The tool call that it belongs to, or empty.
    pub tool_call_id: agenthost_str,
    /// JSON, at most 1 MiB; empty means null.
    pub data: agenthost_str,
    /// Strings, without sensitive names.
    pub metadata: agenthost_pairs,
}

sized_structs!(agenthost_new_event);

/// What a tool call came to.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_tool_result {
    /// `sizeof(agenthost_tool_result)`.
    pub struct_size: usize,
    /// The step that it belongs to, or empty.
    pub step_id: agenthost_str,
    /// The tool call: 1 to 255 bytes. One result is admitted for each.
    pub tool_call_id: agenthost_str,
    /// The tool, not empty.
    pub tool_name: agenthost_str,
    /// Names the execution: 1 to 255 bytes. A retry brings the same.
    pub key: agenthost_str,
    /// JSON, at most 4 MiB; empty means null.
    pub outcome: agenthost_str,
}

sized_structs!(agenthost_tool_result);

/// Takes the longest claimable run of the agents. Outcome: `agenthost_outcome_claimed`, NULL when there is none.
///
/// Of this and all calls below: give `done` (and `data`), which gets the outcome later, or NULL and `outcome`, for which the call waits.
/// A call that waits is `AGENTHOST_WOULD_DEADLOCK` inside a callback of runs.
/// Not OK: `done` does not run, and `*outcome` is NULL. Values that break a rule are an outcome with an error, which names the member.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_claim(
    runs: *mut agenthost_runs,
    request: *const agenthost_claim_request,
    done: agenthost_outcome_done,
    data: *mut c_void,
    outcome: *mut *mut agenthost_outcome,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules, here and below.
    let start = |runs: &Runs| unsafe {
        let request = struct_size::read(request)?;
        let lease = (request.lease_ms > 0).then(|| Duration::from_millis(request.lease_ms));
        let agent_ids = agents(request.agent_ids, request.agent_id_count)?;
        Ok(runs.claim(&ClaimRequest { agent_ids, worker: owned(request.worker, "worker")?, lease }))
    };
    let value = |claimed: Option<crate::runs::Claimed>| {
        let text = claimed.as_ref().map(|claimed| claimed.claim.token.reveal()).unwrap_or_default();
        OutcomeValue { text, claimed: claimed.map(Box::new), ..OutcomeValue::default() }
    };
    // SAFETY: as above.
    unsafe { call(runs, (done, data, outcome), start, value) }
}

/// Says that the worker is alive. Outcome: the lease's end, `agenthost_outcome_number`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_heartbeat(
    runs: *mut agenthost_runs,
    run_id: agenthost_str,
    token: agenthost_str,
    done: agenthost_outcome_done,
    data: *mut c_void,
    outcome: *mut *mut agenthost_outcome,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules.
    let start = |runs: &Runs| Ok(runs.heartbeat(&unsafe { claim(run_id, token) }?));
    let value = |lease: crate::runs::Lease| OutcomeValue { number: lease.ends_at_unix_ms, ..OutcomeValue::default() };
    // SAFETY: as above.
    unsafe { call(runs, (done, data, outcome), start, value) }
}

/// Appends 1 to 1000 events, all or none. With a key (empty: none) a retry stores nothing twice. Outcome: the first event's
/// sequence, `agenthost_outcome_number`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_append_events(
    runs: *mut agenthost_runs,
    run_id: agenthost_str,
    token: agenthost_str,
    events: *const *const agenthost_new_event,
    event_count: usize,
    key: agenthost_str,
    done: agenthost_outcome_done,
    data: *mut c_void,
    outcome: *mut *mut agenthost_outcome,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules, here and below.
    let start = |runs: &Runs| unsafe {
        let claim = claim(run_id, token)?;
        let mut read = Vec::new();
        for event in values_from_c::array(events, event_count)? {
            let event = struct_size::read(*event)?;
            read.push(NewEvent {
                event_type: owned(event.r#type, "type")?,
                step_id: owned(event.step_id, "stepId")?,
                tool_call_id: owned(event.tool_call_id, "toolCallId")?,
                data: json(event.data, "data")?,
                metadata: values_from_c::pairs(event.metadata, Path::ROOT.member("metadata"))?.into_owned(),
            });
        }
        let key = owned(key, "key")?;
        Ok(runs.append_events(&claim, &read, Some(&*key).filter(|key| !key.is_empty())))
    };
    let value = |appended: crate::runs::Appended| number(appended.first_sequence);
    // SAFETY: as above.
    unsafe { call(runs, (done, data, outcome), start, value) }
}

/// Ends the claim and has the run wait for approvals, 1 to 64. Outcome: `agenthost_outcome_submission`, `agenthost_outcome_approval_id`
/// for each, in order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_suspend(
    runs: *mut agenthost_runs,
    run_id: agenthost_str,
    token: agenthost_str,
    suspension: *const agenthost_suspension,
    done: agenthost_outcome_done,
    data: *mut c_void,
    outcome: *mut *mut agenthost_outcome,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules, here and below.
    let start = |runs: &Runs| unsafe {
        let suspension = approvals::suspension(suspension)?;
        Ok(runs.suspend(&claim(run_id, token)?, suspension))
    };
    let value = |suspended: crate::runs::Suspended| OutcomeValue {
        approval_ids: suspended.approval_ids,
        ..submission(suspended.submission)
    };
    // SAFETY: as above.
    unsafe { call(runs, (done, data, outcome), start, value) }
}

/// Records the outcome of a tool call for good. Outcome: one admitted result, the first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_admit_tool_result(
    runs: *mut agenthost_runs,
    run_id: agenthost_str,
    token: agenthost_str,
    result: *const agenthost_tool_result,
    done: agenthost_outcome_done,
    data: *mut c_void,
    outcome: *mut *mut agenthost_outcome,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules, here and below.
    let start = |runs: &Runs| unsafe {
        let result = struct_size::read(result)?;
        let result = ToolResult {
            step_id: owned(result.step_id, "stepId")?,
            tool_call_id: owned(result.tool_call_id, "toolCallId")?,
            tool_name: owned(result.tool_name, "toolName")?,
            key: owned(result.key, "key")?,
            outcome: json(result.outcome, "outcome")?,
        };
        Ok(runs.admit_tool_result(&claim(run_id, token)?, result))
    };
    let value = |admitted: crate::runs::Admitted| OutcomeValue { admitted: vec![admitted], ..OutcomeValue::default() };
    // SAFETY: as above.
    unsafe { call(runs, (done, data, outcome), start, value) }
}

/// Ends the run well, with a result (JSON, at most 4 MiB; empty means null). Outcome: `agenthost_outcome_submission`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_complete(
    runs: *mut agenthost_runs,
    run_id: agenthost_str,
    token: agenthost_str,
    result: agenthost_str,
    done: agenthost_outcome_done,
    data: *mut c_void,
    outcome: *mut *mut agenthost_outcome,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules.
    let start = |runs: &Runs| unsafe { Ok(runs.complete(&claim(run_id, token)?, json(result, "result")?)) };
    // SAFETY: as above.
    unsafe { call(runs, (done, data, outcome), start, submission) }
}

/// Ends the run with an error, a text that is not empty. Outcome: `agenthost_outcome_submission`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_fail(
    runs: *mut agenthost_runs,
    run_id: agenthost_str,
    token: agenthost_str,
    error: agenthost_str,
    done: agenthost_outcome_done,
    data: *mut c_void,
    outcome: *mut *mut agenthost_outcome,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules.
    let start = |runs: &Runs| unsafe { Ok(runs.fail(&claim(run_id, token)?, &owned(error, "error")?)) };
    // SAFETY: as above.
    unsafe { call(runs, (done, data, outcome), start, submission) }
}

/// Gives the run back: somebody may claim it `delay_ms` from now. The outcome holds nothing but an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_give_back(
    runs: *mut agenthost_runs,
    run_id: agenthost_str,
    token: agenthost_str,
    delay_ms: u64,
    done: agenthost_outcome_done,
    data: *mut c_void,
    outcome: *mut *mut agenthost_outcome,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules.
    let start = |runs: &Runs| Ok(runs.release(&unsafe { claim(run_id, token) }?, Duration::from_millis(delay_ms)));
    // SAFETY: as above.
    unsafe { call(runs, (done, data, outcome), start, |()| OutcomeValue::default()) }
}

/// Waits, at most `timeout_ms`, until the claim is not valid any more. Outcome: `agenthost_outcome_status`, 0 while it is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_wait_claim_lost(
    runs: *mut agenthost_runs,
    run_id: agenthost_str,
    token: agenthost_str,
    timeout_ms: u64,
    done: agenthost_outcome_done,
    data: *mut c_void,
    outcome: *mut *mut agenthost_outcome,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules.
    let start = |runs: &Runs| Ok(runs.wait_claim_lost(&unsafe { claim(run_id, token) }?, Duration::from_millis(timeout_ms)));
    let value = |status: Option<RunStatus>| OutcomeValue { status, ..OutcomeValue::default() };
    // SAFETY: as above.
    unsafe { call(runs, (done, data, outcome), start, value) }
}

/// Waits, at most `timeout_ms`, until one of the agents, of which there is at least one, has a run that can be claimed. Outcome: 1 or 0,
/// `agenthost_outcome_number`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_wait_for_work(
    runs: *mut agenthost_runs,
    agent_ids: *const agenthost_str,
    agent_id_count: usize,
    timeout_ms: u64,
    done: agenthost_outcome_done,
    data: *mut c_void,
    outcome: *mut *mut agenthost_outcome,
) -> agenthost_status {
    let start = |runs: &Runs| {
        // SAFETY: the caller keeps the header's rules.
        let agent_ids = unsafe { agents(agent_ids, agent_id_count) }?;
        Ok(runs.wait_for_work(&agent_ids, Duration::from_millis(timeout_ms)))
    };
    // SAFETY: as above.
    unsafe { call(runs, (done, data, outcome), start, |found| number(u64::from(found))) }
}
