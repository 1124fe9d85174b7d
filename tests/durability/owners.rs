//! Whose runs are whose: to any other principal a run does not exist.

use std::sync::Arc;

use agenthost::protocol::{ErrorCode, RunStatus};
use agenthost::runs::{AccessRequest, RunsOptions};

use crate::support::{Client, SOON, Setup, claim, client, code, detail, new_run, submission};

on_every_store!(
    a_run_belongs_to_the_principal_that_created_it,
    a_call_without_principal_sees_every_run,
    a_hook_replaces_the_rule,
    a_principal_can_be_required,
    a_principal_that_cannot_be_an_owner_is_unauthorized,
);

fn a_run_belongs_to_the_principal_that_created_it(setup: &Setup) {
    let runs = setup.open();
    let alice = Client { runs: runs.clone(), principal: Some("alice") };
    let bob = Client { runs: runs.clone(), principal: Some("bob") };
    alice.create("k", "run").unwrap();
    assert_eq!(code(bob.get("run")), ErrorCode::NotFound);
    assert_eq!(code(bob.events("run", 0, 10)), ErrorCode::NotFound);
    assert_eq!(code(bob.cancel("c", "run", 1)), ErrorCode::NotFound);
    assert_eq!(code(runs.wait_events(Some("bob"), "run", 0, 10, SOON).wait()), ErrorCode::NotFound);
    // The same words as for a run that does not exist.
    assert_eq!(bob.get("run"), bob.get("no such run"));
    let exists = bob.create("k", "run");
    assert_eq!(exists.as_ref().unwrap_err().details.as_str(), r#"{"reason":"run_exists"}"#);
    assert_eq!(bob.create("k", "run"), exists);
    assert_eq!(alice.create("other key", "run"), Ok(submission("run", 1, RunStatus::Created)));
    // Workers are trusted and see the owner.
    assert_eq!(claim(&runs).unwrap().owner.as_deref(), Some("alice"));
}

fn a_call_without_principal_sees_every_run(setup: &Setup) {
    let runs = setup.open();
    let alice = Client { runs: runs.clone(), principal: Some("alice") };
    alice.create("k", "hers").unwrap();
    client(&runs).create("k", "nobody's").unwrap();
    assert_eq!(client(&runs).get("hers").unwrap().run_id, "hers");
    assert_eq!(client(&runs).cancel("c", "hers", 1), Ok(submission("hers", 2, RunStatus::Cancelled)));
    assert_eq!(code(alice.get("nobody's")), ErrorCode::NotFound);
}

fn a_hook_replaces_the_rule(setup: &Setup) {
    let access = Arc::new(|asked: &AccessRequest<'_>| asked.principal == Some("admin") || asked.principal == asked.owner);
    let runs = setup.open_with(RunsOptions { access: Some(access), ..RunsOptions::default() });
    let alice = Client { runs: runs.clone(), principal: Some("alice") };
    alice.create("k", "run").unwrap();
    alice.get("run").unwrap();
    Client { runs: runs.clone(), principal: Some("admin") }.get("run").unwrap();
    assert_eq!(code(client(&runs).get("run")), ErrorCode::NotFound);
}

fn a_principal_can_be_required(setup: &Setup) {
    let runs = setup.open_with(RunsOptions { require_principal: true, ..RunsOptions::default() });
    assert_eq!(code(client(&runs).create("k", "run")), ErrorCode::Unauthorized);
    assert_eq!(code(client(&runs).get("run")), ErrorCode::Unauthorized);
    Client { runs, principal: Some("alice") }.create("k", "run").unwrap();
}

fn a_principal_that_cannot_be_an_owner_is_unauthorized(setup: &Setup) {
    let runs = setup.open();
    let long: &'static str = "p".repeat(256).leak();
    for principal in [long, "a\nb"] {
        let bad = Client { runs: runs.clone(), principal: Some(principal) };
        assert_eq!(code(bad.create("k", "run")), ErrorCode::Unauthorized);
    }
    // By mistake empty: not a call without principal, which would see every run.
    client(&runs).create("k", "nobody's").unwrap();
    let empty = Client { runs: runs.clone(), principal: Some("") };
    assert_eq!(code(empty.get("nobody's")), ErrorCode::Unauthorized);
    assert_eq!(code(runs.wait_events(Some(""), "nobody's", 0, 10, SOON).wait()), ErrorCode::Unauthorized);
    let longest = Client { runs: runs.clone(), principal: Some(&long[1..]) };
    longest.create("k", "run").unwrap();
    longest.get("run").unwrap();
    let mut run = new_run("other");
    run.context.agent_id = "a".repeat(256).into();
    let refused = client(&runs).create_run("l", run);
    assert_eq!(detail(&refused, "path"), "body.context.agentId");
    let mut run = new_run("other");
    run.context.metadata.insert("password", "x");
    assert_eq!(detail(&client(&runs).create_run("l", run), "path"), "body.context.metadata.password");
}
