//! Who waits for what: a registry that has waiters polled when something happens to their topic. It knows nothing of stores, nor of
//! what a waiter waits for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use slab::Slab;

/// What a wait is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Topic {
    /// A run's events and claim.
    Run(String),
    /// Work for an agent.
    Work(String),
    /// New approvals, of any run.
    Approvals,
}

/// Somebody who waits.
pub(crate) trait Waiter: Send + Sync {
    /// Checks whether the wait is over.
    fn poll(self: Arc<Self>);
}

/// Everybody who waits.
#[derive(Default)]
pub(crate) struct Waiters {
    state: Mutex<State>,
}

/// Names a waiter while it is registered.
pub(crate) type WaiterId = usize;

#[derive(Default)]
struct State {
    all: Slab<Arc<dyn Waiter>>,
    by_topic: HashMap<Topic, Vec<WaiterId>>,
}

impl Waiters {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a waiter, which is kept until it is removed, whatever its topics are.
    pub(crate) fn add(&self, topics: &[Topic], waiter: Arc<dyn Waiter>) -> WaiterId {
        let mut state = self.lock();
        let id = state.all.insert(waiter);
        for topic in topics {
            state.by_topic.entry(topic.clone()).or_default().push(id);
        }
        id
    }

    /// Removes a waiter: by its id and the topics that it was added with.
    pub(crate) fn remove(&self, topics: &[Topic], id: WaiterId) {
        let mut state = self.lock();
        for topic in topics {
            if let Some(ids) = state.by_topic.get_mut(topic) {
                ids.retain(|other| *other != id);
                if ids.is_empty() {
                    state.by_topic.remove(topic);
                }
            }
        }
        let removed = state.all.try_remove(id);
        drop(state);
        // Its end may be the end of what the application has given it.
        drop(removed);
    }

    /// Polls everybody who waits for that, with no lock held.
    pub(crate) fn notify(&self, topic: &Topic) {
        let waiters: Vec<_> = {
            let state = self.lock();
            let Some(ids) = state.by_topic.get(topic) else { return };
            ids.iter().filter_map(|id| state.all.get(*id)).cloned().collect()
        };
        waiters.into_iter().for_each(Waiter::poll);
    }

    /// Polls everybody.
    pub(crate) fn notify_all(&self) {
        let waiters: Vec<_> = self.lock().all.iter().map(|(_, waiter)| waiter.clone()).collect();
        waiters.into_iter().for_each(Waiter::poll);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[derive(Default)]
    struct Counter(AtomicUsize);

    impl Waiter for Counter {
        fn poll(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn a_waiter_is_polled_for_its_topics_until_it_is_removed() {
        let (waiters, counter, idle) = (Waiters::default(), Arc::new(Counter::default()), Arc::new(Counter::default()));
        let count = |counter: &Counter| counter.0.load(Ordering::SeqCst);
        let (run, work) = (Topic::Run("a".into()), Topic::Work("a".into()));
        let id = waiters.add(&[run.clone(), work.clone()], counter.clone());
        let other = waiters.add(&[], idle.clone());
        waiters.notify(&run);
        waiters.notify(&work);
        waiters.notify(&Topic::Run("b".into()));
        assert_eq!((count(&counter), count(&idle)), (2, 0));
        waiters.notify_all();
        assert_eq!((count(&counter), count(&idle)), (3, 1), "each once, those without a topic too");
        waiters.remove(&[run.clone(), work], id);
        waiters.notify(&run);
        waiters.notify_all();
        assert_eq!((count(&counter), count(&idle)), (3, 2));
        waiters.remove(&[], other);
        waiters.remove(&[], other);
        assert_eq!((Arc::strong_count(&counter), Arc::strong_count(&idle)), (1, 1));
        assert!(waiters.lock().by_topic.is_empty());
    }

    #[test]
    fn a_topic_that_is_given_twice_is_removed_whole() {
        let (waiters, counter) = (Waiters::default(), Arc::new(Counter::default()));
        let topics = [Topic::Work("a".into()), Topic::Work("a".into())];
        let id = waiters.add(&topics, counter.clone());
        waiters.remove(&topics, id);
        assert!(waiters.lock().by_topic.is_empty());
    }
}
