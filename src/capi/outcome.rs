//! What calls of durable runs come to.

use std::ffi::c_void;
use std::ptr;

use super::approval_structs::agenthost_inbox_approval;
use super::constants::{Constant, agenthost_run_status};
use super::handles::{OwnedHandle, read_or};
use super::live::{AGENTHOST_LIVE_OUTCOMES, Live};
use super::outcome_structs::{OutcomeStructs, OutcomeValue, agenthost_admitted, agenthost_claimed, agenthost_run_summary};
use super::result_structs::{agenthost_error, agenthost_event, agenthost_submission};
use super::text::agenthost_str;
use super::values_to_c;
use crate::protocol::HostError;

/// What a call of durable runs came to. One owner; any number of threads may read it; ends with `agenthost_outcome_free`.
pub struct agenthost_outcome {
    /// The structs borrow from it. It is never changed.
    value: Box<Result<OutcomeValue, HostError<'static>>>,
    structs: OutcomeStructs,
    _live: Live<AGENTHOST_LIVE_OUTCOMES>,
}

impl OwnedHandle for agenthost_outcome {}

impl agenthost_outcome {
    pub(super) fn new(value: Result<OutcomeValue, HostError<'static>>) -> agenthost_outcome {
        let value = Box::new(value);
        let structs = OutcomeStructs::of(&value);
        agenthost_outcome { value, structs, _live: Live::new() }
    }
}

/// Gets the outcome of a call; it is yours. Runs once, on any thread, perhaps before the call returns, with no lock of the library
/// held. It must be short: it may run on the thread that every write goes through. A call from it that would wait is
/// `AGENTHOST_WOULD_DEADLOCK`.
pub type agenthost_outcome_done = Option<unsafe extern "C-unwind" fn(data: *mut c_void, outcome: *mut agenthost_outcome)>;

/// What `read` finds in the value of a call that went well; `default` for an error, and for NULL.
///
/// # Safety
/// As [`read_or`].
unsafe fn value_or<'a, T>(outcome: *const agenthost_outcome, default: T, read: impl FnOnce(&'a OutcomeValue) -> T) -> T {
    // SAFETY: by this function's own contract.
    let value = unsafe { read_or(outcome, None, |outcome: &'a agenthost_outcome| outcome.value.as_ref().as_ref().ok()) };
    value.map_or(default, read)
}

fn pointer<T>(value: Option<&T>) -> *const T {
    value.map_or(ptr::null(), |value| &raw const *value)
}

/// The error, or NULL. `AGENTHOST_CODE_UNAVAILABLE` and `AGENTHOST_CODE_INTERNAL` mean that it is not known whether the call was done: call
/// again. Borrowed from the outcome, like everything below.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_error(outcome: *const agenthost_outcome) -> *const agenthost_error {
    // SAFETY: the caller keeps the header's rules.
    unsafe { read_or(outcome, ptr::null(), |outcome| pointer(outcome.structs.error.as_deref())) }
}

/// Of suspend, complete and fail: the run afterwards. Else NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_submission(outcome: *const agenthost_outcome) -> *const agenthost_submission {
    // SAFETY: the caller keeps the header's rules.
    unsafe { read_or(outcome, ptr::null(), |outcome| pointer(outcome.structs.submission.as_deref())) }
}

/// Of suspend: how many approvals it made.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_approval_id_count(outcome: *const agenthost_outcome) -> usize {
    // SAFETY: the caller keeps the header's rules.
    unsafe { value_or(outcome, 0, |value| value.approval_ids.len()) }
}

/// Of suspend: the id of an approval by its place from 0, in the order of the suspension. Else empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_approval_id(outcome: *const agenthost_outcome, index: usize) -> agenthost_str {
    let of = |value: &OutcomeValue| values_to_c::text(value.approval_ids.get(index).map_or("", |id| id));
    // SAFETY: the caller keeps the header's rules.
    unsafe { value_or(outcome, values_to_c::text(""), of) }
}

/// The number of approvals of the inbox.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_inbox_count(outcome: *const agenthost_outcome) -> usize {
    // SAFETY: the caller keeps the header's rules.
    unsafe { read_or(outcome, 0, |outcome| outcome.structs.approvals.inbox.len()) }
}

/// An approval of the inbox by its place from 0, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_inbox_approval(
    outcome: *const agenthost_outcome,
    index: usize,
) -> *const agenthost_inbox_approval {
    // SAFETY: the caller keeps the header's rules.
    unsafe { read_or(outcome, ptr::null(), |outcome| pointer(outcome.structs.approvals.inbox.get(index))) }
}

/// Of claim: the run, or NULL when there is none to be had.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_claimed(outcome: *const agenthost_outcome) -> *const agenthost_claimed {
    // SAFETY: the caller keeps the header's rules.
    unsafe { read_or(outcome, ptr::null(), |outcome| pointer(outcome.structs.claimed.as_deref())) }
}

/// One number: of heartbeat the lease's end (milliseconds since the Unix epoch), of append the sequence of the first event, of
/// waiting for work 1 when there is some, of compact the first sequence that is left, of purge and timers how many runs. Else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_number(outcome: *const agenthost_outcome) -> i64 {
    // SAFETY: the caller keeps the header's rules.
    unsafe { value_or(outcome, 0, |value| value.number) }
}

/// Of waiting for events: the run's status. Of waiting for the end of a claim: the run's status once the claim is lost, 0 while it
/// is valid. Else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_status(outcome: *const agenthost_outcome) -> agenthost_run_status {
    // SAFETY: the caller keeps the header's rules.
    unsafe { value_or(outcome, 0, |value| value.status.map_or(0, Constant::to_number)) }
}

/// The cursor of the next page of events, runs or approvals. Else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_next(outcome: *const agenthost_outcome) -> u64 {
    // SAFETY: the caller keeps the header's rules.
    unsafe { value_or(outcome, 0, |value| value.next) }
}

/// 1 when there may be more behind the page, else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_has_more(outcome: *const agenthost_outcome) -> u32 {
    // SAFETY: the caller keeps the header's rules.
    unsafe { value_or(outcome, 0, |value| u32::from(value.has_more)) }
}

/// The number of events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_event_count(outcome: *const agenthost_outcome) -> usize {
    // SAFETY: the caller keeps the header's rules.
    unsafe { read_or(outcome, 0, |outcome| outcome.structs.events.len()) }
}

/// An event by its place from 0, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_event(outcome: *const agenthost_outcome, index: usize) -> *const agenthost_event {
    // SAFETY: the caller keeps the header's rules.
    unsafe { read_or(outcome, ptr::null(), |outcome| pointer(outcome.structs.events.get(index))) }
}

/// The number of admitted results.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_admitted_count(outcome: *const agenthost_outcome) -> usize {
    // SAFETY: the caller keeps the header's rules.
    unsafe { read_or(outcome, 0, |outcome| outcome.structs.admitted.len()) }
}

/// An admitted result by its place from 0, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_admitted(
    outcome: *const agenthost_outcome,
    index: usize,
) -> *const agenthost_admitted {
    // SAFETY: the caller keeps the header's rules.
    unsafe { read_or(outcome, ptr::null(), |outcome| pointer(outcome.structs.admitted.get(index))) }
}

/// The number of runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_run_count(outcome: *const agenthost_outcome) -> usize {
    // SAFETY: the caller keeps the header's rules.
    unsafe { read_or(outcome, 0, |outcome| outcome.structs.runs.len()) }
}

/// A run by its place from 0, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_run(outcome: *const agenthost_outcome, index: usize) -> *const agenthost_run_summary {
    // SAFETY: the caller keeps the header's rules.
    unsafe { read_or(outcome, ptr::null(), |outcome| pointer(outcome.structs.runs.get(index))) }
}

/// Frees an outcome, and everything that was borrowed from it. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_free(outcome: *mut agenthost_outcome) {
    // SAFETY: the owner gives the outcome up.
    unsafe { agenthost_outcome::free(outcome) };
}
