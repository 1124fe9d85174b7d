//! Replies with any bytes: as a result in JSON, as free JSON, as every string of an answer. What leaves is valid whatever the
//! service says.

use agenthost::dispatch::{Decoded, Dispatcher, ExpectedAnswer};
use agenthost::host::{Host, HostOptions, Opened};
use agenthost::protocol::{ErrorCode, ExecutionContext, FreeJson, HostError, Operation, Resolution, RunStatus};
use agenthost::service::{Answer, ApprovalView, Event, EventPage, RunSubmission, RunView};

use super::check_response;

/// The first byte says what the rest is a reply to.
pub fn replies(data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else { return };
    let operation = Operation::ALL[usize::from(choice) % Operation::ALL.len()];
    let text = String::from_utf8_lossy(rest);
    as_json(operation, &text);
    as_error(operation, &text);
    as_answer(&text);
}

fn request(operation: Operation) -> String {
    format!(
        "{{\"protocolVersion\":\"2026-07-01\",\"requestId\":\"request-1\",\"idempotencyKey\":\"key-1\",\"operation\":\"{}\",\"body\":{{\
         \"context\":{{\"runId\":\"run-1\"}},\"runId\":\"run-1\",\"expectedRevision\":1,\"approvalId\":\"approval-1\",\
         \"resolution\":\"approved\",\"limit\":3}}}}",
        operation.name()
    )
}

fn expected(operation: Operation) -> ExpectedAnswer<'static> {
    let text = request(operation);
    match Dispatcher::default().decode(text.as_bytes(), None) {
        Decoded::Call(decoded) => decoded.expected.into_owned(),
        Decoded::Refused(_) => panic!("a valid request"),
    }
}

fn as_json(operation: Operation, text: &str) {
    let host = Host::without_service(HostOptions::default());
    let Ok(Opened::Call(_, _, call)) = host.open(request(operation).as_bytes(), None) else { panic!("a valid request") };
    let code = check_response(&call.complete_json(text));
    assert!(matches!(code.as_deref(), None | Some("internal")), "{code:?}");
}

fn as_error(operation: Operation, text: &str) {
    for code in [ErrorCode::Conflict, ErrorCode::Internal] {
        let error = HostError::new(code, text)
            .with_details(FreeJson::new(text).unwrap_or(FreeJson::NULL))
            .with_metadata([(text, text)].into_iter().collect());
        let completed = expected(operation).complete(&Dispatcher::default(), Err(error));
        assert_eq!(check_response(&completed.response).as_deref(), Some(code.name()));
    }
}

/// Every string of every answer. Identities break their rules unless the text is the run's.
fn as_answer(text: &str) {
    let free = || FreeJson::new(text).unwrap_or(FreeJson::EMPTY_OBJECT);
    let metadata = || [(text, text), ("a", text)].into_iter().collect();
    let approval = ApprovalView {
        approval_id: text.into(),
        tool_call_id: text.into(),
        tool_name: text.into(),
        resolution: Resolution::Denied,
        reason: text.into(),
        created_at_unix_ms: 0,
        resolved_at_unix_ms: Some(0),
        metadata: metadata(),
    };
    let run = |run_id: &'static str, approval| {
        Answer::Run(RunView {
            run_id: run_id.into(),
            revision: 1,
            status: RunStatus::Completed,
            context: ExecutionContext { trace_id: text.into(), locale: text.into(), metadata: metadata(), ..Default::default() },
            created_at_unix_ms: 0,
            updated_at_unix_ms: 0,
            completed_at_unix_ms: Some(0),
            approval,
            result: free(),
            error: text.into(),
            metadata: metadata(),
        })
    };
    let event = Event {
        run_id: "run-1".into(),
        sequence: 1,
        event_type: text.into(),
        status: RunStatus::Running,
        step_id: text.into(),
        tool_call_id: text.into(),
        timestamp_unix_ms: 0,
        data: free(),
        metadata: metadata(),
    };
    let is_identity = !text.is_empty() && text.len() <= 1024 && !text.contains('\0');
    let page = EventPage { events: vec![event], next_sequence: 1, has_more: false };
    let submission = RunSubmission { run_id: text.to_owned().into(), revision: 1, status: RunStatus::Created };
    for (operation, answer, keeps_the_rules) in [
        (Operation::GetRun, run("run-1", None), true),
        (Operation::GetRun, run("run-1", Some(approval)), is_identity),
        (Operation::ListEvents, Answer::Page(page), !text.is_empty()),
        (Operation::CancelRun, Answer::Submission(submission), text == "run-1"),
    ] {
        let completed = expected(operation).complete(&Dispatcher::default(), Ok(answer));
        assert_eq!(completed.broken.is_none(), keeps_the_rules, "{operation:?} {:?}", completed.broken);
        let code = check_response(&completed.response);
        assert_eq!(code.is_none(), keeps_the_rules, "{code:?}");
    }
}
