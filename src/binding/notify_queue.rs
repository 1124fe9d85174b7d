//! How what happens on other threads reaches an event loop.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What wakes an event loop. Both functions run with the queue's lock held, on any thread, and must neither block nor come back to the
/// queue; the loop may have ended.
pub trait Notify: Send {
    /// There is something in the queue, which was empty.
    fn notify(&mut self);

    /// What `notify` announced is being taken.
    fn acknowledge(&mut self) {}
}

impl<F: FnMut() + Send> Notify for F {
    fn notify(&mut self) {
        self();
    }
}

/// Items for one event loop, which takes all that there are when it is notified. It is notified once until it takes them. After
/// [`NotifyQueue::close`] items are thrown away: nobody waits for them.
#[derive(Debug)]
pub struct NotifyQueue<T, N> {
    inner: Mutex<Inner<T, N>>,
}

#[derive(Debug)]
struct Inner<T, N> {
    items: Vec<T>,
    /// None: the loop has ended.
    notify: Option<N>,
}

impl<T, N: Notify> NotifyQueue<T, N> {
    /// An empty queue.
    pub fn new(notify: N) -> NotifyQueue<T, N> {
        NotifyQueue { inner: Mutex::new(Inner { items: Vec::new(), notify: Some(notify) }) }
    }

    /// Puts an item in, from any thread.
    pub fn push(&self, item: T) {
        let mut inner = self.lock();
        let Inner { items, notify: Some(notify) } = &mut *inner else {
            // What the item holds may take its time to end.
            drop(inner);
            drop(item);
            return;
        };
        items.push(item);
        if items.len() == 1 {
            notify.notify();
        }
    }

    /// Takes everything out, in the order in which it came.
    pub fn take_all(&self) -> Vec<T> {
        let mut inner = self.lock();
        if let (false, Some(notify)) = (inner.items.is_empty(), &mut inner.notify) {
            notify.acknowledge();
        }
        std::mem::take(&mut inner.items)
    }

    /// Looks at what notifies.
    pub fn with_notify<R>(&self, look: impl FnOnce(&N) -> R) -> Option<R> {
        self.lock().notify.as_ref().map(look)
    }

    /// The loop ends: it is not notified any more.
    pub fn close(&self) {
        let (items, notify) = {
            let mut inner = self.lock();
            (std::mem::take(&mut inner.items), inner.notify.take())
        };
        drop(items);
        drop(notify);
    }

    fn lock(&self) -> MutexGuard<'_, Inner<T, N>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Counts what it is told.
    #[derive(Clone, Default)]
    struct Counter {
        notified: Arc<AtomicUsize>,
        acknowledged: Arc<AtomicUsize>,
    }

    impl Notify for Counter {
        fn notify(&mut self) {
            self.notified.fetch_add(1, Ordering::SeqCst);
        }

        fn acknowledge(&mut self) {
            self.acknowledged.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn a_loop_is_notified_once_until_it_takes_what_there_is() {
        let counter = Counter::default();
        let queue = NotifyQueue::new(counter.clone());
        let seen = || (counter.notified.load(Ordering::SeqCst), counter.acknowledged.load(Ordering::SeqCst));
        assert_eq!((queue.take_all(), seen()), (vec![], (0, 0)));
        queue.push(1);
        queue.push(2);
        assert_eq!(seen(), (1, 0));
        assert_eq!((queue.take_all(), seen()), (vec![1, 2], (1, 1)));
        queue.push(3);
        assert_eq!((queue.take_all(), seen()), (vec![3], (2, 2)));
    }

    #[test]
    fn after_the_end_nothing_is_kept_and_nobody_notified() {
        let (counter, held) = (Counter::default(), Arc::new(()));
        let queue = NotifyQueue::new(counter.clone());
        queue.push(held.clone());
        queue.close();
        assert_eq!((Arc::strong_count(&held), Arc::strong_count(&counter.notified)), (1, 1));
        queue.push(held.clone());
        assert_eq!((Arc::strong_count(&held), queue.take_all().len()), (1, 0));
        assert_eq!(counter.notified.load(Ordering::SeqCst), 1);
        assert_eq!(queue.with_notify(|_| ()), None);
    }
}
