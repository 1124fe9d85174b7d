//! The commands of workers, timers and operators: who holds the claim may write.

use super::approvals;
use super::draft::{self, Draft};
use super::rules::Snapshot;
use crate::protocol::{MAX_UNIX_MS, RunStatus};
use crate::runs::command::{ClaimHolder, Command, CommandOutput, End};
use crate::runs::refuse::{self, Refusal};
use crate::runs::token::same_digest;
use crate::store::{AdmittedRow, BatchRow, BodyKind, Digest, EventRow, LastOp, WorkerOp};

pub(super) fn decide(snapshot: &Snapshot<'_>, draft: &mut Draft, command: &Command) -> Result<CommandOutput, Refusal> {
    match command {
        Command::Claim { claim, worker, lease_ms } => Ok(take(snapshot, draft, claim, worker, *lease_ms)),
        Command::Heartbeat { holder } => {
            let lease_ends_at = renew(draft, holder)?;
            Ok(CommandOutput::Renewed { lease_ends_at })
        }
        Command::Append { holder, events, key } => {
            let lease_ends_at = renew(draft, holder)?;
            append(snapshot.batch.as_ref(), draft, events, key.as_ref(), lease_ends_at)
        }
        Command::Admit { holder, step_id, tool_call_id, tool_name, key, outcome } => {
            renew(draft, holder)?;
            let row = AdmittedRow {
                tool_call_id: tool_call_id.clone(),
                key: key.clone(),
                tool_name: tool_name.clone(),
                sequence: draft.run.head + 1,
                outcome: outcome.clone(),
            };
            admit(snapshot.admitted.as_ref(), draft, row, step_id)
        }
        Command::Release { holder, delay_ms } => {
            check_holder(draft, holder)?;
            let ready_at = draft.now.saturating_add(*delay_ms).min(MAX_UNIX_MS);
            draft.run.claim = None;
            draft.run.ready_at = Some(ready_at);
            Ok(CommandOutput::Released { ready_at })
        }
        Command::End { holder, fingerprint, end } => {
            if let Some(output) = repeated(draft, holder, fingerprint, end.op()) {
                return Ok(output);
            }
            check_holder(draft, holder)?;
            Ok(finish(draft, holder, fingerprint, end))
        }
        Command::Compact { through, most } => {
            // The last event stays: it says where the run is.
            let keep = draft.run.head.min(through.saturating_add(1)).min(draft.run.first.saturating_add(*most));
            draft.run.first = draft.run.first.max(keep);
            Ok(CommandOutput::Done { first: draft.run.first })
        }
        // Timers ask for nothing but what has been done for the deadline already.
        _ => Ok(CommandOutput::Done { first: draft.run.first }),
    }
}

/// Gives the run to a worker, unless it turns out to be at its end.
fn take(snapshot: &Snapshot<'_>, draft: &mut Draft, claim: &Digest, worker: &str, lease_ms: i64) -> CommandOutput {
    let free_since = draft.run.ready_at.filter(|ready_at| *ready_at <= draft.now);
    if draft.run.status.is_terminal() || free_since.is_none() {
        return CommandOutput::NotClaimed;
    }
    let taken_over = draft.run.claim.is_some();
    if taken_over && draft.run.takeovers >= snapshot.rules.max_takeovers {
        const ERROR: &str = "too many attempts";
        draft.end(RunStatus::Failed, "run_failed", ERROR, draft::text_data("error", ERROR));
        return CommandOutput::NotClaimed;
    }
    let started = draft.run.status == RunStatus::Created;
    let lease_ends_at = draft.now.saturating_add(lease_ms).min(MAX_UNIX_MS);
    let run = &mut draft.run;
    run.status = RunStatus::Running;
    run.epoch += 1;
    run.claim = Some(*claim);
    run.worker = worker.to_owned();
    run.lease_ms = lease_ms;
    run.ready_at = Some(lease_ends_at);
    run.attempt += 1;
    if started {
        draft.change("run_started", "", draft::no_data());
    } else if taken_over {
        run.takeovers += 1;
        draft.change("run_reclaimed", "", draft::no_data());
    }
    CommandOutput::Claimed { lease_ends_at }
}

/// The claim is valid as long as nobody else has the run: the clock does not end it.
fn check_holder(draft: &Draft, holder: &ClaimHolder) -> Result<(), Refusal> {
    match draft.run.claim {
        Some(claim) if same_digest(&claim, &holder.claim) => Ok(()),
        _ => Err(refuse::claim_lost(draft.run.status)),
    }
}

/// The same, and an accepted call renews the lease: for a little longer than it is, so that of calls that follow each other closely
/// few have to write its end, which is in an index.
fn renew(draft: &mut Draft, holder: &ClaimHolder) -> Result<i64, Refusal> {
    check_holder(draft, holder)?;
    let lease = draft.run.lease_ms;
    let least = draft.now.saturating_add(lease).min(MAX_UNIX_MS);
    // What is enough stays. So a clock that was set back takes nothing away.
    let enough = draft.run.ready_at.filter(|ends| *ends >= least);
    let ends = enough.unwrap_or_else(|| least.saturating_add(lease / 32).min(MAX_UNIX_MS));
    draft.run.ready_at = Some(ends);
    Ok(ends)
}

fn append(
    stored: Option<&BatchRow>,
    draft: &mut Draft,
    events: &[EventRow],
    key: Option<&(String, Digest)>,
    lease_ends_at: i64,
) -> Result<CommandOutput, Refusal> {
    let count = events.len() as u64;
    if let (Some(stored), Some((_, fingerprint))) = (stored, key) {
        if !same_digest(&stored.fingerprint, fingerprint) {
            return Err(refuse::idempotency_mismatch("batch of events"));
        }
        return Ok(CommandOutput::Appended { first: stored.first, last: stored.first + count - 1, lease_ends_at });
    }
    let first = draft.run.head + 1;
    for event in events {
        draft.event(event.clone());
    }
    if let Some((key, fingerprint)) = key {
        draft.remember_batch(BatchRow { key: key.clone(), fingerprint: *fingerprint, first });
    }
    Ok(CommandOutput::Appended { first, last: draft.run.head, lease_ends_at })
}

fn admit(stored: Option<&AdmittedRow>, draft: &mut Draft, row: AdmittedRow, step_id: &str) -> Result<CommandOutput, Refusal> {
    if let Some(stored) = stored {
        if stored.key != row.key || stored.tool_name != row.tool_name {
            return Err(refuse::idempotency_mismatch("execution of this tool call"));
        }
        return Ok(CommandOutput::Admitted { sequence: stored.sequence, outcome: stored.outcome.clone(), repeated: true });
    }
    let data = draft::text_data("toolName", &row.tool_name);
    let event = draft::library_event("tool_result_admitted", &row.tool_call_id, data);
    draft.event(EventRow { step_id: step_id.to_owned(), ..event });
    let reply = CommandOutput::Admitted { sequence: row.sequence, outcome: row.outcome.clone(), repeated: false };
    draft.admit(row);
    Ok(reply)
}

/// An equal retry of the call that ended this claim: its answer was lost.
fn repeated(draft: &Draft, holder: &ClaimHolder, fingerprint: &Digest, op: WorkerOp) -> Option<CommandOutput> {
    let last = draft.run.last.as_ref()?;
    let same = same_digest(&last.claim, &holder.claim) & same_digest(&last.fingerprint, fingerprint);
    (same && last.op == op).then(|| ended(draft, op, last.revision))
}

fn ended(draft: &Draft, op: WorkerOp, revision: u64) -> CommandOutput {
    let status = match op {
        WorkerOp::Suspend => RunStatus::WaitingForApproval,
        WorkerOp::Complete => RunStatus::Completed,
        WorkerOp::Fail => RunStatus::Failed,
    };
    // Until the next suspend the latest approvals are those that this suspend made.
    let ids = draft.approvals().iter().filter(|_| op == WorkerOp::Suspend).map(|approval| approval.approval_id.clone());
    CommandOutput::Ended { revision, status, approval_ids: ids.collect() }
}

fn finish(draft: &mut Draft, holder: &ClaimHolder, fingerprint: &Digest, end: &End) -> CommandOutput {
    match end {
        End::Suspend { approvals, continuation, auto_resume } => {
            draft.set(BodyKind::Continuation, continuation.clone());
            approvals::suspend(draft, approvals, *auto_resume);
        }
        End::Complete { result } => {
            draft.set(BodyKind::Result, result.clone());
            draft.end(RunStatus::Completed, "run_completed", "", draft::no_data());
        }
        End::Fail { error } => {
            draft.end(RunStatus::Failed, "run_failed", error, draft::text_data("error", error));
        }
    }
    let revision = draft.run.revision;
    draft.run.last = Some(LastOp { claim: holder.claim, op: end.op(), fingerprint: *fingerprint, revision });
    let output = ended(draft, end.op(), revision);
    // What has expired by now is decided at once, behind the answer.
    approvals::expire(draft);
    output
}
