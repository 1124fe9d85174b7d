//! Counts the callbacks that are on some thread's stack, so that closing can wait until there is none, and runs `destroy` then.
//!
//! Whatever may run a callback is counted before it decides anything: a call that is claimed first and counted afterwards is
//! in flight for nobody in between, and closing would not wait for it.
//!
//! While the host is open a callback costs two additions on a counter that few threads share. Once it is closing those
//! counters only fall; what still has to run (an answer that won the race with close) is counted under the lock. Once
//! `destroy` has begun nothing is counted any more: every call is answered, and there is nobody to wait.

use std::marker::PhantomData;
use std::time::Instant;

use super::callback_stack;
use super::lock::{Condvar, Mutex, MutexGuard};
use super::shards::{SHARDS, shard_of_thread};
use super::sync::{AtomicBool, AtomicUsize, Ordering};

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
pub(super) struct Entry<'a> {
    activity: &'a Activity,
    counted: Counted,
    /// Not sent to another thread: the end belongs where the beginning was.
    same_thread: PhantomData<std::sync::MutexGuard<'static, ()>>,
}

/// Where a callback is counted.
enum Counted {
    /// In a counter of few threads: it began while the host was open.
    InShard(usize),
    /// Under the lock: it began while the host was closing.
    Late,
    /// Nowhere: closing does not wait for it.
    Nowhere,
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
    pub(super) fn enter(&self) -> Option<Entry<'_>> {
        let shard = shard_of_thread();
        self.shards[shard].0.fetch_add(1, Ordering::SeqCst);
        if self.closing.load(Ordering::SeqCst) {
            self.leave_shard(shard);
            return None;
        }
        Some(self.entry(Counted::InShard(shard)))
    }

    /// A callback begins, also when the host is closing: one that ends what began before. Not counted once `destroy` has begun.
    pub(super) fn enter_finishing(&self) -> Entry<'_> {
        self.enter().unwrap_or_else(|| {
            let mut phase = self.lock();
            if phase.stage != Stage::Open {
                return self.entry(Counted::Nowhere);
            }
            phase.late += 1;
            self.entry(Counted::Late)
        })
    }

    /// A callback begins that closing does not wait for.
    pub(super) fn enter_uncounted(&self) -> Entry<'_> {
        self.entry(Counted::Nowhere)
    }

    fn entry(&self, counted: Counted) -> Entry<'_> {
        callback_stack::push(self.host);
        Entry { activity: self, counted, same_thread: PhantomData }
    }

    /// Whether a callback of this host is on this thread's stack.
    pub(super) fn is_on_this_thread(&self) -> bool {
        callback_stack::contains(self.host)
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

    /// Wakes whoever waits, to check again.
    pub(super) fn changed(&self) {
        if self.closing.load(Ordering::SeqCst) {
            drop(self.lock());
            self.changed.notify_all();
        }
    }

    /// Runs `destroy`, which does not panic, when no callback runs and `idle` holds, or waits for who does. False: not by
    /// `deadline`.
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
        let entry = self.enter_uncounted();
        destroy();
        drop(entry);
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

impl Entry<'_> {
    /// Whether closing waits for it, so that the log hook is still there.
    pub(super) fn is_counted(&self) -> bool {
        !matches!(self.counted, Counted::Nowhere)
    }
}

impl Drop for Entry<'_> {
    #[inline]
    fn drop(&mut self) {
        callback_stack::pop();
        match self.counted {
            Counted::InShard(shard) => self.activity.leave_shard(shard),
            Counted::Late => {
                self.activity.lock().late -= 1;
                self.activity.changed.notify_all();
            }
            Counted::Nowhere => {}
        }
    }
}
