//! Approvals: who may decide, what a decision does, expiry, and the resume (approvals).

use super::draft::{self, Draft};
use super::refused::Refused;
use super::rules::Snapshot;
use crate::protocol::{Resolution, RunStatus};
use crate::runs::access::Access;
use crate::runs::command::{NewApproval, Pairs};
use crate::runs::fingerprint;
use crate::runs::refuse::{self, Refusal};
use crate::runs::token::same_digest;
use crate::store::{ApprovalRow, BodyKind, Digest, OnDenied, Outcome, RunRow, SuspensionState};

const EXPIRED: &str = "approval expired";

/// A decision about one approval, whoever takes it.
struct Verdict<'a> {
    resolution: Resolution,
    reason: &'a str,
    metadata: &'a [(String, String)],
    decided_by: Option<&'a str>,
    expired: bool,
    at: i64,
}

/// The claim ends, and the run waits for these approvals.
pub(super) fn suspend(draft: &mut Draft, approvals: &[NewApproval], auto_resume: bool) {
    let first = draft.run.last_approval + 1;
    let rows = approvals.iter().enumerate().map(|(index, new)| ApprovalRow {
        number: first + index as u64,
        approval_id: new.approval_id.clone(),
        tool_call_id: new.tool_call_id.clone(),
        tool_name: new.tool_name.clone(),
        reason: new.reason.clone(),
        metadata: new.metadata.clone(),
        resolution: Resolution::Pending,
        open: true,
        on_denied: new.on_denied,
        approvers: new.approvers.clone(),
        not_owner: new.not_owner,
        created_at: draft.now,
        expires_at: new.expires_at,
        resolved_at: None,
        decided_by: None,
        expired: false,
    });
    let arguments = approvals.iter().map(|new| new.arguments.clone());
    draft.begin_suspension(rows.collect(), arguments.collect());
    let run = &mut draft.run;
    run.status = RunStatus::WaitingForApproval;
    run.claim = None;
    run.ready_at = None;
    run.first_approval = first;
    run.last_approval = first + approvals.len() as u64 - 1;
    run.auto_resume = auto_resume;
    if run.resume_fingerprint.take().is_some() {
        draft.delete(BodyKind::ResumeInput);
    }
    show(draft);
    draft.run.revision += 1;
    for new in approvals {
        let data = draft::data(|out| {
            draft::member(out, "approvalId", &new.approval_id);
            draft::member(out, "toolName", &new.tool_name);
            draft::member(out, "reason", &new.reason);
            if let Some(arguments) = &new.arguments {
                out.name("arguments");
                out.json_text(arguments);
            }
            if let Some(expires_at) = new.expires_at {
                out.name("expiresAtUnixMs");
                out.signed(expires_at);
            }
            if !new.approvers.is_empty() {
                out.name("approvers");
                out.open_array();
                new.approvers.iter().for_each(|approver| out.string(approver));
                out.close_array();
            }
        });
        draft.event(draft::library_event("approval_required", &new.tool_call_id, data));
    }
}

/// Denies what nobody decided in time, in the order in which it expired.
pub(super) fn expire(draft: &mut Draft) {
    while draft.run.status == RunStatus::WaitingForApproval {
        let overdue = draft.approvals().iter().enumerate().filter(|(_, approval)| approval.open);
        let overdue = overdue.filter_map(|(index, approval)| Some((approval.expires_at.filter(|at| *at <= draft.now)?, index)));
        let Some((at, index)) = overdue.min() else { return };
        let verdict =
            Verdict { resolution: Resolution::Denied, reason: EXPIRED, metadata: &[], decided_by: None, expired: true, at };
        conclude(draft, index, &verdict);
    }
}

/// `resolve_approval`. `decider` is the principal of the call; empty for none.
pub(super) fn resolve(
    snapshot: &Snapshot<'_>,
    draft: &mut Draft,
    decider: &str,
    approval_id: &str,
    resolution: Resolution,
    reason: &str,
    metadata: &Pairs,
) -> Result<(), Refused> {
    if draft.run.status != RunStatus::WaitingForApproval {
        return Err(Refused::Recorded(Outcome::InvalidState));
    }
    let Some(index) = position(draft, approval_id) else {
        return Err(Refused::Recorded(Outcome::ApprovalMismatch));
    };
    let approval = &draft.approvals()[index];
    may_decide(snapshot, &draft.run, approval, decider)?;
    if !approval.open {
        return Err(Refused::Recorded(Outcome::InvalidState));
    }
    let decided_by = Some(decider).filter(|decider| !decider.is_empty());
    let verdict = Verdict { resolution, reason, metadata, decided_by, expired: false, at: draft.now };
    conclude(draft, index, &verdict);
    Ok(())
}

/// Whether this principal may decide this approval of a run that it sees.
fn may_decide(snapshot: &Snapshot<'_>, run: &RunRow, approval: &ApprovalRow, decider: &str) -> Result<(), Refusal> {
    // A hook of the application's stands for the list, not for the four eyes.
    let by_list = !snapshot.rules.access.is_hook();
    let restricted = by_list && !approval.approvers.is_empty();
    if decider.is_empty() {
        return match restricted || approval.not_owner {
            true => Err(refuse::unauthorized("this approval needs to know who decides: dispatch with a principal")),
            false => Ok(()),
        };
    }
    if approval.not_owner && decider == run.owner {
        return Err(refuse::own_run());
    }
    let named = approval.approvers.iter().any(|approver| approver == decider);
    let sees_all = snapshot.access == Access::Full;
    if by_list && !named && (restricted || !sees_all) {
        return Err(refuse::not_an_approver());
    }
    Ok(())
}

/// `resume_run`.
pub(super) fn resume(draft: &mut Draft, approval_id: &str, input: &str, input_fingerprint: &Digest) -> Result<(), Refused> {
    let resumed_before = draft.run.status == RunStatus::Running && draft.run.suspension == Some(SuspensionState::Decided);
    if draft.run.status != RunStatus::WaitingForApproval && !resumed_before {
        return Err(Refused::Recorded(Outcome::InvalidState));
    }
    if position(draft, approval_id).is_none() {
        return Err(Refused::Recorded(Outcome::ApprovalMismatch));
    }
    if draft.run.suspension == Some(SuspensionState::Pending) {
        return Err(Refused::Recorded(Outcome::InvalidState));
    }
    if !resumed_before {
        go_on(draft, "run_resumed", approval_id, Some((input, input_fingerprint)));
        return Ok(());
    }
    if draft.run.resume_fingerprint.is_none_or(|first| !same_digest(&first, input_fingerprint)) {
        return Err(Refused::Recorded(Outcome::InvalidState));
    }
    if draft.run.claim.is_none() || draft.lease_is_live() {
        // A worker has it until then; or it waits for one, from then on.
        let wait = draft.run.ready_at.map_or(0, |ready_at| ready_at.saturating_sub(draft.now));
        return Err(Refused::Not(refuse::claim_held(if wait > 0 { wait } else { draft.run.lease_ms })));
    }
    go_on(draft, "run_resume_reclaimed", approval_id, None);
    Ok(())
}

/// How many approvals of the run are to be decided yet.
pub(super) fn pending(draft: &Draft) -> u64 {
    draft.approvals().iter().filter(|approval| approval.open).count() as u64
}

fn position(draft: &Draft, approval_id: &str) -> Option<usize> {
    draft.approvals().iter().position(|approval| approval.approval_id == approval_id)
}

/// Writes a decision, with its event and what follows from it.
fn conclude(draft: &mut Draft, index: usize, verdict: &Verdict<'_>) {
    let approval = draft.approval_mut(index);
    approval.resolution = verdict.resolution;
    approval.open = false;
    approval.resolved_at = Some(verdict.at);
    approval.decided_by = verdict.decided_by.map(str::to_owned);
    approval.expired = verdict.expired;
    if !verdict.reason.is_empty() {
        verdict.reason.clone_into(&mut approval.reason);
    }
    for (name, value) in verdict.metadata {
        match approval.metadata.iter_mut().find(|(known, _)| known == name) {
            Some((_, before)) => value.clone_into(before),
            None => approval.metadata.push((name.clone(), value.clone())),
        }
    }
    let approval = approval.clone();
    let denied = verdict.resolution == Resolution::Denied;
    let data = draft::data(|out| {
        draft::member(out, "approvalId", &approval.approval_id);
        draft::member(out, "toolName", &approval.tool_name);
        draft::member(out, "reason", &approval.reason);
        out.name("decidedBy");
        match verdict.decided_by {
            Some(principal) => out.string(principal),
            None => out.null(),
        }
        if verdict.expired {
            out.name("expired");
            out.boolean(true);
        }
    });
    if denied && approval.on_denied == OnDenied::Fail {
        let error = if verdict.reason.is_empty() { "approval denied" } else { verdict.reason };
        show(draft);
        draft.run.suspension = Some(SuspensionState::Denied);
        draft.end_by_denial(error, &approval.tool_call_id, data);
        return;
    }
    show(draft);
    // The view shows the one decided last once none is pending.
    if draft.run.suspension == Some(SuspensionState::Decided) {
        draft.run.approval_id = Some(approval.approval_id.clone());
    }
    draft.change(if denied { "approval_denied" } else { "approval_granted" }, &approval.tool_call_id, data);
    if draft.run.suspension == Some(SuspensionState::Decided) && draft.run.auto_resume {
        go_on(draft, "run_resumed", &approval.approval_id, Some(("{}", &fingerprint::empty_input())));
    }
}

/// What the run's row says of its approvals.
fn show(draft: &mut Draft) {
    let open = || draft.approvals().iter().filter(|approval| approval.open);
    let oldest = open().next().map(|approval| approval.approval_id.clone());
    let expiry = open().filter_map(|approval| approval.expires_at).min();
    let run = &mut draft.run;
    run.suspension = Some(if oldest.is_some() { SuspensionState::Pending } else { SuspensionState::Decided });
    run.approval_expiry = expiry;
    if oldest.is_some() {
        run.approval_id = oldest;
    }
}

/// Makes the run claimable again; whoever had it is fenced. With an input for the first time.
fn go_on(draft: &mut Draft, event_type: &str, approval_id: &str, input: Option<(&str, &Digest)>) {
    if let Some((input, fingerprint)) = input {
        draft.set(BodyKind::ResumeInput, input);
        draft.run.resume_fingerprint = Some(*fingerprint);
    }
    let run = &mut draft.run;
    run.epoch += 1;
    run.claim = None;
    run.status = RunStatus::Running;
    run.ready_at = Some(draft.now);
    (run.attempt, run.takeovers) = (0, 0);
    draft.change(event_type, "", draft::text_data("approvalId", approval_id));
}
