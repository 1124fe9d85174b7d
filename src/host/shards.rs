//! Which of the counters that few threads share is a thread's own.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many counters share the threads among them.
pub(crate) const SHARDS: usize = 16;

/// Threads take the counters in turn, and keep theirs.
#[inline]
pub(crate) fn shard_of_thread() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static SHARD: Cell<usize> = const { Cell::new(usize::MAX) });
    SHARD.with(|shard| {
        if shard.get() == usize::MAX {
            shard.set(NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS);
        }
        shard.get()
    })
}
