//! What threads share of a call, under loom: `src/host/state.rs`, the state machine of one call, and `src/host/opened.rs`, the calls
//! that are served outside of the host. They are those files, with loom's atomics and locks. What a call does around its state (store
//! an answer, deliver it) is modelled by [`Call`] in the order in which the host does it.
#![cfg(test)]

#[path = "../../../src/host/opened.rs"]
mod opened;
#[path = "../../../src/host/state.rs"]
mod state;

/// The atomics that `state` asks for.
mod sync {
    pub(super) use loom::sync::atomic::{AtomicU32, Ordering};
}

/// The lock that `opened` asks for.
mod lock {
    pub(super) use loom::sync::MutexGuard;

    #[derive(Default)]
    pub(super) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(super) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().expect("no panic inside")
        }
    }
}

/// What `opened` keeps with a call.
mod call {
    pub(super) type AbandonedHook = std::sync::Arc<dyn Fn() + Send + Sync>;
}

use std::sync::atomic::{AtomicUsize, Ordering};

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::AtomicBool;
use loom::thread;

use call::AbandonedHook;
use opened::{Hooked, OpenCalls};
use state::{CallState, LetGo, SlotReturn};

/// Who decided the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Slot,
    Reply,
    Cancel,
    Close,
    Drop,
    Nobody,
}

/// A call: its state, the answer that somebody stores, and who delivered it. The answer is a plain cell: that it is stored before
/// it is delivered, by one thread each, is the state's promise, and loom sees when it is broken.
struct Call {
    state: CallState,
    answer: UnsafeCell<Option<By>>,
    // Only counted, by the test: not loom's, so that they add no interleavings.
    delivered: AtomicUsize,
    delivered_by: UnsafeCell<Option<By>>,
    slot_runs: AtomicUsize,
}

impl Call {
    fn new() -> Arc<Call> {
        Arc::new(Call {
            state: CallState::new(),
            answer: UnsafeCell::new(None),
            delivered: AtomicUsize::new(0),
            delivered_by: UnsafeCell::new(None),
            slot_runs: AtomicUsize::new(1),
        })
    }

    /// What everybody does who has claimed the call.
    fn store(&self, by: By) {
        self.answer.with_mut(|answer| {
            // SAFETY: loom checks that nobody else is at the cell.
            assert!(unsafe { (*answer).replace(by) }.is_none(), "answered twice");
        });
        if self.state.stored() {
            self.deliver();
        }
    }

    fn deliver(&self) {
        assert_eq!(self.slot_runs.load(Ordering::Relaxed), 0, "delivered while the slot runs");
        assert_eq!(self.delivered.fetch_add(1, Ordering::Relaxed), 0, "delivered twice");
        // SAFETY: loom checks that nobody else is at the cells.
        let answer = self.answer.with_mut(|answer| unsafe { (*answer).take() });
        assert!(answer.is_some(), "delivered before it is stored");
        // SAFETY: as above.
        self.delivered_by.with_mut(|by| unsafe { *by = answer });
    }

    fn answer_in_slot(&self) -> bool {
        let claimed = self.state.claim_in_slot();
        if claimed {
            self.store(By::Slot);
        }
        claimed
    }

    fn answer_deferred(&self) -> bool {
        let claimed = self.state.claim_deferred();
        if claimed {
            self.store(By::Reply);
        }
        claimed
    }

    fn abandon(&self, by: By) -> bool {
        let claimed = self.state.abandon();
        if claimed {
            self.store(by);
        }
        claimed
    }

    fn let_go(&self) -> LetGo {
        let what = self.state.let_go();
        if what == LetGo::Dropped {
            self.store(By::Drop);
        }
        what
    }

    fn slot_returns(&self) -> SlotReturn {
        self.slot_runs.store(0, Ordering::Relaxed);
        let what = self.state.slot_returned();
        match what {
            SlotReturn::Deliver => self.deliver(),
            SlotReturn::Unanswered => {
                // SAFETY: loom checks that nobody else is at the cell.
                self.answer.with_mut(|answer| unsafe { *answer = Some(By::Nobody) });
                self.deliver();
            }
            SlotReturn::Waiting => {}
        }
        what
    }

    /// When every thread has ended: delivered exactly once, and by whom.
    fn outcome(&self) -> By {
        assert_eq!(self.delivered.load(Ordering::Relaxed), 1, "delivered exactly once");
        // SAFETY: loom checks that nobody else is at the cell.
        self.delivered_by.with(|by| unsafe { *by }).expect("delivered")
    }
}

/// Runs `body` on a thread of the model.
fn spawn<T: 'static>(call: &Arc<Call>, body: impl FnOnce(&Call) -> T + 'static) -> thread::JoinHandle<T> {
    let call = call.clone();
    thread::spawn(move || body(&call))
}

#[test]
fn a_slot_that_answers_while_another_thread_cancels() {
    loom::model(|| {
        let call = Call::new();
        let cancel = spawn(&call, |call| call.abandon(By::Cancel));
        let answered = call.answer_in_slot();
        call.slot_returns();
        let cancelled = cancel.join().expect("joins");
        assert!(answered != cancelled);
        assert_eq!(call.outcome(), if answered { By::Slot } else { By::Cancel });
        assert_eq!(call.state.is_abandoned(), cancelled);
    });
}

#[test]
fn a_slot_that_returns_without_an_answer_while_another_thread_cancels() {
    loom::model(|| {
        let call = Call::new();
        let cancel = spawn(&call, |call| call.abandon(By::Cancel));
        call.slot_returns();
        let cancelled = cancel.join().expect("joins");
        assert_eq!(call.outcome(), if cancelled { By::Cancel } else { By::Nobody });
    });
}

#[test]
fn a_deferred_reply_is_answered_while_the_slot_returns() {
    loom::model(|| {
        let call = Call::new();
        assert!(call.state.defer());
        let reply = spawn(&call, Call::answer_deferred);
        assert!(!call.answer_in_slot(), "the borrowed reply is done");
        call.slot_returns();
        assert!(reply.join().expect("joins"));
        assert_eq!(call.outcome(), By::Reply);
    });
}

#[test]
fn a_deferred_reply_is_answered_while_another_thread_cancels_and_the_slot_returns() {
    loom::model(|| {
        let call = Call::new();
        assert!(call.state.defer());
        let reply = spawn(&call, Call::answer_deferred);
        let cancel = spawn(&call, |call| call.abandon(By::Cancel));
        call.slot_returns();
        let (answered, cancelled) = (reply.join().expect("joins"), cancel.join().expect("joins"));
        assert!(answered != cancelled);
        assert_eq!(call.outcome(), if answered { By::Reply } else { By::Cancel });
        assert_eq!(call.state.is_abandoned(), cancelled);
    });
}

#[test]
fn a_deferred_reply_is_dropped_while_the_slot_returns() {
    loom::model(|| {
        let call = Call::new();
        assert!(call.state.defer());
        let reply = spawn(&call, Call::let_go);
        let returned = call.slot_returns();
        let let_go = reply.join().expect("joins");
        match let_go {
            // Back before the slot returned: nobody has answered.
            LetGo::BackToSlot => assert_eq!((returned, call.outcome()), (SlotReturn::Unanswered, By::Nobody)),
            LetGo::Dropped => assert_eq!((returned, call.outcome()), (SlotReturn::Waiting, By::Drop)),
            LetGo::AlreadyDone => panic!("nobody else answers"),
        }
    });
}

#[test]
fn a_reply_that_may_be_back_is_answered_by_the_slot() {
    loom::model(|| {
        let call = Call::new();
        assert!(call.state.defer());
        let reply = spawn(&call, Call::let_go);
        let answered = call.answer_in_slot();
        call.slot_returns();
        let let_go = reply.join().expect("joins");
        let expected = match (let_go, answered) {
            (LetGo::BackToSlot, true) => By::Slot,
            (LetGo::BackToSlot, false) => By::Nobody,
            (LetGo::Dropped, false) => By::Drop,
            other => panic!("{other:?}"),
        };
        assert_eq!(call.outcome(), expected);
    });
}

#[test]
fn a_reply_is_dropped_while_another_thread_cancels_and_the_slot_returns() {
    loom::model(|| {
        let call = Call::new();
        assert!(call.state.defer());
        let reply = spawn(&call, Call::let_go);
        let cancel = spawn(&call, |call| call.abandon(By::Cancel));
        call.slot_returns();
        let (let_go, cancelled) = (reply.join().expect("joins"), cancel.join().expect("joins"));
        match call.outcome() {
            By::Cancel => assert!(cancelled && let_go != LetGo::Dropped),
            By::Drop => assert!(!cancelled && let_go == LetGo::Dropped),
            By::Nobody => assert!(!cancelled && let_go == LetGo::BackToSlot),
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn a_slot_defers_while_another_thread_cancels() {
    loom::model(|| {
        let call = Call::new();
        let cancel = spawn(&call, |call| call.abandon(By::Cancel));
        let deferred = call.state.defer();
        call.slot_returns();
        // Who has deferred answers after the slot has returned.
        let answered = deferred && call.answer_deferred();
        let cancelled = cancel.join().expect("joins");
        assert!(answered != cancelled);
        assert_eq!(call.outcome(), if answered { By::Reply } else { By::Cancel });
    });
}

#[test]
fn a_cancel_and_a_close_while_the_slot_answers() {
    loom::model(|| {
        let call = Call::new();
        let cancel = spawn(&call, |call| call.abandon(By::Cancel));
        let close = spawn(&call, |call| call.abandon(By::Close));
        let answered = call.answer_in_slot();
        call.slot_returns();
        let decided = [answered, cancel.join().expect("joins"), close.join().expect("joins")];
        assert_eq!(decided.iter().filter(|decided| **decided).count(), 1);
        let who = [By::Slot, By::Cancel, By::Close];
        let expected = who.into_iter().zip(decided).find(|(_, decided)| *decided).map(|(by, _)| by);
        assert_eq!(Some(call.outcome()), expected);
    });
}

#[test]
fn whoever_sees_a_call_open_may_still_lose_it_but_never_the_other_way_round() {
    loom::model(|| {
        let call = Call::new();
        let cancel = spawn(&call, |call| call.abandon(By::Cancel));
        let was_open = call.state.is_open() && call.state.is_open_in_slot();
        let answered = call.answer_in_slot();
        assert!(was_open || !answered, "what was not open is not answered");
        call.slot_returns();
        cancel.join().expect("joins");
        assert!(!call.state.is_open());
        call.outcome();
    });
}

/// The open calls of a host, and whether it is closing.
#[derive(Default)]
struct Host {
    calls: OpenCalls,
    closing: AtomicBool,
}

impl Host {
    /// How many calls it gave up, of those that have a hook.
    fn close(&self) -> usize {
        self.closing.store(true, loom::sync::atomic::Ordering::SeqCst);
        self.calls.claim_all().len()
    }

    fn open(&self) -> Option<usize> {
        self.calls.open(|| self.closing.load(loom::sync::atomic::Ordering::SeqCst))
    }
}

#[test]
fn no_call_is_open_in_a_closed_host() {
    loom::model(|| {
        let host = Arc::new(Host::default());
        let closing = host.clone();
        let close = thread::spawn(move || closing.close());
        let opened = host.open();
        close.join().unwrap();
        assert!(host.calls.is_empty());
        assert!(opened.is_none_or(|key| !host.calls.contain(key)));
        assert_eq!(host.open(), None);
    });
}

#[test]
fn an_open_call_is_completed_or_given_up_by_the_host_that_closes() {
    loom::model(|| {
        let host = Arc::new(Host::default());
        let key = host.open().unwrap();
        assert_eq!(host.calls.keep_hook(key, &(std::sync::Arc::new(|| {}) as AbandonedHook)), Hooked::Kept);
        let closing = host.clone();
        let close = thread::spawn(move || closing.close());
        let completed = host.calls.claim(key).is_some();
        assert_eq!(usize::from(completed) + close.join().unwrap(), 1, "one of them decides");
    });
}

#[test]
fn a_hook_that_comes_while_the_host_closes_is_kept_or_too_late() {
    loom::model(|| {
        let host = Arc::new(Host::default());
        let key = host.open().unwrap();
        let closing = host.clone();
        let close = thread::spawn(move || closing.close());
        let hooked = host.calls.keep_hook(key, &(std::sync::Arc::new(|| {}) as AbandonedHook));
        let told = close.join().unwrap();
        assert_eq!(hooked, if told == 1 { Hooked::Kept } else { Hooked::TooLate });
    });
}
