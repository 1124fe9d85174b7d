//! A service that answers at once, as one that may answer later.

use std::sync::Arc;

use super::deferring_service::DeferringService;
use super::lock::RwLock;
use super::reply::Reply;
use crate::service::{Call, HostService, Request};

/// Holds the service until the host is closed; nobody who comes late finds it.
pub(super) struct Synchronous<S> {
    service: RwLock<Option<Arc<S>>>,
}

impl<S: HostService> Synchronous<S> {
    pub(super) fn new(service: S) -> Synchronous<S> {
        Synchronous { service: RwLock::new(Some(Arc::new(service))) }
    }
}

impl<S: HostService> DeferringService for Synchronous<S> {
    fn serve(&self, call: &Call<'_>, request: Request<'_>, reply: &mut Reply<'_>) {
        if let Some(service) = self.service.get() {
            // A broken answer has gone out as `internal` and is logged: nobody else has to know.
            let _ = match service.serve(call, request) {
                Ok(answer) => reply.answer(&answer),
                Err(error) => reply.error(&error),
            };
        }
    }

    fn destroy(&self) {
        drop(self.service.replace(None));
    }
}
