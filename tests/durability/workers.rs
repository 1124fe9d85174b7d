//! Workers: the right to work is fenced by who took over, not by the clock, and a lost answer does no harm.

use std::time::Duration;

use agenthost::protocol::{ErrorCode, Resolution, RunStatus};
use agenthost::runs::{Claim, ClaimRequest, ClaimToken, MAX_JSON_BYTES, NewEvent, Reason, Runs, RunsOptions, ToolResult};

use crate::support::{
    LEASE, START, Setup, claim, claim as take, claim_request, client, code, detail, json, new_run, reason, submission, suspension,
};

on_every_store!(
    a_claim_gives_all_there_is_to_go_on_with,
    the_longest_claimable_run_of_the_agents_is_taken,
    an_expired_worker_may_write_until_somebody_takes_over,
    an_accepted_call_renews_the_lease,
    too_many_takeovers_end_the_run,
    a_resume_begins_anew_to_count_takeovers,
    a_released_run_is_claimable_after_its_delay,
    an_equal_retry_of_the_last_call_returns_the_first_outcome,
    another_call_with_an_ended_claim_is_lost,
    one_result_is_admitted_for_each_tool_call,
    admitted_results_are_read_by_call_and_by_page,
    an_operator_cancels_a_run_that_is_streaming,
    what_is_too_large_or_malformed_is_refused,
    a_token_is_nowhere_to_be_seen,
);

fn a_claim_gives_all_there_is_to_go_on_with(setup: &Setup) {
    let mut runs = setup.open();
    assert!(claim(&runs).is_none());
    client(&runs).create("k", "run").unwrap();
    runs = setup.restart(runs);
    setup.pass(3);
    let claimed = claim(&runs).unwrap();
    assert_eq!((&*claimed.claim.run_id, claimed.owner, claimed.attempt, claimed.revision), ("run", None, 1, 2));
    assert_eq!((claimed.lease_ends_at_unix_ms, claimed.lease_ms), (START + 3 + LEASE, LEASE as u64));
    assert_eq!((claimed.context, claimed.input), (new_run("run").context, new_run("run").input));
    assert_eq!(claimed.metadata, new_run("run").metadata);
    assert!(claimed.approvals.is_empty() && claimed.continuation.is_none() && claimed.resume_input.is_none());
    assert!(claim(&runs).is_none(), "it is taken");
    let view = client(&runs).get("run").unwrap();
    assert_eq!((view.status, view.created_at_unix_ms, view.updated_at_unix_ms), (RunStatus::Running, START, START + 3));
    runs.complete(&claimed.claim, json(r#"{"x":1.50}"#)).wait().unwrap();
    let view = client(&runs).get("run").unwrap();
    assert_eq!((view.status, view.result.as_str(), &*view.error), (RunStatus::Completed, r#"{"x":1.50}"#, ""));
    assert_eq!(view.completed_at_unix_ms, Some(START + 3));
}

fn for_agent(runs: &Runs, agents: &[&str]) -> Option<String> {
    let request = ClaimRequest { agent_ids: agents.iter().map(|agent| agent.to_string()).collect(), ..claim_request() };
    runs.claim(&request).wait().unwrap().map(|claimed| claimed.claim.run_id)
}

fn the_longest_claimable_run_of_the_agents_is_taken(setup: &Setup) {
    let runs = setup.open();
    for (run_id, agent) in [("1", "a"), ("2", "b"), ("3", "a"), ("4", ""), ("5", "c")] {
        let mut run = new_run(run_id);
        run.context.agent_id = agent.into();
        client(&runs).create_run(run_id, run).unwrap();
        setup.pass(1);
    }
    assert_eq!(for_agent(&runs, &["x"]), None);
    assert_eq!(for_agent(&runs, &["b", "a"]), Some("1".into()));
    assert_eq!(for_agent(&runs, &["b", "a"]), Some("2".into()));
    assert_eq!(for_agent(&runs, &[""]), Some("4".into()));
    setup.pass(LEASE);
    // A lease that ended counts from its end: run 3 has waited longer than run 1.
    assert_eq!(for_agent(&runs, &["a"]), Some("3".into()));
    assert_eq!(for_agent(&runs, &["a"]), Some("1".into()));
    assert_eq!(for_agent(&runs, &["a"]), None);
    assert_eq!(detail(&runs.claim(&ClaimRequest::default()).wait(), "path"), "agentIds");
}

fn an_expired_worker_may_write_until_somebody_takes_over(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create("k", "run").unwrap();
    let first = claim(&runs).unwrap().claim;
    setup.pass(10 * LEASE);
    runs.append_events(&first, &[NewEvent::new("late", json("1"))], None).wait().unwrap();
    assert!(claim(&runs).is_none(), "the call renewed the lease");
    setup.pass(LEASE + LEASE / 32);
    let second = claim(&runs).unwrap();
    assert_eq!((second.attempt, second.revision), (2, 3));
    for lost in [
        runs.heartbeat(&first).wait().map(drop),
        runs.append_events(&first, &[NewEvent::new("late", json("2"))], None).wait().map(drop),
        runs.complete(&first, json("1")).wait().map(drop),
        runs.fail(&first, "no").wait().map(drop),
        runs.suspend(&first, suspension()).wait().map(drop),
        runs.release(&first, Duration::ZERO).wait(),
    ] {
        assert_eq!(detail(&lost, "status"), "running");
        assert_eq!(reason(lost), Reason::ClaimLost);
    }
    runs.complete(&second.claim, json("2")).wait().unwrap();
    assert_eq!(client(&runs).story("run"), ["run_created", "run_started", "late", "run_reclaimed", "run_completed"]);
}

fn an_accepted_call_renews_the_lease(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create("k", "run").unwrap();
    let request = ClaimRequest { lease: Some(Duration::from_millis(100)), ..claim_request() };
    let claim = runs.claim(&request).wait().unwrap().unwrap().claim;
    // It lasts up to a 32nd longer: calls that follow each other closely leave it as it is.
    let append = || runs.append_events(&claim, &[NewEvent::new("e", json("1"))], None).wait().unwrap().lease.ends_at_unix_ms;
    for _ in 0..3 {
        setup.pass(99);
        assert_eq!(runs.heartbeat(&claim).wait().unwrap().ends_at_unix_ms, setup.now() + 103);
        setup.pass(99);
        assert_eq!(append(), setup.now() + 103);
        setup.pass(3);
        assert_eq!(append(), setup.now() + 100);
    }
    setup.pass(1);
    assert_eq!(append(), setup.now() + 103);
    assert!(take(&runs).is_none());
    assert_eq!(client(&runs).get("run").unwrap().revision, 2, "none of it is a state change");
    // A clock that was set back takes nothing away.
    setup.pass(-1000);
    assert_eq!(runs.heartbeat(&claim).wait().unwrap().ends_at_unix_ms, setup.now() + 1103);
    for bad in [Duration::ZERO, Duration::from_secs(24 * 3600 + 1)] {
        assert_eq!(detail(&runs.claim(&ClaimRequest { lease: Some(bad), ..claim_request() }).wait(), "path"), "lease");
    }
}

fn too_many_takeovers_end_the_run(setup: &Setup) {
    let runs = setup.open_with(RunsOptions { max_attempts: 2, ..RunsOptions::default() });
    client(&runs).create("k", "run").unwrap();
    for attempt in 1..=3 {
        assert_eq!(take(&runs).unwrap().attempt, attempt);
        setup.pass(LEASE);
    }
    client(&runs).create("l", "next").unwrap();
    // The claim that finds it ends it, and takes the next.
    assert_eq!(take(&runs).unwrap().claim.run_id, "next");
    let view = client(&runs).get("run").unwrap();
    assert_eq!((view.status, &*view.error, view.revision), (RunStatus::Failed, "too many attempts", 5));
    assert_eq!(client(&runs).story("run"), ["run_created", "run_started", "run_reclaimed", "run_reclaimed", "run_failed"]);
}

fn a_resume_begins_anew_to_count_takeovers(setup: &Setup) {
    let runs = setup.open_with(RunsOptions { max_attempts: 1, ..RunsOptions::default() });
    let client = client(&runs);
    client.create("k", "run").unwrap();
    take(&runs).unwrap();
    setup.pass(LEASE);
    let second = take(&runs).unwrap().claim;
    let suspended = runs.suspend(&second, suspension()).wait().unwrap();
    let revision = suspended.submission.revision;
    client.resolve("r", "run", revision, &suspended.approval_ids[0], Resolution::Approved).unwrap();
    client.resume("s", "run", revision + 1, &suspended.approval_ids[0], "{}").unwrap();
    take(&runs).unwrap();
    setup.pass(LEASE);
    assert_eq!(take(&runs).unwrap().claim.run_id, "run", "one takeover since the resume");
    setup.pass(LEASE);
    assert!(take(&runs).is_none());
    assert_eq!(client.get("run").unwrap().error, "too many attempts");
}

fn a_released_run_is_claimable_after_its_delay(setup: &Setup) {
    let runs = setup.open_with(RunsOptions { max_attempts: 0, ..RunsOptions::default() });
    client(&runs).create("k", "run").unwrap();
    let first = take(&runs).unwrap().claim;
    runs.release(&first, Duration::from_millis(50)).wait().unwrap();
    assert_eq!(reason(runs.heartbeat(&first).wait()), Reason::ClaimLost);
    setup.pass(49);
    assert!(take(&runs).is_none());
    setup.pass(1);
    // Picking up is no takeover and no state change.
    let second = take(&runs).unwrap();
    assert_eq!((second.attempt, second.revision), (2, 2));
    assert_eq!(client(&runs).story("run"), ["run_created", "run_started"]);
    let refused = runs.release(&second.claim, Duration::from_secs(400 * 24 * 3600)).wait();
    assert_eq!(detail(&refused, "path"), "delay");
}

fn an_equal_retry_of_the_last_call_returns_the_first_outcome(setup: &Setup) {
    let mut runs = setup.open();
    for (run_id, end) in [("completed", 0), ("failed", 1)] {
        client(&runs).create(run_id, run_id).unwrap();
        let claim = take(&runs).unwrap().claim;
        let call = |runs: &Runs| match end {
            0 => runs.complete(&claim, json(r#"{"a":1,"b":[2]}"#)).wait(),
            _ => runs.fail(&claim, "broken").wait(),
        };
        let first = call(&runs).unwrap();
        runs = setup.restart(runs);
        assert_eq!(call(&runs), Ok(first));
        assert_eq!(reason(runs.fail(&claim, "another").wait()), Reason::ClaimLost);
    }
    let view = client(&runs).get("failed").unwrap();
    assert_eq!((view.status, &*view.error, view.revision), (RunStatus::Failed, "broken", 3));

    client(&runs).create("s", "suspended").unwrap();
    let claim = take(&runs).unwrap().claim;
    let first = runs.suspend(&claim, suspension()).wait().unwrap();
    runs = setup.restart(runs);
    assert_eq!(runs.suspend(&claim, suspension()).wait(), Ok(first.clone()));
    client(&runs).cancel("c", "suspended", 3).unwrap();
    assert_eq!(runs.suspend(&claim, suspension()).wait(), Ok(first), "also when the run has ended");
    assert_eq!(client(&runs).story("suspended"), ["run_created", "run_started", "approval_required", "run_cancelled"]);
}

fn another_call_with_an_ended_claim_is_lost(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create("k", "run").unwrap();
    let claim = take(&runs).unwrap().claim;
    runs.complete(&claim, json("1")).wait().unwrap();
    let lost = runs.complete(&claim, json("2")).wait();
    assert_eq!(detail(&lost, "status"), "completed");
    assert_eq!(reason(lost), Reason::ClaimLost);
    assert_eq!(runs.complete(&claim, json("1.0")).wait(), Ok(submission("run", 3, RunStatus::Completed)));
    let stranger = Claim { token: "0".repeat(32).parse::<ClaimToken>().unwrap(), ..claim.clone() };
    assert_eq!(reason(runs.complete(&stranger, json("1")).wait()), Reason::ClaimLost);
    let nowhere = Claim { run_id: "no such run".into(), ..claim };
    assert_eq!(code(runs.heartbeat(&nowhere).wait()), ErrorCode::NotFound);
}

fn tool_result(call: &str, key: &str, outcome: &str) -> ToolResult {
    ToolResult {
        step_id: "step".into(),
        tool_call_id: call.into(),
        tool_name: "search".into(),
        key: key.into(),
        outcome: json(outcome),
    }
}

fn one_result_is_admitted_for_each_tool_call(setup: &Setup) {
    let mut runs = setup.open();
    client(&runs).create("k", "run").unwrap();
    let first = take(&runs).unwrap().claim;
    let admitted = runs.admit_tool_result(&first, tool_result("c", "k", "[1]")).wait().unwrap();
    assert_eq!((admitted.sequence, admitted.outcome.as_str(), admitted.repeated), (3, "[1]", false));
    runs = setup.restart(runs);
    setup.pass(LEASE);
    let second = take(&runs).unwrap().claim;
    // The claim is checked first, then the key; the outcome that counts is the first.
    assert_eq!(reason(runs.admit_tool_result(&first, tool_result("c", "k", "[1]")).wait()), Reason::ClaimLost);
    let again = runs.admit_tool_result(&second, tool_result("c", "k", "[2]")).wait().unwrap();
    assert_eq!((again.sequence, again.outcome.as_str(), again.repeated), (3, "[1]", true));
    assert_eq!(reason(runs.admit_tool_result(&second, tool_result("c", "l", "[1]")).wait()), Reason::IdempotencyMismatch);
    assert_eq!(client(&runs).story("run"), ["run_created", "run_started", "tool_result_admitted", "run_reclaimed"]);
    let event = client(&runs).events("run", 2, 1).unwrap().events.remove(0);
    assert_eq!((&*event.tool_call_id, &*event.step_id, event.data.as_str()), ("c", "step", r#"{"toolName":"search"}"#));
}

fn admitted_results_are_read_by_call_and_by_page(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create("k", "run").unwrap();
    let claim = take(&runs).unwrap().claim;
    for number in (0..25).rev() {
        runs.admit_tool_result(&claim, tool_result(&format!("call {number:02}"), "k", &number.to_string())).wait().unwrap();
    }
    assert_eq!(runs.admitted_result("run", "call 07").wait().unwrap().unwrap().outcome.as_str(), "7");
    assert_eq!(runs.admitted_result("run", "call 99").wait(), Ok(None));
    let (mut after, mut seen) = (String::new(), Vec::new());
    loop {
        let page = runs.admitted_results("run", &after, 10).wait().unwrap();
        seen.extend(page.results.iter().map(|result| result.tool_call_id.clone()));
        if !page.has_more {
            break;
        }
        after = seen.last().unwrap().clone();
    }
    assert_eq!(seen, (0..25).map(|number| format!("call {number:02}")).collect::<Vec<_>>());
    let large = json(&format!("\"{}\"", "x".repeat(MAX_JSON_BYTES - 2)));
    for call in ["x", "y"] {
        runs.admit_tool_result(&claim, ToolResult { outcome: large.clone(), ..tool_result(call, "k", "1") }).wait().unwrap();
    }
    let page = runs.admitted_results("run", "call 99", 10).wait().unwrap();
    assert_eq!((page.results.len(), page.has_more), (1, true), "a page ends at 4 MiB");
}

fn an_operator_cancels_a_run_that_is_streaming(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create("k", "run").unwrap();
    let claim = take(&runs).unwrap().claim;
    let revision = client(&runs).get("run").unwrap().revision;
    for _ in 0..20 {
        runs.append_events(&claim, &[NewEvent::new("token", json("1"))], None).wait().unwrap();
    }
    assert_eq!(client(&runs).cancel("c", "run", revision), Ok(submission("run", 3, RunStatus::Cancelled)));
    let lost = runs.append_events(&claim, &[NewEvent::new("token", json("1"))], None).wait();
    assert_eq!(detail(&lost, "status"), "cancelled");
    assert_eq!(client(&runs).story("run").last().unwrap(), "run_cancelled");
}

fn what_is_too_large_or_malformed_is_refused(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create("k", "run").unwrap();
    let claim = take(&runs).unwrap().claim;
    let (fits, too_large) = (MAX_JSON_BYTES - 2, MAX_JSON_BYTES - 1);
    let text = |length: usize| json(&format!("\"{}\"", "x".repeat(length)));
    let path = |refused: crate::support::Called<()>| {
        assert_eq!(code(refused.clone()), ErrorCode::InvalidRequest);
        detail(&refused, "path")
    };
    assert_eq!(path(runs.complete(&claim, text(too_large)).wait().map(drop)), "result");
    let mut large = suspension();
    large.continuation = text(too_large);
    assert_eq!(path(runs.suspend(&claim, large).wait().map(drop)), "continuation");
    let large = ToolResult { outcome: text(too_large), ..tool_result("c", "k", "1") };
    assert_eq!(path(runs.admit_tool_result(&claim, large).wait().map(drop)), "outcome");
    assert_eq!(path(runs.admit_tool_result(&claim, tool_result("", "k", "1")).wait().map(drop)), "toolCallId");
    assert_eq!(path(runs.admit_tool_result(&claim, tool_result("c", "a\n", "1")).wait().map(drop)), "key");
    let nameless = ToolResult { tool_name: String::new(), ..tool_result("c", "k", "1") };
    assert_eq!(path(runs.admit_tool_result(&claim, nameless).wait().map(drop)), "toolName");
    assert_eq!(path(runs.fail(&claim, "").wait().map(drop)), "error");
    let mut long = suspension();
    long.approvals[0].tool_call_id = "c".repeat(256);
    assert_eq!(path(runs.suspend(&claim, long).wait().map(drop)), "approvals.0.toolCallId");
    runs.complete(&claim, text(fits)).wait().unwrap();
    assert_eq!(client(&runs).get("run").unwrap().result, text(fits));
}

fn a_token_is_nowhere_to_be_seen(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create("k", "run").unwrap();
    let claimed = take(&runs).unwrap();
    let token = claimed.claim.token.reveal();
    assert!(!format!("{claimed:?}").contains(&token));
    runs.append_events(&claimed.claim, &[NewEvent::new("e", json("1"))], None).wait().unwrap();
    runs.suspend(&claimed.claim, suspension()).wait().unwrap();
    let shown = format!("{:?}{:?}", client(&runs).get("run"), client(&runs).events("run", 0, 100));
    assert!(!shown.contains(&token));
    runs.close();
    if setup.persists() {
        let bytes: Vec<u8> =
            std::fs::read_dir(setup.file("")).unwrap().flat_map(|entry| std::fs::read(entry.unwrap().path()).unwrap()).collect();
        let raw: Vec<u8> = (0..16).map(|at| u8::from_str_radix(&token[2 * at..2 * at + 2], 16).unwrap()).collect();
        for secret in [token.as_bytes(), &raw] {
            assert!(!bytes.windows(secret.len()).any(|window| window == secret), "only the token's digest is stored");
        }
    }
}
