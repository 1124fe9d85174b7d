//! Begins a dispatch whose answer is there at once or comes later.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::dispatch::UnavailableReason;
use crate::host::{Host, HostMisuse, Pending};

/// What became of a dispatch.
#[derive(Debug)]
pub enum Begun {
    /// This is the response. Nobody is notified.
    Ready(Vec<u8>),
    /// The response comes later.
    Pending(PendingResponse),
}

/// A response that comes later, for whoever polls it, waits for it or is notified. It is taken once. Dropping this does not give the call
/// up.
pub struct PendingResponse {
    pending: Pending,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    arrived: Condvar,
}

type NotifyOnce = Box<dyn FnOnce() + Send>;

enum State {
    /// The dispatch has not returned: it takes the response itself.
    Dispatching,
    /// Somebody has the handle, and this tells him.
    Waiting(NotifyOnce),
    Arrived(Vec<u8>),
    Taken,
}

/// Begins a dispatch. `notify` runs once when the result is [`Begun::Pending`] and the response is there: on whichever thread answers,
/// perhaps before this function returns, with no lock held. It must be short: it may run on the thread that every commit goes through.
///
/// # Errors
/// See [`HostMisuse`]; nothing was begun.
pub fn begin(
    host: &Host,
    message: &[u8],
    principal: Option<Cow<'_, str>>,
    notify: impl FnOnce() + Send + 'static,
) -> Result<Begun, HostMisuse> {
    let shared = Arc::new(Shared { state: Mutex::new(State::Dispatching), arrived: Condvar::new() });
    let (answered, mut pending) = (shared.clone(), Pending::default());
    host.dispatch_async(message, principal, |started| pending = started, move |response| answered.arrive(response))?;
    let mut state = shared.lock();
    Ok(match std::mem::replace(&mut *state, State::Waiting(Box::new(notify))) {
        State::Arrived(response) => Begun::Ready(response),
        _ => {
            drop(state);
            Begun::Pending(PendingResponse { pending, shared })
        }
    })
}

impl PendingResponse {
    /// The response, if it is there.
    pub fn take(&self) -> Option<Vec<u8>> {
        self.shared.lock().take()
    }

    /// Waits for the response, for `timeout` at the most; without one for as long as it takes. A timeout gives nothing up. Whoever has
    /// to look after other things meanwhile, as signals, waits in short pieces.
    pub fn wait(&self, timeout: Option<Duration>) -> Option<Vec<u8>> {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut state = self.shared.lock();
        while matches!(*state, State::Waiting(_)) {
            state = match deadline {
                None => self.shared.arrived.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
                    self.shared.arrived.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        state.take()
    }

    /// Answers the call `unavailable`, unless it is answered already: the response comes like any other. What the service was asked
    /// it may do all the same. True when this decided the answer.
    ///
    /// # Errors
    /// [`HostMisuse::Forked`].
    pub fn give_up(&self, why: UnavailableReason) -> Result<bool, HostMisuse> {
        self.pending.give_up(why)
    }
}

impl fmt::Debug for PendingResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingResponse").finish_non_exhaustive()
    }
}

impl Shared {
    fn arrive(&self, response: Vec<u8>) {
        let before = std::mem::replace(&mut *self.lock(), State::Arrived(response));
        self.arrived.notify_all();
        if let State::Waiting(notify) = before {
            notify();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self) -> Option<Vec<u8>> {
        if !matches!(self, State::Arrived(_)) {
            return None;
        }
        match std::mem::replace(self, State::Taken) {
            State::Arrived(response) => Some(response),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{DeferredReply, DeferringService, HostOptions, Reply};
    use crate::service::{Call, Request};
    use std::sync::atomic::{AtomicUsize, Ordering};

    const GET_RUN: &[u8] = br#"{"protocolVersion":"2026-07-01","requestId":"r","operation":"get_run","body":{"runId":"a"}}"#;

    /// Keeps the replies to all runs.
    #[derive(Clone, Default)]
    struct Silent(Arc<Mutex<Vec<DeferredReply>>>);

    impl DeferringService for Silent {
        fn serve(&self, _: &Call<'_>, _: Request<'_>, reply: &mut Reply<'_>) {
            self.0.lock().unwrap().extend(reply.defer());
        }
    }

    fn host() -> (Host, Silent) {
        let service = Silent::default();
        (Host::deferring(Box::new(service.clone()), HostOptions::default()), service)
    }

    fn pending(host: &Host) -> (PendingResponse, Arc<AtomicUsize>) {
        let notified = Arc::new(AtomicUsize::new(0));
        let counter = notified.clone();
        let notify = move || {
            counter.fetch_add(1, Ordering::SeqCst);
        };
        match begin(host, GET_RUN, None, notify) {
            Ok(Begun::Pending(pending)) => (pending, notified),
            other => panic!("{other:?}"),
        }
    }

    fn has_reason(response: Option<Vec<u8>>, reason: &str) -> bool {
        String::from_utf8(response.unwrap()).unwrap().contains(&format!(r#""reason":"{reason}""#))
    }

    #[test]
    fn what_is_answered_at_once_is_ready_and_nobody_is_notified() {
        let (host, _) = host();
        match begin(&host, b"{}", None, || panic!("nobody waits")) {
            Ok(Begun::Ready(response)) => assert!(String::from_utf8(response).unwrap().contains("invalid_request")),
            other => panic!("{other:?}"),
        }
        assert!(matches!(begin(&host, GET_RUN, Some("".into()), || ()), Err(HostMisuse::EmptyPrincipal)));
        host.close(None).unwrap();
        assert!(matches!(begin(&host, GET_RUN, None, || panic!("nobody waits")), Ok(Begun::Ready(_))));
    }

    #[test]
    fn what_comes_later_is_announced_once_and_taken_once() {
        let (host, service) = host();
        let (pending, notified) = pending(&host);
        assert_eq!((pending.take(), pending.wait(Some(Duration::ZERO))), (None, None));
        assert_eq!(pending.wait(Some(Duration::from_millis(1))), None);
        drop(service.0.lock().unwrap().pop());
        assert_eq!(notified.load(Ordering::SeqCst), 1);
        assert!(has_reason(pending.take(), "dropped"));
        assert_eq!((pending.take(), pending.wait(None)), (None, None));
        assert_eq!(pending.give_up(UnavailableReason::Timeout), Ok(false));
    }

    #[test]
    fn whoever_waits_is_woken_and_whoever_gives_up_gets_the_reason() {
        let (host, service) = host();
        let (first, second) = (pending(&host).0, pending(&host).0);
        let waiter = std::thread::spawn(move || first.wait(None));
        drop(service.0.lock().unwrap().remove(0));
        assert!(has_reason(waiter.join().unwrap(), "dropped"));
        assert_eq!(second.give_up(UnavailableReason::Timeout), Ok(true));
        assert!(has_reason(second.wait(None), "timeout"));
    }
}
