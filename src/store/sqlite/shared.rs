//! What the threads of one opened store share.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock};

use rusqlite::Connection;

use super::super::time::StoreTime;
use super::super::{ReadJob, WriteJob};
use super::checkpoint::Checkpointer;
use super::connection::Place;
use super::fair_lock::FairLock;
use super::notifier::Notifier;
use super::queue::Queue;
use crate::host::fork;

/// Called when another process has committed something.
pub(super) type Watcher = Arc<dyn Fn() + Send + Sync>;

/// One opened store, but for the connections of the threads that read and that move the log.
pub(super) struct Shared {
    /// The process that opened it.
    pub(super) process: u64,
    pub(super) place: Place,
    pub(super) time: StoreTime,
    pub(super) writes: Queue<Box<dyn WriteJob>>,
    /// The connection that writes: who holds the lock writes. None before the store is open and once it is closed.
    pub(super) writer: Mutex<Option<Connection>>,
    pub(super) reads: Queue<Box<dyn ReadJob>>,
    /// Held while this store writes, among the processes that have the file open.
    pub(super) write_lock: FairLock,
    pub(super) notifier: Notifier,
    pub(super) checkpointer: Checkpointer,
    pub(super) watcher: OnceLock<Watcher>,
}

impl Shared {
    /// Whether this process is a fork of the one that opened the store. What the store holds is then the parent's.
    pub(super) fn is_forked(&self) -> bool {
        self.process != fork::generation()
    }

    pub(super) fn notify_watcher(&self) {
        if let Some(watcher) = self.watcher.get() {
            // A panic of the watcher must not end the thread that calls it.
            let _ = catch_unwind(AssertUnwindSafe(|| watcher()));
        }
    }
}
