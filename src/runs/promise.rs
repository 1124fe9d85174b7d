//! A result that comes later, in whichever form its taker waits: a callback, a blocked thread, or a future. A promise is the writing
//! half; one that is dropped is kept all the same, with a refusal.
//!
//! No crate gives all three forms for one value: channels have no callback, and shared futures want an executor for theirs. Nor
//! do they let the thread that waits do the work itself, which is what makes a lonely commit cheap ([`BlockingTask`]).

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::log::Log;
use super::refuse::{self, Refusal};

/// A result that comes later. Take it by [`then`](RunFuture::then), [`wait`](RunFuture::wait) or `.await`.
///
/// What was asked for is under way already: dropping this does not take it back. (A wait for something to happen is given up.)
#[must_use = "the outcome, which may be a failure, comes here"]
pub struct RunFuture<T> {
    shared: Arc<Shared<T>>,
    /// Dropped as soon as it is clear that no thread is to be blocked.
    task: Option<Box<dyn BlockingTask>>,
}

/// The future of a call that may be refused.
pub(crate) type ResultFuture<T> = RunFuture<Result<T, Refusal>>;

/// What has to be done for a result, and may be done by the thread that blocks for it. Whoever drops it leaves it to others.
pub(crate) trait BlockingTask: Send + Sync {
    /// Does it here, or leaves it to others: this thread then waits.
    fn run(self: Box<Self>);
}

/// The writing half of a [`ResultFuture`]. When it is dropped without a result, the future resolves to the refusal
/// [`refuse::given_up`].
pub(crate) struct Promise<T> {
    /// None once it is resolved.
    shared: Option<Arc<Shared<Result<T, Refusal>>>>,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    ready: Condvar,
    /// Where a callback's panic goes.
    log: Log,
}

enum State<T> {
    Pending(Option<Waker>),
    Callback(Box<dyn FnOnce(T) + Send>),
    Ready(T),
    Taken,
}

impl<T> Shared<T> {
    fn new(state: State<T>, log: Log) -> Arc<Shared<T>> {
        Arc::new(Shared { state: Mutex::new(state), ready: Condvar::new(), log })
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn resolve(&self, value: T) {
        let mut state = self.lock();
        match std::mem::replace(&mut *state, State::Taken) {
            State::Callback(done) => {
                drop(state);
                let _inside = InCallback::enter();
                self.call(done, value);
            }
            State::Pending(waker) => {
                *state = State::Ready(value);
                drop(state);
                self.ready.notify_all();
                if let Some(waker) = waker {
                    let _inside = InCallback::enter();
                    self.log.run("a waker panicked", || waker.wake());
                }
            }
            State::Ready(_) | State::Taken => {}
        }
    }

    fn call(&self, done: impl FnOnce(T), value: T) {
        self.log.run("a callback panicked", || done(value));
    }
}

impl<T: Send + 'static> RunFuture<T> {
    /// A result that is there already.
    #[cfg(test)]
    pub(crate) fn ready(value: T) -> RunFuture<T> {
        RunFuture::ready_with(value, Log::default())
    }

    /// The same, for whose callback a panic is logged.
    pub(crate) fn ready_with(value: T, log: Log) -> RunFuture<T> {
        RunFuture { shared: Shared::new(State::Ready(value), log), task: None }
    }

    /// The same result, which comes of that task.
    pub(crate) fn with_task(self, task: Option<Box<dyn BlockingTask>>) -> RunFuture<T> {
        RunFuture { task, ..self }
    }

    /// The task of the result, which is then for the caller to run or drop.
    pub(crate) fn take_task(&mut self) -> Option<Box<dyn BlockingTask>> {
        self.task.take()
    }

    /// Calls `done` with the result: at once when it is there, else on the thread that has it, with no lock of the library
    /// held. `done` must be short: it may run on the thread that every write goes through. A panic of it is logged, and goes
    /// no further.
    pub fn then(self, done: impl FnOnce(T) + Send + 'static) {
        let shared = self.shared.clone();
        if let Some((done, value)) = self.then_or_take(done, |done, value| done(value)) {
            shared.call(done, value);
        }
    }

    /// As [`then`](RunFuture::then) with what `done` needs; a result that is there already is given back, with that. So who goes on
    /// after each result can do it in a loop.
    pub(crate) fn then_or_take<C: Send + 'static>(self, context: C, done: impl FnOnce(C, T) + Send + 'static) -> Option<(C, T)> {
        let mut state = self.shared.lock();
        match std::mem::replace(&mut *state, State::Taken) {
            State::Ready(value) => Some((context, value)),
            _ => {
                *state = State::Callback(Box::new(move |value| done(context, value)));
                None
            }
        }
    }

    /// Blocks this thread until the result is there. Not for a callback of [`then`](RunFuture::then): it may be what the result
    /// waits for. While nobody else writes, this thread commits what it waits for itself.
    pub fn wait(mut self) -> T {
        if let Some(task) = self.task.take() {
            task.run();
        }
        let mut state = self.shared.lock();
        loop {
            match std::mem::replace(&mut *state, State::Pending(None)) {
                State::Ready(value) => return value,
                _ => state = self.shared.ready.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// The result, when it is there already.
    pub(crate) fn try_take(self) -> Result<T, RunFuture<T>> {
        let taken = {
            let mut state = self.shared.lock();
            match std::mem::replace(&mut *state, State::Pending(None)) {
                State::Ready(value) => Some(value),
                _ => None,
            }
        };
        taken.ok_or(self)
    }
}

impl<T: Send + 'static> ResultFuture<T> {
    pub(crate) fn pair(log: &Log) -> (Promise<T>, ResultFuture<T>) {
        let shared = Shared::new(State::Pending(None), log.clone());
        (Promise { shared: Some(shared.clone()) }, RunFuture { shared, task: None })
    }

    /// The same result in another form.
    pub(crate) fn map<U: Send + 'static>(
        mut self,
        map: impl FnOnce(Result<T, Refusal>) -> Result<U, Refusal> + Send + 'static,
    ) -> ResultFuture<U> {
        let (promise, future) = RunFuture::pair(&self.shared.log);
        let task = self.task.take();
        self.then(move |value| promise.resolve(map(value)));
        future.with_task(task)
    }
}

impl<T> Future for RunFuture<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        self.task = None;
        let waker = context.waker().clone();
        let mut state = self.shared.lock();
        let before = std::mem::replace(&mut *state, State::Pending(Some(waker)));
        if let State::Ready(value) = before {
            let waker = std::mem::replace(&mut *state, State::Taken);
            drop(state);
            drop(waker);
            return Poll::Ready(value);
        }
        drop(state);
        // Another waker, which is the application's: dropped without the lock.
        drop(before);
        Poll::Pending
    }
}

impl<T> Promise<T> {
    pub(crate) fn resolve(mut self, result: Result<T, Refusal>) {
        if let Some(shared) = self.shared.take() {
            shared.resolve(result);
        }
    }

    /// Whether nobody can take the result any more.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.shared.as_ref().is_none_or(|shared| Arc::strong_count(shared) == 1 && !matches!(*shared.lock(), State::Callback(_)))
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.take() {
            shared.resolve(Err(refuse::given_up()));
        }
    }
}

thread_local! {
    static CALLBACKS: Cell<u32> = const { Cell::new(0) };
}

/// Whether this thread runs a callback that it owes a result to: it may be a store's own, and must not wait for the store.
pub(crate) fn in_callback() -> bool {
    CALLBACKS.get() > 0
}

struct InCallback;

impl InCallback {
    fn enter() -> InCallback {
        CALLBACKS.set(CALLBACKS.get() + 1);
        InCallback
    }
}

impl Drop for InCallback {
    fn drop(&mut self) {
        CALLBACKS.set(CALLBACKS.get() - 1);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::protocol::ErrorCode;

    fn pair() -> (Promise<u32>, ResultFuture<u32>) {
        RunFuture::pair(&Log::default())
    }

    #[test]
    fn a_result_is_taken_by_callback_by_waiting_and_by_polling() {
        let (promise, future) = pair();
        let (sender, received) = mpsc::channel();
        future.then(move |value| sender.send((value, in_callback())).unwrap());
        assert!(!promise.is_abandoned());
        promise.resolve(Ok(1));
        assert_eq!(received.recv(), Ok((Ok(1), true)));
        assert!(!in_callback());

        let (promise, future) = pair();
        let waiting = std::thread::spawn(move || future.wait());
        promise.resolve(Ok(2));
        assert_eq!(waiting.join().unwrap(), Ok(2));

        let (promise, mut future) = pair();
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(Pin::new(&mut future).poll(&mut context), Poll::Pending);
        promise.resolve(Ok(3));
        assert_eq!(Pin::new(&mut future).poll(&mut context), Poll::Ready(Ok(3)));
        let mapped = RunFuture::ready(Ok(4)).map(|value| Ok(value? + 1));
        assert_eq!(mapped.wait(), Ok(5));
        assert_eq!(RunFuture::ready(6).try_take().ok(), Some(6));
    }

    #[test]
    fn a_result_that_is_there_is_given_back_and_one_that_is_not_goes_on_later() {
        let given_back = RunFuture::ready(1).then_or_take("context", |_, _| unreachable!());
        assert_eq!(given_back, Some(("context", 1)));
        let (promise, future) = pair();
        let (sender, received) = mpsc::channel();
        assert!(future.then_or_take("context", move |context, value| sender.send((context, value)).unwrap()).is_none());
        promise.resolve(Ok(2));
        assert_eq!(received.recv(), Ok(("context", Ok(2))));
    }

    #[test]
    fn a_promise_that_is_dropped_resolves_whoever_waits() {
        let given_up = |result: Result<u32, Refusal>| result.unwrap_err().code == ErrorCode::Unavailable;
        let (promise, future) = pair();
        let (sender, received) = mpsc::channel();
        future.then(move |value| sender.send(value).unwrap());
        drop(promise);
        assert!(given_up(received.recv().unwrap()));

        let (promise, future) = pair();
        let waiting = std::thread::spawn(move || future.map(|value| Ok(value? + 1)).wait());
        drop(promise);
        assert!(given_up(waiting.join().unwrap()));

        let (promise, mut future) = pair();
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(Pin::new(&mut future).poll(&mut context), Poll::Pending);
        drop(promise);
        let Poll::Ready(result) = Pin::new(&mut future).poll(&mut context) else { panic!("it is pending for ever") };
        assert!(given_up(result));

        // The bug of a step on the way is no reason to wait for ever either.
        let (promise, future) = pair();
        let future = future.map(|_| -> Result<u32, Refusal> { panic!("a bug") });
        promise.resolve(Ok(1));
        assert!(given_up(future.wait()));
    }

    /// Says who does it; resolves to 1.
    struct Noted(Option<Promise<u32>>, mpsc::Sender<&'static str>);

    impl BlockingTask for Noted {
        fn run(mut self: Box<Self>) {
            self.1.send("here").unwrap();
            self.0.take().unwrap().resolve(Ok(1));
        }
    }

    impl Drop for Noted {
        fn drop(&mut self) {
            if let Some(promise) = self.0.take() {
                self.1.send("left").unwrap();
                promise.resolve(Ok(1));
            }
        }
    }

    #[test]
    fn who_waits_runs_the_task_and_who_does_not_leaves_it_at_once() {
        let noted = || {
            let (promise, future) = pair();
            let (sender, noted) = mpsc::channel();
            (future.with_task(Some(Box::new(Noted(Some(promise), sender)))), noted)
        };
        let (future, noted_by) = noted();
        assert_eq!((future.wait(), noted_by.recv()), (Ok(1), Ok("here")));
        let (future, noted_by) = noted();
        let future = future.map(|value| Ok(value? + 1)).map(|value| Ok(value? + 1));
        assert_eq!(noted_by.try_recv(), Err(mpsc::TryRecvError::Empty));
        assert_eq!((future.wait(), noted_by.recv()), (Ok(3), Ok("here")));

        let (future, noted_by) = noted();
        let (sender, received) = mpsc::channel();
        future.then(move |value| sender.send(value).unwrap());
        assert_eq!((received.recv(), noted_by.recv()), (Ok(Ok(1)), Ok("left")));
        let (future, noted_by) = noted();
        drop(future.map(|value| Ok(value? + 1)));
        assert_eq!(noted_by.recv(), Ok("left"));
        let (mut future, noted_by) = noted();
        assert_eq!(Pin::new(&mut future).poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(1)));
        assert_eq!(noted_by.recv(), Ok("left"));
        let (future, noted_by) = noted();
        let Err(future) = future.try_take() else { panic!("it was begun") };
        assert_eq!((future.wait(), noted_by.recv()), (Ok(1), Ok("here")));
    }

    #[test]
    fn a_promise_knows_that_nobody_waits() {
        let (promise, future) = pair();
        assert!(!promise.is_abandoned());
        drop(future);
        assert!(promise.is_abandoned());
        promise.resolve(Ok(1));
    }
}
