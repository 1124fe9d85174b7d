//! Durable runs: a service for who has none yet. Safe retries, approvals, cancellation, deadlines, events and workers over a
//! [store](crate::store). The rules are one pure function, `decide`; what a run may do is written there and nowhere else.
//! How rows are kept is not known here.
//!
//! In reading order:
//!
//! - the rules: `command` (what may be asked), `decide`, `refuse` (what is answered instead), `fingerprint`, `names`, `limits`, `access`;
//! - the work: `work` (one transaction), `executor` (jobs through the store), `promise` (their results), `log`, `hook`;
//! - the time: `waiters` (who waits for what), `poller` (one wait), `timers` (the thread), `deadlines`;
//! - the calls: `client`, `worker`, `operator`, `wait_api`, `inbox`, with `read` and `views`;
//! - the whole: `handle`, `open`, `host`.

mod access;
mod client;
mod command;
mod deadlines;
mod decide;
mod executor;
mod fingerprint;
mod handle;
mod hook;
mod host;
mod inbox;
mod limits;
mod log;
#[cfg(test)]
mod model;
mod names;
mod open;
mod operator;
mod poller;
mod promise;
mod read;
mod refuse;
mod timers;
mod token;
mod views;
mod wait_api;
mod waiters;
mod work;
mod worker;

pub use access::{AccessHook, AccessRequest};
pub use handle::Runs;
pub use inbox::{ApprovalPage, InboxApproval, MAX_PAGE_APPROVALS};
pub use limits::{MAX_DELAY, MAX_LEASE};
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
    Admitted, Appended, ApprovalRequest, Claim, ClaimRequest, Claimed, DecidedApproval, LIBRARY_EVENTS, Lease,
    MAX_APPENDED_EVENTS, MAX_APPROVALS, MAX_ARGUMENTS_BYTES, MAX_EVENT_DATA_BYTES, MAX_EVENT_METADATA_BYTES, MAX_JSON_BYTES,
    NewEvent, ResumeMode, Suspended, Suspension, ToolResult,
};
