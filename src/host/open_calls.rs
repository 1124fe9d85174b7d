//! The open calls of one host, for closing to find. What the answer of a call has to fit stays with whoever opened it; all that is
//! shared is that nobody has decided the answer yet, and which hook runs when the host decides it.

use std::sync::Arc;

use slab::Slab;

use super::lock::{Mutex, MutexGuard};

/// What runs when nobody waits for an answer any more.
pub type AbandonedHook = Arc<dyn Fn() + Send + Sync>;

/// The calls whose answers are not decided. Keys are used again, but none is given out once the host is closing: only closing
/// takes calls away from those who know their keys.
#[derive(Default)]
pub(super) struct OpenCalls(Mutex<Slab<Option<AbandonedHook>>>);

/// What became of a hook that a call was given.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum HookOutcome {
    /// It is kept.
    Kept,
    /// The call has one already.
    AlreadyHooked,
    /// The host has given the call up.
    GivenUp,
}

impl OpenCalls {
    /// Keeps a new call, unless the host is closing; asked under the lock under which closing takes the calls.
    pub(super) fn open(&self, is_closing: impl FnOnce() -> bool) -> Option<usize> {
        let mut calls = self.calls();
        if is_closing() { None } else { Some(calls.insert(None)) }
    }

    /// Takes a call out: from now on its answer is decided. What it gives is the call's hook. None: the host has given it up.
    pub(super) fn claim(&self, key: usize) -> Option<Option<AbandonedHook>> {
        self.calls().try_remove(key)
    }

    /// Takes all calls out, for the host that gives them up: their hooks.
    pub(super) fn claim_all(&self) -> Vec<AbandonedHook> {
        let calls = std::mem::take(&mut *self.calls());
        calls.into_iter().filter_map(|(_, hook)| hook).collect()
    }

    /// Whether the answer of a call is not decided.
    pub(super) fn contain(&self, key: usize) -> bool {
        self.calls().contains(key)
    }

    /// Keeps a hook with its call.
    pub(super) fn set_hook(&self, key: usize, hook: &AbandonedHook) -> HookOutcome {
        match self.calls().get_mut(key) {
            None => HookOutcome::GivenUp,
            Some(Some(_)) => HookOutcome::AlreadyHooked,
            Some(none) => {
                *none = Some(hook.clone());
                HookOutcome::Kept
            }
        }
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.calls().is_empty()
    }

    fn calls(&self) -> MutexGuard<'_, Slab<Option<AbandonedHook>>> {
        self.0.lock()
    }
}
