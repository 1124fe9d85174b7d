//! Every interleaving of two workers, two clients, one approval, lease ends, a deadline, a dead worker and lost answers, at
//! small size: each reachable state is visited once, and the promises of durable runs are checked on each step.
//!
//! `AGENTHOST_MODEL=large` visits more: more lost answers, lease ends and decisions.

mod approvals;
mod check;
mod world;

use std::collections::{BTreeMap, HashSet};
use std::time::Instant;

use world::{Budget, World, digest};

/// Visits all states; how many there were, and how often each event and answer came.
fn explore(budget: Budget) -> (usize, BTreeMap<String, u64>) {
    let mut visited = HashSet::new();
    let mut coverage = BTreeMap::new();
    let mut open = vec![World::new(budget)];
    visited.insert(digest(&open[0]));
    while let Some(world) = open.pop() {
        check::never_stuck(&world);
        for step in world.steps() {
            let mut next = world.clone();
            let answer = next.take(&step);
            *coverage.entry(answer).or_default() += 1;
            check::step(&world, &next, &step);
            if visited.insert(digest(&next)) {
                open.push(next);
            }
        }
    }
    (visited.len(), coverage)
}

#[test]
fn every_interleaving_keeps_the_promises() {
    let large = std::env::var("AGENTHOST_MODEL").is_ok_and(|size| size == "large");
    let budgets: &[Budget] = if large { &Budget::LARGE } else { &Budget::SMALL };
    let mut coverage: BTreeMap<String, u64> = BTreeMap::new();
    for budget in budgets {
        let begun = Instant::now();
        let (states, visited) = explore(*budget);
        println!("model: {states} states in {} s with {budget:?}", begun.elapsed().as_secs());
        for (answer, count) in visited {
            *coverage.entry(answer).or_default() += count;
        }
    }
    // What never came was not checked.
    let answers = ["created", "running", "waiting_for_approval", "completed", "failed", "cancelled", "timed_out"];
    let reasons = ["revision_mismatch", "invalid_state", "approval_mismatch", "claim_held", "claim_lost"];
    for expected in answers.iter().chain(&reasons).chain(&crate::runs::LIBRARY_EVENTS).chain(&["nothing to claim", "repeated"]) {
        assert!(coverage.contains_key(*expected), "{expected} never came: {coverage:?}");
    }
}
