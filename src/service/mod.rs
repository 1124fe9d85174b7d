//! What a service is asked and what it answers: six typed requests, three typed results, and the trait that joins them.
//! How requests and results are written as JSON, and which rules they keep, stands with their types.

mod request;
mod result;

pub use request::{CancelRun, CreateRun, GetRun, ListEvents, Request, ResolveApproval, ResumeRun};
pub use result::{Answer, ApprovalView, Event, EventPage, RunSubmission, RunView};

pub(crate) use request::Body;
pub(crate) use result::{PageProgress, ResultContext, close_page, open_page};

use std::borrow::Cow;

use crate::protocol::{HostError, Metadata, Operation};

/// What a service gets of a call, beside the request.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// The operation of the request.
    pub operation: Operation,
    /// Names this request; echoed in the response.
    pub request_id: Cow<'a, str>,
    /// Names the mutation: a retry carries the same key. Empty for reads that have none.
    pub idempotency_key: Cow<'a, str>,
    /// The envelope's metadata.
    pub metadata: Metadata<'a>,
    /// Whom the transport authenticated. It never comes from the message, and is never empty.
    pub principal: Option<Cow<'a, str>>,
}

impl<'a> Call<'a> {
    /// The same, owned.
    pub fn into_owned(self) -> Call<'static> {
        let own = |text: Cow<'a, str>| Cow::Owned(text.into_owned());
        Call {
            operation: self.operation,
            request_id: own(self.request_id),
            idempotency_key: own(self.idempotency_key),
            metadata: self.metadata.into_owned(),
            principal: self.principal.map(own),
        }
    }
}

/// The application behind a host: six methods that answer at once.
///
/// Methods run on the thread that dispatches, on any number of threads at the same time. What they return is checked
/// (protocol, promise 6); an answer that breaks a rule, and a panic, reach the caller as `internal` and the host's log
/// with their cause. After a mutation `internal` and `unavailable` mean that the outcome is not known: the caller retries
/// with the same key, so a service has to remember keys.
///
/// A service that answers later implements [`DeferringService`](crate::host::DeferringService).
pub trait HostService: Send + Sync + 'static {
    /// Accepts a run.
    fn create_run(&self, call: &Call<'_>, request: CreateRun<'_>) -> Result<RunSubmission<'static>, HostError<'static>>;
    /// Reads a run.
    fn get_run(&self, call: &Call<'_>, request: GetRun<'_>) -> Result<RunView<'static>, HostError<'static>>;
    /// Cancels a run that is still at the expected revision.
    fn cancel_run(&self, call: &Call<'_>, request: CancelRun<'_>) -> Result<RunSubmission<'static>, HostError<'static>>;
    /// Approves or denies what a run waits for.
    fn resolve_approval(
        &self,
        call: &Call<'_>,
        request: ResolveApproval<'_>,
    ) -> Result<RunSubmission<'static>, HostError<'static>>;
    /// Lets an approved run go on.
    fn resume_run(&self, call: &Call<'_>, request: ResumeRun<'_>) -> Result<RunSubmission<'static>, HostError<'static>>;
    /// Reads the events after a cursor, at most `limit` of them.
    fn list_events(&self, call: &Call<'_>, request: ListEvents<'_>) -> Result<EventPage<'static>, HostError<'static>>;

    /// Calls the method of the request.
    fn serve(&self, call: &Call<'_>, request: Request<'_>) -> Result<Answer<'static>, HostError<'static>> {
        Ok(match request {
            Request::CreateRun(request) => Answer::Submission(self.create_run(call, request)?),
            Request::GetRun(request) => Answer::Run(self.get_run(call, request)?),
            Request::CancelRun(request) => Answer::Submission(self.cancel_run(call, request)?),
            Request::ResolveApproval(request) => Answer::Submission(self.resolve_approval(call, request)?),
            Request::ResumeRun(request) => Answer::Submission(self.resume_run(call, request)?),
            Request::ListEvents(request) => Answer::Page(self.list_events(call, request)?),
        })
    }
}

#[cfg(test)]
mod tests;
