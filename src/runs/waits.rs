//! Who waits for what. A wait is registered before it looks, and looks again after every commit that could matter, so nothing
//! is missed; nothing is polled.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::core::Core;
use super::job::{Done, ResultFuture};
use super::promise::{Promise, RunFuture};
use super::refuse::Refusal;
use crate::store::Reader;

/// What a wait is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Topic {
    /// A run's events and claim.
    Run(String),
    /// Work for an agent.
    Work(String),
}

/// What a look found.
pub(crate) enum Seen<T> {
    /// The wait is over.
    Found(T),
    /// The wait goes on; it is over with this when its time is up. `again_ms` from now something may be there by itself.
    NotYet { otherwise: T, again_ms: Option<i64> },
}

/// Everything that waits.
#[derive(Default)]
pub(crate) struct Waits {
    by_topic: Mutex<HashMap<Topic, Vec<Arc<dyn Waiting>>>>,
}

/// A wait of any kind.
pub(crate) trait Waiting: Send + Sync {
    /// Looks whether it is over.
    fn look(self: Arc<Self>, core: &Arc<Core>);
}

impl Waits {
    fn lock(&self) -> MutexGuard<'_, HashMap<Topic, Vec<Arc<dyn Waiting>>>> {
        self.by_topic.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has everybody look who waits for that.
    pub(crate) fn ring(&self, core: &Arc<Core>, topic: &Topic) {
        let waiting = self.lock().get(topic).cloned().unwrap_or_default();
        waiting.into_iter().for_each(|wait| wait.look(core));
    }

    /// Has everybody look.
    pub(crate) fn ring_all(&self, core: &Arc<Core>) {
        let mut waiting: Vec<_> = self.lock().values().flatten().cloned().collect();
        waiting.sort_by_key(|wait| Arc::as_ptr(wait).cast::<()>());
        waiting.dedup_by(|a, b| Arc::ptr_eq(a, b));
        waiting.into_iter().for_each(|wait| wait.look(core));
    }

    fn add(&self, topics: &[Topic], wait: &Arc<dyn Waiting>) {
        let mut by_topic = self.lock();
        for topic in topics {
            by_topic.entry(topic.clone()).or_default().push(wait.clone());
        }
    }

    fn remove(&self, topics: &[Topic], wait: &Arc<dyn Waiting>) {
        let mut by_topic = self.lock();
        for topic in topics {
            if let Some(waiting) = by_topic.get_mut(topic) {
                waiting.retain(|other| !Arc::ptr_eq(other, wait));
                if waiting.is_empty() {
                    by_topic.remove(topic);
                }
            }
        }
    }
}

/// One wait.
struct Wait<T: Send + 'static, F> {
    topics: Vec<Topic>,
    until: Instant,
    find: F,
    state: Mutex<State<T>>,
}

struct State<T> {
    /// None once the wait is over.
    promise: Option<Promise<Result<T, Refusal>>>,
    looking: bool,
    /// Something happened during the look.
    again: bool,
}

impl<T, F> Wait<T, F>
where
    T: Send + 'static,
    F: Fn(&mut dyn Reader) -> Done<Seen<T>> + Send + Sync + 'static,
{
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(self: Arc<Self>, core: &Arc<Core>, result: Result<T, Refusal>) {
        let promise = self.state().promise.take();
        let topics = self.topics.clone();
        let wait: Arc<dyn Waiting> = self;
        core.waits.remove(&topics, &wait);
        if let Some(promise) = promise {
            promise.give(result);
        }
    }

    fn looked(self: Arc<Self>, core: &Arc<Core>, seen: Result<Seen<T>, Refusal>) {
        let (otherwise, again_ms) = match seen {
            Err(refusal) => return self.end(core, Err(refusal)),
            Ok(Seen::Found(found)) => return self.end(core, Ok(found)),
            Ok(Seen::NotYet { otherwise, again_ms }) => (otherwise, again_ms),
        };
        let again = {
            let mut state = self.state();
            state.looking = false;
            std::mem::take(&mut state.again)
        };
        if again {
            return self.look(core);
        }
        if Instant::now() >= self.until {
            return self.end(core, Ok(otherwise));
        }
        if let Some(again_ms) = again_ms {
            let at = Instant::now() + Duration::from_millis(u64::try_from(again_ms).unwrap_or(0));
            if at < self.until {
                core.timers.look_at(at, self);
            }
        }
    }
}

impl<T, F> Waiting for Wait<T, F>
where
    T: Send + 'static,
    F: Fn(&mut dyn Reader) -> Done<Seen<T>> + Send + Sync + 'static,
{
    fn look(self: Arc<Self>, core: &Arc<Core>) {
        {
            let mut state = self.state();
            let Some(promise) = &state.promise else { return };
            if promise.is_abandoned() {
                drop(state);
                return self.end(core, Err(super::refuse::internal("nobody waits")));
            }
            if state.looking {
                state.again = true;
                return;
            }
            state.looking = true;
        }
        let (wait, shared) = (self.clone(), core.clone());
        core.read(move |reader| (self.find)(reader)).then(move |seen| wait.looked(&shared, seen));
    }
}

impl Core {
    /// Waits, at most `timeout`, until `find` finds something. It looks at once, and then when something happens to `topics`.
    pub(crate) fn wait<T: Send + 'static>(
        self: &Arc<Core>,
        topics: Vec<Topic>,
        timeout: Duration,
        find: impl Fn(&mut dyn Reader) -> Done<Seen<T>> + Send + Sync + 'static,
    ) -> ResultFuture<T> {
        const FAR: Duration = Duration::from_secs(365 * 24 * 3600);
        if self.is_forked() {
            return self.closed();
        }
        let (promise, later) = RunFuture::pair();
        let until = Instant::now() + timeout.min(FAR);
        let state = Mutex::new(State { promise: Some(promise), looking: false, again: false });
        let wait = Arc::new(Wait { topics, until, find, state });
        let waiting: Arc<dyn Waiting> = wait.clone();
        if !timeout.is_zero() {
            self.waits.add(&wait.topics, &waiting);
            self.timers.look_at(until, waiting);
        }
        wait.look(self);
        later
    }
}
