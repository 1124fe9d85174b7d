//! What threads share of a call, under loom. Every module here that is named by a path is the host's own file, with loom's atomics and
//! locks in place of the real ones: the state machine of one call, the calls that are open, who is counted for closing to wait for, and
//! in which order a call claims, stores and delivers. [`Call`] models a call around its state alone, where interleavings are many.
#![cfg(test)]
#![allow(dead_code, reason = "the files are whole, and the models need less")]

#[path = "../../../src/host/activity.rs"]
mod activity;
#[path = "../../../src/host/call.rs"]
mod call;
#[path = "../../../src/host/close.rs"]
mod close;
#[path = "../../../src/host/inner.rs"]
mod inner;
#[path = "../../../src/host/log.rs"]
mod log;
#[path = "../../../src/host/open_calls.rs"]
mod open_calls;
#[path = "../../../src/host/panics.rs"]
mod panics;
#[path = "../../../src/host/state.rs"]
mod state;

mod closing;

/// The atomics that `state` and `activity` ask for.
mod sync {
    use loom::sync::atomic::fence;
    pub(super) use loom::sync::atomic::{AtomicU32, Ordering};

    /// Loom takes sequentially consistent accesses for acquiring and releasing ones, and knows the total order of fences alone. A
    /// fence on both sides gives these accesses the order that `activity` relies on.
    macro_rules! ordered {
        ($name:ident, $value:ty) => {
            #[derive(Default)]
            pub(super) struct $name(loom::sync::atomic::$name);

            impl $name {
                pub(super) fn new(value: $value) -> $name {
                    $name(loom::sync::atomic::$name::new(value))
                }

                pub(super) fn load(&self, ordering: Ordering) -> $value {
                    assert_eq!(ordering, Ordering::SeqCst);
                    fence(Ordering::SeqCst);
                    let value = self.0.load(Ordering::Acquire);
                    fence(Ordering::SeqCst);
                    value
                }

                pub(super) fn store(&self, value: $value, ordering: Ordering) {
                    assert_eq!(ordering, Ordering::SeqCst);
                    fence(Ordering::SeqCst);
                    self.0.store(value, Ordering::Release);
                    fence(Ordering::SeqCst);
                }
            }
        };
    }

    ordered!(AtomicBool, bool);
    ordered!(AtomicUsize, usize);

    impl AtomicUsize {
        pub(super) fn fetch_add(&self, value: usize, ordering: Ordering) -> usize {
            assert_eq!(ordering, Ordering::SeqCst);
            fence(Ordering::SeqCst);
            let before = self.0.fetch_add(value, Ordering::AcqRel);
            fence(Ordering::SeqCst);
            before
        }

        pub(super) fn fetch_sub(&self, value: usize, ordering: Ordering) -> usize {
            self.fetch_add(value.wrapping_neg(), ordering)
        }
    }
}

/// The locks that the files ask for.
mod lock {
    use std::time::Duration;

    pub(super) use loom::sync::MutexGuard;

    #[derive(Default)]
    pub(super) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(super) fn new(value: T) -> Mutex<T> {
            Mutex(loom::sync::Mutex::new(value))
        }

        pub(super) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().expect("no panic inside")
        }
    }

    /// The log hook alone is behind it. It is not looked at by a model, so it costs no interleavings.
    pub(super) struct RwLock<T>(std::sync::RwLock<T>);

    impl<T: Clone> RwLock<T> {
        pub(super) fn new(value: T) -> RwLock<T> {
            RwLock(std::sync::RwLock::new(value))
        }

        pub(super) fn get(&self) -> T {
            self.0.read().expect("no panic inside").clone()
        }

        pub(super) fn replace(&self, value: T) -> T {
            std::mem::replace(&mut *self.0.write().expect("no panic inside"), value)
        }

        pub(super) fn get_mut(&mut self) -> &mut T {
            self.0.get_mut().expect("no panic inside")
        }
    }

    #[derive(Default)]
    pub(super) struct Condvar(loom::sync::Condvar);

    impl Condvar {
        pub(super) fn notify_all(&self) {
            self.0.notify_all();
        }

        pub(super) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            self.0.wait(guard).expect("no panic inside")
        }

        pub(super) fn wait_timeout<'a, T>(&self, guard: MutexGuard<'a, T>, _: Duration) -> MutexGuard<'a, T> {
            self.wait(guard)
        }
    }
}

/// Counters of threads, fewer than the real ones.
mod shards {
    pub(super) const SHARDS: usize = 2;

    /// A model gives its threads theirs.
    pub(super) fn shard_of_thread() -> usize {
        super::closing::shard_of_thread()
    }
}

/// Which host's callbacks are on a thread's stack: no model closes a host from inside.
mod callback_stack {
    pub(super) fn push(_: u64) {}

    pub(super) fn pop() {}

    pub(super) fn contains(_: u64) -> bool {
        false
    }
}

/// No model forks.
mod fork {
    pub(super) fn generation() -> u64 {
        1
    }
}

/// Who answers is all that the models look at of a response.
mod dispatch {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum UnavailableReason {
        Timeout,
        Cancelled,
        Dropped,
        Closed,
    }

    impl UnavailableReason {
        pub(super) fn undecoded(self) -> Vec<u8> {
            format!("{self:?}").into()
        }
    }

    pub(super) struct Dispatcher;

    #[derive(Clone)]
    pub(super) struct ExpectedAnswer<'a>(pub(super) std::marker::PhantomData<&'a ()>);

    impl ExpectedAnswer<'_> {
        pub(super) fn unanswered(self, why: UnavailableReason) -> Vec<u8> {
            why.undecoded()
        }

        pub(super) fn internal(self, _: bool) -> Vec<u8> {
            "internal".into()
        }
    }
}

/// No model breaks a rule.
mod protocol {
    pub(super) struct Violation;

    impl Violation {
        pub(super) fn path(&self) -> &str {
            ""
        }

        pub(super) fn expected(&self) -> &str {
            ""
        }
    }
}

use std::sync::atomic::{AtomicUsize, Ordering};

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::AtomicBool;
use loom::thread;

use open_calls::{AbandonedHook, HookOutcome, OpenCalls};
use state::{CallState, DropOutcome, SlotReturn};

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

    fn reply_dropped(&self) -> DropOutcome {
        let what = self.state.reply_dropped();
        if what == DropOutcome::Dropped {
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
        let reply = spawn(&call, Call::reply_dropped);
        let returned = call.slot_returns();
        let reply_dropped = reply.join().expect("joins");
        match reply_dropped {
            // Back before the slot returned: nobody has answered.
            DropOutcome::BackToSlot => assert_eq!((returned, call.outcome()), (SlotReturn::Unanswered, By::Nobody)),
            DropOutcome::Dropped => assert_eq!((returned, call.outcome()), (SlotReturn::Waiting, By::Drop)),
            DropOutcome::AlreadyDone => panic!("nobody else answers"),
        }
    });
}

#[test]
fn a_reply_that_may_be_back_is_answered_by_the_slot() {
    loom::model(|| {
        let call = Call::new();
        assert!(call.state.defer());
        let reply = spawn(&call, Call::reply_dropped);
        let answered = call.answer_in_slot();
        call.slot_returns();
        let reply_dropped = reply.join().expect("joins");
        let expected = match (reply_dropped, answered) {
            (DropOutcome::BackToSlot, true) => By::Slot,
            (DropOutcome::BackToSlot, false) => By::Nobody,
            (DropOutcome::Dropped, false) => By::Drop,
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
        let reply = spawn(&call, Call::reply_dropped);
        let cancel = spawn(&call, |call| call.abandon(By::Cancel));
        call.slot_returns();
        let (reply_dropped, cancelled) = (reply.join().expect("joins"), cancel.join().expect("joins"));
        match call.outcome() {
            By::Cancel => assert!(cancelled && reply_dropped != DropOutcome::Dropped),
            By::Drop => assert!(!cancelled && reply_dropped == DropOutcome::Dropped),
            By::Nobody => assert!(!cancelled && reply_dropped == DropOutcome::BackToSlot),
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
        assert_eq!(host.calls.set_hook(key, &(std::sync::Arc::new(|| {}) as AbandonedHook)), HookOutcome::Kept);
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
        let hooked = host.calls.set_hook(key, &(std::sync::Arc::new(|| {}) as AbandonedHook));
        let told = close.join().unwrap();
        assert_eq!(hooked, if told == 1 { HookOutcome::Kept } else { HookOutcome::GivenUp });
    });
}
