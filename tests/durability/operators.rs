//! The operator's side: lists, purge, copies.

use agenthost::protocol::{ErrorCode, RunStatus};
use agenthost::runs::{ListRuns, NewEvent, Runs};

use crate::support::{Client, START, Setup, claim, client, code, json, new_key, new_run, submission};

on_every_store!(runs_are_listed_by_pages, purge_deletes_what_ended_before, a_copy_is_consistent_while_writers_go_on);

fn listed(runs: &Runs, request: ListRuns) -> Vec<String> {
    runs.list_runs(request).wait().unwrap().runs.into_iter().map(|run| run.run_id).collect()
}

fn runs_are_listed_by_pages(setup: &Setup) {
    let runs = setup.open();
    let alice = Client { runs: runs.clone(), principal: Some("alice") };
    for number in 0..10 {
        let mut run = new_run(&format!("run {number}"));
        run.context.agent_id = if number % 2 == 0 { "even".into() } else { "odd".into() };
        let caller = if number < 5 { &alice } else { &client(&runs) };
        caller.create_run(&new_key(), run).unwrap();
    }
    client(&runs).cancel("c", "run 3", 1).unwrap();
    let all: Vec<_> = (0..10).map(|number| format!("run {number}")).collect();
    let (mut after, mut seen) = (0, Vec::new());
    loop {
        let page = runs.list_runs(ListRuns { after, limit: 3, ..ListRuns::default() }).wait().unwrap();
        seen.extend(page.runs.into_iter().map(|run| run.run_id));
        after = page.next;
        if !page.has_more {
            break;
        }
    }
    assert_eq!(seen, all);
    let of = |owner: &str| ListRuns { owner: Some(owner.into()), ..ListRuns::default() };
    assert_eq!(listed(&runs, of("alice")), all[..5]);
    assert_eq!(listed(&runs, of("")), all[5..]);
    let even = ListRuns { agent_id: Some("even".into()), ..of("alice") };
    assert_eq!(listed(&runs, even), ["run 0", "run 2", "run 4"]);
    let cancelled = ListRuns { status: Some(RunStatus::Cancelled), ..ListRuns::default() };
    assert_eq!(listed(&runs, cancelled.clone()), ["run 3"]);
    let summary = runs.list_runs(cancelled).wait().unwrap().runs.remove(0);
    assert_eq!((summary.owner.as_deref(), &*summary.agent_id, summary.revision), (Some("alice"), "odd", 2));
    assert_eq!((summary.head_sequence, summary.completed_at_unix_ms), (2, Some(START)));
    assert_eq!(code(runs.list_runs(ListRuns { limit: 1001, ..ListRuns::default() }).wait()), ErrorCode::InvalidRequest);
}

fn purge_deletes_what_ended_before(setup: &Setup) {
    let mut runs = setup.open();
    for run_id in ["old", "long", "young", "live"] {
        client(&runs).create(run_id, run_id).unwrap();
    }
    let old = claim(&runs).unwrap().claim;
    runs.append_events(&old, &[NewEvent::new("e", json("1"))], None).wait().unwrap();
    runs.complete(&old, json("1")).wait().unwrap();
    let long = claim(&runs).unwrap().claim;
    for _ in 0..3 {
        let events: Vec<_> = (0..900).map(|_| NewEvent::new("e", json("1"))).collect();
        runs.append_events(&long, &events, None).wait().unwrap();
    }
    runs.fail(&long, "no").wait().unwrap();
    setup.pass(1);
    client(&runs).cancel("c", "young", 1).unwrap();
    assert_eq!(runs.purge(START + 1).wait(), Ok(2));
    runs = setup.restart(runs);
    assert_eq!(listed(&runs, ListRuns::default()), ["young", "live"]);
    assert_eq!(code(client(&runs).get("old")), ErrorCode::NotFound);
    assert_eq!(code(client(&runs).events("long", 0, 10)), ErrorCode::NotFound);
    // Its key is remembered; with another key its id is free again, and nothing of the old run is there.
    assert_eq!(client(&runs).create("old", "old"), Ok(submission("old", 1, RunStatus::Created)));
    assert_eq!(code(client(&runs).get("old")), ErrorCode::NotFound);
    client(&runs).create("new key", "old").unwrap();
    assert_eq!(client(&runs).story("old"), ["run_created"]);
    assert_eq!(client(&runs).get("live").unwrap().status, RunStatus::Created);
    assert_eq!(runs.purge(START).wait(), Ok(0));
}

fn a_copy_is_consistent_while_writers_go_on(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create("k", "before").unwrap();
    let copy = setup.file("copy.db");
    if !setup.persists() {
        assert_eq!(code(runs.backup(&copy).wait()), ErrorCode::InvalidRequest);
        return;
    }
    std::thread::scope(|scope| {
        let writer =
            scope.spawn(|| (0..50).for_each(|number| drop(client(&runs).create(&new_key(), &format!("run {number}")).unwrap())));
        runs.backup(&copy).wait().unwrap();
        writer.join().unwrap();
    });
    assert_eq!(code(runs.backup(&copy).wait()), ErrorCode::InvalidRequest, "it is there already");
    let url = format!("sqlite:{}", copy.display());
    let copied = Runs::open(&url, Default::default()).unwrap();
    assert_eq!(client(&copied).story("before"), ["run_created"]);
    for run_id in listed(&copied, ListRuns { limit: 1000, ..ListRuns::default() }) {
        assert_eq!(client(&copied).story(&run_id), ["run_created"]);
    }
}
