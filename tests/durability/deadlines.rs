//! Deadlines end runs: at the time, or with the first call after it, and always with one event.

use agenthost::protocol::{Resolution, RunStatus};
use agenthost::runs::Reason;

use crate::support::{START, Setup, claim, client, detail, json, reason, submission, with_deadline};

on_every_store!(
    a_call_after_the_deadline_finds_the_run_timed_out,
    a_worker_loses_its_claim_to_the_deadline,
    timers_end_runs_when_nobody_calls,
    opening_ends_what_is_overdue_before_the_first_answer,
    a_deadline_in_the_past_is_accepted_at_creation,
    the_deadline_is_the_first_millisecond_that_is_too_late,
);

fn a_call_after_the_deadline_finds_the_run_timed_out(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create_run("k", with_deadline("run", START + 100)).unwrap();
    setup.pass(100);
    let late = client(&runs).cancel("c", "run", 1);
    assert_eq!(detail(&late, "currentRevision"), 2);
    assert_eq!(reason(late.clone()), Reason::RevisionMismatch);
    let view = client(&runs).get("run").unwrap();
    assert_eq!(
        (view.status, &*view.error, view.completed_at_unix_ms),
        (RunStatus::TimedOut, "deadline exceeded", Some(START + 100))
    );
    assert_eq!(client(&runs).story("run"), ["run_created", "run_timed_out"]);
    assert_eq!(client(&runs).cancel("c", "run", 1), late);
    assert_eq!(reason(client(&runs).cancel("d", "run", 2)), Reason::InvalidState);
}

fn a_worker_loses_its_claim_to_the_deadline(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create_run("k", with_deadline("run", START + 100)).unwrap();
    let claim = claim(&runs).unwrap().claim;
    setup.pass(100);
    let late = runs.complete(&claim, json("1")).wait();
    assert_eq!(detail(&late, "status"), "timed_out");
    assert_eq!(reason(late), Reason::ClaimLost);
    assert_eq!(client(&runs).story("run"), ["run_created", "run_started", "run_timed_out"]);
}

fn timers_end_runs_when_nobody_calls(setup: &Setup) {
    let runs = setup.open();
    for number in 0..250 {
        client(&runs)
            .create_run(&format!("k{number}"), with_deadline(&format!("run {number}"), START + 100 + number % 2))
            .unwrap();
    }
    assert_eq!(runs.run_timers().wait(), Ok(0));
    setup.pass(100);
    // The timers' own thread may have been faster.
    assert!(runs.run_timers().wait().unwrap() <= 125);
    assert_eq!(client(&runs).get("run 0").unwrap().status, RunStatus::TimedOut);
    assert_eq!(client(&runs).get("run 1").unwrap().status, RunStatus::Created);
    setup.pass(1);
    runs.run_timers().wait().unwrap();
    for number in 0..250 {
        assert_eq!(client(&runs).story(&format!("run {number}")), ["run_created", "run_timed_out"]);
    }
}

fn opening_ends_what_is_overdue_before_the_first_answer(setup: &Setup) {
    let mut runs = setup.open();
    client(&runs).create_run("k", with_deadline("run", START + 100)).unwrap();
    if !setup.persists() {
        return;
    }
    setup.pass(100);
    runs = setup.restart(runs);
    assert_eq!(client(&runs).get("run").unwrap().status, RunStatus::TimedOut);
}

fn a_deadline_in_the_past_is_accepted_at_creation(setup: &Setup) {
    let runs = setup.open();
    let created = client(&runs).create_run("k", with_deadline("run", START - 1));
    assert_eq!(created, Ok(submission("run", 1, RunStatus::Created)));
    assert!(claim(&runs).is_none(), "nobody works on a run whose time is up");
    assert_eq!(client(&runs).get("run").unwrap().status, RunStatus::TimedOut);
}

fn the_deadline_is_the_first_millisecond_that_is_too_late(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create_run("k", with_deadline("run", START + 100)).unwrap();
    let claim = claim(&runs).unwrap().claim;
    setup.pass(99);
    let suspended = runs.suspend(&claim, crate::support::suspension()).wait().unwrap();
    client(&runs).resolve("r", "run", 3, &suspended.approval_ids[0], Resolution::Approved).unwrap();
    setup.pass(1);
    assert_eq!(reason(client(&runs).resume("s", "run", 4, &suspended.approval_ids[0], "{}")), Reason::RevisionMismatch);
    assert_eq!(client(&runs).get("run").unwrap().status, RunStatus::TimedOut);
}
