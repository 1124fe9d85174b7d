//! How many handles of each kind exist: a program that has freed all of its own finds zero.

use std::sync::atomic::{AtomicU64, Ordering};

/// `agenthost_live`: hosts, by their last release.
pub const AGENTHOST_LIVE_HOSTS: i32 = 1;
/// `agenthost_live`: deferred replies.
pub const AGENTHOST_LIVE_REPLIES: i32 = 2;
/// `agenthost_live`: handles of asynchronous dispatches.
pub const AGENTHOST_LIVE_PENDINGS: i32 = 3;
/// `agenthost_live`: buffers.
pub const AGENTHOST_LIVE_BUFFERS: i32 = 4;
/// `agenthost_live`: requests of a client.
pub const AGENTHOST_LIVE_REQUESTS: i32 = 5;
/// `agenthost_live`: responses of a client.
pub const AGENTHOST_LIVE_RESPONSES: i32 = 6;
/// `agenthost_live`: opened durable runs, by their last release.
pub const AGENTHOST_LIVE_RUNS: i32 = 8;
/// `agenthost_live`: outcomes of durable runs.
pub const AGENTHOST_LIVE_OUTCOMES: i32 = 9;

static COUNTS: [AtomicU64; 10] = [const { AtomicU64::new(0) }; 10];

/// A mark inside a handle of one kind: counted as long as it exists.
pub(super) struct Live<const KIND: i32>(());

impl<const KIND: i32> Live<KIND> {
    pub(super) fn new() -> Self {
        COUNTS[KIND as usize].fetch_add(1, Ordering::Relaxed);
        Live(())
    }
}

impl<const KIND: i32> Drop for Live<KIND> {
    fn drop(&mut self) {
        COUNTS[KIND as usize].fetch_sub(1, Ordering::Relaxed);
    }
}

/// How many handles of a kind (`AGENTHOST_LIVE_...`) exist in this process; 0 for a kind that is not known. For tests: other
/// threads may be changing it.
#[unsafe(no_mangle)]
pub extern "C" fn agenthost_live(kind: i32) -> u64 {
    usize::try_from(kind).ok().and_then(|kind| COUNTS.get(kind)).map_or(0, |count| count.load(Ordering::Relaxed))
}
