//! What every call of durable runs does: read what C hands in, start, send the outcome to where it goes.

use std::ffi::c_void;

use super::entry::entry;
use super::from_c::{self, Unread};
use super::outcome::{To, Value, agenthost_outcome, agenthost_outcome_done};
use super::runs::{agenthost_runs, runs};
use super::status::{AGENTHOST_NULL_ARGUMENT, agenthost_status};
use super::text::agenthost_str;
use crate::protocol::{FreeJson, HostError, Path, Violation};
use crate::runs::{Claim, RunFuture, Runs};
use crate::service::RunSubmission;

pub(super) type Result<T> = std::result::Result<T, Unread>;
type FutureOf<T> = RunFuture<std::result::Result<T, HostError<'static>>>;

/// # Safety
/// As [`from_c::text`].
pub(super) unsafe fn owned(text: agenthost_str, name: &str) -> Result<String> {
    // SAFETY: by this function's own contract.
    Ok(unsafe { from_c::text(text, Path::ROOT.member(name)) }?.to_owned())
}

/// # Safety
/// As [`from_c::text`].
pub(super) unsafe fn json(text: agenthost_str, name: &str) -> Result<FreeJson<'static>> {
    // SAFETY: by this function's own contract.
    let json = unsafe { from_c::free_json(text, Path::ROOT.member(name), FreeJson::NULL) }?;
    Ok(json.into_owned())
}

/// # Safety
/// `agent_ids` leads to `count` texts.
pub(super) unsafe fn agents(agent_ids: *const agenthost_str, count: usize) -> Result<Vec<String>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if agent_ids.is_null() {
        return Err(AGENTHOST_NULL_ARGUMENT.into());
    }
    // SAFETY: by this function's own contract.
    let texts = unsafe { std::slice::from_raw_parts(agent_ids, count) };
    // SAFETY: as above.
    texts.iter().map(|text| unsafe { owned(*text, "agentIds") }).collect()
}

/// # Safety
/// As [`from_c::text`].
pub(super) unsafe fn claim(run_id: agenthost_str, token: agenthost_str) -> Result<Claim> {
    // SAFETY: by this function's own contract.
    let (run_id, token) = unsafe { (owned(run_id, "runId")?, owned(token, "token")?) };
    let token = token.parse().map_err(|_| Violation::new(Path::ROOT.member("token"), "expected the token of a claim"))?;
    Ok(Claim { run_id, token })
}

pub(super) fn submission(submission: RunSubmission<'static>) -> Value {
    Value { submission: Some(submission), ..Value::default() }
}

pub(super) fn number(number: u64) -> Value {
    Value { number: i64::try_from(number).unwrap_or(i64::MAX), ..Value::default() }
}

/// What every call does: find the runs and where the outcome goes, start, send.
///
/// # Safety
/// As [`runs`] and [`To::of`].
pub(super) unsafe fn call<T: Send + 'static>(
    handle: *mut agenthost_runs,
    (done, data, outcome): (agenthost_outcome_done, *mut c_void, *mut *mut agenthost_outcome),
    start: impl FnOnce(&Runs) -> Result<FutureOf<T>>,
    value: impl FnOnce(T) -> Value + Send + 'static,
) -> agenthost_status {
    entry(|| {
        // SAFETY: by this function's own contract.
        let to = unsafe { To::of(done, data, outcome) }?;
        // SAFETY: as above.
        let runs = unsafe { runs(handle) }?;
        to.send(start(&runs), value)
    })
}
