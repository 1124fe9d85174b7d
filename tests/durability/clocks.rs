//! A clock that is set back, and forth: the store's time never goes back, and never stands still.

use std::time::Duration;

use agenthost::protocol::RunStatus;
use agenthost::runs::{ClaimRequest, NewEvent, Reason, Runs};

use crate::support::{LEASE, SOON, START, Setup, claim, claim_request, client, json, new_key, new_run, reason, with_deadline};

on_every_store!(
    a_run_that_waits_can_be_claimed_after_the_clock_was_set_back,
    a_lease_that_has_ended_stays_ended_after_the_clock_was_set_back,
    a_lease_ends_in_its_time_after_the_clock_was_set_back,
    a_delay_that_has_passed_stays_passed_after_the_clock_was_set_back,
    a_delay_passes_in_its_time_after_the_clock_was_set_back,
    a_deadline_ends_its_run_in_its_time_after_the_clock_was_set_back,
    a_key_that_has_expired_stays_expired_after_the_clock_was_set_back,
    a_key_is_kept_after_the_clock_was_set_back,
    a_wait_for_events_ends_in_its_time_after_the_clock_was_set_back,
    events_keep_the_order_of_time_after_the_clock_was_set_back,
    time_is_the_clocks_again_once_the_clock_has_caught_up,
    a_clock_that_jumped_years_ahead_and_was_corrected_stops_no_work,
);

const HOUR: i64 = 3_600_000;
/// A time that passes while a test runs.
const MOMENT: i64 = 40;

/// Something is written at the clock's time, so that it is the store's.
fn write(runs: &Runs) {
    let mut run = new_run(&new_key());
    run.context.agent_id = "nobody".into();
    client(runs).create_run(&new_key(), run).unwrap();
}

fn short_lease() -> ClaimRequest {
    ClaimRequest { lease: Some(Duration::from_millis(MOMENT as u64)), ..claim_request() }
}

/// Waits until a worker would be woken.
fn work_comes(runs: &Runs) {
    let agents = claim_request().agent_ids;
    assert_eq!(runs.wait_for_work(&agents, SOON).wait(), Ok(true));
}

fn a_run_that_waits_can_be_claimed_after_the_clock_was_set_back(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create("k", "run").unwrap();
    setup.pass(-HOUR);
    let runs = setup.restart(runs);
    work_comes(&runs);
    let claimed = claim(&runs).expect("it can be claimed");
    assert!(claimed.lease_ends_at_unix_ms >= START + LEASE);
}

fn a_lease_that_has_ended_stays_ended_after_the_clock_was_set_back(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create("k", "run").unwrap();
    claim(&runs).unwrap();
    setup.pass(LEASE + 1);
    write(&runs);
    setup.pass(-HOUR);
    let runs = setup.restart(runs);
    work_comes(&runs);
    assert_eq!(claim(&runs).expect("it can be taken over").attempt, 2);
}

fn a_lease_ends_in_its_time_after_the_clock_was_set_back(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create("k", "run").unwrap();
    runs.claim(&short_lease()).wait().unwrap().unwrap();
    setup.pass(-HOUR);
    work_comes(&runs);
    assert_eq!(claim(&runs).expect("it can be taken over").attempt, 2);
}

fn a_delay_that_has_passed_stays_passed_after_the_clock_was_set_back(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create("k", "run").unwrap();
    let claimed = claim(&runs).unwrap().claim;
    runs.release(&claimed, Duration::from_secs(600)).wait().unwrap();
    setup.pass(600_000);
    write(&runs);
    setup.pass(-HOUR);
    let runs = setup.restart(runs);
    work_comes(&runs);
    assert!(claim(&runs).is_some());
}

fn a_delay_passes_in_its_time_after_the_clock_was_set_back(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create("k", "run").unwrap();
    let claimed = claim(&runs).unwrap().claim;
    runs.release(&claimed, Duration::from_millis(MOMENT as u64)).wait().unwrap();
    setup.pass(-HOUR);
    work_comes(&runs);
    assert!(claim(&runs).is_some());
}

fn a_deadline_ends_its_run_in_its_time_after_the_clock_was_set_back(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create_run("k", with_deadline("soon", START + MOMENT)).unwrap();
    client(&runs).create_run("l", with_deadline("passed", START + 600_000)).unwrap();
    setup.pass(-HOUR);
    let ended = runs.wait_events(None, "soon", 1, 10, SOON).wait().unwrap();
    assert_eq!(ended.status, RunStatus::TimedOut);

    setup.pass(HOUR + 600_000);
    write(&runs);
    setup.pass(-HOUR);
    let runs = setup.restart(runs);
    let _ended = runs.run_timers().wait().unwrap();
    let view = client(&runs).get("passed").unwrap();
    assert_eq!(view.status, RunStatus::TimedOut);
    assert!(view.completed_at_unix_ms >= Some(START + 600_000), "{view:?}");
}

fn a_key_that_has_expired_stays_expired_after_the_clock_was_set_back(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create("k", "run").unwrap();
    setup.pass(24 * HOUR);
    write(&runs);
    setup.pass(-HOUR);
    let runs = setup.restart(runs);
    client(&runs).create("k", "another").unwrap();
}

fn a_key_is_kept_after_the_clock_was_set_back(setup: &Setup) {
    let runs = setup.open();
    let first = client(&runs).create("k", "run").unwrap();
    for jump in [-HOUR, 2 * HOUR, -48 * HOUR] {
        setup.pass(jump);
        assert_eq!(client(&runs).create("k", "run").unwrap(), first);
        assert_eq!(reason(client(&runs).create("k", "another")), Reason::IdempotencyMismatch);
    }
}

fn a_wait_for_events_ends_in_its_time_after_the_clock_was_set_back(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create("k", "run").unwrap();
    let (short, long) = (Duration::from_millis(MOMENT as u64), SOON);
    let (waiting, woken) = (runs.wait_events(None, "run", 1, 10, short), runs.wait_events(None, "run", 1, 10, long));
    setup.pass(-HOUR);
    assert!(waiting.wait().unwrap().page.events.is_empty());
    claim(&runs).unwrap();
    assert_eq!(woken.wait().unwrap().page.events.len(), 1);
}

fn events_keep_the_order_of_time_after_the_clock_was_set_back(setup: &Setup) {
    let mut runs = setup.open();
    client(&runs).create("k", "run").unwrap();
    let mut lease = claim(&runs).unwrap().lease_ends_at_unix_ms;
    setup.pass(LEASE + 1);
    let claim = claim(&runs).unwrap().claim;
    for jump in [5, -HOUR, 7, HOUR, -24 * HOUR] {
        setup.pass(jump);
        let appended = runs.append_events(&claim, &[NewEvent::new("note", json("1"))], None).wait().unwrap();
        assert!(appended.lease.ends_at_unix_ms >= lease, "the lease became shorter");
        lease = appended.lease.ends_at_unix_ms;
        runs = setup.restart(runs);
    }
    let page = client(&runs).events("run", 0, 100).unwrap();
    let times: Vec<i64> = page.events.iter().map(|event| event.timestamp_unix_ms).collect();
    assert!(times.is_sorted() && times.len() == 8, "{times:?}");
    let view = client(&runs).get("run").unwrap();
    assert_eq!(Some(&view.updated_at_unix_ms), times.last());
}

fn time_is_the_clocks_again_once_the_clock_has_caught_up(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create("k", "before").unwrap();
    setup.pass(-HOUR);
    client(&runs).create("l", "behind").unwrap();
    let behind = client(&runs).get("behind").unwrap().created_at_unix_ms;
    assert!((START..START + 60_000).contains(&behind), "{behind}");
    setup.pass(2 * HOUR);
    client(&runs).create("m", "after").unwrap();
    assert_eq!(client(&runs).get("after").unwrap().created_at_unix_ms, setup.now());
}

/// What is given in absolute time is early by as much as the store is ahead; all else goes on.
fn a_clock_that_jumped_years_ahead_and_was_corrected_stops_no_work(setup: &Setup) {
    const YEARS: i64 = 10 * 365 * 24 * HOUR;
    let runs = setup.open();
    setup.pass(YEARS);
    write(&runs);
    setup.pass(-YEARS);
    let runs = setup.restart(runs);
    client(&runs).create("k", "run").unwrap();
    runs.claim(&short_lease()).wait().unwrap().expect("it can be claimed");
    work_comes(&runs);
    let claimed = runs.claim(&short_lease()).wait().unwrap().expect("it can be taken over").claim;
    runs.release(&claimed, Duration::from_millis(MOMENT as u64)).wait().unwrap();
    work_comes(&runs);
    let claimed = claim(&runs).expect("its delay has passed").claim;
    runs.complete(&claimed, json("1")).wait().unwrap();
    client(&runs).create_run("l", with_deadline("early", setup.now() + HOUR)).unwrap();
    let _ended = runs.run_timers().wait().unwrap();
    assert_eq!(client(&runs).get("early").unwrap().status, RunStatus::TimedOut);
}
