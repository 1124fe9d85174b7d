//! Counts the callbacks that are on some thread's stack, so that closing can wait until there is none, and runs `destroy` then.
//!
//! While the host is open a callback costs two additions on a counter that few threads share. Once it is closing those
//! counters only fall; what still has to run (an answer that won the race with close) is counted under the lock.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use super::frames;
use super::lock::{Condvar, Mutex, MutexGuard};

/// How many counters share the threads among them.
pub(crate) const SHARDS: usize = 16;

/// A counter on cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct Shard(AtomicUsize);

/// The callbacks of one host.
pub(super) struct Activity {
    host: u64,
    shards: [Shard; SHARDS],
    closing: AtomicBool,
    abandoning: AtomicBool,
    phase: Mutex<Phase>,
    changed: Condvar,
}

/// How far the end of a host has come.
#[derive(Default)]
pub(super) struct Phase {
    stage: Stage,
    /// Callbacks that began after closing did.
    late: usize,
    /// The last handle is gone: the last callback runs `destroy`.
    orphaned: bool,
}

#[derive(Default, PartialEq, Eq, Clone, Copy)]
enum Stage {
    #[default]
    Open,
    Destroying,
    Destroyed,
}

/// A callback of a host on this thread's stack.
pub(super) struct Running<'a> {
    activity: &'a Activity,
    /// Where it was counted; none: under the lock.
    shard: Option<usize>,
    same_thread: PhantomData<*const ()>,
}

impl Activity {
    pub(super) fn new(host: u64) -> Activity {
        Activity {
            host,
            shards: Default::default(),
            closing: AtomicBool::new(false),
            abandoning: AtomicBool::new(false),
            phase: Mutex::default(),
            changed: Condvar::default(),
        }
    }

    /// A callback begins, unless the host is closing.
    #[inline]
    pub(super) fn enter(&self) -> Option<Running<'_>> {
        let shard = shard_of_thread();
        self.shards[shard].0.fetch_add(1, Ordering::SeqCst);
        if self.closing.load(Ordering::SeqCst) {
            self.leave_shard(shard);
            return None;
        }
        frames::push(self.host);
        Some(Running { activity: self, shard: Some(shard), same_thread: PhantomData })
    }

    /// A callback begins, also when the host is closing: one that ends what began before.
    pub(super) fn enter_late(&self) -> Running<'_> {
        self.enter().unwrap_or_else(|| {
            self.lock().late += 1;
            frames::push(self.host);
            Running { activity: self, shard: None, same_thread: PhantomData }
        })
    }

    /// Whether a callback of this host is on this thread's stack.
    pub(super) fn is_on_this_thread(&self) -> bool {
        frames::contain(self.host)
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst)
    }

    /// Whether calls that are deferred from now on have to be answered by whoever defers them.
    pub(super) fn is_abandoning(&self) -> bool {
        self.abandoning.load(Ordering::SeqCst)
    }

    /// From here on nobody waits for deferred replies any more.
    pub(super) fn begin_abandoning(&self) {
        self.abandoning.store(true, Ordering::SeqCst);
    }

    /// From here on no callback begins but late ones.
    pub(super) fn begin_closing(&self) {
        self.closing.store(true, Ordering::SeqCst);
    }

    /// Waits, until `deadline` at the most, for no callback to run and `idle` to hold. True when that was so.
    pub(super) fn wait_idle(&self, deadline: Option<Instant>, idle: impl Fn() -> bool) -> bool {
        let mut phase = self.lock();
        loop {
            if self.is_quiet(&phase) && idle() {
                return true;
            }
            match self.wait(phase, deadline) {
                Some(again) => phase = again,
                None => return false,
            }
        }
    }

    /// Somebody that waits should look again.
    pub(super) fn changed(&self) {
        if self.closing.load(Ordering::SeqCst) {
            drop(self.lock());
            self.changed.notify_all();
        }
    }

    /// Runs `destroy` when no callback runs and `idle` holds, or waits for who does. False: not by `deadline`.
    pub(super) fn destroy(&self, deadline: Option<Instant>, idle: impl Fn() -> bool, destroy: impl FnOnce()) -> bool {
        let mut phase = self.lock();
        loop {
            match phase.stage {
                Stage::Destroyed => return true,
                Stage::Open if self.is_quiet(&phase) && idle() => {
                    self.run_destroy(phase, destroy);
                    return true;
                }
                _ => match self.wait(phase, deadline) {
                    Some(again) => phase = again,
                    None => return false,
                },
            }
        }
    }

    /// The last handle is gone inside a callback: `destroy` runs where the last callback returns.
    pub(super) fn orphan(&self) {
        self.lock().orphaned = true;
    }

    /// Whether this thread, which has just left a callback, is the one that has to destroy an orphaned host.
    pub(super) fn destroy_if_orphaned(&self, idle: impl Fn() -> bool, destroy: impl FnOnce()) {
        if !self.closing.load(Ordering::SeqCst) {
            return;
        }
        let phase = self.lock();
        if phase.orphaned && phase.stage == Stage::Open && self.is_quiet(&phase) && idle() {
            self.run_destroy(phase, destroy);
        }
    }

    fn run_destroy(&self, mut phase: MutexGuard<'_, Phase>, destroy: impl FnOnce()) {
        phase.stage = Stage::Destroying;
        drop(phase);
        frames::push(self.host);
        destroy();
        frames::pop();
        self.lock().stage = Stage::Destroyed;
        self.changed.notify_all();
    }

    fn is_quiet(&self, phase: &Phase) -> bool {
        phase.late == 0 && self.shards.iter().all(|shard| shard.0.load(Ordering::SeqCst) == 0)
    }

    fn wait<'a>(&self, phase: MutexGuard<'a, Phase>, deadline: Option<Instant>) -> Option<MutexGuard<'a, Phase>> {
        let Some(deadline) = deadline else {
            return Some(self.changed.wait(phase));
        };
        let left = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
        Some(self.changed.wait_timeout(phase, left))
    }

    fn lock(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock()
    }

    #[inline]
    fn leave_shard(&self, shard: usize) {
        self.shards[shard].0.fetch_sub(1, Ordering::SeqCst);
        self.changed();
    }
}

impl Drop for Running<'_> {
    #[inline]
    fn drop(&mut self) {
        frames::pop();
        match self.shard {
            Some(shard) => self.activity.leave_shard(shard),
            None => {
                self.activity.lock().late -= 1;
                self.activity.changed.notify_all();
            }
        }
    }
}

/// Threads take the counters in turn, and keep theirs.
#[inline]
pub(crate) fn shard_of_thread() -> usize {
    use std::cell::Cell;
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static SHARD: Cell<usize> = const { Cell::new(usize::MAX) });
    SHARD.with(|shard| {
        if shard.get() == usize::MAX {
            shard.set(NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS);
        }
        shard.get()
    })
}
