//! Durable runs: a service for who has none yet. Safe retries, approvals, cancellation, deadlines, events and workers over a
//! [store](crate::store). The rules are one pure function, `decide`; what a run may do is written there and nowhere else.
//! How rows are kept is not known here.
//!
//! In reading order: `command` (what may be asked), `decide` (the rules), `job` (how a decision becomes a commit), `requests` and
//! `worker` (the two sides), `wait_api` and `waits` (waiting), `timers`, `operator`, `open`, `host`.

mod command;
mod core;
mod decide;
mod decimal;
mod fingerprint;
mod host;
mod job;
#[cfg(test)]
mod model;
mod names;
mod open;
mod operator;
mod promise;
mod read;
mod refuse;
mod requests;
mod timers;
mod token;
mod views;
mod wait_api;
mod waits;
mod worker;

pub use decide::Access;
pub use names::MAX_NAME_BYTES;
pub use open::{OpenError, RunsOptions};
pub use operator::{AdmittedPage, ListRuns, MAX_PAGE_RUNS, RunPage, RunSummary};
pub use promise::RunFuture;
pub use refuse::Reason;
#[cfg(feature = "capi")]
pub(crate) use refuse::invalid as refused;
pub use token::{ClaimToken, InvalidClaimToken};
pub use wait_api::RunEvents;
pub use worker::{
    Admitted, Appended, Claim, ClaimRequest, Claimed, LIBRARY_EVENTS, Lease, MAX_APPENDED_EVENTS, MAX_DELAY,
    MAX_EVENT_DATA_BYTES, MAX_EVENT_METADATA_BYTES, MAX_JSON_BYTES, MAX_LEASE, NewEvent, Suspended, Suspension, ToolResult,
};

use std::sync::Arc;

use self::core::Core;
use crate::protocol::HostError;
use crate::service::{Answer, Call, Request};

/// Opened runs: the service of a host, and the side of workers and operators. Clones are handles of the same; the last one that
/// is dropped closes it.
///
/// Every call returns at once with a [`RunFuture`]: its outcome comes when it is committed (and on disk, where there is one).
/// Refusals are [`HostError`]s, as a client would get them; the reason of a conflict is told by [`Reason::of`].
#[derive(Clone)]
pub struct Runs {
    handle: Arc<Handle>,
}

/// What all handles share; its end is the end of the work.
struct Handle {
    core: Arc<Core>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        let core = self.core.clone();
        if core.is_forked() {
            // What its threads and the store hold is the parent's: it is left as it is.
            std::mem::forget(core);
        } else if job::in_callback() {
            // The store's own thread cannot wait for itself.
            let _ = std::thread::Builder::new().name("agenthost-close".into()).spawn(move || core.close());
        } else {
            core.close();
        }
    }
}

impl Runs {
    fn core(&self) -> &Arc<Core> {
        &self.handle.core
    }

    /// Serves a client's call.
    pub fn serve(&self, call: &Call<'_>, request: &Request<'_>) -> RunFuture<Result<Answer<'static>, HostError<'static>>> {
        self.core().serve(call, request)
    }

    /// Whether this thread runs a callback of [`RunFuture::then`]: it must not wait for these runs.
    #[cfg(feature = "capi")]
    pub(crate) fn in_callback() -> bool {
        job::in_callback()
    }

    /// Finishes what was accepted, tells whoever waits `unavailable`, and refuses everything from then on. Not from a callback
    /// of [`RunFuture::then`].
    pub fn close(&self) {
        self.core().close();
    }
}
