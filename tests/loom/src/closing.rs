//! Closing: once it has ended nothing of the host runs or will run, and every call that began before was answered once.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use loom::thread;

use crate::call::{CallShared, run_done};
use crate::close;
use crate::dispatch::{Dispatcher, ExpectedAnswer, UnavailableReason};
use crate::inner::{CallbackGuard, DeferredCall, HostInner};
use crate::open_calls::{AbandonedHook, HookOutcome};
use crate::state::{CallState, SlotReturn};

loom::thread_local! {
    static SHARD: Cell<usize> = Cell::new(0);
}

pub(crate) fn shard_of_thread() -> usize {
    SHARD.with(Cell::get)
}

/// What a model sees of its host. Not loom's: it adds no interleavings.
#[derive(Default)]
struct Seen {
    closed: AtomicBool,
    destroyed: AtomicUsize,
    callbacks: AtomicUsize,
    late: AtomicBool,
}

impl Seen {
    /// Every callback of the application's is this. What panicked here the host would catch, so it is kept.
    fn callback(&self) {
        self.callbacks.fetch_add(1, Ordering::SeqCst);
        if self.closed.load(Ordering::SeqCst) || self.destroyed.load(Ordering::SeqCst) != 0 {
            self.late.store(true, Ordering::SeqCst);
        }
    }

    /// When every thread has ended.
    fn check(&self, callbacks: usize) {
        assert!(!self.late.load(Ordering::SeqCst), "a callback ran after the host was closed");
        assert_eq!(self.callbacks.load(Ordering::SeqCst), callbacks);
        assert_eq!(self.destroyed.load(Ordering::SeqCst), 1);
    }
}

#[derive(Clone)]
struct Model {
    inner: Arc<HostInner>,
    seen: Arc<Seen>,
}

impl Model {
    fn new() -> Model {
        let seen = Arc::new(Seen::default());
        let inside = seen.clone();
        let end_service = move || {
            inside.destroyed.fetch_add(1, Ordering::SeqCst);
        };
        Model { inner: Arc::new(HostInner::new(Dispatcher, Box::new(end_service), None)), seen }
    }

    /// An asynchronous call whose slot runs on this thread: the caller holds the callback that it is counted by.
    fn call(&self) -> Arc<CallShared> {
        let seen = self.seen.clone();
        let call = CallShared::new(self.inner.clone(), Some(Box::new(move |_| seen.callback())));
        call.keep_expected(ExpectedAnswer(PhantomData));
        call
    }

    fn hook(&self) -> AbandonedHook {
        let seen = self.seen.clone();
        Arc::new(move || seen.callback())
    }

    fn close(&self) {
        assert_eq!(close::close(&self.inner, None), Ok(()));
        self.seen.closed.store(true, Ordering::SeqCst);
    }

    /// Closes on a thread of its own.
    fn closing(&self) -> thread::JoinHandle<()> {
        let model = self.clone();
        spawn(move || model.close())
    }
}

/// A thread that is counted elsewhere than the model's first.
fn spawn<T: 'static>(body: impl FnOnce() -> T + 'static) -> thread::JoinHandle<T> {
    thread::spawn(move || {
        SHARD.with(|shard| shard.set(1));
        body()
    })
}

fn answer(call: &CallShared, callback: &CallbackGuard<'_>, claim: fn(&CallState) -> bool) -> bool {
    let claimed = claim(&call.state);
    if claimed {
        call.answer(Vec::new(), callback);
    }
    claimed
}

/// Every interleaving with at most three preemptions: more than any fault needs that was found so far.
fn model(body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(body);
}

#[test]
fn no_done_runs_after_close_when_a_call_is_cancelled_while_its_slot_returns() {
    model(|| {
        let model = Model::new();
        let callback = model.inner.enter().expect("the host is open");
        let call = model.call();
        let cancelled = call.clone();
        let cancel = spawn(move || cancelled.abandon(UnavailableReason::Cancelled));
        let close = model.closing();
        call.slot_returned(None, &callback);
        drop(callback);
        cancel.join().unwrap();
        close.join().unwrap();
        model.seen.check(1);
    });
}

#[test]
fn no_done_runs_after_close_when_a_deferred_reply_is_dropped() {
    model(|| {
        let model = Model::new();
        let callback = model.inner.enter().expect("the host is open");
        let call = model.call();
        call.register();
        assert!(call.state.defer());
        let dropped = call.clone();
        let reply = spawn(move || dropped.reply_dropped());
        let close = model.closing();
        call.slot_returned(None, &callback);
        drop(callback);
        reply.join().unwrap();
        close.join().unwrap();
        model.seen.check(1);
    });
}

#[test]
fn no_done_runs_after_close_when_a_deferred_call_is_answered_while_the_host_gives_it_up() {
    model(|| {
        let model = Model::new();
        let callback = model.inner.enter().expect("the host is open");
        let call = model.call();
        call.register();
        assert!(call.state.defer());
        assert_eq!(call.slot_returned(None, &callback), None);
        drop(callback);
        let answered = call.clone();
        let reply = spawn(move || answer(&answered, &answered.inner.enter_finishing(), CallState::claim_deferred));
        model.inner.activity.begin_closing();
        model.inner.abandon_calls();
        model.close();
        reply.join().unwrap();
        model.seen.check(1);
    });
}

#[test]
fn no_hook_runs_after_close_when_a_call_is_cancelled() {
    model(|| {
        let model = Model::new();
        let callback = model.inner.enter().expect("the host is open");
        let call = model.call();
        call.register();
        assert!(call.state.defer());
        assert_eq!(call.slot_returned(None, &callback), None);
        assert!(call.on_abandoned(&model.hook()));
        drop(callback);
        let close = model.closing();
        call.abandon(UnavailableReason::Cancelled);
        close.join().unwrap();
        model.seen.check(2);
    });
}

#[test]
fn a_hook_that_is_set_while_the_call_is_given_up_runs_once() {
    model(|| {
        let model = Model::new();
        let callback = model.inner.enter().expect("the host is open");
        let call = model.call();
        call.register();
        assert!(call.state.defer());
        assert_eq!(call.slot_returned(None, &callback), None);
        let cancelled = call.clone();
        let cancel = spawn(move || cancelled.abandon(UnavailableReason::Cancelled));
        assert!(call.on_abandoned(&model.hook()));
        drop(callback);
        cancel.join().unwrap();
        model.close();
        model.seen.check(2);
    });
}

#[test]
fn no_hook_of_an_open_call_runs_after_either_of_two_closes() {
    model(|| {
        let model = Model::new();
        let key = model.inner.open_calls.open(|| false).expect("the host is open");
        assert_eq!(model.inner.open_calls.set_hook(key, &model.hook()), HookOutcome::Kept);
        // As closing goes on when its time is over.
        model.inner.activity.begin_closing();
        let other = model.clone();
        let give_up = spawn(move || other.inner.abandon_calls());
        model.close();
        give_up.join().unwrap();
        model.seen.check(1);
    });
}

#[test]
fn no_done_runs_after_close_when_the_message_needs_no_service() {
    model(|| {
        let model = Model::new();
        let close = model.closing();
        // Refused when the host is closing: whoever dispatches then knows that closing does not wait for it.
        let counted = model.inner.enter();
        let entered = counted.is_some();
        if let Some(callback) = counted {
            let seen = model.seen.clone();
            run_done(move |_| seen.callback(), Vec::new(), &callback);
        }
        close.join().unwrap();
        model.seen.check(usize::from(entered));
    });
}

#[test]
fn the_last_callback_destroys_a_host_whose_last_handle_is_gone() {
    model(|| {
        let model = Model::new();
        let callback = model.inner.enter().expect("the host is open");
        let other = model.clone();
        // Without a handle nobody dispatches; what is in flight may still end.
        let second = spawn(move || drop(other.inner.enter_finishing()));
        // What closing for good does inside of a callback.
        model.inner.activity.begin_closing();
        model.inner.abandon_calls();
        model.inner.activity.orphan();
        drop(callback);
        second.join().unwrap();
        model.seen.check(0);
    });
}

#[test]
fn a_slot_that_defers_while_the_host_gives_up_is_answered() {
    model(|| {
        let model = Model::new();
        let callback = model.inner.enter().expect("the host is open");
        let call = model.call();
        let other = model.clone();
        let give_up = spawn(move || {
            other.inner.activity.begin_closing();
            other.inner.abandon_calls();
        });
        call.register();
        call.state.defer();
        let returned = call.slot_returned(None, &callback);
        assert_eq!(returned, None);
        drop(callback);
        give_up.join().unwrap();
        model.close();
        model.seen.check(1);
        assert_ne!(call.state.slot_returned(), SlotReturn::Unanswered);
    });
}
