//! Requests are checked by the dispatcher's rules, written once, and frozen.

use super::*;
use crate::protocol::{ExecutionContext, FreeJson, MAX_UNIX_MS, MAX_UNSIGNED, Resolution};
use crate::service::{CreateRun, ResolveApproval, ResumeRun};

fn refused(request: Request<'_>, options: &RequestOptions<'_>) -> Option<String> {
    PreparedRequest::new(&request, options).err().map(|violation| violation.path().to_owned())
}

fn broken(request: Request<'_>) -> Option<String> {
    refused(request, &RequestOptions::default())
}

fn read() -> Request<'static> {
    Request::GetRun(GetRun { run_id: "run-1".into() })
}

fn mutation() -> Request<'static> {
    Request::CancelRun(CancelRun { run_id: "run-1".into(), expected_revision: 1, reason: "".into() })
}

fn envelope(prepared: &PreparedRequest) -> Value {
    serde_json::from_slice(prepared.bytes()).expect("JSON")
}

#[test]
fn ids_and_keys_are_given_or_generated_and_then_frozen() {
    let prepared = PreparedRequest::new(&mutation(), &RequestOptions::default()).unwrap();
    for id in [prepared.request_id(), prepared.idempotency_key()] {
        let id = uuid::Uuid::parse_str(id).expect("a UUID");
        assert_eq!(id.get_version_num(), 7);
    }
    assert_ne!(prepared.request_id(), prepared.idempotency_key());
    assert_eq!(prepared.bytes(), prepared.clone().bytes());
    assert_eq!(envelope(&prepared)["requestId"], prepared.request_id());
    assert_eq!(envelope(&prepared)["idempotencyKey"], prepared.idempotency_key());
    assert_ne!(PreparedRequest::new(&mutation(), &RequestOptions::default()).unwrap().request_id(), prepared.request_id());
    assert_eq!(prepared.operation(), Operation::CancelRun);

    let prepared = PreparedRequest::new(&read(), &RequestOptions::default()).unwrap();
    assert_eq!((prepared.idempotency_key(), envelope(&prepared).get("idempotencyKey")), ("", None));

    for request in [read(), mutation()] {
        let options = RequestOptions {
            request_id: Some("r".into()),
            idempotency_key: Some("k".into()),
            protocol_version: None,
            metadata: [("a", "b")].into_iter().collect(),
        };
        let prepared = PreparedRequest::new(&request, &options).unwrap();
        assert_eq!((prepared.request_id(), prepared.idempotency_key()), ("r", "k"));
        let found = envelope(&prepared);
        assert_eq!(
            (&found["requestId"], &found["idempotencyKey"], &found["metadata"]),
            (&json!("r"), &json!("k"), &json!({"a": "b"}))
        );
        assert_eq!(found["protocolVersion"], "2026-07-01");
    }
}

#[test]
fn ids_and_keys_keep_the_rules_of_identities() {
    let id = |request: Request<'_>, id: &str| {
        refused(request, &RequestOptions { request_id: Some(id.to_owned().into()), ..RequestOptions::default() })
    };
    let key = |request: Request<'_>, key: &str| {
        refused(request, &RequestOptions { idempotency_key: Some(key.to_owned().into()), ..RequestOptions::default() })
    };
    for request in [read(), mutation()] {
        assert_eq!(id(request.clone(), &"x".repeat(1024)), None);
        assert_eq!(key(request.clone(), &"x".repeat(1024)), None);
        for bad in ["a\0b", &"x".repeat(1025)] {
            assert_eq!(id(request.clone(), bad).as_deref(), Some("requestId"));
            assert_eq!(key(request.clone(), bad).as_deref(), Some("idempotencyKey"));
        }
        assert_eq!(id(request, "").as_deref(), Some("requestId"));
    }
    assert_eq!(key(read(), ""), None);
    assert_eq!(key(mutation(), "").as_deref(), Some("idempotencyKey"));
}

#[test]
fn any_version_that_is_not_empty_is_written() {
    let version = |version: &'static str| RequestOptions { protocol_version: Some(version.into()), ..RequestOptions::default() };
    assert_eq!(envelope(&PreparedRequest::new(&read(), &version("2099-01-01")).unwrap())["protocolVersion"], "2099-01-01");
    assert_eq!(refused(read(), &version("")).as_deref(), Some("protocolVersion"));
}

#[test]
fn a_request_that_the_dispatcher_would_refuse_is_not_written() {
    let long = "x".repeat(1025);
    let cancel = |run_id: &str, expected_revision| {
        broken(Request::CancelRun(CancelRun { run_id: run_id.to_owned().into(), expected_revision, reason: "".into() }))
    };
    assert_eq!(cancel("run", 1), None);
    assert_eq!(cancel("run", MAX_UNSIGNED), None);
    for bad in [0, MAX_UNSIGNED + 1, u64::MAX] {
        assert_eq!(cancel("run", bad).as_deref(), Some("body.expectedRevision"));
    }
    for bad in ["", "a\0", &long] {
        assert_eq!(cancel(bad, 1).as_deref(), Some("body.runId"));
        assert_eq!(broken(Request::GetRun(GetRun { run_id: bad.into() })).as_deref(), Some("body.runId"));
    }
    let resume = |approval_id: &str, expected_revision| {
        broken(Request::ResumeRun(ResumeRun {
            run_id: "run".into(),
            expected_revision,
            approval_id: approval_id.to_owned().into(),
            input: FreeJson::NULL,
        }))
    };
    assert_eq!(resume("a", 1), None);
    assert_eq!(resume("", 1).as_deref(), Some("body.approvalId"));
    assert_eq!(resume("a", 0).as_deref(), Some("body.expectedRevision"));
    let resolve = |approval_id: &str, expected_revision, resolution| {
        broken(Request::ResolveApproval(ResolveApproval {
            run_id: "run".into(),
            expected_revision,
            approval_id: approval_id.to_owned().into(),
            resolution,
            reason: "".into(),
            metadata: Metadata::new(),
        }))
    };
    assert_eq!(resolve("a", 1, Resolution::Approved), None);
    assert_eq!(resolve("a", 1, Resolution::Denied), None);
    assert_eq!(resolve("a", 1, Resolution::Pending).as_deref(), Some("body.resolution"));
    assert_eq!(resolve(&long, 1, Resolution::Denied).as_deref(), Some("body.approvalId"));
    assert_eq!(resolve("a", 0, Resolution::Denied).as_deref(), Some("body.expectedRevision"));
    let list = |after_sequence, limit| broken(Request::ListEvents(ListEvents { run_id: "run".into(), after_sequence, limit }));
    for (after, limit, path) in [
        (0, 1, None),
        (MAX_UNSIGNED, 1000, None),
        (MAX_UNSIGNED + 1, 1, Some("body.afterSequence")),
        (0, 0, Some("body.limit")),
        (0, 1001, Some("body.limit")),
    ] {
        assert_eq!(list(after, limit).as_deref(), path);
    }
}

#[test]
fn a_context_with_a_secret_or_without_a_run_is_not_written() {
    let create = |change: &dyn Fn(&mut ExecutionContext<'static>)| {
        let mut context = ExecutionContext { run_id: "run".into(), ..ExecutionContext::default() };
        change(&mut context);
        broken(Request::CreateRun(CreateRun { context, input: FreeJson::NULL, metadata: [("token", "x")].into_iter().collect() }))
    };
    assert_eq!(create(&|_| {}), None);
    assert_eq!(create(&|context| context.run_id = "".into()).as_deref(), Some("body.context.runId"));
    for time in [MAX_UNIX_MS, -MAX_UNIX_MS] {
        assert_eq!(create(&|context| context.deadline_unix_ms = Some(time)), None);
    }
    for time in [MAX_UNIX_MS + 1, -MAX_UNIX_MS - 1, i64::MIN, i64::MAX] {
        let found = create(&|context| context.deadline_unix_ms = Some(time));
        assert_eq!(found.as_deref(), Some("body.context.deadlineUnixMs"));
    }
    let found = create(&|context| drop(context.metadata.insert("my_token", "x")));
    assert_eq!(found.as_deref(), Some("body.context.metadata.my_token"));
}

#[test]
fn debug_shows_what_was_asked_and_not_with_what() {
    let reason = "hush hush";
    let request = Request::CancelRun(CancelRun { run_id: "run-1".into(), expected_revision: 1, reason: reason.into() });
    let shown = format!("{:?}", prepare(&request));
    assert!(shown.contains("CancelRun") && shown.contains("request-1") && !shown.contains(reason), "{shown}");
}
