//! One call from its slot to its answer: where the answer is stored, and how it is delivered.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::inner::{CallbackGuard, DeferredCall, HostInner};
use super::lock::{Condvar, Mutex, MutexGuard};
use super::open_calls::AbandonedHook;
use super::state::{CallState, DropOutcome, SlotReturn};
use crate::dispatch::{ExpectedAnswer, UnavailableReason};

/// What gets the response of an asynchronous call.
pub(super) type DoneCallback = Box<dyn FnOnce(Vec<u8>) + Send>;

/// A call, shared by its slot, its deferred reply, its caller and its host.
pub(crate) struct CallShared {
    pub(super) inner: Arc<HostInner>,
    pub(super) state: CallState,
    cell: Mutex<CallCell>,
    delivered: Condvar,
}

#[derive(Default)]
struct CallCell {
    answer: Option<StoredAnswer>,
    /// What the answer has to fit, once the call is deferred.
    expected: Option<ExpectedAnswer<'static>>,
    /// For an asynchronous call.
    done: Option<DoneCallback>,
    /// For a synchronous call: the response that its caller waits for.
    response: Option<Vec<u8>>,
    on_abandoned: Option<AbandonedHook>,
    registered: Option<usize>,
}

/// An answer that is stored.
enum StoredAnswer {
    Response(Vec<u8>),
    /// The library's; written when it is delivered, as only then it is known what it has to echo.
    Abandoned(UnavailableReason),
}

impl CallShared {
    pub(super) fn new(inner: Arc<HostInner>, done: Option<DoneCallback>) -> Arc<CallShared> {
        let cell = CallCell { done, ..CallCell::default() };
        Arc::new(CallShared { inner, state: CallState::new(), cell: Mutex::new(cell), delivered: Condvar::default() })
    }

    /// Keeps what the answer has to fit: somebody else than the slot may answer.
    pub(super) fn keep_expected(&self, expected: ExpectedAnswer<'static>) {
        self.cell().expected = Some(expected);
    }

    /// Makes the deferred call known to closing.
    pub(super) fn register(self: &Arc<Self>) {
        if self.cell().registered.is_none() {
            let key = self.inner.register(self.clone());
            self.cell().registered = Some(key);
        }
    }

    /// A copy of what was kept: nobody has claimed the call yet, so the library may need it too.
    pub(super) fn copy_expected(&self) -> Option<ExpectedAnswer<'static>> {
        self.cell().expected.clone()
    }

    /// What was kept, for who has claimed the call: nobody else needs it any more.
    pub(super) fn take_expected(&self) -> Option<ExpectedAnswer<'static>> {
        self.cell().expected.take()
    }

    /// Stores the response of whoever has claimed the call, and delivers it when the slot has returned.
    pub(super) fn answer(&self, response: Vec<u8>, callback: &CallbackGuard<'_>) {
        self.store(StoredAnswer::Response(response), callback);
    }

    /// The deferred reply is dropped.
    pub(super) fn reply_dropped(&self) {
        if !self.state.is_open() {
            return;
        }
        let callback = self.inner.enter_finishing();
        if self.state.reply_dropped() == DropOutcome::Dropped {
            self.store(StoredAnswer::Abandoned(UnavailableReason::Dropped), &callback);
        }
    }

    /// The slot has returned: the response of a synchronous call when it is there, or nothing when somebody answers later.
    /// `expected` is what the slot's own reply still holds.
    pub(super) fn slot_returned(&self, expected: Option<ExpectedAnswer<'_>>, callback: &CallbackGuard<'_>) -> Option<Vec<u8>> {
        match self.state.slot_returned() {
            SlotReturn::Deliver => self.deliver(callback),
            SlotReturn::Unanswered => {
                callback.log_unanswered();
                let expected = expected.or_else(|| self.take_expected());
                let response =
                    expected.map_or_else(|| UnavailableReason::Dropped.undecoded(), |expected| expected.internal(false));
                self.cell().answer = Some(StoredAnswer::Response(response));
                self.deliver(callback)
            }
            SlotReturn::Waiting => {
                self.abandon_if_closing();
                None
            }
        }
    }

    /// Answers a call that closing may not have found, as it was deferred only now.
    pub(super) fn abandon_if_closing(&self) {
        if self.inner.activity.is_abandoning() {
            self.abandon(UnavailableReason::Closed);
        }
    }

    /// Waits for the response of a synchronous call, for `timeout` at the most.
    pub(super) fn wait(&self, timeout: Option<Duration>) -> Vec<u8> {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut cell = self.cell();
        loop {
            if let Some(response) = cell.response.take() {
                return response;
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            match left {
                Some(left) if left.is_zero() && self.state.is_open() => {
                    drop(cell);
                    self.abandon(UnavailableReason::Timeout);
                    cell = self.cell();
                }
                Some(left) if !left.is_zero() => {
                    cell = self.delivered.wait_timeout(cell, left);
                }
                _ => cell = self.delivered.wait(cell),
            }
        }
    }

    /// Keeps the hook that runs when nobody waits any more; it runs at once when that is so already. False: the call is answered.
    pub(crate) fn on_abandoned(&self, hook: &AbandonedHook) -> bool {
        let callback = self.inner.enter_finishing();
        let mut cell = self.cell();
        let is_open = self.state.is_open();
        if is_open {
            cell.on_abandoned = Some(hook.clone());
        }
        drop(cell);
        if !self.state.is_abandoned() {
            return is_open;
        }
        // Abandoned in between: whoever did it may not have seen the hook.
        let hook = if is_open { self.cell().on_abandoned.take() } else { Some(hook.clone()) };
        hook.into_iter().for_each(|hook| callback.run_hook(hook));
        true
    }

    /// Drops the hook, of which the reply has held a copy: the reply is gone.
    pub(super) fn forget_hook(&self, copy: AbandonedHook) {
        let callback = self.inner.enter_finishing();
        let hook = self.cell().on_abandoned.take();
        callback.drop_hook(hook);
        callback.drop_hook(Some(copy));
    }

    fn store(&self, answer: StoredAnswer, callback: &CallbackGuard<'_>) {
        self.cell().answer = Some(answer);
        if self.state.stored()
            && let Some(response) = self.deliver(callback)
        {
            self.cell().response = Some(response);
            self.delivered.notify_all();
        }
    }

    /// The second of "answered" and "slot returned" gives the response to whoever waits for it: to the callback of an
    /// asynchronous call here, to the caller of a synchronous one by returning it.
    fn deliver(&self, callback: &CallbackGuard<'_>) -> Option<Vec<u8>> {
        let mut cell = self.cell();
        let kept = cell.expected.take();
        let response = match cell.answer.take() {
            Some(StoredAnswer::Response(response)) => response,
            Some(StoredAnswer::Abandoned(why)) => kept.map_or_else(|| why.undecoded(), |expected| expected.unanswered(why)),
            None => UnavailableReason::Dropped.undecoded(),
        };
        let (done, registered) = (cell.done.take(), cell.registered.take());
        drop(cell);
        let undelivered = match done {
            None => Some(response),
            Some(done) => {
                run_done(done, response, callback);
                None
            }
        };
        if let Some(key) = registered {
            self.inner.unregister(key);
        }
        undelivered
    }

    fn cell(&self) -> MutexGuard<'_, CallCell> {
        self.cell.lock()
    }
}

/// Gives a response to the callback that waits for it.
pub(super) fn run_done(done: impl FnOnce(Vec<u8>), response: Vec<u8>, callback: &CallbackGuard<'_>) {
    callback.run("the callback for a response panicked", move || done(response));
}

impl DeferredCall for CallShared {
    fn abandon(&self, why: UnavailableReason) -> bool {
        // What is answered stays so: nothing to decide.
        if !self.state.is_open() {
            return false;
        }
        let callback = self.inner.enter_finishing();
        if !self.state.abandon() {
            return false;
        }
        let hook = self.cell().on_abandoned.take();
        self.store(StoredAnswer::Abandoned(why), &callback);
        hook.into_iter().for_each(|hook| callback.run_hook(hook));
        true
    }
}
