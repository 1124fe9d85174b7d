//! A service that answers at once.

use std::sync::Arc;

use agenthost::host::Host;
use agenthost::protocol::{ErrorCode, HostError, RunStatus};
use agenthost::service::{
    Call, CancelRun, CreateRun, EventPage, GetRun, HostService, ListEvents, ResolveApproval, ResumeRun, RunSubmission, RunView,
};

use crate::stage::{LIST, both_ways, outcome};

type Answered<T> = Result<T, HostError<'static>>;

/// Creates runs and knows none. What it holds shows whether it is still there.
struct Service {
    _alive: Arc<()>,
}

fn not_here<T>() -> Answered<T> {
    Err(HostError::new(ErrorCode::NotFound, "not here"))
}

impl HostService for Service {
    fn create_run(&self, _: &Call<'_>, request: CreateRun<'_>) -> Answered<RunSubmission<'static>> {
        let run_id = request.context.run_id.into_owned().into();
        Ok(RunSubmission { run_id, revision: 1, status: RunStatus::Created })
    }
    fn get_run(&self, _: &Call<'_>, _: GetRun<'_>) -> Answered<RunView<'static>> {
        not_here()
    }
    fn cancel_run(&self, _: &Call<'_>, _: CancelRun<'_>) -> Answered<RunSubmission<'static>> {
        not_here()
    }
    fn resolve_approval(&self, _: &Call<'_>, _: ResolveApproval<'_>) -> Answered<RunSubmission<'static>> {
        not_here()
    }
    fn resume_run(&self, _: &Call<'_>, _: ResumeRun<'_>) -> Answered<RunSubmission<'static>> {
        not_here()
    }
    fn list_events(&self, _: &Call<'_>, _: ListEvents<'_>) -> Answered<EventPage<'static>> {
        not_here()
    }
}

#[test]
fn it_answers_until_the_host_is_closed_and_is_gone_then() {
    let alive = Arc::new(());
    let host = Host::new(Service { _alive: alive.clone() });
    assert_eq!(both_ways(&host), ["ok", "ok"]);
    assert_eq!(outcome(&host.dispatch_json(LIST)), "not_found");
    assert_eq!(Arc::strong_count(&alive), 2);
    assert_eq!(host.close(None), Ok(()));
    assert_eq!(Arc::strong_count(&alive), 1);
    assert_eq!(both_ways(&host), ["unavailable/closed", "unavailable/closed"]);
}
