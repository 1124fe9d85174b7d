//! An asynchronous dispatch, as its caller holds it.

use std::sync::Arc;

use super::call::CallShared;
use super::inner::DeferredCall;
use super::options::HostMisuse;
use crate::dispatch::UnavailableReason;

/// A call that is under way. Dropping it does not cancel the call. The default is a call that is answered already.
#[derive(Clone, Default)]
pub struct Pending {
    /// None: the message needed no service.
    pub(super) call: Option<Arc<CallShared>>,
}

impl Pending {
    /// Gives the call up: its response is `unavailable`. Says nothing about the run. True when this decided the answer.
    ///
    /// # Errors
    /// [`HostMisuse::Forked`].
    pub fn cancel(&self) -> Result<bool, HostMisuse> {
        self.give_up(UnavailableReason::Cancelled)
    }

    /// Like [`Pending::cancel`], for another reason: a wait that took too long.
    ///
    /// # Errors
    /// [`HostMisuse::Forked`].
    pub fn give_up(&self, why: UnavailableReason) -> Result<bool, HostMisuse> {
        match &self.call {
            Some(call) if call.inner.is_forked() => Err(HostMisuse::Forked),
            Some(call) => Ok(call.clone().abandon(why)),
            None => Ok(false),
        }
    }
}
