//! Waiting: it is over as soon as there is something, at once where there will be nothing, and when its time is up.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::time::{Duration, Instant};

use agenthost::protocol::{ErrorCode, RunStatus};
use agenthost::runs::{ClaimRequest, NewEvent, Runs, RunsOptions};
use agenthost::store::{JobNumber, ReadJob, Store, Stored, WriteJob};

use crate::support::{LEASE, SOON, START, Setup, claim, claim_request, client, code, detail, json, new_key, with_deadline};

on_every_store!(
    an_event_ends_a_wait_for_events,
    a_drained_ended_run_ends_a_wait_at_once,
    a_wait_ends_when_its_time_is_up,
    a_wait_for_work_of_no_agent_is_refused,
    a_wait_whose_job_the_store_drops_ends,
    no_event_is_missed_by_a_follower,
    work_wakes_a_waiting_worker,
    a_worker_learns_that_its_claim_is_lost,
    closing_ends_every_wait,
    every_run_is_done_once_by_many_workers,
);

const NO_TIME: Duration = Duration::ZERO;

fn an_event_ends_a_wait_for_events(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create("k", "run").unwrap();
    let at_once = runs.wait_events(None, "run", 0, 10, SOON).wait().unwrap();
    assert_eq!((at_once.page.events.len(), at_once.page.next_sequence), (1, 1));
    let waiting = runs.wait_events(None, "run", 1, 10, SOON);
    let started = Instant::now();
    claim(&runs).unwrap();
    let woken = waiting.wait().unwrap();
    assert_eq!((&*woken.page.events[0].event_type, woken.status), ("run_started", RunStatus::Running));
    assert!(started.elapsed() < Duration::from_secs(4), "woken, not found by the poll every 5 s");
    assert_eq!(code(runs.wait_events(None, "nothing", 0, 10, SOON).wait()), ErrorCode::NotFound);
    assert_eq!(code(runs.wait_events(None, "run", 0, 1001, SOON).wait()), ErrorCode::InvalidRequest);
}

fn a_drained_ended_run_ends_a_wait_at_once(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create("k", "run").unwrap();
    client(&runs).cancel("c", "run", 1).unwrap();
    let drained = runs.wait_events(None, "run", 2, 10, SOON).wait().unwrap();
    assert!(drained.is_drained() && drained.page.events.is_empty());
    assert!(!runs.wait_events(None, "run", 0, 1, SOON).wait().unwrap().is_drained());
    assert!(runs.wait_events(None, "run", 1, 1, SOON).wait().unwrap().is_drained());
}

fn a_wait_ends_when_its_time_is_up(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create("k", "run").unwrap();
    for time in [NO_TIME, Duration::from_millis(20)] {
        let nothing = runs.wait_events(None, "run", 1, 10, time).wait().unwrap();
        assert_eq!((nothing.page.events.len(), nothing.page.next_sequence, nothing.status), (0, 1, RunStatus::Created));
        assert_eq!(runs.wait_for_work(&["other".into()], time).wait(), Ok(false));
    }
    let claim = claim(&runs).unwrap().claim;
    assert_eq!(runs.wait_claim_lost(&claim, Duration::from_millis(20)).wait(), Ok(None));
}

fn no_event_is_missed_by_a_follower(setup: &Setup) {
    const EVENTS: u64 = 200;
    let runs = setup.open();
    client(&runs).create("k", "run").unwrap();
    let claim = claim(&runs).unwrap().claim;
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let (mut after, mut seen) = (0, Vec::new());
                loop {
                    let followed = runs.wait_events(None, "run", after, 7, SOON).wait().unwrap();
                    seen.extend(followed.page.events.iter().map(|event| event.sequence));
                    after = followed.page.next_sequence;
                    if followed.is_drained() {
                        break;
                    }
                    assert!(!followed.page.events.is_empty(), "a wait of half a minute ended without an event");
                }
                assert_eq!(seen, (1..=EVENTS + 3).collect::<Vec<_>>());
            });
        }
        for number in 0..EVENTS {
            runs.append_events(&claim, &[NewEvent::new("e", json(&number.to_string()))], None).wait().unwrap();
        }
        runs.complete(&claim, json("1")).wait().unwrap();
    });
}

fn work_wakes_a_waiting_worker(setup: &Setup) {
    let runs = setup.open();
    let started = Instant::now();
    let waiting = runs.wait_for_work(&["other".into(), "".into()], SOON);
    client(&runs).create("k", "run").unwrap();
    assert_eq!(waiting.wait(), Ok(true));
    let first = claim(&runs).unwrap().claim;
    let waiting = runs.wait_for_work(&["".into()], SOON);
    runs.release(&first, NO_TIME).wait().unwrap();
    assert_eq!(waiting.wait(), Ok(true));
    let second = claim(&runs).unwrap().claim;
    let suspended = runs.suspend(&second, crate::support::suspension()).wait().unwrap();
    let waiting = runs.wait_for_work(&["".into()], SOON);
    client(&runs).resolve("r", "run", 3, &suspended.approval_ids[0], agenthost::protocol::Resolution::Approved).unwrap();
    client(&runs).resume("s", "run", 4, &suspended.approval_ids[0], "{}").unwrap();
    assert_eq!(waiting.wait(), Ok(true));
    // A lease's end is no commit: the wait knows when it comes.
    claim(&runs).unwrap();
    let waiting = runs.wait_for_work(&["".into()], SOON);
    setup.pass(LEASE);
    client(&runs).create("l", "other run").unwrap();
    assert_eq!(waiting.wait(), Ok(true));
    assert!(started.elapsed() < SOON);
}

fn a_worker_learns_that_its_claim_is_lost(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create_run("k", with_deadline("run", START + 100_000)).unwrap();
    let first = claim(&runs).unwrap().claim;
    let waiting = runs.wait_claim_lost(&first, SOON);
    setup.pass(LEASE);
    let second = claim(&runs).unwrap().claim;
    assert_eq!(waiting.wait(), Ok(Some(RunStatus::Running)));
    let waiting = runs.wait_claim_lost(&second, SOON);
    setup.pass(100_000);
    runs.run_timers().wait().unwrap();
    assert_eq!(waiting.wait(), Ok(Some(RunStatus::TimedOut)));
    client(&runs).create("l", "other").unwrap();
    let third = claim(&runs).unwrap().claim;
    let waiting = runs.wait_claim_lost(&third, SOON);
    client(&runs).cancel("c", "other", 2).unwrap();
    assert_eq!(waiting.wait(), Ok(Some(RunStatus::Cancelled)));
}

fn closing_ends_every_wait(setup: &Setup) {
    let runs = setup.open();
    client(&runs).create("k", "run").unwrap();
    let claim = claim(&runs).unwrap().claim;
    let events = runs.wait_events(None, "run", 2, 10, SOON);
    let work = runs.wait_for_work(&["".into()], SOON);
    let lost = runs.wait_claim_lost(&claim, SOON);
    runs.close();
    assert_eq!(code(events.wait()), ErrorCode::Unavailable);
    assert_eq!(code(work.wait()), ErrorCode::Unavailable);
    assert_eq!(code(lost.wait()), ErrorCode::Unavailable);
    assert_eq!(code(client(&runs).get("run")), ErrorCode::Unavailable);
    assert_eq!(code(client(&runs).create("l", "other")), ErrorCode::Unavailable);
    runs.close();
}

fn every_run_is_done_once_by_many_workers(setup: &Setup) {
    const RUNS: u64 = 60;
    let runs = setup.open();
    let (done, start) = (AtomicU64::new(0), Barrier::new(5));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                start.wait();
                while done.load(Ordering::SeqCst) < RUNS {
                    runs.wait_for_work(&["".into()], Duration::from_millis(100)).wait().unwrap();
                    let request = ClaimRequest { worker: "w".into(), ..claim_request() };
                    if let Some(claimed) = runs.claim(&request).wait().unwrap() {
                        runs.complete(&claimed.claim, claimed.input).wait().unwrap();
                        done.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
        start.wait();
        for number in 0..RUNS {
            client(&runs).create(&new_key(), &format!("run {number}")).unwrap();
        }
    });
    for number in 0..RUNS {
        assert_eq!(client(&runs).story(&format!("run {number}")), ["run_created", "run_started", "run_completed"]);
    }
}

fn a_wait_for_work_of_no_agent_is_refused(setup: &Setup) {
    let runs = setup.open();
    for timeout in [NO_TIME, Duration::from_millis(1), SOON] {
        let (sender, received) = mpsc::channel();
        runs.wait_for_work(&[], timeout).then(move |found| sender.send(found).unwrap());
        let refused = received.recv_timeout(SOON).expect("the wait never ended");
        assert_eq!(detail(&refused, "path"), "agentIds");
        assert_eq!(code(refused), ErrorCode::InvalidRequest);
    }
}

/// A store that drops every job that only reads once it is told to: as one that is bought elsewhere might.
struct Dropping {
    inner: Box<dyn Store>,
    drops: Arc<AtomicBool>,
}

impl Store for Dropping {
    fn write(&self, job: Box<dyn WriteJob>) -> JobNumber {
        if self.drops.load(Ordering::SeqCst) { 0 } else { self.inner.write(job) }
    }

    fn begin(&self) {
        self.inner.begin();
    }

    fn wait_for(&self, job: JobNumber) {
        self.inner.wait_for(job);
    }

    fn read(&self, job: Box<dyn ReadJob>) {
        if !self.drops.load(Ordering::SeqCst) {
            self.inner.read(job);
        }
    }

    fn watch(&self, changed: Arc<dyn Fn() + Send + Sync>) {
        self.inner.watch(changed);
    }

    fn backup(&self, to: &std::path::Path) -> Stored<()> {
        self.inner.backup(to)
    }

    fn close(&self) {
        self.inner.close();
    }
}

fn a_wait_whose_job_the_store_drops_ends(setup: &Setup) {
    let drops = Arc::new(AtomicBool::new(false));
    let store = Box::new(Dropping { inner: setup.store(), drops: drops.clone() });
    let runs = Runs::over(store, RunsOptions::default()).unwrap();
    let (sender, received) = mpsc::channel();
    let other_sender = sender.clone();
    runs.wait_for_work(&["agent".into()], Duration::from_millis(50)).then(move |found| other_sender.send(found.is_ok()).unwrap());
    drops.store(true, Ordering::SeqCst);
    assert!(!received.recv_timeout(SOON).expect("the wait never ended"));
    assert_eq!(code(client(&runs).create("k", "run")), ErrorCode::Unavailable);
    assert_eq!(code(client(&runs).get("run")), ErrorCode::Unavailable);
    runs.wait_for_work(&["agent".into()], SOON).then(move |found| sender.send(found.is_ok()).unwrap());
    assert!(!received.recv_timeout(SOON).expect("the wait never ended"));
}
