//! What calls of durable runs come to.

use std::ffi::c_void;
use std::ptr;

use super::entry::{Done, Place, borrowed, quietly};
use super::from_c::Unread;
use super::live::{AGENTHOST_LIVE_OUTCOMES, Live};
use super::requests::agenthost_context;
use super::results::{agenthost_approval, agenthost_error, agenthost_event, agenthost_submission};
use super::status::AGENTHOST_INVALID_ARGUMENT;
use super::text::{agenthost_optional_i64, agenthost_pairs, agenthost_str};
use super::to_c::{self, Pairs};
use super::words::{Word, agenthost_run_status};
use crate::protocol::{HostError, Metadata, RunStatus};
use crate::runs::{Admitted, Claimed, RunFuture, RunSummary, refused};
use crate::service::{Event, RunSubmission};

/// What a call of durable runs came to. One owner; any number of threads may read it; ends with `agenthost_outcome_free`.
pub struct agenthost_outcome {
    /// Everything that is laid out borrows from it. It is never changed.
    value: Box<Result<Value, HostError<'static>>>,
    laid: Laid,
    _live: Live<AGENTHOST_LIVE_OUTCOMES>,
}

/// Gets the outcome of a call; it is yours. Runs once, on any thread, perhaps before the call returns, with no lock of the library
/// held. It must be short: it may run on the thread that every write goes through, and a blocking call from it waits for ever.
pub type agenthost_outcome_done = Option<unsafe extern "C-unwind" fn(data: *mut c_void, outcome: *mut agenthost_outcome)>;

/// A run that was claimed, with all that there is to go on with.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_claimed {
    /// `sizeof(agenthost_claimed)`.
    pub struct_size: usize,
    /// The run.
    pub run_id: agenthost_str,
    /// The right to work on it, which every call brings. A secret: do not log it.
    pub token: agenthost_str,
    /// 0: no principal created it. 1: `owner` did.
    pub has_owner: u32,
    /// 0.
    pub reserved: u32,
    /// The principal that created it.
    pub owner: agenthost_str,
    /// How often it has been claimed since it started or was resumed last, from 1.
    pub attempt: u64,
    /// Its revision.
    pub revision: u64,
    /// When the lease ends unless a call renews it, in milliseconds since the Unix epoch.
    pub lease_ends_at_unix_ms: i64,
    /// The lease in milliseconds; a heartbeat is due at a third of it.
    pub lease_ms: u64,
    /// Where it comes from.
    pub context: *const agenthost_context,
    /// What it is to work on, JSON.
    pub input: agenthost_str,
    /// Strings that belong to it.
    pub metadata: agenthost_pairs,
    /// After a resume: the approval. Else NULL.
    pub approval: *const agenthost_approval,
    /// After a resume: what `suspend` was given, JSON. Else empty.
    pub continuation: agenthost_str,
    /// After a resume: the input of `resume_run`, JSON. Else empty.
    pub resume_input: agenthost_str,
}

/// The outcome of a tool call that counts.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_admitted {
    /// `sizeof(agenthost_admitted)`.
    pub struct_size: usize,
    /// The tool call.
    pub tool_call_id: agenthost_str,
    /// The tool.
    pub tool_name: agenthost_str,
    /// The execution's key.
    pub key: agenthost_str,
    /// The sequence of the event that says so.
    pub sequence: u64,
    /// The outcome that was admitted first, JSON.
    pub outcome: agenthost_str,
    /// 1: it had been admitted before this call.
    pub repeated: u32,
    /// 0.
    pub reserved: u32,
}

/// A run, in short.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_run_summary {
    /// `sizeof(agenthost_run_summary)`.
    pub struct_size: usize,
    /// The run.
    pub run_id: agenthost_str,
    /// 0: no principal created it. 1: `owner` did.
    pub has_owner: u32,
    /// Its state.
    pub status: agenthost_run_status,
    /// The principal that created it.
    pub owner: agenthost_str,
    /// The agent that is to do it, or empty.
    pub agent_id: agenthost_str,
    /// How the last worker called itself, or empty.
    pub worker: agenthost_str,
    /// The number of its state changes.
    pub revision: u64,
    /// The sequence of the first event that is still there.
    pub first_sequence: u64,
    /// The sequence of its last event.
    pub head_sequence: u64,
    /// How often it has been claimed since it started or was resumed last.
    pub attempt: u64,
    /// When it was created, in milliseconds since the Unix epoch.
    pub created_at_unix_ms: i64,
    /// When it got its last event.
    pub updated_at_unix_ms: i64,
    /// When it ended.
    pub completed_at_unix_ms: agenthost_optional_i64,
    /// When it has to end.
    pub deadline_unix_ms: agenthost_optional_i64,
}

/// What a call gives, whichever call it was.
#[derive(Default)]
pub(super) struct Value {
    pub(super) submission: Option<RunSubmission<'static>>,
    /// The approval of a suspend, or the token of a claim.
    pub(super) text: String,
    pub(super) claimed: Option<Box<Claimed>>,
    pub(super) admitted: Vec<Admitted>,
    pub(super) events: Vec<Event<'static>>,
    pub(super) runs: Vec<RunSummary>,
    pub(super) status: Option<RunStatus>,
    pub(super) number: i64,
    pub(super) next: u64,
    pub(super) has_more: bool,
}

/// The structs that C sees. Boxes and vectors do not move their content when the outcome moves.
#[derive(Default)]
struct Laid {
    error: Option<Box<agenthost_error>>,
    submission: Option<Box<agenthost_submission>>,
    claimed: Option<Box<agenthost_claimed>>,
    context: Option<Box<agenthost_context>>,
    approval: Option<Box<agenthost_approval>>,
    admitted: Vec<agenthost_admitted>,
    events: Vec<agenthost_event>,
    runs: Vec<agenthost_run_summary>,
    /// The structs lead to them.
    pairs: Vec<Pairs>,
}

impl Laid {
    fn pairs(&mut self, metadata: &Metadata<'_>) -> usize {
        self.pairs.push(Pairs::of(metadata));
        self.pairs.len() - 1
    }

    fn of(value: &Result<Value, HostError<'static>>) -> Laid {
        let mut laid = Laid::default();
        let value = match value {
            Ok(value) => value,
            Err(error) => {
                let pairs = laid.pairs(&error.metadata);
                laid.error = Some(Box::new(to_c::error(error, &laid.pairs[pairs])));
                return laid;
            }
        };
        laid.submission = value.submission.as_ref().map(|submission| Box::new(to_c::submission(submission)));
        if let Some(claimed) = &value.claimed {
            laid.claimed(claimed, &value.text);
        }
        laid.admitted = value.admitted.iter().map(admitted).collect();
        for event in &value.events {
            let pairs = laid.pairs(&event.metadata);
            laid.events.push(to_c::event(event, &laid.pairs[pairs]));
        }
        laid.runs = value.runs.iter().map(summary).collect();
        laid
    }

    fn claimed(&mut self, claimed: &Claimed, token: &str) {
        let context = self.pairs(&claimed.context.metadata);
        self.context = Some(Box::new(to_c::context(&claimed.context, &self.pairs[context])));
        if let Some(approval) = &claimed.approval {
            let pairs = self.pairs(&approval.metadata);
            self.approval = Some(Box::new(to_c::approval(approval, &self.pairs[pairs])));
        }
        let metadata = self.pairs(&claimed.metadata);
        let json = |json: &Option<crate::protocol::FreeJson<'static>>| to_c::text(json.as_ref().map_or("", |json| json.as_str()));
        self.claimed = Some(Box::new(agenthost_claimed {
            struct_size: size_of::<agenthost_claimed>(),
            run_id: to_c::text(&claimed.claim.run_id),
            token: to_c::text(token),
            has_owner: u32::from(claimed.owner.is_some()),
            reserved: 0,
            owner: to_c::text(claimed.owner.as_deref().unwrap_or("")),
            attempt: claimed.attempt,
            revision: claimed.revision,
            lease_ends_at_unix_ms: claimed.lease_ends_at_unix_ms,
            lease_ms: claimed.lease_ms,
            context: self.context.as_deref().map_or(ptr::null(), |context| &raw const *context),
            input: to_c::text(claimed.input.as_str()),
            metadata: self.pairs[metadata].as_c(),
            approval: self.approval.as_deref().map_or(ptr::null(), |approval| &raw const *approval),
            continuation: json(&claimed.continuation),
            resume_input: json(&claimed.resume_input),
        }));
    }
}

fn admitted(admitted: &Admitted) -> agenthost_admitted {
    agenthost_admitted {
        struct_size: size_of::<agenthost_admitted>(),
        tool_call_id: to_c::text(&admitted.tool_call_id),
        tool_name: to_c::text(&admitted.tool_name),
        key: to_c::text(&admitted.key),
        sequence: admitted.sequence,
        outcome: to_c::text(admitted.outcome.as_str()),
        repeated: u32::from(admitted.repeated),
        reserved: 0,
    }
}

fn summary(run: &RunSummary) -> agenthost_run_summary {
    agenthost_run_summary {
        struct_size: size_of::<agenthost_run_summary>(),
        run_id: to_c::text(&run.run_id),
        has_owner: u32::from(run.owner.is_some()),
        status: run.status.to_number(),
        owner: to_c::text(run.owner.as_deref().unwrap_or("")),
        agent_id: to_c::text(&run.agent_id),
        worker: to_c::text(&run.worker),
        revision: run.revision,
        first_sequence: run.first_sequence,
        head_sequence: run.head_sequence,
        attempt: run.attempt,
        created_at_unix_ms: run.created_at_unix_ms,
        updated_at_unix_ms: run.updated_at_unix_ms,
        completed_at_unix_ms: to_c::optional(run.completed_at_unix_ms),
        deadline_unix_ms: to_c::optional(run.deadline_unix_ms),
    }
}

/// Where an outcome goes: to a callback, or to a place, for which the call waits.
pub(super) enum To {
    Done(unsafe extern "C-unwind" fn(data: *mut c_void, outcome: *mut agenthost_outcome), Data),
    Place(Place<agenthost_outcome>),
}

/// The data of a callback.
pub(super) struct Data(*mut c_void);

// SAFETY: the header says that the callback runs on any thread.
unsafe impl Send for Data {}

impl To {
    /// Exactly one of the two has to be there.
    ///
    /// # Safety
    /// As [`Place::of`].
    pub(super) unsafe fn of(done: agenthost_outcome_done, data: *mut c_void, outcome: *mut *mut agenthost_outcome) -> Done<To> {
        match (done, outcome.is_null()) {
            (Some(done), true) => Ok(To::Done(done, Data(data))),
            // SAFETY: by this function's own contract.
            (None, _) => Ok(To::Place(unsafe { Place::of(outcome) }?)),
            (Some(_), false) => Err(AGENTHOST_INVALID_ARGUMENT),
        }
    }

    /// Sends what comes of `later`. What could not be read is an outcome too; misuse is not.
    pub(super) fn send<T: Send + 'static>(
        self,
        later: Result<RunFuture<Result<T, HostError<'static>>>, Unread>,
        value: impl FnOnce(T) -> Value + Send + 'static,
    ) -> Done {
        let later = match later {
            Ok(later) => later,
            Err(Unread::Misuse(status)) => return Err(status),
            Err(Unread::Broken(violation)) => RunFuture::ready(Err(refused(&violation))),
        };
        match self {
            To::Done(done, data) => later.then(move |result| {
                let Data(data) = { data };
                // SAFETY: the caller keeps the header's rules for the callback and its data.
                unsafe { done(data, agenthost_outcome::make(result.map(value))) };
            }),
            To::Place(place) => place.put(agenthost_outcome::make(later.wait().map(value))),
        }
        Ok(())
    }
}

impl agenthost_outcome {
    fn make(value: Result<Value, HostError<'static>>) -> *mut agenthost_outcome {
        let value = Box::new(value);
        let laid = Laid::of(&value);
        Box::into_raw(Box::new(agenthost_outcome { value, laid, _live: Live::new() }))
    }
}

/// # Safety
/// `outcome` is NULL, or an outcome that is not freed while the result is used.
unsafe fn look<'a, T>(outcome: *const agenthost_outcome, otherwise: T, look: impl FnOnce(&'a agenthost_outcome) -> T) -> T {
    // SAFETY: by this function's own contract.
    unsafe { borrowed(outcome) }.map_or(otherwise, look)
}

/// # Safety
/// As [`look`].
unsafe fn of_value<'a, T>(outcome: *const agenthost_outcome, otherwise: T, of: impl FnOnce(&'a Value) -> T) -> T {
    // SAFETY: by this function's own contract.
    let value = unsafe { look(outcome, None, |outcome| outcome.value.as_ref().as_ref().ok()) };
    value.map_or(otherwise, of)
}

fn pointer<T>(value: Option<&T>) -> *const T {
    value.map_or(ptr::null(), |value| &raw const *value)
}

/// The error, or NULL. `AGENTHOST_CODE_UNAVAILABLE` and `AGENTHOST_CODE_INTERNAL` mean that it is not known whether the call was done: call
/// again. Borrowed from the outcome, like everything below.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_error(outcome: *const agenthost_outcome) -> *const agenthost_error {
    // SAFETY: the caller keeps the header's rules.
    unsafe { look(outcome, ptr::null(), |outcome| pointer(outcome.laid.error.as_deref())) }
}

/// Of suspend, complete and fail: the run afterwards. Else NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_submission(outcome: *const agenthost_outcome) -> *const agenthost_submission {
    // SAFETY: the caller keeps the header's rules.
    unsafe { look(outcome, ptr::null(), |outcome| pointer(outcome.laid.submission.as_deref())) }
}

/// Of suspend: the approval's id. Else empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_approval_id(outcome: *const agenthost_outcome) -> agenthost_str {
    let of = |value: &Value| if value.submission.is_some() { to_c::text(&value.text) } else { to_c::text("") };
    // SAFETY: the caller keeps the header's rules.
    unsafe { of_value(outcome, to_c::text(""), of) }
}

/// Of claim: the run, or NULL when there is none to be had.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_claimed(outcome: *const agenthost_outcome) -> *const agenthost_claimed {
    // SAFETY: the caller keeps the header's rules.
    unsafe { look(outcome, ptr::null(), |outcome| pointer(outcome.laid.claimed.as_deref())) }
}

/// One number: of heartbeat the lease's end (milliseconds since the Unix epoch), of append the sequence of the first event, of
/// waiting for work 1 when there is some, of compact the first sequence that is left, of purge and timers how many runs. Else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_number(outcome: *const agenthost_outcome) -> i64 {
    // SAFETY: the caller keeps the header's rules.
    unsafe { of_value(outcome, 0, |value| value.number) }
}

/// Of waiting for events: the run's status. Of waiting for the end of a claim: the run's status once the claim is lost, 0 while it
/// is valid. Else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_status(outcome: *const agenthost_outcome) -> agenthost_run_status {
    // SAFETY: the caller keeps the header's rules.
    unsafe { of_value(outcome, 0, |value| value.status.map_or(0, Word::to_number)) }
}

/// The cursor of the next page of events or runs. Else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_next(outcome: *const agenthost_outcome) -> u64 {
    // SAFETY: the caller keeps the header's rules.
    unsafe { of_value(outcome, 0, |value| value.next) }
}

/// 1 when there may be more behind the page, else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_has_more(outcome: *const agenthost_outcome) -> u32 {
    // SAFETY: the caller keeps the header's rules.
    unsafe { of_value(outcome, 0, |value| u32::from(value.has_more)) }
}

/// The number of events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_event_count(outcome: *const agenthost_outcome) -> usize {
    // SAFETY: the caller keeps the header's rules.
    unsafe { look(outcome, 0, |outcome| outcome.laid.events.len()) }
}

/// An event by its place from 0, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_event(outcome: *const agenthost_outcome, index: usize) -> *const agenthost_event {
    // SAFETY: the caller keeps the header's rules.
    unsafe { look(outcome, ptr::null(), |outcome| pointer(outcome.laid.events.get(index))) }
}

/// The number of admitted results.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_admitted_count(outcome: *const agenthost_outcome) -> usize {
    // SAFETY: the caller keeps the header's rules.
    unsafe { look(outcome, 0, |outcome| outcome.laid.admitted.len()) }
}

/// An admitted result by its place from 0, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_admitted(
    outcome: *const agenthost_outcome,
    index: usize,
) -> *const agenthost_admitted {
    // SAFETY: the caller keeps the header's rules.
    unsafe { look(outcome, ptr::null(), |outcome| pointer(outcome.laid.admitted.get(index))) }
}

/// The number of runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_run_count(outcome: *const agenthost_outcome) -> usize {
    // SAFETY: the caller keeps the header's rules.
    unsafe { look(outcome, 0, |outcome| outcome.laid.runs.len()) }
}

/// A run by its place from 0, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_run(outcome: *const agenthost_outcome, index: usize) -> *const agenthost_run_summary {
    // SAFETY: the caller keeps the header's rules.
    unsafe { look(outcome, ptr::null(), |outcome| pointer(outcome.laid.runs.get(index))) }
}

/// Frees an outcome, and everything that was borrowed from it. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_outcome_free(outcome: *mut agenthost_outcome) {
    if !outcome.is_null() {
        // SAFETY: the owner gives up what `make` has made.
        quietly(|| drop(unsafe { Box::from_raw(outcome) }));
    }
}
