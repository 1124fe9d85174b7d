//! Runs behind a host: messages in, responses out.

use std::sync::{Arc, Mutex, PoisonError};

use super::client::ClientApi;
use super::handle::Runs;
use crate::host::{DeferringService, Host, HostOptions, Reply};
use crate::protocol::HostError;
use crate::service::{Answer, Call, Request};

impl Runs {
    /// A host that these runs serve, until it is closed. It keeps them open; closing it leaves them open for who else has a handle.
    pub fn host(&self, options: HostOptions) -> Host {
        let service = Service { client: self.parts().client.clone(), keeps: Mutex::new(Some(self.clone())) };
        Host::deferring(Box::new(service), options)
    }
}

/// What serves a host.
struct Service {
    client: Arc<ClientApi>,
    /// Keeps the runs open as long as the host is: a deferred reply, on the store's own thread, outlives the host for a moment.
    keeps: Mutex<Option<Runs>>,
}

impl DeferringService for Service {
    fn serve(&self, call: &Call<'_>, request: Request<'_>, reply: &mut Reply<'_>) {
        match self.client.serve(call, &request).try_take() {
            Ok(result) => answer(reply, &result),
            Err(future) => {
                if let Ok(mut deferred) = reply.defer() {
                    future.then(move |result| answer(&mut deferred, &result));
                }
            }
        }
    }

    fn destroy(&self) {
        let runs = self.keeps.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(runs);
    }
}

/// Answers. An answer that nobody waits for any more, or that is too large, is the host's to deal with.
fn answer(reply: &mut Reply<'_>, result: &Result<Answer<'static>, HostError<'static>>) {
    let _ = match result {
        Ok(answer) => reply.answer(answer),
        Err(error) => reply.error(error),
    };
}
