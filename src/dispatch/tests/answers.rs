//! What a service answers is checked, and only then leaves (promises 5, 6 and 7).

use serde_json::{Value, json};

use super::*;
use crate::protocol::{
    ErrorCode, ExecutionContext, FreeJson, HostError, MAX_UNIX_MS, MAX_UNSIGNED, Metadata, Resolution, RunStatus,
};
use crate::service::{Answer, ApprovalView, RunSubmission, RunView};

pub(super) fn submission() -> RunSubmission<'static> {
    RunSubmission { run_id: "run-1".into(), revision: 4, status: RunStatus::Running }
}

fn approval() -> ApprovalView<'static> {
    ApprovalView {
        approval_id: "approval-1".into(),
        tool_call_id: "call-1".into(),
        tool_name: "tool".into(),
        resolution: Resolution::Pending,
        reason: "because".into(),
        created_at_unix_ms: 1,
        resolved_at_unix_ms: None,
        metadata: secrets(),
    }
}

pub(super) fn secrets() -> Metadata<'static> {
    [("kept", "k"), ("my_password", "hush")].into_iter().collect()
}

pub(super) fn run() -> RunView<'static> {
    RunView {
        run_id: "run-1".into(),
        revision: 4,
        status: RunStatus::WaitingForApproval,
        context: ExecutionContext {
            run_id: "run-1".into(),
            deadline_unix_ms: Some(5),
            metadata: secrets(),
            ..ExecutionContext::default()
        },
        created_at_unix_ms: 1,
        updated_at_unix_ms: 2,
        completed_at_unix_ms: None,
        approval: Some(approval()),
        result: FreeJson::new("{\"password\":\"the service's own\"}").unwrap(),
        error: "".into(),
        metadata: secrets(),
    }
}

/// The path of the rule that the answer breaks, if it does; then the response is a bare `internal`.
pub(super) fn broken(operation: Operation, answer: Answer<'static>) -> Option<String> {
    let completed = expected(operation).complete(&Dispatcher::default(), Ok(answer));
    check(&completed)
}

fn check(completed: &Completed) -> Option<String> {
    let response: Value = serde_json::from_slice(&completed.response).unwrap();
    assert_eq!(response["requestId"], "request-1");
    match &completed.broken {
        None => {
            assert_eq!((&response["ok"], &response["error"]), (&json!(true), &json!(null)));
            None
        }
        Some(violation) => {
            let error = json!({
                "code": "internal", "message": "internal error; the outcome is not known", "retryable": false, "details": {}, "metadata": {},
            });
            assert_eq!((&response["ok"], &response["body"], &response["error"]), (&json!(false), &json!({}), &error));
            Some(violation.path().to_owned())
        }
    }
}

fn broken_run(change: impl FnOnce(&mut RunView<'static>)) -> Option<String> {
    let mut run = run();
    change(&mut run);
    broken(Operation::GetRun, Answer::Run(run))
}

fn broken_approval(change: impl FnOnce(&mut ApprovalView<'static>)) -> Option<String> {
    broken_run(|run| change(run.approval.as_mut().unwrap()))
}

fn at(path: &str) -> Option<String> {
    Some(path.to_owned())
}

#[test]
fn a_submission_is_about_the_run_with_a_revision_from_1_on() {
    for operation in [Operation::CreateRun, Operation::CancelRun, Operation::ResolveApproval, Operation::ResumeRun] {
        let answered = |change: &dyn Fn(&mut RunSubmission<'static>)| {
            let mut submission = submission();
            change(&mut submission);
            broken(operation, Answer::Submission(submission))
        };
        assert_eq!(answered(&|_| {}), None);
        assert_eq!(answered(&|answer| answer.revision = 1), None);
        assert_eq!(answered(&|answer| answer.revision = MAX_UNSIGNED), None);
        assert_eq!(answered(&|answer| answer.revision = 0), at("revision"));
        assert_eq!(answered(&|answer| answer.revision = MAX_UNSIGNED + 1), at("revision"));
        for bad in ["", "run-2", "run-1\0", &"x".repeat(1025)] {
            assert_eq!(answered(&|answer| answer.run_id = bad.to_owned().into()), at("runId"), "{bad:?}");
        }
    }
}

#[test]
fn an_answer_of_another_kind_is_a_fault() {
    for operation in Operation::ALL {
        let page = crate::service::EventPage { events: vec![], next_sequence: 5, has_more: false };
        for (answer, fits) in [
            (Answer::Submission(submission()), operation.mutates()),
            (Answer::Run(run()), operation == Operation::GetRun),
            (Answer::Page(page), operation == Operation::ListEvents),
        ] {
            assert_eq!(broken(operation, answer), if fits { None } else { at("") }, "{operation:?}");
        }
    }
}

#[test]
fn a_view_keeps_its_rules() {
    assert_eq!(broken_run(|_| {}), None);
    for bad in ["", "run-2", "run-1\0"] {
        assert_eq!(broken_run(|run| run.run_id = bad.into()), at("runId"));
    }
    assert_eq!(broken_run(|run| run.revision = 0), at("revision"));
    assert_eq!(broken_run(|run| run.revision = MAX_UNSIGNED), None);
    assert_eq!(broken_run(|run| run.revision = MAX_UNSIGNED + 1), at("revision"));
    assert_eq!(broken_run(|run| run.context.run_id = "".into()), None);
    assert_eq!(broken_run(|run| run.context.run_id = "run-2".into()), at("context.runId"));
    assert_eq!(broken_run(|run| run.context.trace_id = "a\0b".into()), None);
    assert_eq!(broken_run(|run| run.error = "a\0b".into()), None);
    assert_eq!(broken_run(|run| run.approval = None), None);
    for time in [MAX_UNIX_MS, -MAX_UNIX_MS, 0] {
        assert_eq!(broken_run(|run| run.context.deadline_unix_ms = Some(time)), None);
        assert_eq!(broken_run(|run| run.created_at_unix_ms = time), None);
        assert_eq!(broken_run(|run| run.updated_at_unix_ms = time), None);
        assert_eq!(broken_run(|run| run.completed_at_unix_ms = Some(time)), None);
    }
    for time in [MAX_UNIX_MS + 1, -MAX_UNIX_MS - 1, i64::MAX, i64::MIN] {
        assert_eq!(broken_run(|run| run.context.deadline_unix_ms = Some(time)), at("context.deadlineUnixMs"));
        assert_eq!(broken_run(|run| run.created_at_unix_ms = time), at("createdAtUnixMs"));
        assert_eq!(broken_run(|run| run.updated_at_unix_ms = time), at("updatedAtUnixMs"));
        assert_eq!(broken_run(|run| run.completed_at_unix_ms = Some(time)), at("completedAtUnixMs"));
    }
}

#[test]
fn an_approval_keeps_its_rules() {
    let resolved = |resolution, time| {
        broken_approval(|approval| {
            approval.resolution = resolution;
            approval.resolved_at_unix_ms = time;
        })
    };
    assert_eq!(resolved(Resolution::Pending, None), None);
    assert_eq!(resolved(Resolution::Pending, Some(0)), at("approval.resolvedAtUnixMs"));
    for resolution in [Resolution::Approved, Resolution::Denied] {
        assert_eq!(resolved(resolution, Some(0)), None);
        assert_eq!(resolved(resolution, Some(MAX_UNIX_MS)), None);
        assert_eq!(resolved(resolution, Some(MAX_UNIX_MS + 1)), at("approval.resolvedAtUnixMs"));
        assert_eq!(resolved(resolution, None), at("approval.resolvedAtUnixMs"));
    }
    for bad in ["", "a\0b", &"x".repeat(1025)] {
        assert_eq!(broken_approval(|approval| approval.approval_id = bad.to_owned().into()), at("approval.approvalId"));
    }
    assert_eq!(broken_approval(|approval| approval.tool_call_id = "".into()), at("approval.toolCallId"));
    assert_eq!(broken_approval(|approval| approval.tool_name = "".into()), at("approval.toolName"));
    for odd in ["\0".to_owned(), "x".repeat(5000)] {
        assert_eq!(broken_approval(|approval| approval.tool_call_id = odd.clone().into()), None);
        assert_eq!(broken_approval(|approval| approval.tool_name = odd.clone().into()), None);
        assert_eq!(broken_approval(|approval| approval.reason = odd.into()), None);
    }
    assert_eq!(broken_approval(|approval| approval.created_at_unix_ms = -MAX_UNIX_MS - 1), at("approval.createdAtUnixMs"));
}

#[test]
fn sensitive_names_leave_in_no_metadata_and_free_json_leaves_as_it_is() {
    let sensitive_names = SensitiveNames::with(["kept-back"]).unwrap();
    let dispatcher = Dispatcher { sensitive_names, ..Dispatcher::default() };
    let mut view = run();
    view.metadata.insert("Kept_Back", "hush");
    let completed = expected(Operation::GetRun).complete(&dispatcher, Ok(Answer::Run(view)));
    let response: Value = serde_json::from_slice(&completed.response).unwrap();
    let body = &response["body"];
    for metadata in [&body["metadata"], &body["context"]["metadata"], &body["approval"]["metadata"]] {
        assert_eq!(*metadata, json!({"kept": "k"}));
    }
    assert_eq!(body["result"], json!({"password": "the service's own"}));
    let error = HostError::new(ErrorCode::Forbidden, "no").with_metadata(secrets());
    let completed = expected(Operation::GetRun).complete(&dispatcher, Err(error));
    let response: Value = serde_json::from_slice(&completed.response).unwrap();
    assert_eq!(response["error"]["metadata"], json!({"kept": "k"}));
}

#[test]
fn errors_stay_typed_and_an_internal_one_keeps_only_whether_to_retry() {
    for code in ErrorCode::ALL {
        for retryable in [true, false] {
            let error = HostError::new(code, "for people")
                .with_retryable(retryable)
                .with_details(FreeJson::new("[1,null]").unwrap())
                .with_metadata([("a", "b")].into_iter().collect());
            let completed = expected(Operation::CancelRun).complete(&Dispatcher::default(), Err(error));
            assert_eq!(completed.broken, None);
            let response: Value = serde_json::from_slice(&completed.response).unwrap();
            assert_eq!(
                (&response["ok"], &response["body"], &response["operation"]),
                (&json!(false), &json!({}), &json!("cancel_run"))
            );
            let error = if code == ErrorCode::Internal {
                json!({
                    "code": "internal", "message": "internal error; the outcome is not known", "retryable": retryable, "details": {},
                    "metadata": {},
                })
            } else {
                json!({
                    "code": code.name(), "message": "for people", "retryable": retryable, "details": [1, null], "metadata": {"a": "b"},
                })
            };
            assert_eq!(response["error"], error);
        }
    }
}

#[test]
fn a_call_that_its_service_does_not_answer_is_unavailable_with_the_reason() {
    for (why, reason) in [
        (UnavailableReason::Timeout, "timeout"),
        (UnavailableReason::Cancelled, "cancelled"),
        (UnavailableReason::Dropped, "dropped"),
        (UnavailableReason::Closed, "closed"),
    ] {
        assert_eq!(why.reason(), reason);
        let bytes = expected(Operation::ResumeRun).unanswered(why);
        let of_call: Value = serde_json::from_slice(&bytes).unwrap();
        let undecoded: Value = serde_json::from_slice(&why.undecoded()).unwrap();
        for (response, request_id, operation) in [(&of_call, "request-1", "resume_run"), (&undecoded, "", "get_run")] {
            assert_eq!((&response["requestId"], &response["operation"]), (&json!(request_id), &json!(operation)));
            let error = &response["error"];
            assert_eq!((&error["code"], &error["retryable"]), (&json!("unavailable"), &json!(true)));
            assert_eq!(error["details"], json!({"reason": reason}));
            assert!(error["message"].as_str().unwrap().contains("the outcome is not known"));
        }
    }
}

/// The same rules for a result that is given as text.
fn broken_text(operation: Operation, text: &str) -> Option<String> {
    check(&expected(operation).complete_text(&Dispatcher::default(), text))
}

#[test]
fn a_result_as_text_is_read_with_the_same_rules() {
    let view = {
        let completed = expected(Operation::GetRun).complete(&Dispatcher::default(), Ok(Answer::Run(run())));
        serde_json::from_slice::<Value>(&completed.response).unwrap()["body"].take()
    };
    let text = |change: &dyn Fn(&mut Value)| {
        let mut view = view.clone();
        change(&mut view);
        broken_text(Operation::GetRun, &view.to_string())
    };
    assert_eq!(text(&|_| {}), None);
    let plain = r#"{"runId":"run-1","revision":1,"status":"created"}"#;
    assert_eq!(broken_text(Operation::CancelRun, plain), None);
    assert_eq!(broken_text(Operation::CancelRun, &format!(" {plain}\n")), None);
    for bad in [
        format!("{plain}x"),
        format!("{plain}{plain}"),
        format!("\u{feff}{plain}"),
        String::new(),
        "{".into(),
        plain.replace("run-1", "\\ud800"),
        plain.replace('}', ",\"x\":1e999}"),
        "null".into(),
        "[]".into(),
    ] {
        assert_eq!(broken_text(Operation::CancelRun, &bad), at(""), "{bad}");
    }
    assert_eq!(broken_text(Operation::CancelRun, &plain.replace("\"run-1\"", "\"run-1\",\"runId\":\"run-1\"")), at("runId"));
    assert_eq!(broken_text(Operation::CancelRun, &plain.replace("created", "Created")), at("status"));
    assert_eq!(broken_text(Operation::CancelRun, &plain.replace('1', "0")), at("runId"));
    assert_eq!(broken_text(Operation::CancelRun, &plain.replace(":1,", ":1.0,")), at("revision"));
    let deep = "[".repeat(129) + &"]".repeat(129);
    assert_eq!(broken_text(Operation::CancelRun, &plain.replace('}', &format!(",\"x\":{deep}}}"))), at("x"));
    // What may be absent has its default, what is required is named; null is accepted where the contract writes it.
    let required = ["runId", "revision", "status", "context"];
    let nullable = ["completedAtUnixMs", "approval", "result"];
    for name in view.as_object().unwrap().keys() {
        let without = text(&|view| drop(view.as_object_mut().unwrap().remove(name)));
        assert_eq!(without, required.contains(&&**name).then(|| name.clone()), "{name}");
        let nulled = text(&|view| view[name] = json!(null));
        assert_eq!(nulled, (!nullable.contains(&&**name)).then(|| name.clone()), "{name}");
        let of_another_type = text(&|view| view[name] = json!([]));
        assert_eq!(of_another_type, (name != "result").then(|| name.clone()), "{name}");
    }
    let required = ["approvalId", "toolCallId", "toolName", "resolution"];
    for name in view["approval"].as_object().unwrap().keys() {
        let without = text(&|view| drop(view["approval"].as_object_mut().unwrap().remove(name)));
        assert_eq!(without, required.contains(&&**name).then(|| format!("approval.{name}")), "{name}");
        let nulled = text(&|view| view["approval"][name] = json!(null));
        assert_eq!(nulled, (name != "resolvedAtUnixMs").then(|| format!("approval.{name}")), "{name}");
        let of_another_type = text(&|view| view["approval"][name] = json!([]));
        assert_eq!(of_another_type, at(&format!("approval.{name}")), "{name}");
    }
    for bad in ["pendin", "", "Approved"] {
        assert_eq!(text(&|view| view["approval"]["resolution"] = json!(bad)), at("approval.resolution"));
    }
    for name in view["context"].as_object().unwrap().keys() {
        let nulled = text(&|view| view["context"][name] = json!(null));
        assert_eq!(nulled, (name != "deadlineUnixMs").then(|| format!("context.{name}")), "{name}");
    }
    let nested = |levels: usize| serde_json::from_str::<Value>(&("[".repeat(levels) + &"]".repeat(levels))).unwrap();
    assert_eq!(text(&|view| view["result"] = nested(100)), None);
    assert_eq!(text(&|view| view["result"] = nested(101)), at("result"));
}

#[test]
fn a_call_that_is_kept_is_completed_like_one_that_is_not() {
    let text = full(Operation::ListEvents).to_string();
    let dispatcher = Dispatcher::default();
    let page = || Answer::Page(crate::service::EventPage { events: vec![], next_sequence: 5, has_more: false });
    let Decoded::Call(decoded) = decode(&dispatcher, text.as_bytes()) else { panic!("refused") };
    let owned = decoded.expected.clone().into_owned();
    assert_eq!(owned.operation(), Operation::ListEvents);
    let (kept, at_once) = (owned.complete(&dispatcher, Ok(page())), decoded.expected.complete(&dispatcher, Ok(page())));
    assert_eq!((kept.broken, kept.response), (None, at_once.response));
}

#[test]
fn hints_are_enough_for_plain_text_and_not_much_more() {
    let view = run();
    let page_event = super::pages::event(7);
    for (hint, written) in [
        (submission().size_hint(), written(|out| submission().write(out))),
        (view.size_hint(), written(|out| view.write(out, |_| true))),
        (page_event.size_hint(), written(|out| page_event.write(out, |_| true))),
    ] {
        assert!(written <= hint && hint <= written + 320, "{written} {hint}");
    }
}

fn written(write: impl FnOnce(&mut crate::protocol::json::Writer)) -> usize {
    let mut out = crate::protocol::json::Writer::with_capacity(0);
    write(&mut out);
    out.len()
}
