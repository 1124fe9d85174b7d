//! The service that the host runs calls of.

use super::reply::Reply;
use crate::service::{Call, Request};

/// A service that may answer later. [`HostService`](crate::service::HostService) is the simpler one, for services that answer at once.
pub trait DeferringService: Send + Sync + 'static {
    /// Serves a call: answers through `reply`, or defers it. Runs on the thread that dispatches, on any number of threads at
    /// once. Returning without either, and a panic, answer `internal`.
    fn serve(&self, call: &Call<'_>, request: Request<'_>, reply: &mut Reply<'_>);

    /// Ends the service: gives back whatever it holds. Runs once, when the host is closed or its last handle is gone, after the last call of `serve`,
    /// never on a thread of the service unless the last handle is dropped there.
    fn destroy(&self) {}
}
