//! Runs behind a host: messages in, responses out.

use super::Runs;
use crate::host::{DeferringService, Host, HostOptions, Reply};
use crate::protocol::HostError;
use crate::service::{Answer, Call, Request};

impl Runs {
    /// A host that these runs serve. Closing the host leaves the runs open for their workers.
    pub fn host(&self, options: HostOptions) -> Host {
        Host::deferring(Box::new(self.clone()), options)
    }
}

impl DeferringService for Runs {
    fn serve(&self, call: &Call<'_>, request: Request<'_>, reply: &mut Reply<'_>) {
        let later = self.core().serve(call, &request);
        match later.now() {
            Ok(result) => answer(reply, &result),
            Err(later) => {
                if let Ok(mut deferred) = reply.defer() {
                    later.then(move |result| answer(&mut deferred, &result));
                }
            }
        }
    }
}

/// Answers. An answer that nobody waits for any more, or that is too large, is the host's to deal with.
fn answer(reply: &mut Reply<'_>, result: &Result<Answer<'static>, HostError<'static>>) {
    let _ = match result {
        Ok(answer) => reply.answer(answer),
        Err(error) => reply.error(error),
    };
}
