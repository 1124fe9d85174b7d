//! Runs behind a host: who keeps them open, and until when.

use std::sync::Arc;

use agenthost::host::{HostOptions, LogHook, LogLevel};
use agenthost::runs::RunsOptions;

use crate::support::{Setup, claim};

on_every_store!(
    a_closed_host_lets_go_of_its_runs_at_once,
    a_host_over_closed_runs_says_so,
    closing_a_host_leaves_the_runs_to_who_has_them
);

const CREATE: &[u8] = br#"{"protocolVersion":"2026-07-01","requestId":"1","idempotencyKey":"k","operation":"create_run",
    "body":{"context":{"runId":"run-1"}}}"#;
const GET: &[u8] = br#"{"protocolVersion":"2026-07-01","requestId":"2","operation":"get_run","body":{"runId":"run-1"}}"#;

fn holds(response: &[u8], part: &str) {
    let response = std::str::from_utf8(response).unwrap();
    assert!(response.contains(part), "{response}");
}

/// The thread that answered the last call may still be busy with it: neither close nor the last drop returns before it is done.
fn a_closed_host_lets_go_of_its_runs_at_once(setup: &Setup) {
    let log: LogHook = Arc::new(|_: LogLevel, _: &str, _: &[(&str, &str)]| {});
    for _ in 0..30 {
        let runs = setup.open_with(RunsOptions { log: Some(log.clone()), ..RunsOptions::default() });
        let host = runs.host(HostOptions::default());
        drop(runs);
        holds(&host.dispatch_json(CREATE), "\"revision\":1");
        holds(&host.dispatch_json(GET), "\"created\"");
        host.close(None).unwrap();
        assert!(!setup.persists() || !setup.file("runs.db-wal").exists(), "the file is still open");
        holds(&host.dispatch_json(GET), "\"unavailable\"");
        drop(host);
        assert_eq!(Arc::strong_count(&log), 1, "the log hook is still held");
    }
}

fn a_host_over_closed_runs_says_so(setup: &Setup) {
    let runs = setup.open();
    let host = runs.host(HostOptions::default());
    runs.close();
    holds(&host.dispatch_json(CREATE), "\"unavailable\"");
    holds(&runs.host(HostOptions::default()).dispatch_json(GET), "\"unavailable\"");
}

fn closing_a_host_leaves_the_runs_to_who_has_them(setup: &Setup) {
    let runs = setup.open();
    let host = runs.host(HostOptions::default());
    let other = runs.host(HostOptions::default());
    holds(&host.dispatch_json(CREATE), "\"revision\":1");
    host.close(None).unwrap();
    drop(host);
    assert!(claim(&runs).is_some());
    holds(&other.dispatch_json(GET), "\"running\"");
}
