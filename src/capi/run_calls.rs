//! What every call of durable runs does: read what C hands in, start, send the outcome to where it goes.

use std::ffi::c_void;

use super::export::{Place, StatusResult, guarded};
use super::handles::OwnedHandle;
use super::outcome::{agenthost_outcome, agenthost_outcome_done};
use super::outcome_structs::OutcomeValue;
use super::runs::{agenthost_runs, runs};
use super::status::{AGENTHOST_INVALID_ARGUMENT, AGENTHOST_WOULD_DEADLOCK, agenthost_status};
use super::text::agenthost_str;
use super::values_from_c::{self, ReadError};
use crate::protocol::{FreeJson, HostError, Path, Violation};
use crate::runs::{Claim, RunFuture, Runs, refused};
use crate::service::RunSubmission;

pub(super) type Result<T> = std::result::Result<T, ReadError>;
type FutureOf<T> = RunFuture<std::result::Result<T, HostError<'static>>>;

/// # Safety
/// As [`values_from_c::text`].
pub(super) unsafe fn owned(text: agenthost_str, name: &str) -> Result<String> {
    // SAFETY: by this function's own contract.
    Ok(unsafe { values_from_c::text(text, Path::ROOT.member(name)) }?.to_owned())
}

/// # Safety
/// As [`values_from_c::text`].
pub(super) unsafe fn json(text: agenthost_str, name: &str) -> Result<FreeJson<'static>> {
    // SAFETY: by this function's own contract.
    let json = unsafe { values_from_c::free_json(text, Path::ROOT.member(name), FreeJson::NULL) }?;
    Ok(json.into_owned())
}

/// # Safety
/// `agent_ids` leads to `count` texts.
pub(super) unsafe fn agents(agent_ids: *const agenthost_str, count: usize) -> Result<Vec<String>> {
    // SAFETY: by this function's own contract.
    let texts = unsafe { values_from_c::array(agent_ids, count) }?;
    // SAFETY: as above.
    texts.iter().map(|text| unsafe { owned(*text, "agentIds") }).collect()
}

/// # Safety
/// As [`values_from_c::text`].
pub(super) unsafe fn claim(run_id: agenthost_str, token: agenthost_str) -> Result<Claim> {
    // SAFETY: by this function's own contract.
    let (run_id, token) = unsafe { (owned(run_id, "runId")?, owned(token, "token")?) };
    let token = token.parse().map_err(|_| Violation::new(Path::ROOT.member("token"), "expected the token of a claim"))?;
    Ok(Claim { run_id, token })
}

pub(super) fn submission(submission: RunSubmission<'static>) -> OutcomeValue {
    OutcomeValue { submission: Some(submission), ..OutcomeValue::default() }
}

pub(super) fn number(number: u64) -> OutcomeValue {
    OutcomeValue { number: i64::try_from(number).unwrap_or(i64::MAX), ..OutcomeValue::default() }
}

/// Where an outcome goes: to a callback, or to a place, for which the call waits.
enum Target {
    Callback(unsafe extern "C-unwind" fn(data: *mut c_void, outcome: *mut agenthost_outcome), Data),
    Place(Place<agenthost_outcome>),
}

/// The data of a callback.
struct Data(*mut c_void);

// SAFETY: the header says that the callback runs on any thread.
unsafe impl Send for Data {}

impl Target {
    /// Exactly one of the two has to be there.
    ///
    /// # Safety
    /// As [`Place::of`].
    unsafe fn of(done: agenthost_outcome_done, data: *mut c_void, outcome: *mut *mut agenthost_outcome) -> StatusResult<Target> {
        match (done, outcome.is_null()) {
            (Some(done), true) => Ok(Target::Callback(done, Data(data))),
            // SAFETY: by this function's own contract.
            (None, _) => Ok(Target::Place(unsafe { Place::of(outcome) }?)),
            (Some(_), false) => Err(AGENTHOST_INVALID_ARGUMENT),
        }
    }

    /// Sends what comes of `future`.
    fn send<T: Send + 'static>(self, future: FutureOf<T>, value: impl FnOnce(T) -> OutcomeValue + Send + 'static) {
        match self {
            Target::Callback(done, data) => future.then(move |result| {
                let Data(data) = { data };
                // SAFETY: the caller keeps the header's rules for the callback and its data.
                unsafe { done(data, agenthost_outcome::new(result.map(value)).into_raw()) };
            }),
            Target::Place(place) => place.put(agenthost_outcome::new(future.wait().map(value)).into_raw()),
        }
    }
}

/// What every call does: find the runs and where the outcome goes, start, send.
///
/// # Safety
/// As [`runs`] and [`Target::of`].
pub(super) unsafe fn call<T: Send + 'static>(
    handle: *mut agenthost_runs,
    (done, data, outcome): (agenthost_outcome_done, *mut c_void, *mut *mut agenthost_outcome),
    start: impl FnOnce(&Runs) -> Result<FutureOf<T>>,
    value: impl FnOnce(T) -> OutcomeValue + Send + 'static,
) -> agenthost_status {
    guarded(|| {
        // SAFETY: by this function's own contract.
        let target = unsafe { Target::of(done, data, outcome) }?;
        // SAFETY: as above.
        let runs = unsafe { runs(handle) }?;
        if matches!(target, Target::Place(_)) && Runs::in_callback() {
            // This may be the thread that would have to do what is waited for.
            return Err(AGENTHOST_WOULD_DEADLOCK);
        }
        // What could not be read is an outcome like any other refusal; misuse is a status.
        let begun = match start(&runs) {
            Ok(future) => Ok(future),
            Err(ReadError::Violation(violation)) => Err(refused(&violation)),
            Err(ReadError::Status(status)) => return Err(status),
        };
        target.send(runs.begin(|| begun), value);
        Ok(())
    })
}
