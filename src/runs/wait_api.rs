//! Waiting: for events, for work, for the end of a claim. A wait returns as soon as there is something.

use std::time::Duration;

use super::handle::Runs;
use super::names::{check_agents, check_name, checked_principal};
use super::poller::Polled;
use super::promise::ResultFuture;
use super::read;
use super::refuse;
use super::token::same_digest;
use super::waiters::Topic;
use super::worker::Claim;
use crate::protocol::{MAX_PAGE_EVENTS, MAX_UNSIGNED, Path, RunStatus};
use crate::service::EventPage;

/// What there was to read when a wait for events was over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEvents {
    /// The events; none when the time was up, or the run has ended and there are no more.
    pub page: EventPage<'static>,
    /// The run's status.
    pub status: RunStatus,
}

impl RunEvents {
    /// Whether nothing will follow: the run has ended and its last event has been read.
    pub fn is_drained(&self) -> bool {
        self.status.is_terminal() && !self.page.has_more
    }
}

impl Runs {
    /// Reads a run's events after `after`, at most `limit` (1 to 1000), and waits for one, at most `timeout`, when there is none
    /// yet. Returns at once when the run has ended. `principal`, when there is one, has to be allowed to see the run.
    pub fn wait_events(
        &self,
        principal: Option<&str>,
        run_id: &str,
        after: u64,
        limit: u64,
        timeout: Duration,
    ) -> ResultFuture<RunEvents> {
        self.begin(|| {
            let principal = checked_principal(principal)?.to_owned();
            check_name(Path::ROOT.member("runId"), run_id)?;
            if after > MAX_UNSIGNED {
                return Err(refuse::invalid_member("afterSequence", "expected at most 2^53-1"));
            }
            if !(1..=MAX_PAGE_EVENTS).contains(&limit) {
                return Err(refuse::invalid_member("limit", format!("expected 1 to {MAX_PAGE_EVENTS}, found {limit}")));
            }
            let (rules, run_id) = (self.executor().rules().clone(), run_id.to_owned());
            let topics = vec![Topic::Run(run_id.clone())];
            Ok(self.parts().poller.wait(topics, timeout, move |reader| {
                let found = read::page(reader, &rules, &principal, &run_id, after, limit)?;
                Ok(found.map(|(page, status)| {
                    let over = !page.events.is_empty() || status.is_terminal();
                    let followed = RunEvents { page, status };
                    if over { Polled::Ready(followed) } else { Polled::NotReady { otherwise: followed, again_ms: None } }
                }))
            }))
        })
    }

    /// Waits, at most `timeout`, until one of these agents has a run that can be claimed; says whether there is one. Another
    /// worker may be faster: [`Runs::claim`] says who has it.
    pub fn wait_for_work(&self, agent_ids: &[String], timeout: Duration) -> ResultFuture<bool> {
        self.begin(|| {
            check_agents(agent_ids)?;
            let topics = agent_ids.iter().cloned().map(Topic::Work).collect();
            let agent_ids = agent_ids.to_vec();
            Ok(self.parts().poller.wait(topics, timeout, move |reader| {
                let now = reader.now();
                let mut again_ms = None;
                for agent_id in &agent_ids {
                    let ready_at = reader.next_ready(agent_id)?.and_then(|run| run.ready_at);
                    let Some(ready_at) = ready_at else { continue };
                    if ready_at <= now {
                        return Ok(Ok(Polled::Ready(true)));
                    }
                    let ms = ready_at - now;
                    again_ms = Some(again_ms.map_or(ms, |earlier: i64| earlier.min(ms)));
                }
                Ok(Ok(Polled::NotReady { otherwise: false, again_ms }))
            }))
        })
    }

    /// Waits, at most `timeout`, until the claim is not valid any more: the run has ended (cancelled, timed out, or by the
    /// claim's own worker), waits for an approval, or somebody else has it. Gives the run's status then; none when the claim is
    /// still valid.
    pub fn wait_claim_lost(&self, claim: &Claim, timeout: Duration) -> ResultFuture<Option<RunStatus>> {
        self.begin(|| {
            check_name(Path::ROOT.member("runId"), &claim.run_id)?;
            let (run_id, digest) = (claim.run_id.clone(), claim.token.digest());
            let topics = vec![Topic::Run(run_id.clone())];
            Ok(self.parts().poller.wait(topics, timeout, move |reader| {
                let Some(run) = reader.run(&run_id)? else {
                    return Ok(Err(refuse::not_found()));
                };
                let valid = run.claim.is_some_and(|claim| same_digest(&claim, &digest));
                Ok(Ok(if valid { Polled::NotReady { otherwise: None, again_ms: None } } else { Polled::Ready(Some(run.status)) }))
            }))
        })
    }
}
