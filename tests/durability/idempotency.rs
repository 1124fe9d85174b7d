//! Keys: the same key and request have the first outcome, whatever has happened since.

use std::sync::Barrier;

use agenthost::protocol::{ErrorCode, Resolution, RunStatus};
use agenthost::runs::{OpenError, Reason, Runs, RunsOptions};

use crate::support::{Client, START, Setup, claim, client, code, detail, json, new_key, new_run, reason, submission};

on_every_store!(
    of_64_concurrent_creates_one_makes_a_run,
    one_key_in_two_operations_and_for_two_principals,
    a_replay_is_the_first_outcome,
    conflicts_are_replayed_too,
    a_refusal_leaves_the_key_free,
    keys_are_1_to_255_bytes_without_control_characters,
    a_key_is_forgotten_after_its_time,
    a_key_that_would_be_forgotten_at_once_is_refused,
    a_run_is_created_once_whatever_the_key,
);

fn of_64_concurrent_creates_one_makes_a_run(setup: &Setup) {
    let runs = setup.open();
    let start = Barrier::new(64);
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                start.wait();
                assert_eq!(client(&runs).create("k", "run"), Ok(submission("run", 1, RunStatus::Created)));
            });
        }
    });
    assert_eq!(client(&runs).story("run"), ["run_created"]);
    assert_eq!(runs.list_runs(Default::default()).wait().unwrap().runs.len(), 1);
}

fn one_key_in_two_operations_and_for_two_principals(setup: &Setup) {
    let runs = setup.open();
    let alice = Client { runs: runs.clone(), principal: Some("alice") };
    let bob = Client { runs: runs.clone(), principal: Some("bob") };
    alice.create("k", "a").unwrap();
    bob.create("k", "b").unwrap();
    assert_eq!(alice.cancel("k", "a", 1), Ok(submission("a", 2, RunStatus::Cancelled)));
    assert_eq!(alice.create("k", "a"), Ok(submission("a", 1, RunStatus::Created)));
    assert_eq!(bob.get("b").unwrap().status, RunStatus::Created);
    assert_eq!(reason(bob.create("k", "c")), Reason::IdempotencyMismatch);
}

fn a_replay_is_the_first_outcome(setup: &Setup) {
    let mut runs = setup.open();
    let (_, approval) = client(&runs).suspended("run");
    let resolve = |runs: &Runs| client(runs).resolve("k", "run", 3, &approval, Resolution::Approved);
    let first = resolve(&runs);
    assert_eq!(first, Ok(submission("run", 4, RunStatus::WaitingForApproval)));
    runs = setup.restart(runs);
    assert_eq!(resolve(&runs), first, "after a restart");
    client(&runs).resume("l", "run", 4, &approval, "{}").unwrap();
    assert_eq!(resolve(&runs), first, "after the revision moved");
    let claim = claim(&runs).unwrap().claim;
    runs.complete(&claim, json("1")).wait().unwrap();
    assert_eq!(resolve(&runs), first, "after the run ended");
    assert_eq!(client(&runs).resume("l", "run", 4, &approval, "{}"), Ok(submission("run", 5, RunStatus::Running)));
    // A retried cancel does not meet its own success.
    client(&runs).create("c", "other").unwrap();
    for _ in 0..2 {
        assert_eq!(client(&runs).cancel("d", "other", 1), Ok(submission("other", 2, RunStatus::Cancelled)));
    }
    assert_eq!(client(&runs).story("other"), ["run_created", "run_cancelled"]);
}

fn conflicts_are_replayed_too(setup: &Setup) {
    let runs = setup.open();
    let client = client(&runs);
    client.create("k", "run").unwrap();
    let stale = client.cancel("stale", "run", 7);
    assert_eq!(detail(&stale, "currentRevision"), 1);
    let wrong = client.resolve("wrong", "run", 1, "approval", Resolution::Approved);
    assert_eq!(reason(wrong.clone()), Reason::InvalidState);
    let exists = client.create_run("exists", {
        let mut run = new_run("run");
        run.input = json("2");
        run
    });
    assert_eq!(reason(exists.clone()), Reason::RunExists);
    client.cancel(&new_key(), "run", 1).unwrap();
    // By now the revision is another; the answer is the first one.
    assert_eq!(client.cancel("stale", "run", 7), stale);
    assert_eq!(client.resolve("wrong", "run", 1, "approval", Resolution::Approved), wrong);
    assert_eq!(
        client.create_run("exists", {
            let mut run = new_run("run");
            run.input = json("2");
            run
        }),
        exists
    );
    for error in [stale.unwrap_err(), wrong.unwrap_err(), exists.unwrap_err()] {
        assert_eq!((error.code, error.retryable), (ErrorCode::Conflict, false));
    }
}

fn a_refusal_leaves_the_key_free(setup: &Setup) {
    let runs = setup.open();
    let client = client(&runs);
    assert_eq!(code(client.cancel("k", "run", 1)), ErrorCode::NotFound);
    client.create("create", "run").unwrap();
    assert_eq!(client.cancel("k", "run", 1), Ok(submission("run", 2, RunStatus::Cancelled)));
    let mut secret = new_run("other");
    secret.metadata.insert("api_key", "x");
    assert_eq!(code(client.create_run("l", secret)), ErrorCode::InvalidRequest);
    client.create("l", "other").unwrap();
    // Held by a worker: nothing is recorded, and the same key succeeds once the lease has ended.
    client.cancel(&new_key(), "other", 1).unwrap();
    let (_, approval) = client.suspended("third");
    client.resolve("m", "third", 3, &approval, Resolution::Approved).unwrap();
    client.resume("n", "third", 4, &approval, "{}").unwrap();
    runs.claim(&agenthost::runs::ClaimRequest { agent_ids: vec!["".into()], ..Default::default() }).wait().unwrap();
    let held = client.resume("o", "third", 5, &approval, "{}");
    assert!(held.as_ref().unwrap_err().retryable);
    assert_eq!(reason(held), Reason::ClaimHeld);
}

fn keys_are_1_to_255_bytes_without_control_characters(setup: &Setup) {
    let runs = setup.open();
    let client = client(&runs);
    client.create(&"k".repeat(255), "run").unwrap();
    assert_eq!(client.create(&"k".repeat(255), "run"), Ok(submission("run", 1, RunStatus::Created)));
    for bad in ["k".repeat(256), "é".repeat(128), "a\nb".into(), "\u{7f}".into(), "\u{85}".into(), String::new()] {
        let refused = client.create(&bad, "other");
        assert_eq!(detail(&refused, "path"), "idempotencyKey");
        assert_eq!(code(refused), ErrorCode::InvalidRequest);
    }
    for (bad, path) in [("r".repeat(256), "body.context.runId"), ("a\tb".into(), "body.context.runId")] {
        assert_eq!(detail(&client.create("new", &bad), "path"), path);
    }
    assert_eq!(detail(&client.get(&"r".repeat(256)).map(drop), "path"), "body.runId");
}

fn a_key_is_forgotten_after_its_time(setup: &Setup) {
    let runs = setup.open_with(RunsOptions { key_ttl: std::time::Duration::from_secs(60), ..RunsOptions::default() });
    let client = client(&runs);
    client.create("k", "run").unwrap();
    client.cancel("k", "run", 1).unwrap();
    setup.pass(59_999);
    assert_eq!(client.cancel("k", "run", 1), Ok(submission("run", 2, RunStatus::Cancelled)));
    setup.pass(1);
    // The record counts no more, deleted or not: the request is a new one.
    assert_eq!(reason(client.cancel("k", "run", 1)), Reason::RevisionMismatch);
    runs.run_timers().wait().unwrap();
    assert_eq!(reason(client.cancel("k", "run", 1)), Reason::RevisionMismatch);
    assert_eq!(client.get("run").unwrap().updated_at_unix_ms, START);
    // By default it is remembered a day.
    assert_eq!(RunsOptions::default().key_ttl.as_secs(), 24 * 3600);
}

fn a_key_that_would_be_forgotten_at_once_is_refused(setup: &Setup) {
    for none in [std::time::Duration::ZERO, std::time::Duration::from_micros(999)] {
        let opened = Runs::over(setup.store(), RunsOptions { key_ttl: none, ..RunsOptions::default() });
        let Err(OpenError::Option(refused)) = opened else { panic!("opened with {none:?}") };
        assert_eq!(refused, "key_ttl: expected 1 ms or more");
    }
    setup.open_with(RunsOptions { key_ttl: std::time::Duration::from_millis(1), ..RunsOptions::default() });
    setup.open_with(RunsOptions { key_ttl: std::time::Duration::MAX, ..RunsOptions::default() });
}

fn a_run_is_created_once_whatever_the_key(setup: &Setup) {
    let runs = setup.open();
    let client = client(&runs);
    client.create("k", "run").unwrap();
    client.cancel("c", "run", 1).unwrap();
    assert_eq!(client.create("another key", "run"), Ok(submission("run", 1, RunStatus::Created)));
    assert_eq!(client.story("run"), ["run_created", "run_cancelled"]);
    let mut other = new_run("run");
    other.metadata.insert("colour", "red");
    let exists = client.create_run("third key", other);
    assert_eq!(detail(&exists, "status"), "cancelled");
    assert_eq!(reason(exists), Reason::RunExists);
}
