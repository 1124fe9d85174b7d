//! Suspend, resolve, resume: one approval at a time, and nobody goes on without it.

use agenthost::protocol::{ErrorCode, Resolution, RunStatus};
use agenthost::runs::{ClaimRequest, Reason};

use crate::support::{LEASE, START, Setup, claim, client, code, detail, json, new_key, reason, submission, suspension};

on_every_store!(
    a_run_waits_is_approved_and_goes_on,
    a_denial_ends_the_run_with_one_event,
    the_revision_is_checked_first_then_the_state_then_the_approval,
    an_approved_run_rests_until_it_is_resumed,
    a_resumed_run_is_reclaimed_only_when_nobody_has_it,
    the_first_input_of_a_resume_stays,
    a_second_suspension_has_a_new_approval,
    what_is_pending_when_the_run_ends_stays_pending,
    a_resolution_with_a_secret_is_refused,
);

fn a_run_waits_is_approved_and_goes_on(setup: &Setup) {
    let mut runs = setup.open();
    let (_, approval) = client(&runs).suspended("run");
    let view = client(&runs).get("run").unwrap();
    assert_eq!((view.status, view.revision), (RunStatus::WaitingForApproval, 3));
    let pending = view.approval.unwrap();
    assert_eq!((&*pending.approval_id, pending.resolution, &*pending.reason), (&*approval, Resolution::Pending, "it deletes"));
    assert_eq!((&*pending.tool_call_id, &*pending.tool_name), ("call 1", "delete_files"));
    assert_eq!(uuid(&approval), 7);
    assert!(claim(&runs).is_none());

    setup.pass(5);
    client(&runs).resolve("r", "run", 3, &approval, Resolution::Approved).unwrap();
    runs = setup.restart(runs);
    assert_eq!(client(&runs).resume("s", "run", 4, &approval, r#"{"go":true}"#), Ok(submission("run", 5, RunStatus::Running)));
    let resumed = claim(&runs).unwrap();
    assert_eq!((resumed.attempt, resumed.revision), (1, 5));
    assert_eq!(resumed.continuation, Some(json(r#"{"step":3}"#)));
    assert_eq!(resumed.resume_input, Some(json(r#"{"go":true}"#)));
    let approved = resumed.approvals[0].view.clone();
    assert_eq!((approved.resolution, &*approved.reason), (Resolution::Approved, "so"));
    assert_eq!(approved.resolved_at_unix_ms, Some(START + 5));
    assert_eq!((approved.metadata.get("risk"), approved.metadata.get("by")), (Some("high"), Some("a person")));
    runs.complete(&resumed.claim, json("[1]")).wait().unwrap();
    let view = client(&runs).get("run").unwrap();
    assert_eq!(
        (view.status, view.result.as_str(), view.approval.unwrap().resolution),
        (RunStatus::Completed, "[1]", Resolution::Approved)
    );
    let story = ["run_created", "run_started", "approval_required", "approval_granted", "run_resumed", "run_completed"];
    assert_eq!(client(&runs).story("run"), story);
    let events = client(&runs).events("run", 0, 10).unwrap().events;
    assert_eq!(events[3].status, RunStatus::WaitingForApproval);
    assert_eq!((&*events[2].tool_call_id, &*events[3].tool_call_id), ("call 1", "call 1"));
    assert!(events.iter().all(|event| !event.data.as_str().contains("step")), "the continuation is nobody's business");
}

fn uuid(text: &str) -> u32 {
    assert_eq!(text.len(), 36);
    u32::from_str_radix(&text[14..15], 16).unwrap()
}

fn a_denial_ends_the_run_with_one_event(setup: &Setup) {
    let runs = setup.open();
    let (_, approval) = client(&runs).suspended("run");
    let denied = client(&runs).resolve("r", "run", 3, &approval, Resolution::Denied);
    assert_eq!(denied, Ok(submission("run", 4, RunStatus::Failed)));
    let view = client(&runs).get("run").unwrap();
    assert_eq!((&*view.error, view.approval.unwrap().resolution), ("so", Resolution::Denied));
    assert_eq!(client(&runs).story("run"), ["run_created", "run_started", "approval_required", "approval_denied"]);
    assert_eq!(client(&runs).events("run", 3, 1).unwrap().events[0].status, RunStatus::Failed);
    assert_eq!(reason(client(&runs).resume("s", "run", 4, &approval, "{}")), Reason::InvalidState);
}

fn the_revision_is_checked_first_then_the_state_then_the_approval(setup: &Setup) {
    let runs = setup.open();
    let client = client(&runs);
    client.create("c", "new").unwrap();
    assert_eq!(reason(client.resolve("1", "new", 2, "x", Resolution::Approved)), Reason::RevisionMismatch);
    assert_eq!(reason(client.resolve("2", "new", 1, "x", Resolution::Approved)), Reason::InvalidState);
    assert_eq!(reason(client.resume("3", "new", 1, "x", "{}")), Reason::InvalidState);
    client.cancel("4", "new", 1).unwrap();
    let (_, approval) = client.suspended("run");
    assert_eq!(reason(client.resolve("5", "run", 2, "x", Resolution::Denied)), Reason::RevisionMismatch);
    assert_eq!(reason(client.resolve("6", "run", 3, "x", Resolution::Denied)), Reason::ApprovalMismatch);
    assert_eq!(reason(client.resume("7", "run", 3, "x", "{}")), Reason::ApprovalMismatch);
    assert_eq!(reason(client.resume("8", "run", 3, &approval, "{}")), Reason::InvalidState);
    client.resolve("9", "run", 3, &approval, Resolution::Approved).unwrap();
    assert_eq!(reason(client.resolve("10", "run", 4, &approval, Resolution::Denied)), Reason::InvalidState);
}

fn an_approved_run_rests_until_it_is_resumed(setup: &Setup) {
    let runs = setup.open();
    let (_, approval) = client(&runs).suspended("run");
    client(&runs).resolve("r", "run", 3, &approval, Resolution::Approved).unwrap();
    setup.pass(365 * 24 * 3_600_000);
    assert!(claim(&runs).is_none());
    assert_eq!(client(&runs).cancel("c", "run", 4), Ok(submission("run", 5, RunStatus::Cancelled)));
}

fn a_resumed_run_is_reclaimed_only_when_nobody_has_it(setup: &Setup) {
    let runs = setup.open();
    let client = client(&runs);
    let (_, approval) = client.suspended("run");
    client.resolve("r", "run", 3, &approval, Resolution::Approved).unwrap();
    client.resume("s", "run", 4, &approval, "{}").unwrap();
    // It waits for a worker.
    let waits = client.resume("t", "run", 5, &approval, "{}");
    assert_eq!(detail(&waits, "retryAfterMs"), LEASE);
    assert_eq!(reason(waits), Reason::ClaimHeld);
    let first = claim(&runs).unwrap().claim;
    setup.pass(LEASE - 1);
    let held = client.resume("t", "run", 5, &approval, "{}");
    assert_eq!(detail(&held, "retryAfterMs"), 1);
    assert_eq!(reason(held), Reason::ClaimHeld);
    setup.pass(1);
    assert_eq!(client.resume("t", "run", 5, &approval, "{}"), Ok(submission("run", 6, RunStatus::Running)));
    assert_eq!(reason(runs.heartbeat(&first).wait()), Reason::ClaimLost);
    let second = claim(&runs).unwrap();
    assert_eq!((second.attempt, second.continuation), (1, Some(json(r#"{"step":3}"#))));
    assert_eq!(client.story("run")[4..], ["run_resumed", "run_resume_reclaimed"]);
}

fn the_first_input_of_a_resume_stays(setup: &Setup) {
    let runs = setup.open();
    let client = client(&runs);
    let (_, approval) = client.suspended("run");
    client.resolve("r", "run", 3, &approval, Resolution::Approved).unwrap();
    client.resume("s", "run", 4, &approval, r#"{"a":1,"b":2}"#).unwrap();
    claim(&runs).unwrap();
    setup.pass(LEASE);
    assert_eq!(reason(client.resume("t", "run", 5, &approval, r#"{"a":1}"#)), Reason::InvalidState);
    client.resume("u", "run", 5, &approval, r#"{"b":2.0,"a":1}"#).unwrap();
    assert_eq!(claim(&runs).unwrap().resume_input, Some(json(r#"{"a":1,"b":2}"#)));
}

fn a_second_suspension_has_a_new_approval(setup: &Setup) {
    let runs = setup.open();
    let client = client(&runs);
    let (_, first) = client.suspended("run");
    client.resolve("r", "run", 3, &first, Resolution::Approved).unwrap();
    client.resume("s", "run", 4, &first, "1").unwrap();
    let again = claim(&runs).unwrap().claim;
    let second = runs.suspend(&again, suspension()).wait().unwrap();
    assert_ne!(second.approval_ids[0], first);
    assert_eq!(second.submission, submission("run", 6, RunStatus::WaitingForApproval));
    assert_eq!(reason(client.resolve("t", "run", 6, &first, Resolution::Approved)), Reason::ApprovalMismatch);
    client.resolve("u", "run", 6, &second.approval_ids[0], Resolution::Approved).unwrap();
    assert_eq!(reason(client.resume("v", "run", 7, &first, "1")), Reason::ApprovalMismatch);
    // The first resume of this approval, so its input is free.
    client.resume("w", "run", 7, &second.approval_ids[0], "2").unwrap();
    assert_eq!(claim(&runs).unwrap().resume_input, Some(json("2")));
}

fn what_is_pending_when_the_run_ends_stays_pending(setup: &Setup) {
    let runs = setup.open();
    let (_, approval) = client(&runs).suspended("run");
    client(&runs).cancel("c", "run", 3).unwrap();
    let view = client(&runs).get("run").unwrap();
    assert_eq!((&*view.error, view.approval.unwrap().resolution), ("stop", Resolution::Pending));
    assert_eq!(reason(client(&runs).resolve("r", "run", 4, &approval, Resolution::Approved)), Reason::InvalidState);
}

fn a_resolution_with_a_secret_is_refused(setup: &Setup) {
    use agenthost::service::{Request, ResolveApproval};
    let runs = setup.open();
    let (_, approval) = client(&runs).suspended("run");
    let request = Request::ResolveApproval(ResolveApproval {
        run_id: "run".into(),
        expected_revision: 3,
        approval_id: approval.into(),
        resolution: Resolution::Approved,
        reason: "".into(),
        metadata: [("session_token", "hidden")].into_iter().collect(),
    });
    let refused = client(&runs).serve(&new_key(), request);
    assert_eq!(detail(&refused, "path"), "body.metadata.session_token");
    assert!(!format!("{refused:?}").contains("hidden"));
    assert_eq!(code(refused), ErrorCode::InvalidRequest);
    let mut secret = suspension();
    secret.approvals[0].metadata.insert("password", "hidden");
    client(&runs).create("d", "other").unwrap();
    let claim = runs.claim(&ClaimRequest { agent_ids: vec!["".into()], ..Default::default() }).wait().unwrap().unwrap().claim;
    assert_eq!(detail(&runs.suspend(&claim, secret).wait(), "path"), "approvals.0.metadata.password");
}
