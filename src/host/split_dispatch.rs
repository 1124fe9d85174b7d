//! A call without a slot: for languages whose own code runs the service (a coroutine, a promise) between the two halves of
//! dispatch. The host knows the call from the start, so closing finds it.

use std::borrow::Cow;
use std::sync::Arc;

use super::Host;
use super::deferring_service::DeferringService;
use super::inner::{CallbackGuard, HostInner};
use super::open_calls::{AbandonedHook, HookOutcome};
use super::options::{HostMisuse, HostOptions};
use super::reply::{AnswerError, Reply};
use crate::dispatch::{Completed, Decoded, DecodedCall, Dispatcher, ExpectedAnswer, PageBuilder, UnavailableReason};
use crate::protocol::{HostError, Operation, Violation};
use crate::service::{Answer, Call, Event, EventPage, Request};

/// What became of a message.
#[allow(clippy::large_enum_variant, reason = "a call is taken apart at once; a box would cost an allocation")]
pub enum Opened<'m> {
    /// It needed no service: this is the response.
    Answered(Vec<u8>),
    /// It is a call; serve it, and complete it.
    Call(Call<'m>, Request<'m>, OpenCall),
}

/// A call that is in flight until it is completed or dropped. It does not borrow from the message; any thread may complete it.
pub struct OpenCall {
    inner: Arc<HostInner>,
    key: usize,
    operation: Operation,
    /// What the answer has to fit, until there is one.
    expected: Option<ExpectedAnswer<'static>>,
}

/// A mark that this thread runs the service of an open call: closing waits for it, and closing from inside is refused.
pub struct ServiceGuard<'a> {
    _callback: CallbackGuard<'a>,
}

impl Host {
    /// A host whose calls are opened and completed by [`Host::open`]. A plain dispatch answers `internal`.
    pub fn without_service(options: HostOptions) -> Host {
        Host::deferring(Box::new(NoService), options)
    }

    /// The first half of a dispatch. The second is [`OpenCall::complete`].
    ///
    /// # Errors
    /// Misuse only: see [`HostMisuse`].
    pub fn open<'m>(&self, message: &'m [u8], principal: Option<Cow<'m, str>>) -> Result<Opened<'m>, HostMisuse> {
        self.handle.hosted.refuse_misuse(principal.as_deref())?;
        let inner = &self.handle.hosted.inner;
        let (about, request, expected) = match inner.dispatcher.decode(message, principal) {
            Decoded::Refused(response) => return Ok(Opened::Answered(response)),
            Decoded::Call(DecodedCall { call, request, expected }) => (call, request, expected),
        };
        let Some(key) = inner.open_calls.open(|| inner.activity.is_closing()) else {
            return Ok(Opened::Answered(expected.unanswered(UnavailableReason::Closed)));
        };
        let (operation, expected) = (expected.operation(), Some(expected.into_owned()));
        Ok(Opened::Call(about, request, OpenCall { inner: inner.clone(), key, operation, expected }))
    }
}

impl OpenCall {
    /// The operation that is to be answered.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// Marks this thread as one that runs the service, until the mark is dropped. None when the call is given up or the process is a
    /// fork: the service's answer is not wanted, and closing may not wait for it.
    pub fn enter_service(&self) -> Option<ServiceGuard<'_>> {
        if self.inner.is_forked() {
            return None;
        }
        // Counted first: closing waits either for the call or for this.
        let callback = self.inner.enter_finishing();
        self.inner.open_calls.contain(self.key).then_some(ServiceGuard { _callback: callback })
    }

    /// The response to what the service answers; `unavailable` when the host was closed in between, and in a forked child: the
    /// call is its parent's.
    pub fn complete(self, result: Result<Answer<'_>, HostError<'_>>) -> Vec<u8> {
        self.settle(|expected, dispatcher| expected.complete(dispatcher, result))
    }

    /// Like [`OpenCall::complete`], with a result that is only borrowed.
    pub fn complete_answer(self, answer: &Answer<'_>) -> Vec<u8> {
        self.settle(|expected, dispatcher| expected.complete_answer(dispatcher, answer))
    }

    /// Like [`OpenCall::complete`], with a page whose events are borrowed, wherever they are. `hint` says about how many
    /// bytes they take. For another operation than `list_events` the response is `internal`.
    pub fn complete_page<'e>(
        self,
        events: impl IntoIterator<Item = &'e Event<'e>>,
        next_sequence: u64,
        has_more: bool,
        hint: usize,
    ) -> Vec<u8> {
        self.settle(|expected, dispatcher| {
            if expected.operation() != Operation::ListEvents {
                let wrong = Answer::Page(EventPage { events: Vec::new(), next_sequence, has_more });
                return expected.complete_answer(dispatcher, &wrong);
            }
            let mut page = PageBuilder::new(expected, hint);
            for event in events {
                if let Err(violation) = page.event(dispatcher, event) {
                    return page.broken(violation);
                }
            }
            page.finish(dispatcher, next_sequence, has_more)
        })
    }

    /// Like [`OpenCall::complete`], with a result of the operation as JSON text.
    pub fn complete_json(self, body: &str) -> Vec<u8> {
        self.settle(|expected, dispatcher| expected.complete_text(dispatcher, body))
    }

    /// The response `internal`, when the answer breaks a rule that the types here cannot even hold. The rule goes to the host's
    /// log.
    pub fn complete_broken(self, violation: Violation) -> Vec<u8> {
        self.settle(|expected, _| expected.broken(Box::new(violation)))
    }

    /// The response `internal`, when the service failed. `cause` goes to the host's log, with the fields.
    pub fn fail(self, cause: &str, fields: &[(&str, &str)]) -> Vec<u8> {
        if !self.inner.is_forked() {
            self.inner.log_failure(cause, fields);
        }
        self.settle(|expected, _| Completed { response: expected.internal(false), broken: None })
    }

    /// The response when nobody waits for the service any more: it timed out, or the caller cancelled.
    pub fn give_up(self, why: UnavailableReason) -> Vec<u8> {
        self.decide(|expected, callback, hook| {
            hook.into_iter().for_each(|hook| callback.run_hook(hook));
            Completed { response: expected.unanswered(why), broken: None }
        })
    }

    /// Whether the host was closed: the service's answer is not wanted any more.
    pub fn is_abandoned(&self) -> bool {
        self.inner.is_forked() || !self.inner.open_calls.contain(self.key)
    }

    /// Sets the hook that runs when the call is given up, by the host or by [`OpenCall::give_up`]: at most once, on the thread that
    /// gives the call up; before this function returns when the host has given it up already, also after it is closed.
    ///
    /// # Errors
    /// [`AnswerError::AlreadyDone`]: the call has a hook already, or is the parent's of this process.
    pub fn on_abandoned(&mut self, hook: AbandonedHook) -> Result<(), AnswerError> {
        // In a forked child a lock may be held by a thread that does not exist.
        if self.inner.is_forked() {
            return Err(AnswerError::AlreadyDone);
        }
        let callback = self.inner.enter_finishing();
        match self.inner.open_calls.set_hook(self.key, &hook) {
            HookOutcome::Kept => Ok(()),
            HookOutcome::AlreadyHooked => Err(AnswerError::AlreadyDone),
            HookOutcome::GivenUp => {
                callback.run_hook(hook);
                Ok(())
            }
        }
    }

    fn settle(self, complete: impl FnOnce(ExpectedAnswer<'_>, &Dispatcher) -> Completed) -> Vec<u8> {
        self.decide(|expected, callback, hook| {
            callback.drop_hook(hook);
            complete(expected, &callback.inner.dispatcher)
        })
    }

    /// The response that `answer` gives, with the call's hook in its hands; or `unavailable` when the host has given the call up.
    fn decide(
        mut self,
        answer: impl FnOnce(ExpectedAnswer<'_>, &CallbackGuard<'_>, Option<AbandonedHook>) -> Completed,
    ) -> Vec<u8> {
        let Some(expected) = self.expected.take() else { return UnavailableReason::Dropped.undecoded() };
        // In a forked child the call is the parent's, and a lock may be held by a thread that does not exist.
        if self.inner.is_forked() {
            return expected.unanswered(UnavailableReason::Closed);
        }
        let callback = self.inner.enter_finishing();
        let Some(hook) = self.inner.open_calls.claim(self.key) else { return expected.unanswered(UnavailableReason::Closed) };
        let completed = answer(expected, &callback, hook);
        if let Some(violation) = &completed.broken {
            callback.log_broken(violation);
        }
        completed.response
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        if self.expected.is_none() || self.inner.is_forked() {
            return;
        }
        let callback = self.inner.enter_finishing();
        let hook = self.inner.open_calls.claim(self.key);
        callback.drop_hook(hook.flatten());
        self.inner.activity.changed();
    }
}

/// Stands where a service would.
pub(super) struct NoService;

impl DeferringService for NoService {
    fn serve(&self, _: &Call<'_>, _: Request<'_>, _: &mut Reply<'_>) {}
}
