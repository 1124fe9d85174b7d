//! The side of operators and followers of durable runs: lists, events, admitted results, compaction, purge, copies.

use std::ffi::c_void;
use std::time::Duration;

use super::constants::agenthost_run_status;
use super::outcome::{agenthost_outcome, agenthost_outcome_done};
use super::outcome_structs::OutcomeValue;
use super::run_calls::{Result, call, number, owned};
use super::runs::agenthost_runs;
use super::status::agenthost_status;
use super::struct_size::{self, sized_structs};
use super::text::agenthost_str;
use super::values_from_c;
use crate::protocol::{Path, Violation};
use crate::runs::{ListRuns, Runs};

/// `agenthost_list_runs.has_owner`: whoever owns them.
pub const AGENTHOST_OWNER_ANY: u32 = 0;
/// `agenthost_list_runs.has_owner`: only runs of `owner`, which is not empty.
pub const AGENTHOST_OWNER_GIVEN: u32 = 1;
/// `agenthost_list_runs.has_owner`: only runs that no principal created.
pub const AGENTHOST_OWNER_NONE: u32 = 2;

/// Which runs to list. All that is given has to fit. What is given beside a flag that does not ask for it is refused.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_list_runs {
    /// `sizeof(agenthost_list_runs)`.
    pub struct_size: usize,
    /// In this state; 0 for any.
    pub status: agenthost_run_status,
    /// `AGENTHOST_OWNER_...`.
    pub has_owner: u32,
    /// A principal; empty unless `has_owner` is `AGENTHOST_OWNER_GIVEN`.
    pub owner: agenthost_str,
    /// 1: only runs for `agent_id`.
    pub has_agent_id: u32,
    /// 0.
    pub reserved: u32,
    /// An agent; empty for runs without one, and when `has_agent_id` is 0.
    pub agent_id: agenthost_str,
    /// The cursor of the page before; 0 for the first.
    pub after: u64,
    /// The most runs of the page, 1 to 1000; 0 for 100.
    pub limit: u64,
}

sized_structs!(agenthost_list_runs);

/// The owner that a filter asks for.
///
/// # Safety
/// As [`owned`].
pub(super) unsafe fn optional_owner(has_owner: u32, owner: agenthost_str) -> Result<Option<String>> {
    let place = |name| Path::ROOT.member(name);
    // SAFETY: by this function's own contract.
    let owner = unsafe { owned(owner, "owner") }?;
    match has_owner {
        AGENTHOST_OWNER_ANY if owner.is_empty() => Ok(None),
        AGENTHOST_OWNER_NONE if owner.is_empty() => Ok(Some(owner)),
        AGENTHOST_OWNER_GIVEN if !owner.is_empty() => Ok(Some(owner)),
        AGENTHOST_OWNER_GIVEN => {
            let expected = "expected a principal, found the empty text: AGENTHOST_OWNER_NONE asks for runs without one";
            Err(Violation::new(place("owner"), expected).into())
        }
        AGENTHOST_OWNER_ANY | AGENTHOST_OWNER_NONE => {
            Err(Violation::new(place("owner"), "expected the empty text beside this hasOwner").into())
        }
        has => Err(Violation::new(place("hasOwner"), format!("expected 0, 1 or 2, found {has}")).into()),
    }
}

/// The agent that a filter asks for.
///
/// # Safety
/// As [`owned`].
pub(super) unsafe fn optional_agent(has_agent_id: u32, agent_id: agenthost_str) -> Result<Option<String>> {
    let place = |name| Path::ROOT.member(name);
    // SAFETY: by this function's own contract.
    let agent_id = unsafe { owned(agent_id, "agentId") }?;
    match values_from_c::flag(has_agent_id, place("hasAgentId"))? {
        true => Ok(Some(agent_id)),
        false if agent_id.is_empty() => Ok(None),
        false => Err(Violation::new(place("agentId"), "expected the empty text beside hasAgentId 0").into()),
    }
}

/// Reads a run's events after `after`, at most `limit` (1 to 1000, 0 for 256), and waits for one, at most `timeout_ms`. Returns at once
/// when the run has ended. For whoever may see every run. Outcome: events, cursor, `agenthost_outcome_status`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_wait_events(
    runs: *mut agenthost_runs,
    run_id: agenthost_str,
    after: u64,
    limit: u64,
    timeout_ms: u64,
    done: agenthost_outcome_done,
    data: *mut c_void,
    outcome: *mut *mut agenthost_outcome,
) -> agenthost_status {
    let start = |runs: &Runs| {
        // SAFETY: the caller keeps the header's rules.
        let run_id = unsafe { owned(run_id, "runId") }?;
        let limit = if limit == 0 { crate::protocol::DEFAULT_PAGE_EVENTS } else { limit };
        Ok(runs.wait_events(None, &run_id, after, limit, Duration::from_millis(timeout_ms)))
    };
    let value = |followed: crate::runs::RunEvents| OutcomeValue {
        events: followed.page.events,
        next: followed.page.next_sequence,
        has_more: followed.page.has_more,
        status: Some(followed.status),
        ..OutcomeValue::default()
    };
    // SAFETY: as above.
    unsafe { call(runs, (done, data, outcome), start, value) }
}

/// Lists runs, whoever owns them, in the order of their creation. `request` may be NULL: all. Outcome: runs, cursor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_list(
    runs: *mut agenthost_runs,
    request: *const agenthost_list_runs,
    done: agenthost_outcome_done,
    data: *mut c_void,
    outcome: *mut *mut agenthost_outcome,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules, here and below.
    let start = |runs: &Runs| unsafe {
        if request.is_null() {
            return Ok(runs.list_runs(ListRuns::default()));
        }
        let request = struct_size::read(request)?;
        let place = |name| Path::ROOT.member(name);
        let status = match request.status {
            0 => None,
            status => Some(values_from_c::constant(status, place("status"))?),
        };
        let owner = optional_owner(request.has_owner, request.owner)?;
        let agent_id = optional_agent(request.has_agent_id, request.agent_id)?;
        values_from_c::reserved(request.reserved, Path::ROOT)?;
        Ok(runs.list_runs(ListRuns {
            status,
            owner,
            agent_id,
            after: request.after,
            limit: usize::try_from(request.limit).unwrap_or(usize::MAX),
        }))
    };
    let value = |page: crate::runs::RunPage| OutcomeValue {
        runs: page.runs,
        next: page.next,
        has_more: page.has_more,
        ..OutcomeValue::default()
    };
    // SAFETY: as above.
    unsafe { call(runs, (done, data, outcome), start, value) }
}

/// The admitted results of a run whose tool call ids follow `after` (empty: from the first), at most `limit` (1 to 1000) and 4 MiB.
/// The last one's id is the cursor of the next page. Outcome: admitted results.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_admitted_results(
    runs: *mut agenthost_runs,
    run_id: agenthost_str,
    after: agenthost_str,
    limit: u64,
    done: agenthost_outcome_done,
    data: *mut c_void,
    outcome: *mut *mut agenthost_outcome,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules.
    let start = |runs: &Runs| unsafe {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Ok(runs.admitted_results(&owned(run_id, "runId")?, &owned(after, "after")?, limit))
    };
    let value = |page: crate::runs::AdmittedPage| OutcomeValue {
        admitted: page.results,
        has_more: page.has_more,
        ..OutcomeValue::default()
    };
    // SAFETY: as above.
    unsafe { call(runs, (done, data, outcome), start, value) }
}

/// Removes the run's events up to and with `through`, but for the last. Outcome: the first sequence that is left.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_compact(
    runs: *mut agenthost_runs,
    run_id: agenthost_str,
    through: u64,
    done: agenthost_outcome_done,
    data: *mut c_void,
    outcome: *mut *mut agenthost_outcome,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules.
    let start = |runs: &Runs| Ok(runs.compact(&unsafe { owned(run_id, "runId") }?, through));
    // SAFETY: as above.
    unsafe { call(runs, (done, data, outcome), start, number) }
}

/// Deletes the runs that ended before a time (milliseconds since the Unix epoch). Outcome: how many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_purge(
    runs: *mut agenthost_runs,
    ended_before_unix_ms: i64,
    done: agenthost_outcome_done,
    data: *mut c_void,
    outcome: *mut *mut agenthost_outcome,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules.
    unsafe { call(runs, (done, data, outcome), |runs| Ok(runs.purge(ended_before_unix_ms)), number) }
}

/// Writes a consistent copy of everything to a file that does not exist yet, while the work goes on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_runs_backup(
    runs: *mut agenthost_runs,
    path: agenthost_str,
    done: agenthost_outcome_done,
    data: *mut c_void,
    outcome: *mut *mut agenthost_outcome,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules.
    let start = |runs: &Runs| Ok(runs.backup(std::path::Path::new(&unsafe { owned(path, "path") }?)));
    // SAFETY: as above.
    unsafe { call(runs, (done, data, outcome), start, |()| OutcomeValue::default()) }
}
