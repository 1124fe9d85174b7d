//! Several approvals in one suspension: what is refused, who decides, in which order, when time decides, and what the worker gets.

use agenthost::protocol::{ErrorCode, MAX_UNIX_MS, Resolution, RunStatus};
use agenthost::runs::{ApprovalRequest, Claim, MAX_APPROVALS, Reason, ResumeMode, Runs, Suspension};
use agenthost::store::{ApprovalFilter, ApprovalState, OnDenied};

use crate::support::{Client, SOON, START, Setup, approval, claim, client, code, detail, json, new_key, reason, submission};

on_every_store!(
    a_suspension_that_breaks_a_rule_is_refused_with_its_path_and_nothing_is_stored,
    an_equal_retry_of_a_suspension_has_the_same_ids,
    a_client_of_events_knows_every_approval_of_a_suspension,
    decisions_come_in_any_order_and_the_view_shows_the_oldest_that_is_pending,
    a_denial_that_fails_ends_the_run_and_leaves_the_others_pending,
    a_denial_that_resumes_waits_for_the_others_and_the_worker_is_told,
    nothing_resumes_while_an_approval_is_pending_and_a_replay_says_the_same,
    the_last_decision_resumes_by_itself_where_that_was_asked_for,
    a_claim_has_the_approvals_of_its_own_suspension_alone,
    what_expires_together_is_denied_in_the_order_of_time_then_of_creation,
    an_approval_that_expired_while_nobody_was_there_is_denied_after_opening,
    an_approval_expires_with_nobody_calling,
    an_expiry_that_is_past_at_suspension_denies_at_once,
    a_clock_set_back_and_forth_never_lets_a_late_answer_grant,
    an_approver_sees_the_run_and_decides_what_names_it_and_nothing_else,
    four_eyes_keep_the_owner_and_a_call_without_principal_out,
    a_replay_is_its_own_callers,
    names_of_the_library_are_refused_in_a_decision,
    the_inbox_pages_through_every_filter_in_order,
    what_a_run_leaves_pending_is_closed_in_the_inbox,
    a_new_approval_wakes_who_waits_for_it,
    a_cursor_of_the_inbox_outlives_a_purge,
);

fn ask(tool: &str) -> ApprovalRequest {
    ApprovalRequest::new(format!("call of {tool}"), tool)
}

fn suspension(approvals: Vec<ApprovalRequest>, resume: ResumeMode) -> Suspension {
    Suspension { approvals, continuation: json(r#"{"step":3}"#), resume }
}

fn claimed_by(owner: &Client, run_id: &str) -> Claim {
    owner.create(&new_key(), run_id).unwrap();
    claim(&owner.runs).unwrap().claim
}

/// A run that waits, at revision 3, for these; their ids.
fn waits(owner: &Client, run_id: &str, approvals: Vec<ApprovalRequest>, resume: ResumeMode) -> Vec<String> {
    let claim = claimed_by(owner, run_id);
    owner.runs.suspend(&claim, suspension(approvals, resume)).wait().unwrap().approval_ids
}

fn with(runs: &Runs, principal: &'static str) -> Client {
    Client { runs: runs.clone(), principal: Some(principal) }
}

fn decide(
    client: &Client,
    run_id: &str,
    approval: &str,
    resolution: Resolution,
) -> Result<RunStatus, agenthost::protocol::HostError<'static>> {
    let revision = self::client(&client.runs).get(run_id).unwrap().revision;
    client.resolve(&new_key(), run_id, revision, approval, resolution).map(|submission| submission.status)
}

fn shown(runs: &Runs, run_id: &str) -> (String, Resolution) {
    let approval = client(runs).get(run_id).unwrap().approval.unwrap();
    (approval.approval_id.into_owned(), approval.resolution)
}

fn listed(runs: &Runs, filter: &ApprovalFilter) -> Vec<String> {
    let page = runs.list_approvals(filter, 0, 1000).wait().unwrap();
    page.approvals.into_iter().map(|approval| approval.view.approval_id.into_owned()).collect()
}

fn data(runs: &Runs, run_id: &str, sequence: usize) -> serde_json::Value {
    client(runs).events(run_id, 0, 1000).unwrap().events[sequence - 1].data.parse().unwrap()
}

fn a_suspension_that_breaks_a_rule_is_refused_with_its_path_and_nothing_is_stored(setup: &Setup) {
    let runs = setup.open();
    let claim = claimed_by(&client(&runs), "run");
    let bad = |change: &dyn Fn(&mut ApprovalRequest)| {
        let mut second = approval();
        change(&mut second);
        vec![approval(), second]
    };
    let names = |names: Vec<String>| move |request: &mut ApprovalRequest| request.approvers.clone_from(&names);
    let long = json(&format!("\"{}\"", "a".repeat(65_535)));
    let cases: Vec<(&str, Vec<ApprovalRequest>)> = vec![
        ("approvals", vec![]),
        ("approvals", vec![approval(); MAX_APPROVALS + 1]),
        ("approvals.1.arguments", bad(&|request| request.arguments = Some(long.clone()))),
        ("approvals.1.approvers.1", bad(&names(vec!["ann".into(), "ann".into()]))),
        ("approvals.1.approvers.0", bad(&names(vec![String::new()]))),
        ("approvals.1.approvers.0", bad(&names(vec!["a".repeat(256)]))),
        ("approvals.1.approvers", bad(&names((0..65).map(|number| number.to_string()).collect()))),
        ("approvals.1.expiresAtUnixMs", bad(&|request| request.expires_at_unix_ms = Some(MAX_UNIX_MS + 1))),
        ("approvals.1.expiresAtUnixMs", bad(&|request| request.expires_at_unix_ms = Some(i64::MIN))),
        (
            "approvals.1.metadata.agenthost.decidedBy",
            bad(&|request| {
                request.metadata.insert("agenthost.decidedBy", "eve");
            }),
        ),
        ("approvals.1.toolCallId", bad(&|request| request.tool_call_id.clear())),
        ("approvals.1.toolName", bad(&|request| request.tool_name = "t".repeat(256))),
        ("approvals.1.reason", bad(&|request| request.reason = "r".repeat(65_537))),
    ];
    for (path, approvals) in cases {
        let refused = runs.suspend(&claim, suspension(approvals, ResumeMode::Explicit)).wait();
        assert_eq!(detail(&refused, "path"), path, "{refused:?}");
        assert_eq!(code(refused), ErrorCode::InvalidRequest, "{path}");
    }
    assert_eq!(client(&runs).story("run"), ["run_created", "run_started"]);
    assert!(listed(&runs, &ApprovalFilter::default()).is_empty());
    let mut most = vec![approval(); MAX_APPROVALS];
    most[0].arguments = Some(json(&format!("\"{}\"", "a".repeat(65_534))));
    most[0].approvers = (0..64).map(|number| number.to_string()).collect();
    most[0].expires_at_unix_ms = Some(MAX_UNIX_MS);
    let mut ids = runs.suspend(&claim, suspension(most, ResumeMode::Explicit)).wait().unwrap().approval_ids;
    assert_eq!(listed(&runs, &ApprovalFilter::default()), ids);
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), MAX_APPROVALS, "approvals of one tool call are told apart");
}

fn an_equal_retry_of_a_suspension_has_the_same_ids(setup: &Setup) {
    let mut runs = setup.open();
    let claim = claimed_by(&client(&runs), "run");
    let both = || vec![ask("a"), ask("b")];
    let first = runs.suspend(&claim, suspension(both(), ResumeMode::Explicit)).wait().unwrap();
    runs = setup.restart(runs);
    assert_eq!(runs.suspend(&claim, suspension(both(), ResumeMode::Explicit)).wait().unwrap(), first);
    runs.suspend(&claim, suspension(both(), ResumeMode::Auto)).wait().unwrap_err();
    assert_eq!(listed(&runs, &ApprovalFilter::default()), first.approval_ids);
}

fn a_client_of_events_knows_every_approval_of_a_suspension(setup: &Setup) {
    let runs = setup.open();
    let full = ApprovalRequest {
        arguments: Some(json(r#"{"path":"/a"}"#)),
        expires_at_unix_ms: Some(START + 1000),
        approvers: vec!["bob".into(), "cy".into()],
        ..ask("b")
    };
    let ids = waits(&client(&runs), "run", vec![ask("a"), full], ResumeMode::Explicit);
    assert_eq!(client(&runs).get("run").unwrap().revision, 3, "one state change");
    assert_eq!(client(&runs).story("run")[2..], ["approval_required", "approval_required"]);
    assert_eq!(data(&runs, "run", 3), serde_json::json!({ "approvalId": ids[0], "toolName": "a", "reason": "" }));
    assert_eq!(
        data(&runs, "run", 4),
        serde_json::json!({ "approvalId": ids[1], "toolName": "b", "reason": "", "arguments": { "path": "/a" },
            "expiresAtUnixMs": START + 1000, "approvers": ["bob", "cy"] })
    );
    decide(&client(&runs), "run", &ids[0], Resolution::Approved).unwrap();
    let granted = serde_json::json!({ "approvalId": ids[0], "toolName": "a", "reason": "so", "decidedBy": null });
    assert_eq!(data(&runs, "run", 5), granted);
    decide(&with(&runs, "bob"), "run", &ids[1], Resolution::Approved).unwrap();
    let granted = serde_json::json!({ "approvalId": ids[1], "toolName": "b", "reason": "so", "decidedBy": "bob" });
    assert_eq!(data(&runs, "run", 6), granted);
    assert_eq!(client(&runs).get("run").unwrap().approval.unwrap().metadata.get("agenthost.decidedBy"), Some("bob"));
}

fn decisions_come_in_any_order_and_the_view_shows_the_oldest_that_is_pending(setup: &Setup) {
    let mut runs = setup.open();
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let run_id = format!("{order:?}");
        let ids = waits(&client(&runs), &run_id, vec![ask("a"), ask("b"), ask("c")], ResumeMode::Explicit);
        let mut open = vec![0, 1, 2];
        for (count, number) in order.into_iter().enumerate() {
            assert_eq!(shown(&runs, &run_id), (ids[open[0]].clone(), Resolution::Pending));
            let revision = 4 + count as u64;
            let decided = client(&runs).resolve(&new_key(), &run_id, revision - 1, &ids[number], Resolution::Approved);
            assert_eq!(decided, Ok(submission(&run_id, revision, RunStatus::WaitingForApproval)));
            assert_eq!(reason(decide(&client(&runs), &run_id, &ids[number], Resolution::Denied)), Reason::InvalidState);
            open.retain(|still| *still != number);
            runs = setup.restart(runs);
        }
        assert_eq!(shown(&runs, &run_id), (ids[order[2]].clone(), Resolution::Approved), "the one decided last");
        client(&runs).resume(&new_key(), &run_id, 6, &ids[order[0]], "{}").unwrap();
        assert_eq!(claim(&runs).unwrap().approvals.len(), 3);
    }
}

fn a_denial_that_fails_ends_the_run_and_leaves_the_others_pending(setup: &Setup) {
    let runs = setup.open();
    let ids = waits(&client(&runs), "run", vec![ask("a"), ask("b"), ask("c")], ResumeMode::Auto);
    assert_eq!(decide(&client(&runs), "run", &ids[1], Resolution::Denied), Ok(RunStatus::Failed));
    assert_eq!(&*client(&runs).get("run").unwrap().error, "so");
    assert_eq!(shown(&runs, "run"), (ids[0].clone(), Resolution::Pending));
    for id in &ids {
        assert_eq!(reason(decide(&client(&runs), "run", id, Resolution::Approved)), Reason::InvalidState);
        assert_eq!(reason(client(&runs).resume(&new_key(), "run", 4, id, "{}")), Reason::InvalidState);
    }
    assert!(claim(&runs).is_none());
    let closed = ApprovalFilter { state: Some(ApprovalState::Closed), ..ApprovalFilter::default() };
    assert_eq!(listed(&runs, &closed), [&*ids[0], &*ids[2]]);
}

fn a_denial_that_resumes_waits_for_the_others_and_the_worker_is_told(setup: &Setup) {
    let mut runs = setup.open();
    let soft = ApprovalRequest { on_denied: OnDenied::Resume, arguments: Some(json("[1]")), ..ask("a") };
    let ids = waits(&client(&runs), "run", vec![soft, ask("b")], ResumeMode::Explicit);
    assert_eq!(decide(&client(&runs), "run", &ids[0], Resolution::Denied), Ok(RunStatus::WaitingForApproval));
    assert_eq!(detail(&client(&runs).resume("r", "run", 4, &ids[0], "{}"), "pendingApprovals"), 1);
    decide(&client(&runs), "run", &ids[1], Resolution::Approved).unwrap();
    client(&runs).resume("s", "run", 5, &ids[0], "{}").unwrap();
    runs = setup.restart(runs);
    let claimed = claim(&runs).unwrap();
    let got: Vec<_> = claimed.approvals.iter().map(|got| (got.view.resolution, got.arguments.clone(), got.expired)).collect();
    assert_eq!(got, [(Resolution::Denied, Some(json("[1]")), false), (Resolution::Approved, None, false)]);
}

fn nothing_resumes_while_an_approval_is_pending_and_a_replay_says_the_same(setup: &Setup) {
    let mut runs = setup.open();
    let ids = waits(&client(&runs), "run", vec![ask("a"), ask("b"), ask("c")], ResumeMode::Explicit);
    decide(&client(&runs), "run", &ids[0], Resolution::Approved).unwrap();
    let refused = client(&runs).resume("r", "run", 4, &ids[0], "{}");
    assert_eq!((detail(&refused, "pendingApprovals"), detail(&refused, "reason")), (2.into(), "invalid_state".into()));
    for id in &ids[1..] {
        decide(&client(&runs), "run", id, Resolution::Approved).unwrap();
    }
    runs = setup.restart(runs);
    assert_eq!(client(&runs).resume("r", "run", 4, &ids[0], "{}"), refused);
    assert_eq!(client(&runs).resume("s", "run", 6, &ids[0], "{}"), Ok(submission("run", 7, RunStatus::Running)));
}

fn the_last_decision_resumes_by_itself_where_that_was_asked_for(setup: &Setup) {
    let mut runs = setup.open();
    let ids = waits(&client(&runs), "run", vec![ask("a"), ask("b")], ResumeMode::Auto);
    client(&runs).resolve("1", "run", 3, &ids[1], Resolution::Approved).unwrap();
    assert!(claim(&runs).is_none());
    let last = client(&runs).resolve("2", "run", 4, &ids[0], Resolution::Approved);
    assert_eq!(last, Ok(submission("run", 6, RunStatus::Running)));
    assert_eq!(client(&runs).story("run")[4..], ["approval_granted", "approval_granted", "run_resumed"]);
    runs = setup.restart(runs);
    assert_eq!(client(&runs).resolve("2", "run", 4, &ids[0], Resolution::Approved), last);
    let claimed = claim(&runs).unwrap();
    assert_eq!((claimed.revision, claimed.attempt, claimed.resume_input), (6, 1, Some(json("{}"))));
    assert_eq!(claimed.continuation, Some(json(r#"{"step":3}"#)));
}

fn a_claim_has_the_approvals_of_its_own_suspension_alone(setup: &Setup) {
    let runs = setup.open();
    let first = waits(&client(&runs), "run", vec![ask("a"), ask("b")], ResumeMode::Auto);
    for id in &first {
        decide(&client(&runs), "run", id, Resolution::Approved).unwrap();
    }
    let again = claim(&runs).unwrap().claim;
    let second = ApprovalRequest { arguments: Some(json("7")), ..ask("c") };
    let ids = runs.suspend(&again, suspension(vec![second], ResumeMode::Auto)).wait().unwrap().approval_ids;
    assert_eq!(reason(decide(&client(&runs), "run", &first[0], Resolution::Denied)), Reason::ApprovalMismatch);
    decide(&with(&runs, "bob"), "run", &ids[0], Resolution::Approved).unwrap_err();
    decide(&client(&runs), "run", &ids[0], Resolution::Approved).unwrap();
    let claimed = claim(&runs).unwrap();
    let got: Vec<_> = claimed.approvals.iter().map(|got| (&*got.view.approval_id, got.arguments.clone())).collect();
    assert_eq!(got, [(&*ids[0], Some(json("7")))]);
}

fn expiring(tool: &str, after: i64) -> ApprovalRequest {
    ApprovalRequest { expires_at_unix_ms: Some(START + after), on_denied: OnDenied::Resume, ..ask(tool) }
}

fn what_expires_together_is_denied_in_the_order_of_time_then_of_creation(setup: &Setup) {
    let runs = setup.open();
    let three = vec![expiring("late", 200), expiring("early", 100), expiring("early too", 100)];
    let ids = waits(&client(&runs), "run", three, ResumeMode::Auto);
    setup.pass(200);
    assert_eq!(reason(client(&runs).resolve("1", "run", 3, &ids[0], Resolution::Approved)), Reason::RevisionMismatch);
    let order: Vec<_> = (6..9).map(|sequence| data(&runs, "run", sequence)).collect();
    for (event, (number, tool)) in order.iter().zip([(1, "early"), (2, "early too"), (0, "late")]) {
        let expected = serde_json::json!({ "approvalId": ids[number], "toolName": tool, "reason": "approval expired", "decidedBy": null, "expired": true });
        assert_eq!(*event, expected);
    }
    let view = client(&runs).get("run").unwrap();
    assert_eq!((view.status, view.revision), (RunStatus::Running, 7));
    let claimed = claim(&runs).unwrap();
    let got: Vec<_> =
        claimed.approvals.iter().map(|got| (got.expired, got.view.resolved_at_unix_ms, got.decided_by.clone())).collect();
    assert_eq!(got, [(true, Some(START + 200), None), (true, Some(START + 100), None), (true, Some(START + 100), None)]);
}

fn an_approval_that_expired_while_nobody_was_there_is_denied_after_opening(setup: &Setup) {
    let mut runs = setup.open();
    let hard = ApprovalRequest { on_denied: OnDenied::Fail, ..expiring("a", 100) };
    let ids = waits(&client(&runs), "run", vec![hard, ask("b")], ResumeMode::Explicit);
    setup.pass(100);
    runs = setup.restart(runs);
    let _ended = runs.run_timers().wait().unwrap();
    let view = client(&runs).get("run").unwrap();
    assert_eq!((view.status, &*view.error), (RunStatus::Failed, "approval expired"));
    assert_eq!(reason(decide(&client(&runs), "run", &ids[1], Resolution::Approved)), Reason::InvalidState);
}

fn an_approval_expires_with_nobody_calling(setup: &Setup) {
    let runs = Runs::over(setup.store_with(agenthost::store::system_clock()), Default::default()).unwrap();
    let now = agenthost::store::system_clock()();
    let soon = ApprovalRequest { expires_at_unix_ms: Some(now + 200), ..ask("a") };
    waits(&client(&runs), "run", vec![soon], ResumeMode::Explicit);
    let ended = runs.wait_events(None, "run", 3, 10, SOON).wait().unwrap();
    assert_eq!((ended.status, &*ended.page.events[0].event_type), (RunStatus::Failed, "approval_denied"));
}

fn an_expiry_that_is_past_at_suspension_denies_at_once(setup: &Setup) {
    let runs = setup.open();
    let claim = claimed_by(&client(&runs), "run");
    let past = vec![expiring("a", 0), ask("b")];
    let ids = runs.suspend(&claim, suspension(past, ResumeMode::Explicit)).wait().unwrap().approval_ids;
    let refused = decide(&client(&runs), "run", &ids[0], Resolution::Approved);
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(client(&runs).story("run")[4..], ["approval_denied"]);
    assert_eq!(reason(decide(&client(&runs), "run", &ids[0], Resolution::Approved)), Reason::InvalidState);
}

fn a_clock_set_back_and_forth_never_lets_a_late_answer_grant(setup: &Setup) {
    let mut runs = setup.open();
    let ids = waits(&client(&runs), "run", vec![expiring("a", 1000), ask("b")], ResumeMode::Explicit);
    for jump in [2000, -3_600_000, 3_600_000, -7_200_000] {
        setup.pass(jump);
        let _ended = runs.run_timers().wait().unwrap();
        assert_eq!(reason(decide(&client(&runs), "run", &ids[0], Resolution::Approved)), Reason::InvalidState);
        runs = setup.restart(runs);
    }
    assert_eq!(client(&runs).story("run")[4..], ["approval_denied"]);
}

fn an_approver_sees_the_run_and_decides_what_names_it_and_nothing_else(setup: &Setup) {
    let runs = setup.open();
    let [ann, bob, eve] = ["ann", "bob", "eve"].map(|name| with(&runs, name));
    let for_bob = ApprovalRequest { approvers: vec!["bob".into()], ..ask("b") };
    let ids = waits(&ann, "run", vec![ask("a"), for_bob], ResumeMode::Explicit);
    assert_eq!(bob.get("run").unwrap().revision, 3);
    assert_eq!(bob.events("run", 0, 10).unwrap().events.len(), 4);
    assert_eq!(runs.wait_events(Some("bob"), "run", 0, 10, SOON).wait().unwrap().page.events.len(), 4);
    assert_eq!(code(bob.cancel(&new_key(), "run", 3)), ErrorCode::Forbidden);
    assert_eq!(code(bob.resume(&new_key(), "run", 3, &ids[1], "{}")), ErrorCode::Forbidden);
    for (who, id) in [(&bob, &ids[0]), (&ann, &ids[1])] {
        let refused = decide(who, "run", id, Resolution::Approved);
        assert_eq!(detail(&refused, "reason"), "not_an_approver");
        assert_eq!(code(refused), ErrorCode::Forbidden);
    }
    assert_eq!(code(decide(&client(&runs), "run", &ids[1], Resolution::Approved)), ErrorCode::Unauthorized);
    assert_eq!(code(eve.get("run")), ErrorCode::NotFound);
    for id in &ids {
        assert_eq!(code(decide(&eve, "run", id, Resolution::Approved)), ErrorCode::NotFound);
    }
    assert_eq!(client(&runs).get("run").unwrap().revision, 3, "nothing was decided");
    decide(&bob, "run", &ids[1], Resolution::Approved).unwrap();
    decide(&ann, "run", &ids[0], Resolution::Approved).unwrap();
    assert_eq!(code(bob.resume(&new_key(), "run", 5, &ids[1], "{}")), ErrorCode::Forbidden);
    ann.resume(&new_key(), "run", 5, &ids[1], "{}").unwrap();
    let by: Vec<_> = claim(&runs).unwrap().approvals.into_iter().map(|got| got.decided_by.unwrap()).collect();
    assert_eq!(by, ["ann", "bob"]);
}

fn four_eyes_keep_the_owner_and_a_call_without_principal_out(setup: &Setup) {
    let runs = setup.open();
    let ann = with(&runs, "ann");
    let eyes = ApprovalRequest { not_owner: true, approvers: vec!["ann".into(), "bob".into()], ..ask("a") };
    let ids = waits(&ann, "run", vec![eyes], ResumeMode::Auto);
    let own = decide(&ann, "run", &ids[0], Resolution::Approved);
    assert_eq!(detail(&own, "reason"), "own_run");
    assert_eq!(code(own), ErrorCode::Forbidden);
    assert_eq!(code(decide(&client(&runs), "run", &ids[0], Resolution::Approved)), ErrorCode::Unauthorized);
    assert_eq!(decide(&with(&runs, "bob"), "run", &ids[0], Resolution::Approved), Ok(RunStatus::Running));
}

fn a_replay_is_its_own_callers(setup: &Setup) {
    let runs = setup.open();
    let both = ApprovalRequest { approvers: vec!["bob".into(), "cy".into()], ..ask("a") };
    let ids = waits(&with(&runs, "ann"), "run", vec![both, ask("b")], ResumeMode::Explicit);
    let [bob, cy] = ["bob", "cy"].map(|name| with(&runs, name));
    let first = bob.resolve("key", "run", 3, &ids[0], Resolution::Approved);
    assert_eq!(first, Ok(submission("run", 4, RunStatus::WaitingForApproval)));
    assert_eq!(reason(cy.resolve("key", "run", 3, &ids[0], Resolution::Approved)), Reason::RevisionMismatch);
    assert_eq!(bob.resolve("key", "run", 3, &ids[0], Resolution::Approved), first);
    assert_eq!(client(&runs).story("run").len(), 5);
}

fn names_of_the_library_are_refused_in_a_decision(setup: &Setup) {
    use agenthost::service::{Request, ResolveApproval};
    let runs = setup.open();
    let ids = waits(&client(&runs), "run", vec![ask("a")], ResumeMode::Explicit);
    let request = Request::ResolveApproval(ResolveApproval {
        run_id: "run".into(),
        expected_revision: 3,
        approval_id: ids[0].clone().into(),
        resolution: Resolution::Approved,
        reason: "".into(),
        metadata: [("agenthost.decidedBy", "the boss")].into_iter().collect(),
    });
    let refused = client(&runs).serve("k", request);
    assert_eq!(detail(&refused, "path"), "body.metadata.agenthost.decidedBy");
    assert_eq!(client(&runs).get("run").unwrap().revision, 3);
}

fn the_inbox_pages_through_every_filter_in_order(setup: &Setup) {
    let runs = setup.open();
    let (mut all, mut of_bob, mut of_ann, mut deletes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for number in 0..6 {
        let owner = if number % 2 == 0 { with(&runs, "ann") } else { client(&runs) };
        let named = ApprovalRequest { approvers: vec!["bob".into()], ..ask("delete") };
        let ids = waits(&owner, &format!("run {number}"), vec![ask("read"), named], ResumeMode::Explicit);
        decide(&owner, &format!("run {number}"), &ids[0], Resolution::Approved).unwrap();
        of_bob.push(ids[1].clone());
        deletes.push(ids[1].clone());
        if number % 2 == 0 {
            of_ann.extend(ids.clone());
        }
        all.extend(ids);
    }
    let of = |state, approver: Option<&str>, owner: Option<&str>, run: Option<&str>, tool: Option<&str>| ApprovalFilter {
        state,
        approver: approver.map(Into::into),
        owner: owner.map(Into::into),
        agent_id: Some(String::new()),
        run_id: run.map(Into::into),
        tool_name: tool.map(Into::into),
    };
    let open = Some(ApprovalState::Open);
    let (nobodys_bob, anns_bob) = ([&*of_bob[1], &of_bob[3], &of_bob[5]], [&*of_bob[0], &of_bob[2], &of_bob[4]]);
    let cases = [
        (ApprovalFilter::default(), all.clone()),
        (of(open, None, None, None, None), of_bob.clone()),
        (of(None, Some("bob"), None, None, None), of_bob.clone()),
        (of(open, Some("bob"), Some("ann"), None, None), anns_bob.map(String::from).to_vec()),
        (of(open, None, Some(""), None, Some("delete")), nobodys_bob.map(String::from).to_vec()),
        (of(None, None, Some("ann"), None, None), of_ann),
        (of(None, None, None, None, Some("delete")), deletes),
        (of(None, None, None, Some("run 3"), None), all[6..8].to_vec()),
        (of(None, Some("bob"), None, Some("run 3"), None), all[7..8].to_vec()),
        (of(open, None, None, Some("run 3"), Some("read")), vec![]),
        (of(None, Some("eve"), None, None, None), vec![]),
        (of(None, None, None, Some("no run"), None), vec![]),
        (ApprovalFilter { agent_id: Some("other".into()), ..ApprovalFilter::default() }, vec![]),
    ];
    for (filter, expected) in cases {
        for limit in [1, 2, 5, 1000] {
            let (mut after, mut seen) = (0, Vec::new());
            loop {
                let page = runs.list_approvals(&filter, after, limit).wait().unwrap();
                assert!(page.approvals.len() <= limit && (page.approvals.is_empty() || page.next > after));
                seen.extend(page.approvals.into_iter().map(|approval| approval.view.approval_id.into_owned()));
                after = page.next;
                if !page.has_more {
                    break;
                }
            }
            assert_eq!(seen, expected, "{filter:?} by {limit}");
        }
    }
    assert_eq!(detail(&runs.list_approvals(&ApprovalFilter::default(), 0, 1001).wait(), "path"), "limit");
    let nobody = ApprovalFilter { approver: Some(String::new()), ..ApprovalFilter::default() };
    assert_eq!(detail(&runs.list_approvals(&nobody, 0, 1).wait(), "path"), "approver");
}

fn what_a_run_leaves_pending_is_closed_in_the_inbox(setup: &Setup) {
    let runs = setup.open();
    let named = ApprovalRequest { approvers: vec!["bob".into()], ..ask("b") };
    waits(&client(&runs), "run", vec![ask("a"), named], ResumeMode::Explicit);
    client(&runs).cancel("c", "run", 3).unwrap();
    for approver in [None, Some("bob".to_owned())] {
        let of = |state| ApprovalFilter { state: Some(state), approver: approver.clone(), ..ApprovalFilter::default() };
        assert!(listed(&runs, &of(ApprovalState::Open)).is_empty());
        assert_eq!(listed(&runs, &of(ApprovalState::Closed)).len(), if approver.is_some() { 1 } else { 2 });
    }
}

fn a_new_approval_wakes_who_waits_for_it(setup: &Setup) {
    let runs = setup.open();
    let filter = ApprovalFilter { tool_name: Some("b".into()), ..ApprovalFilter::default() };
    let waiting = runs.wait_approvals(&filter, 0, 10, SOON);
    waits(&client(&runs), "other", vec![ask("a")], ResumeMode::Explicit);
    let ids = waits(&client(&runs), "run", vec![ask("b")], ResumeMode::Explicit);
    let page = waiting.wait().unwrap();
    assert_eq!(&*page.approvals[0].view.approval_id, ids[0]);
    let nothing = runs.wait_approvals(&filter, page.next, 10, std::time::Duration::from_millis(20)).wait().unwrap();
    assert!(nothing.approvals.is_empty() && nothing.next == page.next);
}

/// A place in the inbox is never given twice: a notifier would miss whoever had it second.
fn a_cursor_of_the_inbox_outlives_a_purge(setup: &Setup) {
    let mut runs = setup.open();
    let named = || ApprovalRequest { approvers: vec!["bob".into()], arguments: Some(json("1")), ..ask("a") };
    waits(&client(&runs), "old", vec![named(), named()], ResumeMode::Explicit);
    let all = ApprovalFilter::default();
    let handled = runs.list_approvals(&all, 0, 10).wait().unwrap().next;
    client(&runs).cancel("c", "old", 3).unwrap();
    setup.pass(1);
    assert_eq!(runs.purge(START + 1).wait(), Ok(1));
    runs = setup.restart(runs);
    for filter in [all.clone(), ApprovalFilter { approver: Some("bob".into()), ..all.clone() }] {
        assert!(listed(&runs, &filter).is_empty(), "a purged run left approvals");
    }
    assert_eq!(code(with(&runs, "bob").get("old")), ErrorCode::NotFound);
    let ids = waits(&client(&runs), "new", vec![named()], ResumeMode::Explicit);
    let page = runs.wait_approvals(&all, handled, 10, SOON).wait().unwrap();
    assert_eq!(page.approvals.iter().map(|approval| &*approval.view.approval_id).collect::<Vec<_>>(), ids);
}
