//! The open calls of one host, for closing to find. What the answer of a call has to fit stays with whoever opened it; all that is
//! shared is that nobody has decided the answer yet, and who is to be told when the host does.

use slab::Slab;

use super::call::AbandonedHook;
use super::lock::{Mutex, MutexGuard};

/// The calls whose answers are not decided. Keys are used again, but none is given out once the host is closing: only closing
/// takes calls away from those who know their keys.
#[derive(Default)]
pub(super) struct OpenCalls(Mutex<Slab<Option<AbandonedHook>>>);

/// What became of a hook.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Hooked {
    /// It is kept.
    Kept,
    /// The call has one.
    Before,
    /// The host has given the call up.
    TooLate,
}

impl OpenCalls {
    /// Keeps a new call, unless the host is closing; asked under the lock under which closing looks for calls.
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
    pub(super) fn keep_hook(&self, key: usize, hook: &AbandonedHook) -> Hooked {
        match self.calls().get_mut(key) {
            None => Hooked::TooLate,
            Some(Some(_)) => Hooked::Before,
            Some(none) => {
                *none = Some(hook.clone());
                Hooked::Kept
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
