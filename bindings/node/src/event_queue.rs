//! How what happens on other threads reaches JavaScript: an event is put into the environment's queue, and its event loop is notified;
//! JavaScript then takes all events at once. An event that comes after the environment's end is thrown away, and with it whatever it
//! holds: nobody waits for it any more.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Makes an event loop take its events, soon. It may be called from any thread, also when the loop has ended.
pub(crate) type Notify = Arc<dyn Fn() + Send + Sync>;

/// Events of one kind for one event loop.
pub(crate) struct EventQueue<T> {
    state: Mutex<State<T>>,
}

struct State<T> {
    /// None: the environment has ended.
    notify: Option<Notify>,
    events: Vec<T>,
}

impl<T> EventQueue<T> {
    pub(crate) fn new(notify: Notify) -> EventQueue<T> {
        EventQueue { state: Mutex::new(State { notify: Some(notify), events: Vec::new() }) }
    }

    /// Adds an event, from any thread. The first one notifies.
    pub(crate) fn push(&self, event: T) {
        let mut state = self.lock();
        let Some(notify) = state.notify.clone() else {
            // What the event holds may take its time to be dropped.
            drop(state);
            drop(event);
            return;
        };
        state.events.push(event);
        let first = state.events.len() == 1;
        drop(state);
        if first {
            notify();
        }
    }

    /// Takes all events.
    pub(crate) fn take(&self) -> Vec<T> {
        std::mem::take(&mut self.lock().events)
    }

    /// The environment ends: nothing is delivered any more.
    pub(crate) fn close(&self) {
        let (notify, events) = {
            let mut state = self.lock();
            (state.notify.take(), std::mem::take(&mut state.events))
        };
        drop(events);
        drop(notify);
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
