//! Where C answers.

use std::ffi::c_void;
use std::sync::Arc;

use super::callback::{self, agenthost_destroy};
use super::export::{Place, StatusResult, guarded};
use super::handles::OwnedHandle;
use super::live::{AGENTHOST_LIVE_REPLIES, Live};
use super::result_structs::{agenthost_error, agenthost_event, agenthost_run, agenthost_submission};
use super::status::{
    AGENTHOST_ALREADY_DONE, AGENTHOST_BAD_ANSWER, AGENTHOST_FORKED, AGENTHOST_INVALID_ARGUMENT, AGENTHOST_NULL_ARGUMENT,
    AGENTHOST_WRONG_OPERATION, agenthost_status,
};
use super::text::{agenthost_pairs, agenthost_str};
use super::values_from_c::{self, FromC, ReadError};
use crate::host::{AbandonedHook, AnswerError, DecidedAnswer, DeferredReply, GivenAnswer, Reply};
use crate::protocol::{Operation, Path};
use crate::service::Answer;

/// Where a slot answers. The one that is given to a slot is borrowed until the slot returns, for the slot's thread only. One
/// that was deferred is yours until `agenthost_reply_free`.
///
/// The functions that answer copy all they are given before they return, and return
/// - `AGENTHOST_OK`: the answer is taken;
/// - `AGENTHOST_BAD_ANSWER`: a rule of the contract, UTF-8 or JSON is broken: `internal` is taken, the rule is logged;
/// - `AGENTHOST_ALREADY_DONE`: answered, deferred, cancelled or timed out before: nobody gets this answer;
/// - `AGENTHOST_NULL_ARGUMENT`, `AGENTHOST_INVALID_SIZE`, `AGENTHOST_WRONG_OPERATION`: nothing happened, the reply is open.
pub struct agenthost_reply(State);

#[allow(clippy::large_enum_variant, reason = "a slot's reply is on the stack, a deferred one in a box")]
enum State {
    /// On the stack of the dispatch that runs the slot.
    InSlot(*mut Reply<'static>),
    /// Owned by C.
    Deferred(DeferredReply, #[allow(dead_code, reason = "counted as long as it is there")] Live<AGENTHOST_LIVE_REPLIES>),
}

/// Only of deferred replies; a slot's is not owned.
impl OwnedHandle for agenthost_reply {}

impl agenthost_reply {
    /// What a slot gets. It may not be used any more when the slot has returned.
    pub(super) fn in_slot(reply: &mut Reply<'_>) -> agenthost_reply {
        agenthost_reply(State::InSlot((&raw mut *reply).cast()))
    }

    /// # Safety
    /// A slot's reply is used while its slot runs, on its thread.
    unsafe fn get(&mut self) -> &mut Reply<'static> {
        match &mut self.0 {
            // SAFETY: by this method's own contract the dispatch that owns the reply waits on this very stack. The lifetime is
            // only longer than the truth within the export that asked.
            State::InSlot(reply) => unsafe { &mut **reply },
            State::Deferred(reply, _) => reply,
        }
    }
}

/// The reply behind a pointer. No callback of C's may run while the result is used: it could use or free the same reply.
///
/// # Safety
/// `reply` is NULL, or a reply that may be used here: a slot's on its thread while it runs, a deferred one by one thread.
unsafe fn reply<'a>(reply: *mut agenthost_reply) -> StatusResult<&'a mut Reply<'static>> {
    // SAFETY: by this function's own contract.
    let reply = unsafe { reply.as_mut().ok_or(AGENTHOST_NULL_ARGUMENT)?.get() };
    if reply.is_forked() { Err(AGENTHOST_FORKED) } else { Ok(reply) }
}

fn status_of(error: AnswerError) -> agenthost_status {
    match error {
        AnswerError::BadAnswer(_) => AGENTHOST_BAD_ANSWER,
        AnswerError::AlreadyDone => AGENTHOST_ALREADY_DONE,
        AnswerError::WrongOperation => AGENTHOST_WRONG_OPERATION,
    }
}

/// Answers an operation that `fits` with what `read` gives, or `internal` with what is broken about it. The answer is delivered when
/// nothing borrows from the reply any more: who gets it may free the reply.
///
/// # Safety
/// As [`reply`].
unsafe fn answer<T>(
    pointer: *mut agenthost_reply,
    fits: impl FnOnce(Operation) -> bool,
    read: impl FnOnce() -> Result<T, ReadError>,
    decide: impl FnOnce(&mut Reply<'static>, T) -> Result<DecidedAnswer<'static>, AnswerError>,
) -> agenthost_status {
    let decided = || {
        // SAFETY: by this function's own contract.
        let reply = unsafe { reply(pointer) }?;
        if !fits(reply.operation()) {
            return Err(AGENTHOST_WRONG_OPERATION);
        }
        let decided = match read() {
            Ok(value) => decide(reply, value),
            Err(ReadError::Status(status)) => return Err(status),
            Err(ReadError::Violation(violation)) => reply.decide(GivenAnswer::Broken(violation)),
        };
        decided.map_err(status_of)
    };
    guarded(|| decided()?.deliver().map_err(status_of))
}

/// Answers with a struct, when the operation is one that it answers.
///
/// # Safety
/// As [`reply`] and [`values_from_c::read`].
unsafe fn answer_with<T: FromC>(
    pointer: *mut agenthost_reply,
    value: *const T,
    fits: impl FnOnce(Operation) -> bool,
    decide: impl FnOnce(&mut Reply<'static>, T::Value<'_>) -> Result<DecidedAnswer<'static>, AnswerError>,
) -> agenthost_status {
    if value.is_null() {
        return AGENTHOST_NULL_ARGUMENT;
    }
    // SAFETY: by this function's own contract.
    unsafe { answer(pointer, fits, || values_from_c::read(value, Path::ROOT), decide) }
}

/// Answers a mutation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_reply_submission(
    reply: *mut agenthost_reply,
    submission: *const agenthost_submission,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules.
    unsafe {
        answer_with(reply, submission, Operation::mutates, |reply, submission| {
            reply.decide(GivenAnswer::Answer(&Answer::Submission(submission)))
        })
    }
}

/// Answers `get_run`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_reply_run(reply: *mut agenthost_reply, run: *const agenthost_run) -> agenthost_status {
    let fits = |operation| operation == Operation::GetRun;
    // SAFETY: the caller keeps the header's rules.
    unsafe { answer_with(reply, run, fits, |reply, run| reply.decide(GivenAnswer::Answer(&Answer::Run(run)))) }
}

/// Adds an event to the answer of `list_events`: zero or more events, in order, then one `agenthost_reply_page`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_reply_event(reply: *mut agenthost_reply, event: *const agenthost_event) -> agenthost_status {
    let fits = |operation| operation == Operation::ListEvents;
    // SAFETY: the caller keeps the header's rules.
    unsafe { answer_with(reply, event, fits, |reply, event| reply.decide(GivenAnswer::Event(&event))) }
}

/// Answers `list_events` with the events that were added. `next_sequence` is the last event's sequence, or the request's
/// cursor when there is no event; `has_more` (0 or 1) says whether more events are there already.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_reply_page(
    reply: *mut agenthost_reply,
    next_sequence: u64,
    has_more: u32,
) -> agenthost_status {
    let fits = |operation| operation == Operation::ListEvents;
    let read = || values_from_c::flag(has_more, Path::ROOT.member("hasMore"));
    // SAFETY: the caller keeps the header's rules.
    unsafe { answer(reply, fits, read, |reply, has_more| reply.decide(GivenAnswer::Page { next_sequence, has_more })) }
}

/// Answers any operation with a failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_reply_error(reply: *mut agenthost_reply, error: *const agenthost_error) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules.
    unsafe { answer_with(reply, error, |_| true, |reply, error| reply.decide(GivenAnswer::Error(&error))) }
}

/// Answers any operation with its result as JSON text, for services that have it so. Checked like the others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_reply_json(reply: *mut agenthost_reply, body: agenthost_str) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules.
    unsafe {
        answer(reply, |_| true, || values_from_c::text(body, Path::ROOT), |reply, body| reply.decide(GivenAnswer::Json(body)))
    }
}

/// Answers any operation with `internal`, as the service failed, and logs why: `cause` and the fields, at `AGENTHOST_LOG_ERROR`. It is
/// logged also when the call has another answer or was deferred (`AGENTHOST_ALREADY_DONE`). None of it reaches the caller. What is
/// not UTF-8 is logged with replacement characters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_reply_fail(
    reply: *mut agenthost_reply,
    cause: agenthost_str,
    fields: agenthost_pairs,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules.
    guarded(|| unsafe {
        let lossy = |text| values_from_c::bytes(text).map(String::from_utf8_lossy);
        let cause = lossy(cause)?;
        let mut read = Vec::new();
        for field in values_from_c::array(fields.items, fields.count)? {
            read.push((lossy(field.key)?, lossy(field.value)?));
        }
        let fields: Vec<(&str, &str)> = read.iter().map(|(name, value)| (&**name, &**value)).collect();
        let (decided, host) = {
            let reply = self::reply(reply)?;
            (reply.decide(GivenAnswer::Failure), reply.inner())
        };
        // From here on a callback may free the reply.
        host.log_failure(&cause, &fields);
        decided.map_err(status_of)?.deliver().map_err(status_of)
    })
}

/// Takes the reply out of the slot. `*deferred` is yours: it works from any thread, one thread at a time, also after the slot
/// has returned, and needs exactly one `agenthost_reply_free`, answered or not. The borrowed reply then answers
/// `AGENTHOST_ALREADY_DONE`. A deferred reply keeps neither the service nor the request alive: copy what you need before the
/// slot returns. A reply that is deferred already: `AGENTHOST_ALREADY_DONE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_reply_defer(
    reply: *mut agenthost_reply,
    deferred: *mut *mut agenthost_reply,
) -> agenthost_status {
    guarded(|| {
        // SAFETY: the caller keeps the header's rules.
        let place = unsafe { Place::of(deferred) }?;
        // SAFETY: as above.
        let reply = unsafe { self::reply(reply) }?;
        let taken = reply.defer().map_err(|_| AGENTHOST_ALREADY_DONE)?;
        place.put(agenthost_reply(State::Deferred(taken, Live::new())).into_raw());
        Ok(())
    })
}

/// Gives up a deferred reply. Unanswered it answers `unavailable` here; while its slot still runs it goes back to the slot
/// instead (which answers through the borrowed reply, or returns and answers `internal`). A reply that a slot borrows is
/// left alone. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_reply_free(deferred: *mut agenthost_reply) {
    // SAFETY: NULL, a slot's reply while it runs, or a deferred one that its owner gives up.
    let owned = unsafe { deferred.as_ref() }.is_some_and(|reply| matches!(reply.0, State::Deferred(..)));
    if owned {
        // SAFETY: `agenthost_reply_defer` has made it, and its owner gives it up.
        unsafe { agenthost_reply::free(deferred) };
    }
}

/// 1 when nobody waits for the answer any more: cancelled, timed out, host closed. 0 otherwise, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_reply_is_abandoned(reply: *const agenthost_reply) -> u32 {
    // SAFETY: the caller keeps the header's rules; reading changes nothing.
    let abandoned = unsafe { reply.as_ref() }.is_some_and(|reply| match &reply.0 {
        // SAFETY: the slot runs on this stack.
        State::InSlot(reply) => unsafe { &**reply }.is_abandoned(),
        State::Deferred(reply, _) => reply.is_abandoned(),
    });
    u32::from(abandoned)
}

/// The deferred reply behind a pointer, as [`reply`].
///
/// # Safety
/// `reply` is NULL, or a reply that may be used here.
unsafe fn deferred<'a>(reply: *mut agenthost_reply) -> StatusResult<&'a mut DeferredReply> {
    // SAFETY: by this function's own contract.
    match unsafe { reply.as_mut() }.map(|reply| &mut reply.0) {
        None => Err(AGENTHOST_NULL_ARGUMENT),
        Some(State::InSlot(_)) => Err(AGENTHOST_INVALID_ARGUMENT),
        Some(State::Deferred(reply, _)) if reply.is_forked() => Err(AGENTHOST_FORKED),
        Some(State::Deferred(reply, _)) => Ok(reply),
    }
}

/// A notification and its data, which ends with the last one that holds it.
struct Notify {
    notify: unsafe extern "C-unwind" fn(data: *mut c_void),
    data: *mut c_void,
    destroy: agenthost_destroy,
}

// SAFETY: the header says that `notify` and `destroy` run on whatever thread gives the call up or frees the reply.
unsafe impl Send for Notify {}
// SAFETY: as above; `notify` runs once.
unsafe impl Sync for Notify {}

impl Notify {
    fn run(&self) {
        // SAFETY: the data lives until this struct ends.
        unsafe { (self.notify)(self.data) };
    }
}

impl Drop for Notify {
    fn drop(&mut self) {
        // SAFETY: the last holder lets go: `notify` is not running and will not run. Whoever that is sees to a panic.
        unsafe { callback::destroy_or_unwind(self.destroy, self.data) };
    }
}

/// # Safety
/// As [`deferred`].
unsafe fn notify_with(reply: *mut agenthost_reply, hook: &AbandonedHook) -> StatusResult {
    // SAFETY: by this function's own contract.
    let call = unsafe { deferred(reply) }?.keep_hook(hook).map_err(status_of)?;
    // `notify` may run here, and may free the reply.
    if call.on_abandoned(hook) {
        return Ok(());
    }
    // SAFETY: as above: nothing has run that could have freed it. The caller holds the hook, so this ends nothing.
    drop(unsafe { deferred(reply) }?.take_hook());
    Err(AGENTHOST_ALREADY_DONE)
}

/// Has `notify` run when nobody waits for a deferred reply any more. `notify` runs at most once, on the thread that gives the
/// call up, perhaps before this function returns, perhaps while another thread answers. `destroy` (may be NULL) runs exactly
/// once, after which `notify` is not running and will not run: on the thread of whichever of `notify`,
/// `agenthost_reply_free` or a failure of this function comes last. `AGENTHOST_ALREADY_DONE`: the call is answered, or has a
/// notification already. `AGENTHOST_INVALID_ARGUMENT`: the reply is one that a slot borrows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_reply_on_abandoned(
    deferred: *mut agenthost_reply,
    notify: Option<unsafe extern "C-unwind" fn(data: *mut c_void)>,
    data: *mut c_void,
    destroy: agenthost_destroy,
) -> agenthost_status {
    guarded(|| {
        let Some(notify) = notify else {
            // SAFETY: this function takes the data over, and nothing else uses it.
            unsafe { callback::destroy(destroy, data) };
            return Err(AGENTHOST_NULL_ARGUMENT);
        };
        let notify = Notify { notify, data, destroy };
        let hook: AbandonedHook = Arc::new(move || notify.run());
        // SAFETY: the caller keeps the header's rules.
        let status = unsafe { notify_with(deferred, &hook) };
        callback::run(|| drop(hook));
        status
    })
}
