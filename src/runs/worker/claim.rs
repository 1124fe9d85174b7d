//! How a worker comes to a run.

use super::types::{Claim, ClaimRequest, Claimed, DecidedApproval};
use crate::protocol::Path;
use crate::runs::command::{Command, CommandOutput};
use crate::runs::decide::Rules;
use crate::runs::executor::LongWork;
use crate::runs::handle::Runs;
use crate::runs::limits::lease_ms;
use crate::runs::names::{check_agents, check_optional_name};
use crate::runs::promise::ResultFuture;
use crate::runs::refuse;
use crate::runs::token::ClaimToken;
use crate::runs::views;
use crate::runs::work::{Notifications, Work, WorkResult, execute};
use crate::store::{BodyKind, RunRow, StoreError, Stored, SuspensionState, Transaction};

impl Runs {
    /// Takes the longest claimable run of these agents: one that is new, was released, resumed, or whose worker has been silent
    /// longer than its lease. None when there is none; [`Runs::wait_for_work`] waits for one.
    pub fn claim(&self, request: &ClaimRequest) -> ResultFuture<Option<Claimed>> {
        self.begin(|| {
            check_agents(&request.agent_ids)?;
            check_optional_name(Path::ROOT.member("worker"), &request.worker)?;
            let lease_ms = match request.lease {
                None => self.parts().lease_ms,
                Some(lease) => lease_ms(lease).ok_or_else(|| refuse::invalid_member("lease", "expected 1 ms to 24 hours"))?,
            };
            let token = ClaimToken::new().map_err(|_| refuse::internal("there is no randomness"))?;
            let (agent_ids, worker) = (request.agent_ids.clone(), request.worker.clone());
            Ok(self.executor().write_long(TakeWork { agent_ids, worker, lease_ms, token }))
        })
    }
}

/// A worker's search for work.
#[derive(Clone)]
struct TakeWork {
    agent_ids: Vec<String>,
    worker: String,
    lease_ms: i64,
    token: ClaimToken,
}

/// What one search came to.
enum Taken {
    Claimed(Box<Claimed>),
    Nothing,
    /// Only runs that have ended on the way: to be searched again, in another transaction.
    Again,
}

impl LongWork for TakeWork {
    type Step = TakeWork;
    type Output = Option<Claimed>;

    fn step(&self) -> TakeWork {
        self.clone()
    }

    fn after(&mut self, taken: Taken) -> Option<Option<Claimed>> {
        match taken {
            Taken::Claimed(claimed) => Some(Some(*claimed)),
            Taken::Nothing => Some(None),
            Taken::Again => None,
        }
    }
}

impl Work for TakeWork {
    type Output = Taken;

    fn run(&self, transaction: &mut dyn Transaction, rules: &Rules, notifications: &mut Notifications) -> WorkResult<Taken> {
        const RUNS_AT_ONCE: usize = 32;
        let claim = Command::Claim { claim: self.token.digest(), worker: self.worker.clone(), lease_ms: self.lease_ms };
        for _ in 0..RUNS_AT_ONCE {
            let Some(run) = longest_claimable(transaction, &self.agent_ids)? else {
                return Ok(Ok(Taken::Nothing));
            };
            let run_id = run.run_id.clone();
            match execute(transaction, rules, Some(run), &claim, notifications)? {
                Ok(CommandOutput::Claimed { lease_ends_at }) => {
                    let claimed = self.claimed(transaction, &run_id, lease_ends_at)?;
                    return Ok(Ok(Taken::Claimed(Box::new(claimed))));
                }
                Ok(_) => {}
                Err(refusal) => return Ok(Err(refusal)),
            }
        }
        Ok(Ok(Taken::Again))
    }
}

fn longest_claimable(transaction: &mut dyn Transaction, agent_ids: &[String]) -> Stored<Option<RunRow>> {
    let now = transaction.now();
    let mut longest: Option<RunRow> = None;
    for agent_id in agent_ids {
        let ready = transaction.next_ready(agent_id)?.filter(|run| run.ready_at.is_some_and(|ready_at| ready_at <= now));
        let longer = ready.filter(|run| longest.as_ref().is_none_or(|other| (run.ready_at, run.id) < (other.ready_at, other.id)));
        longest = longer.or(longest);
    }
    Ok(longest)
}

impl TakeWork {
    fn claimed(&self, transaction: &mut dyn Transaction, run_id: &str, lease_ends_at: i64) -> Stored<Claimed> {
        let run = transaction.run(run_id)?.ok_or_else(|| StoreError::Broken("a claimed run is gone".into()))?;
        let mut text = |kind| views::required(transaction, run.id, kind);
        let context = views::context_of(&text(BodyKind::Context)?)?;
        let input = views::json_of("input", text(BodyKind::Input)?)?;
        let metadata = views::metadata_of(&text(BodyKind::Metadata)?)?;
        let (mut approvals, mut continuation, mut resume_input) = (Vec::new(), None, None);
        if run.suspension == Some(SuspensionState::Decided) {
            continuation = Some(views::json_of("continuation", text(BodyKind::Continuation)?)?);
            resume_input = Some(views::json_of("resume input", text(BodyKind::ResumeInput)?)?);
            for row in transaction.approvals(run.id, run.first_approval..=run.last_approval)? {
                let arguments = transaction.arguments(run.id, row.number)?;
                approvals.push(DecidedApproval {
                    arguments: arguments.map(|text| views::json_of("arguments", text)).transpose()?,
                    decided_by: row.decided_by.clone(),
                    expired: row.expired,
                    view: views::approval_view(row),
                });
            }
        }
        Ok(Claimed {
            claim: Claim { run_id: run.run_id, token: self.token.clone() },
            owner: Some(run.owner).filter(|owner| !owner.is_empty()),
            attempt: run.attempt,
            revision: run.revision,
            lease_ends_at_unix_ms: lease_ends_at,
            lease_ms: self.lease_ms.unsigned_abs(),
            context,
            input,
            metadata,
            approvals,
            continuation,
            resume_input,
        })
    }
}
