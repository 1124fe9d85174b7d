//! Requests and results as JSON on their own, without an envelope.

use super::*;
use crate::protocol::Path;

const CONTEXT: &str = concat!(
    r#"{"runId":"r","traceId":"t","requestId":"q","tenantId":"e","userId":"u","applicationId":"p","workspaceId":"w","#,
    r#""conversationId":"c","agentId":"a","locale":"en-US","deadlineUnixMs":5,"metadata":{"region":"eu"}}"#
);

fn request_texts() -> [(Operation, String); 6] {
    [
        (Operation::CreateRun, format!(r#"{{"context":{CONTEXT},"input":[1.0],"metadata":{{"b":"2","a":"1"}}}}"#)),
        (Operation::GetRun, r#"{"runId":"r"}"#.into()),
        (Operation::CancelRun, r#"{"runId":"r","expectedRevision":3,"reason":"enough"}"#.into()),
        (
            Operation::ResolveApproval,
            r#"{"runId":"r","expectedRevision":3,"approvalId":"y","resolution":"denied","reason":"no","metadata":{"a":"1"}}"#
                .into(),
        ),
        (Operation::ResumeRun, r#"{"runId":"r","expectedRevision":3,"approvalId":"y","input":{"b":2}}"#.into()),
        (Operation::ListEvents, r#"{"runId":"r","afterSequence":7,"limit":9}"#.into()),
    ]
}

fn answer_texts() -> [(Operation, String); 6] {
    let view = |approval: &str, completed: &str| {
        format!(
            concat!(
                r#"{{"runId":"r","revision":2,"status":"running","context":{},"createdAtUnixMs":-1,"updatedAtUnixMs":2,"#,
                r#""completedAtUnixMs":{},"approval":{},"result":{{"b":2}},"error":"e","metadata":{{"a":"1","secret":"s"}}}}"#
            ),
            CONTEXT, completed, approval
        )
    };
    let approval = concat!(
        r#"{"approvalId":"y","toolCallId":"c","toolName":"t","resolution":"approved","reason":"so","#,
        r#""createdAtUnixMs":1,"resolvedAtUnixMs":2,"metadata":{"secret":"s"}}"#
    );
    let event = concat!(
        r#"{"runId":"r","sequence":8,"type":"t","status":"completed","stepId":"s","toolCallId":"c","timestampUnixMs":3,"#,
        r#""data":[null],"metadata":{"secret":"s"}}"#
    );
    [
        (Operation::CreateRun, r#"{"runId":"r","revision":1,"status":"created"}"#.into()),
        (Operation::ResumeRun, r#"{"runId":"r","revision":9,"status":"running"}"#.into()),
        (Operation::GetRun, view("null", "null")),
        (Operation::GetRun, view(approval, "4")),
        (Operation::ListEvents, r#"{"events":[],"nextSequence":0,"hasMore":false}"#.into()),
        (Operation::ListEvents, format!(r#"{{"events":[{event},{event}],"nextSequence":8,"hasMore":true}}"#)),
    ]
}

#[test]
fn a_request_is_written_with_every_member_and_read_back() {
    for (operation, text) in request_texts() {
        let request = Request::from_json(operation, &text).unwrap();
        assert_eq!((request.operation(), request.run_id(), request.to_json()), (operation, "r", text.clone()));
        assert_eq!(request.clone().into_owned(), request);
    }
}

#[test]
fn a_result_is_written_with_every_member_and_read_back() {
    for (operation, text) in answer_texts() {
        let answer = Answer::from_json(operation, &text).unwrap();
        assert_eq!(answer.to_json(), text);
        assert_eq!(answer.clone().into_owned(), answer);
    }
}

#[test]
fn the_end_of_a_page_says_where_its_cursor_comes_from() {
    let about = ResultContext { after_sequence: Some(5), ..ResultContext::default() };
    let refused = |progress: &PageProgress, next| progress.end(Path::ROOT, about, next, false).unwrap_err().to_string();
    let mut progress = PageProgress::default();
    let expected = "nextSequence: expected 5, the request's cursor, as there is no event, found 8";
    assert_eq!(refused(&progress, 8), expected);
    let (operation, text) = &answer_texts()[5];
    let Answer::Page(page) = Answer::from_json(*operation, text).unwrap() else { panic!("another result") };
    progress.event(Path::ROOT, about, &page.events[0]).unwrap();
    assert_eq!(refused(&progress, 5), "nextSequence: expected 8, the last event's sequence, found 5");
}
