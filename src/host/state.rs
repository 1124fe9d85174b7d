//! Who answers a call, and who delivers the answer: one atomic.
//!
//! A call is *answered* once, by whoever claims it first: its reply, or the library (cancel, timeout, drop, close). It is
//! *finished* when it is answered and its slot has returned; whichever of the two comes second delivers. A slot can defer its
//! reply, and gets it back when the deferred reply is dropped unanswered while the slot still runs.

use super::sync::{AtomicU32, Ordering};

/// Somebody decides the answer; nobody else does any more.
const CLAIMED: u32 = 1;
/// The library decided it: the service's answer is not wanted any more.
const ABANDONED: u32 = 2;
/// The answer is stored.
const STORED: u32 = 4;
/// The slot has returned.
const RETURNED: u32 = 8;
/// The reply was taken out of the slot.
const DEFERRED: u32 = 16;

/// The state of one call.
#[derive(Debug)]
pub(super) struct CallState(AtomicU32);

/// What a slot's return means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SlotReturn {
    /// The answer is stored: deliver it.
    Deliver,
    /// Nobody has answered, and nobody else can any more: answer `internal` and deliver it.
    Unanswered,
    /// Somebody else answers, and delivers.
    Waiting,
}

/// What it means that an unanswered deferred reply is dropped.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DropOutcome {
    /// The slot still runs and may answer again.
    BackToSlot,
    /// The call is claimed for the caller, who stores `dropped`.
    Dropped,
    /// Somebody else has answered.
    AlreadyDone,
}

impl CallState {
    pub(super) fn new() -> CallState {
        CallState(AtomicU32::new(0))
    }

    /// Claims the call for the reply that a slot borrows.
    pub(super) fn claim_in_slot(&self) -> bool {
        self.update(|state| (state & (CLAIMED | DEFERRED) == 0).then_some(state | CLAIMED)).is_ok()
    }

    /// Claims the call for a deferred reply.
    pub(super) fn claim_deferred(&self) -> bool {
        self.update(|state| (state & CLAIMED == 0).then_some(state | CLAIMED)).is_ok()
    }

    /// Claims the call for the library.
    pub(super) fn abandon(&self) -> bool {
        self.update(|state| (state & CLAIMED == 0).then_some(state | CLAIMED | ABANDONED)).is_ok()
    }

    /// The claimed answer is stored. True: the slot has returned, deliver it.
    pub(super) fn stored(&self) -> bool {
        self.0.fetch_or(STORED, Ordering::AcqRel) & RETURNED != 0
    }

    /// Takes the reply out of the slot.
    pub(super) fn defer(&self) -> bool {
        self.update(|state| (state & (CLAIMED | DEFERRED) == 0).then_some(state | DEFERRED)).is_ok()
    }

    /// The deferred reply is dropped.
    pub(super) fn reply_dropped(&self) -> DropOutcome {
        let before = self.update(|state| match state {
            state if state & CLAIMED != 0 => None,
            state if state & RETURNED != 0 => Some(state | CLAIMED),
            state => Some(state & !DEFERRED),
        });
        match before {
            Err(_) => DropOutcome::AlreadyDone,
            Ok(before) if before & RETURNED != 0 => DropOutcome::Dropped,
            Ok(_) => DropOutcome::BackToSlot,
        }
    }

    /// The slot has returned.
    pub(super) fn slot_returned(&self) -> SlotReturn {
        let before = self.update(|state| {
            let open = state & (CLAIMED | DEFERRED) == 0;
            Some(state | RETURNED | if open { CLAIMED | STORED } else { 0 })
        });
        match before {
            Ok(before) | Err(before) if before & STORED != 0 => SlotReturn::Deliver,
            Ok(before) | Err(before) if before & (CLAIMED | DEFERRED) == 0 => SlotReturn::Unanswered,
            _ => SlotReturn::Waiting,
        }
    }

    /// Whether a slot's own reply could still answer.
    pub(super) fn is_open_in_slot(&self) -> bool {
        self.0.load(Ordering::Acquire) & (CLAIMED | DEFERRED) == 0
    }

    /// Whether a deferred reply could still answer.
    pub(super) fn is_open(&self) -> bool {
        self.0.load(Ordering::Acquire) & CLAIMED == 0
    }

    /// Whether the library has answered: nobody waits for the service any more.
    pub(super) fn is_abandoned(&self) -> bool {
        self.0.load(Ordering::Acquire) & ABANDONED != 0
    }

    fn update(&self, change: impl FnMut(u32) -> Option<u32>) -> Result<u32, u32> {
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, change)
    }
}
