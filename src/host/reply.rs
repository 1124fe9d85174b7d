//! Where a service answers: a reply that its slot borrows, and one that it takes out of the slot to answer later.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::call::CallShared;
use super::inner::{CallbackGuard, HostInner};
use super::open_calls::AbandonedHook;
use crate::dispatch::{Completed, Dispatcher, ExpectedAnswer, PageBuilder, answers};
use crate::protocol::{HostError, Operation, Violation};
use crate::service::{Answer, Event};

/// Why an answer was not taken as it was given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// It breaks a rule: `internal` went out instead, and the rule is logged.
    #[error("the answer breaks a rule of the contract, `internal` went out instead: {0}")]
    BadAnswer(Violation),
    /// The call was answered, deferred, cancelled or timed out before: nobody gets this answer.
    #[error("the call was answered, deferred, cancelled or timed out before")]
    AlreadyDone,
    /// This kind of answer does not fit the operation: nothing happened, the reply is still open.
    #[error("this kind of answer does not fit the operation")]
    WrongOperation,
}

/// Where a call is answered. The one that a slot gets belongs to the slot's thread, and ends when the slot returns.
pub struct Reply<'a> {
    call: CallRef<'a>,
    operation: Operation,
    /// What the answer has to fit, as long as only the slot knows it.
    expected: Option<ExpectedAnswer<'a>>,
    /// The page that is being built.
    page: Option<PageBuilder<'a>>,
}

/// How a reply holds its call, and with that, who else may answer it.
enum CallRef<'a> {
    /// The slot's reply to a synchronous call that was not deferred: nobody else knows the call, so nothing is shared.
    Unshared(&'a CallbackGuard<'a>, Option<Vec<u8>>),
    /// The slot's reply to a call that others know.
    InSlot(Arc<CallShared>),
    /// A deferred reply.
    Deferred(Arc<CallShared>),
}

/// What a slot's reply still holds when the slot has returned.
pub(super) enum SlotRemains<'a> {
    /// The response, when the slot has given one; nobody else can any more.
    Unshared(Option<Vec<u8>>, Option<ExpectedAnswer<'a>>),
    /// Others know the call.
    Shared(Arc<CallShared>, Option<ExpectedAnswer<'a>>),
}

/// A reply that was taken out of its slot. Any thread may answer through it, one at a time.
///
/// Dropped unanswered it answers `unavailable`; while its slot still runs it goes back to the slot instead. It keeps neither
/// the service nor the request alive, and of the host only what it takes to find that nobody waits any more.
pub struct DeferredReply {
    reply: Reply<'static>,
    hook: Option<AbandonedHook>,
}

impl<'a> Reply<'a> {
    /// The reply of a slot; `call` is there when others know the call from the start.
    pub(super) fn in_slot(
        callback: &'a CallbackGuard<'a>,
        call: Option<Arc<CallShared>>,
        expected: ExpectedAnswer<'a>,
    ) -> Reply<'a> {
        let call = call.map_or(CallRef::Unshared(callback, None), CallRef::InSlot);
        Reply { call, operation: expected.operation(), expected: Some(expected), page: None }
    }

    /// What it still holds when the slot has returned.
    pub(super) fn into_remains(self) -> SlotRemains<'a> {
        match self.call {
            CallRef::Unshared(_, response) => SlotRemains::Unshared(response, self.expected),
            CallRef::InSlot(call) | CallRef::Deferred(call) => SlotRemains::Shared(call, self.expected),
        }
    }

    /// The operation that is to be answered.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// Whether nobody waits for the answer any more: cancelled, timed out, host closed.
    pub fn is_abandoned(&self) -> bool {
        self.call.shared().is_some_and(|call| call.state.is_abandoned())
    }

    /// Whether this process is a fork of the one that made the host: a reply can only be forgotten here.
    pub fn is_forked(&self) -> bool {
        self.call.inner().is_forked()
    }

    /// Answers with a result.
    ///
    /// # Errors
    /// See [`AnswerError`].
    pub fn answer(&mut self, answer: &Answer<'_>) -> Result<(), AnswerError> {
        self.decide(GivenAnswer::Answer(answer))?.deliver()
    }

    /// Answers with a failure.
    ///
    /// # Errors
    /// See [`AnswerError`].
    pub fn error(&mut self, error: &HostError<'_>) -> Result<(), AnswerError> {
        self.decide(GivenAnswer::Error(error))?.deliver()
    }

    /// Answers with a result of the operation as JSON text. It is checked like the others.
    ///
    /// # Errors
    /// See [`AnswerError`].
    pub fn json(&mut self, body: &str) -> Result<(), AnswerError> {
        self.decide(GivenAnswer::Json(body))?.deliver()
    }

    /// Answers `internal`: the answer breaks a rule that the types here cannot even hold.
    ///
    /// # Errors
    /// Always: [`AnswerError::BadAnswer`], or [`AnswerError::AlreadyDone`].
    pub fn broken(&mut self, violation: Violation) -> Result<(), AnswerError> {
        self.decide(GivenAnswer::Broken(Box::new(violation)))?.deliver()
    }

    /// Adds an event to the page that [`Reply::page`] ends. Events come in order.
    ///
    /// # Errors
    /// See [`AnswerError`].
    pub fn event(&mut self, event: &Event<'_>) -> Result<(), AnswerError> {
        self.decide(GivenAnswer::Event(event))?.deliver()
    }

    /// Ends the page of the events that were added, and answers with it.
    ///
    /// # Errors
    /// See [`AnswerError`].
    pub fn page(&mut self, next_sequence: u64, has_more: bool) -> Result<(), AnswerError> {
        self.decide(GivenAnswer::Page { next_sequence, has_more })?.deliver()
    }

    /// Answers `internal`, as the service failed. `cause` and the fields go to the host's log, also when the call has another answer.
    ///
    /// # Errors
    /// [`AnswerError::AlreadyDone`].
    pub fn fail(&mut self, cause: &str, fields: &[(&str, &str)]) -> Result<(), AnswerError> {
        let decided = self.decide(GivenAnswer::Failure);
        self.inner().log_failure(cause, fields);
        decided?.deliver()
    }

    /// The host, for what is logged without the reply.
    pub(crate) fn inner(&self) -> Arc<HostInner> {
        self.call.inner().clone()
    }

    /// Decides the answer. Who delivers it does so without the reply: callbacks run then, and one of them may drop it.
    ///
    /// # Errors
    /// See [`AnswerError`]; that the answer is broken is said when it is delivered.
    pub(crate) fn decide(&mut self, given: GivenAnswer<'_>) -> Result<DecidedAnswer<'a>, AnswerError> {
        match given {
            GivenAnswer::Answer(answer) => {
                if !answers(answer, self.operation) {
                    return Err(AnswerError::WrongOperation);
                }
                self.finish(|expected, dispatcher| expected.complete_answer(dispatcher, answer))
            }
            GivenAnswer::Error(error) => self.finish(|expected, dispatcher| expected.complete_error(dispatcher, error)),
            GivenAnswer::Json(body) => self.finish(|expected, dispatcher| expected.complete_text(dispatcher, body)),
            GivenAnswer::Broken(violation) => self.finish(|expected, _| expected.broken(violation)),
            GivenAnswer::Failure => self.finish(|expected, _| Completed { response: expected.internal(false), broken: None }),
            GivenAnswer::Event(_) | GivenAnswer::Page { .. } if self.operation != Operation::ListEvents => {
                Err(AnswerError::WrongOperation)
            }
            GivenAnswer::Event(event) => self.add_event(event),
            GivenAnswer::Page { next_sequence, has_more } => match self.page.take() {
                Some(page) => self.finish(|_, dispatcher| page.finish(dispatcher, next_sequence, has_more)),
                None => {
                    self.finish(|expected, dispatcher| PageBuilder::new(expected, 0).finish(dispatcher, next_sequence, has_more))
                }
            },
        }
    }

    fn add_event(&mut self, event: &Event<'_>) -> Result<DecidedAnswer<'a>, AnswerError> {
        if !self.is_open() {
            return Err(AnswerError::AlreadyDone);
        }
        if self.page.is_none() {
            let expected =
                self.expected.clone().or_else(|| self.call.shared()?.copy_expected()).ok_or(AnswerError::AlreadyDone)?;
            self.page = Some(PageBuilder::begin_with(expected, event));
        }
        let added = match &mut self.page {
            Some(page) => page.event(&self.call.inner().dispatcher, event),
            None => return Err(AnswerError::AlreadyDone),
        };
        match added {
            Ok(()) => Ok(DecidedAnswer::Nothing),
            Err(violation) => self.decide(GivenAnswer::Broken(violation)),
        }
    }

    /// Takes the reply out of the slot: it can be answered later, from any thread.
    ///
    /// # Errors
    /// [`AnswerError::AlreadyDone`]: the call was answered or deferred before.
    pub fn defer(&mut self) -> Result<DeferredReply, AnswerError> {
        if !self.is_open() {
            return Err(AnswerError::AlreadyDone);
        }
        let call = match &self.call {
            CallRef::Unshared(callback, _) => CallShared::new(callback.inner.clone(), None),
            CallRef::InSlot(call) => call.clone(),
            CallRef::Deferred(_) => return Err(AnswerError::AlreadyDone),
        };
        if let Some(expected) = self.expected.take() {
            call.keep_expected(expected.into_owned());
        }
        call.register();
        self.page = None;
        self.call = CallRef::InSlot(call.clone());
        if !call.state.defer() {
            return Err(AnswerError::AlreadyDone);
        }
        Ok(DeferredReply::of(call, self.operation))
    }

    fn is_open(&self) -> bool {
        match &self.call {
            CallRef::Unshared(_, response) => response.is_none(),
            CallRef::InSlot(call) => call.state.is_open_in_slot(),
            CallRef::Deferred(call) => call.state.is_open(),
        }
    }

    fn finish(
        &mut self,
        complete: impl FnOnce(ExpectedAnswer<'_>, &Dispatcher) -> Completed,
    ) -> Result<DecidedAnswer<'a>, AnswerError> {
        let call = match &mut self.call {
            CallRef::Unshared(callback, response) => {
                let callback = *callback;
                let expected = self.expected.take().filter(|_| response.is_none()).ok_or(AnswerError::AlreadyDone)?;
                self.page = None;
                let completed = complete(expected, &callback.inner.dispatcher);
                *response = Some(completed.response);
                return Ok(completed
                    .broken
                    .map_or(DecidedAnswer::Nothing, |violation| DecidedAnswer::Broken(callback, violation)));
            }
            CallRef::InSlot(call) if call.state.claim_in_slot() => call.clone(),
            CallRef::Deferred(call) if call.state.claim_deferred() => call.clone(),
            CallRef::InSlot(_) | CallRef::Deferred(_) => return Err(AnswerError::AlreadyDone),
        };
        self.page = None;
        let expected = match self.expected.take() {
            Some(expected) => expected,
            None => call.take_expected().ok_or(AnswerError::AlreadyDone)?,
        };
        let completed = complete(expected, &call.inner.dispatcher);
        Ok(DecidedAnswer::Shared(call, completed))
    }
}

/// What a service gives to its reply.
pub(crate) enum GivenAnswer<'v> {
    Answer(&'v Answer<'v>),
    Error(&'v HostError<'v>),
    Json(&'v str),
    Broken(Box<Violation>),
    Failure,
    Event(&'v Event<'v>),
    Page { next_sequence: u64, has_more: bool },
}

/// An answer that is decided. The call is not over until it is delivered, so closing waits for that: its slot runs, or it is
/// registered as deferred.
#[must_use = "the caller waits for its delivery"]
pub(crate) enum DecidedAnswer<'a> {
    /// The slot's own caller has it, or the answer goes on.
    Nothing,
    /// The slot's own caller has `internal`; the rule is not logged yet.
    Broken(&'a CallbackGuard<'a>, Violation),
    /// Others know the call.
    Shared(Arc<CallShared>, Completed),
}

impl DecidedAnswer<'_> {
    /// Logs what is broken about the answer and gives it to whoever waits.
    pub(crate) fn deliver(self) -> Result<(), AnswerError> {
        let violation = match self {
            DecidedAnswer::Nothing => None,
            DecidedAnswer::Broken(callback, violation) => {
                callback.log_broken(&violation);
                Some(violation)
            }
            DecidedAnswer::Shared(call, mut completed) => {
                let callback = call.inner.enter_finishing();
                let violation = completed.broken.take();
                if let Some(violation) = &violation {
                    callback.log_broken(violation);
                }
                call.answer(completed.response, &callback);
                violation
            }
        };
        violation.map_or(Ok(()), |violation| Err(AnswerError::BadAnswer(violation)))
    }
}

impl DeferredReply {
    /// A reply to a call that has kept what the answer has to fit.
    pub(super) fn of(call: Arc<CallShared>, operation: Operation) -> DeferredReply {
        let reply = Reply { call: CallRef::Deferred(call), operation, expected: None, page: None };
        DeferredReply { reply, hook: None }
    }

    /// Sets the hook for when nobody waits any more. It runs at most once, on the thread that gives the call up, perhaps
    /// before this function returns, perhaps while another thread answers. It is dropped once it has run and the reply is gone.
    ///
    /// # Errors
    /// [`AnswerError::AlreadyDone`]: the call is answered, or has a hook already.
    pub fn on_abandoned(&mut self, hook: AbandonedHook) -> Result<(), AnswerError> {
        if !self.keep_hook(&hook)?.on_abandoned(&hook) {
            drop(self.take_hook());
            return Err(AnswerError::AlreadyDone);
        }
        Ok(())
    }

    /// The first half of [`DeferredReply::on_abandoned`]: keeps the hook alive. The second is done without the reply, by the call
    /// that this gives, as the hook may run at once and drop the reply.
    ///
    /// # Errors
    /// [`AnswerError::AlreadyDone`]: the call has a hook already.
    pub(crate) fn keep_hook(&mut self, hook: &AbandonedHook) -> Result<Arc<CallShared>, AnswerError> {
        match (&self.reply.call, &self.hook) {
            (CallRef::Deferred(call), None) => {
                self.hook = Some(hook.clone());
                Ok(call.clone())
            }
            _ => Err(AnswerError::AlreadyDone),
        }
    }

    /// Takes back what [`DeferredReply::keep_hook`] has kept, when the call was answered before.
    pub(crate) fn take_hook(&mut self) -> Option<AbandonedHook> {
        self.hook.take()
    }
}

impl Deref for DeferredReply {
    type Target = Reply<'static>;

    fn deref(&self) -> &Reply<'static> {
        &self.reply
    }
}

impl DerefMut for DeferredReply {
    fn deref_mut(&mut self) -> &mut Reply<'static> {
        &mut self.reply
    }
}

impl Drop for DeferredReply {
    fn drop(&mut self) {
        // In a forked child nobody waits, and a lock may be held by a thread that does not exist.
        if self.is_forked() {
            std::mem::forget(self.hook.take());
            return;
        }
        let Some(call) = self.reply.call.shared() else { return };
        if let Some(hook) = self.hook.take() {
            call.forget_hook(hook);
        }
        call.reply_dropped();
    }
}

impl CallRef<'_> {
    fn inner(&self) -> &Arc<HostInner> {
        match self {
            CallRef::Unshared(callback, _) => callback.inner,
            CallRef::InSlot(call) | CallRef::Deferred(call) => &call.inner,
        }
    }

    /// The call, when others know it.
    fn shared(&self) -> Option<&Arc<CallShared>> {
        match self {
            CallRef::Unshared(..) => None,
            CallRef::InSlot(call) | CallRef::Deferred(call) => Some(call),
        }
    }
}
