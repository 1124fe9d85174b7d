//! A result that comes later, in whichever form its taker waits: a callback, a blocked thread, or a future.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// A result that comes later. Take it by [`then`](RunFuture::then), [`wait`](RunFuture::wait) or `.await`.
///
/// What was asked for is under way already: dropping this does not take it back. (A wait for something to happen is given up.)
#[must_use = "the outcome, which may be a failure, comes here"]
pub struct RunFuture<T> {
    shared: Arc<Shared<T>>,
    /// Dropped as soon as it is clear that no thread is to be blocked.
    errand: Option<Box<dyn Errand>>,
}

/// What has to be done for a result, and may be done by the thread that waits for it. Whoever drops it leaves it to others.
pub(crate) trait Errand: Send + Sync {
    /// Does it here, or leaves it to others: this thread then waits.
    fn run(self: Box<Self>);
}

/// The other end: gives the result, once.
pub(crate) struct Promise<T> {
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    given: Condvar,
}

enum State<T> {
    Open(Option<Waker>),
    Callback(Box<dyn FnOnce(T) + Send>),
    Given(T),
    Over,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send + 'static> RunFuture<T> {
    pub(crate) fn pair() -> (Promise<T>, RunFuture<T>) {
        let shared = Arc::new(Shared { state: Mutex::new(State::Open(None)), given: Condvar::new() });
        (Promise { shared: shared.clone() }, RunFuture { shared, errand: None })
    }

    /// A result that is there already.
    pub(crate) fn ready(value: T) -> RunFuture<T> {
        let shared = Arc::new(Shared { state: Mutex::new(State::Given(value)), given: Condvar::new() });
        RunFuture { shared, errand: None }
    }

    /// The same result, which comes of that errand.
    pub(crate) fn of(self, errand: impl Errand + 'static) -> RunFuture<T> {
        RunFuture { errand: Some(Box::new(errand)), ..self }
    }

    /// Calls `done` with the result: at once when it is there, else on the thread that gives it, with no lock of the library
    /// held. `done` must be short: it may run on the thread that every write goes through.
    pub fn then(self, done: impl FnOnce(T) + Send + 'static) {
        let mut state = self.shared.lock();
        match std::mem::replace(&mut *state, State::Over) {
            State::Given(value) => {
                drop(state);
                done(value);
            }
            _ => *state = State::Callback(Box::new(done)),
        }
    }

    /// Blocks this thread until the result is there. Not for a callback of [`then`](RunFuture::then): it may be what the result
    /// waits for. While nobody else writes, this thread commits what it waits for itself.
    pub fn wait(mut self) -> T {
        if let Some(errand) = self.errand.take() {
            errand.run();
        }
        let mut state = self.shared.lock();
        loop {
            match std::mem::replace(&mut *state, State::Open(None)) {
                State::Given(value) => return value,
                _ => state = self.shared.given.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// The result, when it is there already.
    pub(crate) fn now(self) -> Result<T, RunFuture<T>> {
        let taken = {
            let mut state = self.shared.lock();
            match std::mem::replace(&mut *state, State::Open(None)) {
                State::Given(value) => Some(value),
                _ => None,
            }
        };
        taken.ok_or(self)
    }

    /// The same result in another form.
    pub(crate) fn map<U: Send + 'static>(self, map: impl FnOnce(T) -> U + Send + 'static) -> RunFuture<U> {
        self.and_then(move |value, promise| promise.give(map(value)))
    }

    /// What `next` makes of the result, at once or later.
    pub(crate) fn and_then<U: Send + 'static>(mut self, next: impl FnOnce(T, Promise<U>) + Send + 'static) -> RunFuture<U> {
        let (promise, later) = RunFuture::pair();
        let errand = self.errand.take();
        self.then(move |value| next(value, promise));
        RunFuture { errand, ..later }
    }
}

impl<T> Future for RunFuture<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        self.errand = None;
        let mut state = self.shared.lock();
        match std::mem::replace(&mut *state, State::Open(Some(context.waker().clone()))) {
            State::Given(value) => {
                *state = State::Over;
                Poll::Ready(value)
            }
            _ => Poll::Pending,
        }
    }
}

impl<T> Promise<T> {
    /// Gives the result.
    pub(crate) fn give(self, value: T) {
        let mut state = self.shared.lock();
        match std::mem::replace(&mut *state, State::Over) {
            State::Callback(done) => {
                drop(state);
                done(value);
            }
            State::Open(waker) => {
                *state = State::Given(value);
                drop(state);
                self.shared.given.notify_all();
                if let Some(waker) = waker {
                    waker.wake();
                }
            }
            State::Given(_) | State::Over => {}
        }
    }

    /// Whether nobody can take the result any more.
    pub(crate) fn is_abandoned(&self) -> bool {
        Arc::strong_count(&self.shared) == 1 && !matches!(*self.shared.lock(), State::Callback(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_result_is_taken_by_callback_by_waiting_and_by_polling() {
        let (promise, later) = RunFuture::pair();
        let (sender, received) = mpsc::channel();
        later.then(move |value: u32| sender.send(value).unwrap());
        assert!(!promise.is_abandoned());
        promise.give(1);
        assert_eq!(received.recv(), Ok(1));

        let (promise, later) = RunFuture::pair();
        let waiter = std::thread::spawn(move || later.wait());
        promise.give(2);
        assert_eq!(waiter.join().unwrap(), 2);

        let (promise, mut later) = RunFuture::pair();
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(Pin::new(&mut later).poll(&mut context), Poll::Pending);
        promise.give(3);
        assert_eq!(Pin::new(&mut later).poll(&mut context), Poll::Ready(3));
        assert_eq!(RunFuture::ready(4).map(|value| value + 1).wait(), 5);
    }

    /// Notes who does it; gives 1.
    struct Noted(Option<Promise<u32>>, mpsc::Sender<&'static str>);

    impl Errand for Noted {
        fn run(mut self: Box<Self>) {
            self.1.send("here").unwrap();
            self.0.take().unwrap().give(1);
        }
    }

    impl Drop for Noted {
        fn drop(&mut self) {
            if let Some(promise) = self.0.take() {
                self.1.send("left").unwrap();
                promise.give(1);
            }
        }
    }

    #[test]
    fn who_waits_runs_the_errand_and_who_does_not_leaves_it_at_once() {
        let errand = || {
            let (promise, later) = RunFuture::pair();
            let (sender, noted) = mpsc::channel();
            (later.of(Noted(Some(promise), sender)), noted)
        };
        let (later, noted) = errand();
        assert_eq!((later.wait(), noted.recv()), (1, Ok("here")));
        let (later, noted) = errand();
        let later = later.map(|value| value + 1).and_then(|value, promise| promise.give(value + 1));
        assert_eq!(noted.try_recv(), Err(mpsc::TryRecvError::Empty));
        assert_eq!((later.wait(), noted.recv()), (3, Ok("here")));

        let (later, noted) = errand();
        let (sender, received) = mpsc::channel();
        later.then(move |value| sender.send(value).unwrap());
        assert_eq!((received.recv(), noted.recv()), (Ok(1), Ok("left")));
        let (later, noted) = errand();
        drop(later.map(|value| value + 1));
        assert_eq!(noted.recv(), Ok("left"));
        let (mut later, noted) = errand();
        assert_eq!(Pin::new(&mut later).poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(1));
        assert_eq!(noted.recv(), Ok("left"));
        let (later, noted) = errand();
        let Err(later) = later.now() else { panic!("it was begun") };
        assert_eq!((later.wait(), noted.recv()), (1, Ok("here")));
    }

    #[test]
    fn a_promise_knows_that_nobody_waits() {
        let (promise, later) = RunFuture::<u32>::pair();
        assert!(!promise.is_abandoned());
        drop(later);
        assert!(promise.is_abandoned());
        promise.give(1);
    }
}
