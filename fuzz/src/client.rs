//! The client on any bytes: it never fails but with a reason, and what it accepts a dispatcher could have written.

use agenthost::client::{Outcome, PreparedRequest, RequestOptions, Response, parse_any};
use agenthost::dispatch::{Decoded, Dispatcher};
use agenthost::protocol::{ErrorCode, Metadata, Operation, Resolution, SUPPORTED_VERSIONS};
use agenthost::service::{Answer, CancelRun, GetRun, ListEvents, Request, ResolveApproval};

use super::{check_response, inexpressible};

/// A response, of which the request is not known, and to one that is.
pub fn client(data: &[u8]) {
    let any = parse_any(data);
    if let Ok(response) = &any {
        assert!(inexpressible::parsed(data).is_some(), "serde_json accepts what we accept");
        for tried in ["", SUPPORTED_VERSIONS[0]] {
            if let Some(next) = response.next_version(tried) {
                assert!(SUPPORTED_VERSIONS.contains(&next) && next != tried);
            }
        }
        accepted(response);
    }
    // What is accepted as an answer to a request is accepted of any: the request only adds rules.
    for request in [
        Request::GetRun(GetRun { run_id: "run-1".into() }),
        Request::ListEvents(ListEvents { run_id: "run-1".into(), after_sequence: 0, limit: 3 }),
        Request::CancelRun(CancelRun { run_id: "run-1".into(), expected_revision: 1, reason: "".into() }),
    ] {
        let options = RequestOptions { request_id: Some("request-1".into()), ..RequestOptions::default() };
        let prepared = PreparedRequest::new(&request, &options).expect("a valid request");
        match (prepared.parse(data), &any) {
            (Ok(known), Ok(any)) => assert_eq!(format!("{known:?}"), format!("{any:?}")),
            (Ok(_), Err(bad)) => panic!("only the client that knows the request accepts it: {bad}"),
            (Err(_), _) => {}
        }
    }
}

fn accepted(response: &Response<'_>) {
    let answer = match &response.outcome {
        Outcome::Success(answer) => answer,
        Outcome::Error(error) => {
            let original = &*error.original_code;
            assert!(original.is_empty() || error.code == ErrorCode::Internal && ErrorCode::from_name(original).is_none());
            return;
        }
    };
    let operation = response.operation.expect("a success names its operation");
    let request = asked_for(operation, answer);
    let options = RequestOptions { request_id: Some(response.request_id.clone()), ..RequestOptions::default() };
    let prepared = PreparedRequest::new(&request, &options).expect("what was answered can be asked");
    let dispatcher = Dispatcher::default();
    let Decoded::Call(decoded) = dispatcher.decode(prepared.bytes(), None) else { panic!("what can be asked is accepted") };
    let completed = decoded.expected.complete(&dispatcher, Ok(answer.clone()));
    if let Some(violation) = &completed.broken {
        assert!(violation.expected().contains("bytes"), "a dispatcher refuses what the client accepted: {violation}");
        return;
    }
    assert_eq!(check_response(&completed.response), None);
    let again = prepared.parse(&completed.response).expect("our own response");
    let Outcome::Success(again) = again.outcome else { panic!("a success") };
    assert_eq!(again, *answer);
}

/// A request that has this answer.
fn asked_for<'a>(operation: Operation, answer: &Answer<'a>) -> Request<'a> {
    match answer {
        Answer::Run(run) => Request::GetRun(GetRun { run_id: run.run_id.clone() }),
        Answer::Page(page) => {
            let first = page.events.first();
            Request::ListEvents(ListEvents {
                run_id: first.map_or("run-1".into(), |event| event.run_id.clone()),
                after_sequence: first.map_or(page.next_sequence, |event| event.sequence - 1),
                limit: 1000,
            })
        }
        Answer::Submission(submission) => match operation {
            Operation::ResolveApproval => Request::ResolveApproval(ResolveApproval {
                run_id: submission.run_id.clone(),
                expected_revision: 1,
                approval_id: "approval-1".into(),
                resolution: Resolution::Denied,
                reason: "".into(),
                metadata: Metadata::new(),
            }),
            _ => Request::CancelRun(CancelRun { run_id: submission.run_id.clone(), expected_revision: 1, reason: "".into() }),
        },
    }
}
