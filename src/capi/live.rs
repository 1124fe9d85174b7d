//! How many handles of each kind exist: a program that has freed all of its own finds zero.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::host::{SHARDS, shard_of_thread};

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

/// Counts of every kind, on cache lines that few threads share. A handle may end on another thread than it was made on: only the
/// sum over all shards means something.
#[repr(align(128))]
struct Shard([AtomicU64; 10]);

static COUNTS: [Shard; SHARDS] = [const { Shard([const { AtomicU64::new(0) }; 10]) }; SHARDS];

fn count<const KIND: i32>() -> &'static AtomicU64 {
    &COUNTS[shard_of_thread()].0[KIND as usize]
}

/// A mark inside a handle of one kind: counted as long as it exists.
pub(super) struct Live<const KIND: i32>(());

impl<const KIND: i32> Live<KIND> {
    pub(super) fn new() -> Self {
        count::<KIND>().fetch_add(1, Ordering::Relaxed);
        Live(())
    }
}

impl<const KIND: i32> Drop for Live<KIND> {
    fn drop(&mut self) {
        count::<KIND>().fetch_sub(1, Ordering::Relaxed);
    }
}

/// How many handles of a kind (`AGENTHOST_LIVE_...`) exist in this process; 0 for a kind that is not known. For tests: other
/// threads may be changing it.
#[unsafe(no_mangle)]
pub extern "C" fn agenthost_live(kind: i32) -> u64 {
    let of_shard = |shard: &Shard| shard.0.get(usize::try_from(kind).ok()?).map(|count| count.load(Ordering::Relaxed));
    COUNTS.iter().filter_map(of_shard).fold(0, u64::wrapping_add)
}
