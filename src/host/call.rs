//! One call from its slot to its answer: where the answer is stored, and how it is delivered.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::core::{Callback, Core};
use super::lock::{Condvar, Mutex, MutexGuard};
use super::log::LogLevel;
use super::state::{CallState, LetGo, SlotReturn};
use crate::dispatch::{Expected, Unanswered};

/// What is told that nobody waits for an answer any more.
pub type AbandonedHook = Arc<dyn Fn() + Send + Sync>;

/// What is done with the response of an asynchronous call.
pub(super) type Done = Box<dyn FnOnce(Vec<u8>) + Send>;

/// A call, shared by its slot, its deferred reply, its caller and its host.
pub(crate) struct CallShared {
    pub(super) core: Arc<Core>,
    pub(super) state: CallState,
    cell: Mutex<Cell>,
    delivered: Condvar,
}

#[derive(Default)]
struct Cell {
    answer: Option<Answer>,
    /// What the answer has to fit, once the call is deferred.
    expected: Option<Expected<'static>>,
    /// For an asynchronous call.
    done: Option<Done>,
    /// For a synchronous call: the response that its caller waits for.
    response: Option<Vec<u8>>,
    on_abandoned: Option<AbandonedHook>,
    registered: Option<usize>,
}

/// An answer that is stored.
enum Answer {
    Response(Vec<u8>),
    /// The library's; written when it is delivered, as only then it is known what it has to echo.
    Abandoned(Unanswered),
}

impl CallShared {
    pub(super) fn new(core: Arc<Core>, done: Option<Done>) -> Arc<CallShared> {
        let cell = Cell { done, ..Cell::default() };
        Arc::new(CallShared { core, state: CallState::new(), cell: Mutex::new(cell), delivered: Condvar::default() })
    }

    /// Keeps what the answer has to fit: somebody else than the slot may answer.
    pub(super) fn keep(&self, expected: Expected<'static>) {
        self.cell().expected = Some(expected);
    }

    /// Makes the deferred call known to closing.
    pub(super) fn register(self: &Arc<Self>) {
        if self.cell().registered.is_none() {
            let key = self.core.register(self.clone());
            self.cell().registered = Some(key);
        }
    }

    /// A copy of what was kept: nobody has claimed the call yet, so the library may need it too.
    pub(super) fn kept(&self) -> Option<Expected<'static>> {
        self.cell().expected.clone()
    }

    /// What was kept, for who has claimed the call: nobody else needs it any more.
    pub(super) fn take_kept(&self) -> Option<Expected<'static>> {
        self.cell().expected.take()
    }

    /// Stores the response of whoever has claimed the call, and delivers it when the slot has returned.
    pub(super) fn answer(&self, response: Vec<u8>, callback: &Callback<'_>) {
        self.store(Answer::Response(response), callback);
    }

    /// Answers for the library. False: something else has answered.
    pub(super) fn abandon(&self, why: Unanswered) -> bool {
        if !self.state.abandon() {
            return false;
        }
        let callback = self.core.enter_late();
        let hook = self.cell().on_abandoned.take();
        self.store(Answer::Abandoned(why), &callback);
        run_hook(hook);
        true
    }

    /// The deferred reply is let go of.
    pub(super) fn let_go(&self) {
        if self.state.let_go() == LetGo::Dropped {
            let callback = self.core.enter_late();
            self.store(Answer::Abandoned(Unanswered::Dropped), &callback);
        }
    }

    /// The slot has returned: the response of a synchronous call when it is there, or nothing when somebody answers later.
    /// `expected` is what the slot's own reply still holds.
    pub(super) fn slot_returned(&self, expected: Option<Expected<'_>>, callback: &Callback<'_>) -> Option<Vec<u8>> {
        match self.state.slot_returned() {
            SlotReturn::Deliver => self.deliver(callback),
            SlotReturn::Unanswered => {
                self.core.log_unanswered();
                let expected = expected.or_else(|| self.take_kept());
                let response = expected.map_or_else(|| Unanswered::Dropped.undecoded(), |expected| expected.internal(false));
                self.cell().answer = Some(Answer::Response(response));
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
        if self.core.activity.is_abandoning() {
            self.abandon(Unanswered::Closed);
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
                    self.abandon(Unanswered::Timeout);
                    cell = self.cell();
                }
                Some(left) if !left.is_zero() => {
                    cell = self.delivered.wait_timeout(cell, left);
                }
                _ => cell = self.delivered.wait(cell),
            }
        }
    }

    /// Asks to be told when nobody waits any more; at once when that is so already. False: the call is answered.
    pub(crate) fn on_abandoned(&self, hook: &AbandonedHook) -> bool {
        let mut cell = self.cell();
        if self.state.is_open() {
            cell.on_abandoned = Some(hook.clone());
            drop(cell);
            // Abandoned in between: whoever did it may not have seen the hook.
            if self.state.is_abandoned() {
                let callback = self.core.enter_late();
                run_hook(self.cell().on_abandoned.take());
                drop(callback);
            }
            return true;
        }
        drop(cell);
        if !self.state.is_abandoned() {
            return false;
        }
        let callback = self.core.enter_late();
        run_hook(Some(hook.clone()));
        drop(callback);
        true
    }

    /// Forgets the hook: its reply is gone.
    pub(super) fn forget_hook(&self) {
        let hook = self.cell().on_abandoned.take();
        drop(hook);
    }

    fn store(&self, answer: Answer, callback: &Callback<'_>) {
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
    fn deliver(&self, _callback: &Callback<'_>) -> Option<Vec<u8>> {
        let mut cell = self.cell();
        let kept = cell.expected.take();
        let response = match cell.answer.take() {
            Some(Answer::Response(response)) => response,
            Some(Answer::Abandoned(why)) => kept.map_or_else(|| why.undecoded(), |expected| expected.unanswered(why)),
            None => Unanswered::Dropped.undecoded(),
        };
        let (done, registered) = (cell.done.take(), cell.registered.take());
        drop(cell);
        let undelivered = match done {
            None => Some(response),
            Some(done) => {
                if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| done(response))).is_err() {
                    self.core.log(LogLevel::Error, "the callback for a response panicked", &[]);
                }
                None
            }
        };
        if let Some(key) = registered {
            self.core.unregister(key);
        }
        undelivered
    }

    fn cell(&self) -> MutexGuard<'_, Cell> {
        self.cell.lock()
    }
}

/// Runs a hook, inside of a callback of its host.
pub(super) fn run_hook(hook: Option<AbandonedHook>) {
    if let Some(hook) = hook {
        // A hook that panics cannot change the answer.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| hook()));
    }
}
