//! Any bytes in, one valid response out, always the same one.

use agenthost::client::{Outcome, parse_any};
use agenthost::dispatch::{Decoded, DecodedCall, Dispatcher};
use agenthost::protocol::{ErrorCode, ExecutionContext, FreeJson, HostError, Metadata, Resolution, RunStatus};
use agenthost::service::{Answer, ApprovalView, Event, EventPage, Request, RunSubmission, RunView};

use super::check_response;

/// A message, dispatched to a service that answers with what it was asked.
pub fn dispatch(data: &[u8]) {
    let dispatcher = Dispatcher::default();
    match (dispatcher.decode(data, None), dispatcher.decode(data, None)) {
        (Decoded::Refused(response), Decoded::Refused(again)) => {
            assert_eq!(response, again, "two refusals of one message");
            let code = check_response(&response).expect("a refusal is an error");
            assert!(matches!(&*code, "invalid_request" | "unsupported_protocol_version"), "{code}");
            assert!(response.len() <= 16 << 10, "a refusal of {} bytes", response.len());
        }
        (Decoded::Call(first), Decoded::Call(second)) => served(&dispatcher, first, second),
        _ => panic!("one message, refused and accepted"),
    }
}

fn served(dispatcher: &Dispatcher, first: DecodedCall<'_>, second: DecodedCall<'_>) {
    assert_eq!(first.request, second.request);
    let request_id = first.call.request_id.clone();
    let answer = echo(&first.request);
    let completed = first.expected.complete(dispatcher, Ok(answer.clone()));
    if let Some(violation) = &completed.broken {
        // An answer can be larger than what was asked; then it says so.
        assert!(violation.expected().contains("bytes"), "{violation}");
        return;
    }
    assert_eq!(check_response(&completed.response), None);
    let again = second.expected.clone().complete(dispatcher, Ok(answer));
    assert_eq!(completed.response, again.response, "two responses to one message");
    let response = parse_any(&completed.response).expect("checked");
    assert_eq!(response.request_id, request_id);
    assert!(matches!(response.outcome, Outcome::Success(_)));
    let fault = second.expected.complete(dispatcher, Err(HostError::new(ErrorCode::Internal, "the cause")));
    assert_eq!(check_response(&fault.response).as_deref(), Some("internal"));
    assert!(!String::from_utf8_lossy(&fault.response).contains("the cause"));
}

/// An answer made of what was asked: its names, its metadata and its free JSON go out as they came in.
fn echo<'a>(request: &Request<'a>) -> Answer<'a> {
    let run_id = || match request {
        Request::CreateRun(request) => request.context.run_id.clone(),
        Request::GetRun(request) => request.run_id.clone(),
        Request::CancelRun(request) => request.run_id.clone(),
        Request::ResolveApproval(request) => request.run_id.clone(),
        Request::ResumeRun(request) => request.run_id.clone(),
        Request::ListEvents(request) => request.run_id.clone(),
    };
    match request {
        Request::GetRun(_) => Answer::Run(RunView {
            run_id: run_id(),
            revision: 1,
            status: RunStatus::WaitingForApproval,
            context: ExecutionContext { trace_id: run_id(), ..ExecutionContext::default() },
            created_at_unix_ms: 0,
            updated_at_unix_ms: 0,
            completed_at_unix_ms: None,
            approval: Some(ApprovalView {
                approval_id: run_id(),
                tool_call_id: run_id(),
                tool_name: run_id(),
                resolution: Resolution::Pending,
                reason: run_id(),
                created_at_unix_ms: 0,
                resolved_at_unix_ms: None,
                metadata: [(run_id(), run_id())].into_iter().collect(),
            }),
            result: FreeJson::from_serialize(&run_id()).expect("a string"),
            error: run_id(),
            metadata: Metadata::new(),
        }),
        Request::ListEvents(request) => {
            let more = request.after_sequence < agenthost::protocol::MAX_UNSIGNED;
            let events: Vec<Event<'_>> = more
                .then(|| Event {
                    run_id: run_id(),
                    sequence: request.after_sequence + 1,
                    event_type: run_id(),
                    status: RunStatus::Running,
                    step_id: run_id(),
                    tool_call_id: run_id(),
                    timestamp_unix_ms: -1,
                    data: FreeJson::NULL,
                    metadata: [(run_id(), run_id())].into_iter().collect(),
                })
                .into_iter()
                .collect();
            let next_sequence = request.after_sequence + u64::from(more);
            Answer::Page(EventPage { events, next_sequence, has_more: more })
        }
        _ => Answer::Submission(RunSubmission { run_id: run_id(), revision: 1, status: RunStatus::Created }),
    }
}
