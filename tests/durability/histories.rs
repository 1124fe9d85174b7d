//! Random histories: threads call at random, and one order of their calls has to explain everything that they were answered.

#[path = "history.rs"]
mod history;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use agenthost::protocol::{ErrorCode, HostError};
use agenthost::runs::{Claim, ClaimRequest, NewEvent, Reason, Runs};

use self::history::{Observed, Requested, Step, explain};
use crate::support::{Setup, client, json, new_run};

on_every_store!(what_threads_were_told_is_explained_by_one_order);

/// A small generator (xorshift): a history can be made again from its seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

fn refused(error: &HostError<'_>) -> Observed {
    match (Reason::of(error), error.code) {
        (Some(reason), _) => Observed::Conflict { reason: reason.name() },
        (None, ErrorCode::NotFound) => Observed::NotFound,
        (None, ErrorCode::Unavailable) => Observed::Unknown,
        _ => panic!("{error:?}"),
    }
}

/// What the threads of one history share.
struct Scene<'r> {
    runs: &'r Runs,
    run_id: String,
    time: AtomicU64,
    claims: Mutex<Vec<(u64, Claim)>>,
    steps: Mutex<Vec<Step>>,
}

impl Scene<'_> {
    fn step(&self, random: &mut Random) {
        let client = client(self.runs);
        let key = format!("key {}", random.below(3));
        let from = self.time.fetch_add(1, Ordering::SeqCst);
        let claim = {
            let claims = self.claims.lock().unwrap();
            let index = random.below(claims.len().max(1) as u64) as usize;
            claims.get(index).cloned()
        };
        let run = |revision, status: agenthost::protocol::RunStatus| Observed::Run { revision, status: status.name() };
        let (requested, observed) = match (random.below(8), claim) {
            (0..=1, _) => {
                let mut new = new_run(&self.run_id);
                new.context.agent_id = self.run_id.clone().into();
                let observed = client.create_run(&format!("{} {key}", self.run_id), new);
                (Requested::Create { key }, observed.map_or_else(|error| refused(&error), |is| run(is.revision, is.status)))
            }
            (2, _) => {
                let expected = 1 + random.below(3);
                let observed = client.cancel(&format!("{} {key}", self.run_id), &self.run_id, expected);
                (
                    Requested::Cancel { key, expected },
                    observed.map_or_else(|error| refused(&error), |is| run(is.revision, is.status)),
                )
            }
            (3, _) => {
                let observed = client.get(&self.run_id);
                (Requested::Get, observed.map_or_else(|error| refused(&error), |is| run(is.revision, is.status)))
            }
            (4, Some((token, claim))) => {
                let observed = self.runs.complete(&claim, json("1")).wait();
                (Requested::Complete { token }, observed.map_or_else(|error| refused(&error), |is| run(is.revision, is.status)))
            }
            (5..=6, Some((token, claim))) => {
                let observed = self.runs.append_events(&claim, &[NewEvent::new("e", json("1"))], None).wait();
                let observed =
                    observed.map_or_else(|error| refused(&error), |is| Observed::Appended { sequence: is.last_sequence });
                (Requested::Append { token }, observed)
            }
            _ => {
                let token = from;
                let request = ClaimRequest { agent_ids: vec![self.run_id.clone()], ..ClaimRequest::default() };
                let observed = match self.runs.claim(&request).wait().unwrap() {
                    None => Observed::Nothing,
                    Some(claimed) => {
                        self.claims.lock().unwrap().push((token, claimed.claim));
                        Observed::Run { revision: claimed.revision, status: "running" }
                    }
                };
                (Requested::Claim { token }, observed)
            }
        };
        let to = self.time.fetch_add(1, Ordering::SeqCst);
        self.steps.lock().unwrap().push(Step { from, to, requested, observed });
    }
}

fn what_threads_were_told_is_explained_by_one_order(setup: &Setup) {
    const HISTORIES: u64 = 60;
    const THREADS: u64 = 5;
    const STEPS: u64 = 10;
    let runs = setup.open();
    let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64 | 1;
    let mut ends = [0; 2];
    for number in 0..HISTORIES {
        let scene = Scene {
            runs: &runs,
            run_id: format!("run {number}"),
            time: AtomicU64::new(0),
            claims: Mutex::default(),
            steps: Mutex::default(),
        };
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let mut random = Random(seed.wrapping_mul(2 * (number * THREADS + thread) + 1));
                let scene = &scene;
                scope.spawn(move || (0..STEPS).for_each(|_| scene.step(&mut random)));
            }
        });
        let steps = scene.steps.into_inner().unwrap();
        assert!(explain(&steps).is_some(), "seed {seed}, history {number}: no order explains {steps:#?}");
        for (end, status) in ends.iter_mut().zip(["completed", "cancelled"]) {
            *end += usize::from(
                steps.iter().any(|step| matches!(step.observed, Observed::Run { status: observed, .. } if observed == status)),
            );
        }
    }
    assert!(ends.iter().all(|end| *end > 0), "histories that never got anywhere: {ends:?}");
}

#[test]
fn a_history_that_no_order_explains_is_found() {
    let step = |from, to, requested, observed| Step { from, to, requested, observed };
    let key = || "k".to_owned();
    let created = Observed::Run { revision: 1, status: "created" };
    let cancelled = Observed::Run { revision: 2, status: "cancelled" };
    let create = step(0, 1, Requested::Create { key: key() }, created.clone());
    let cancel = step(2, 5, Requested::Cancel { key: key(), expected: 1 }, cancelled.clone());
    let read = |from, to, observed| step(from, to, Requested::Get, observed);
    // Overlapping calls may come in either order, but not back again.
    assert!(explain(&[create.clone(), cancel.clone(), read(3, 4, created.clone())]).is_some());
    assert!(explain(&[create.clone(), cancel.clone(), read(3, 4, cancelled.clone()), read(6, 7, created.clone())]).is_none());
    // A lost write, a write that happened twice, and one whose outcome nobody knows.
    assert!(explain(&[create.clone(), cancel.clone(), read(6, 7, created.clone())]).is_none());
    let twice = step(6, 7, Requested::Cancel { key: "other".into(), expected: 1 }, cancelled.clone());
    assert!(explain(&[create.clone(), cancel, twice]).is_none());
    let unknown = step(2, 3, Requested::Cancel { key: key(), expected: 1 }, Observed::Unknown);
    for observed in [created, cancelled] {
        assert!(explain(&[create.clone(), unknown.clone(), read(8, 9, observed)]).is_some());
    }
}
