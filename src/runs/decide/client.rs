//! The four mutations of clients: the key first, then revision and state.

use super::draft::{self, Draft};
use super::keys::{record, recorded};
use super::rules::Snapshot;
use crate::protocol::{Resolution, RunStatus};
use crate::runs::command::{Command, CommandOutput, NewRun, Pairs, Retry, Target};
use crate::runs::refuse::{self, Refusal};
use crate::runs::token::same_digest;
use crate::runs::views;
use crate::service::ApprovalView;
use crate::store::{BodyKind, Changes, Digest, KeyRow, KeyScope, Outcome, RunChange, RunRow};

/// What a command with a key comes to: a run to insert, the record of the key, and the result.
type Decided = (Option<Changes>, Option<(KeyScope, KeyRow)>, Result<CommandOutput, Refusal>);

/// A conflict that is recorded with its key, or a refusal that is not.
enum Refused {
    Recorded(Outcome),
    Not(Refusal),
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Refused {
        Refused::Not(refusal)
    }
}

pub(super) fn decide(snapshot: &Snapshot<'_>, draft: &mut Option<Draft>, command: &Command, retry: &Retry, now: i64) -> Decided {
    if let Some(key) = snapshot.key.as_ref().filter(|key| key.expires_at > now) {
        if !same_digest(&key.fingerprint, &retry.fingerprint) {
            return (None, None, Err(refuse::idempotency_mismatch("request")));
        }
        return (None, None, recorded(key.outcome, key.revision, key.status));
    }
    let visible = draft.as_mut().filter(|draft| snapshot.rules.may_see(&retry.scope.principal, &draft.run));
    let keep = |outcome, revision, status| {
        let row = record(snapshot.rules, retry, outcome, revision, status, now);
        (Some((retry.scope.clone(), row)), recorded(outcome, revision, status))
    };
    if let Command::Create { run, .. } = command {
        let (outcome, revision, status) = match visible {
            // The same request with another key, or one whose key is forgotten: the first outcome again.
            Some(draft) if same_digest(&draft.run.fingerprint, &retry.fingerprint) => (Outcome::Success, 1, RunStatus::Created),
            Some(draft) => (Outcome::RunExists, draft.run.revision, draft.run.status),
            None if snapshot.run.is_some() => (Outcome::RunExists, 0, RunStatus::Created),
            None => {
                let (key, result) = keep(Outcome::Success, 1, RunStatus::Created);
                return (Some(create(run, retry, now)), key, result);
            }
        };
        let (key, result) = keep(outcome, revision, status);
        return (None, key, result);
    }
    let Some(draft) = visible else {
        return (None, None, Err(refuse::not_found()));
    };
    let outcome = match mutate(draft, snapshot.approval.as_ref(), command) {
        Ok(()) => Outcome::Success,
        Err(Refused::Recorded(outcome)) => outcome,
        Err(Refused::Not(refusal)) => return (None, None, Err(refusal)),
    };
    let (key, result) = keep(outcome, draft.run.revision, draft.run.status);
    (None, key, result)
}

fn create(new: &NewRun, retry: &Retry, now: i64) -> Changes {
    let row = RunRow {
        id: 0,
        run_id: new.run_id.clone(),
        owner: retry.scope.principal.clone(),
        agent_id: new.agent_id.clone(),
        status: RunStatus::Created,
        revision: 1,
        head: 1,
        first: 1,
        epoch: 0,
        claim: None,
        worker: String::new(),
        lease_ms: 0,
        attempt: 0,
        takeovers: 0,
        ready_at: Some(now),
        deadline: new.deadline,
        approval_id: None,
        approval: None,
        fingerprint: retry.fingerprint,
        resume_fingerprint: None,
        last: None,
        created_at: now,
        updated_at: now,
        completed_at: None,
    };
    let mut event = draft::library_event("run_created", "", draft::no_data());
    (event.sequence, event.at) = (1, now);
    let texts = [(BodyKind::Context, &new.context), (BodyKind::Input, &new.input), (BodyKind::Metadata, &new.metadata)];
    Changes {
        run: Some(RunChange::Insert(row)),
        bodies: texts.into_iter().map(|(kind, text)| (kind, Some(text.clone()))).collect(),
        events: vec![event],
        ..Changes::default()
    }
}

fn mutate(draft: &mut Draft, approval: Option<&ApprovalView<'static>>, command: &Command) -> Result<(), Refused> {
    match command {
        Command::Cancel { target, reason, .. } => {
            expect(draft, target)?;
            if draft.run.status.is_terminal() {
                return Err(Refused::Recorded(Outcome::InvalidState));
            }
            draft.end(RunStatus::Cancelled, "run_cancelled", reason, draft::text_data("reason", reason));
            Ok(())
        }
        Command::Resolve { target, approval_id, resolution, reason, metadata, .. } => {
            expect(draft, target)?;
            resolve(draft, approval, approval_id, *resolution, reason, metadata)
        }
        Command::Resume { target, approval_id, input, input_fingerprint, .. } => {
            expect(draft, target)?;
            resume(draft, approval_id, input, input_fingerprint)
        }
        _ => Err(Refused::Not(refuse::internal("not a client's command"))),
    }
}

/// The revision is checked before everything else.
fn expect(draft: &Draft, target: &Target) -> Result<(), Refused> {
    if target.expected_revision != draft.run.revision {
        return Err(Refused::Recorded(Outcome::RevisionMismatch));
    }
    Ok(())
}

fn resolve(
    draft: &mut Draft,
    approval: Option<&ApprovalView<'static>>,
    approval_id: &str,
    resolution: Resolution,
    reason: &str,
    metadata: &Pairs,
) -> Result<(), Refused> {
    if draft.run.status != RunStatus::WaitingForApproval {
        return Err(Refused::Recorded(Outcome::InvalidState));
    }
    let Some(approval) = approval.filter(|approval| approval.approval_id == approval_id) else {
        return Err(Refused::Recorded(Outcome::ApprovalMismatch));
    };
    if !draft.waits_for(Resolution::Pending) {
        return Err(Refused::Recorded(Outcome::InvalidState));
    }
    let mut approval = approval.clone();
    approval.resolution = resolution;
    approval.resolved_at_unix_ms = Some(draft.now);
    if !reason.is_empty() {
        approval.reason = reason.to_owned().into();
    }
    for (name, value) in metadata {
        approval.metadata.insert(name.clone(), value.clone());
    }
    draft.set(BodyKind::Approval, views::approval_text(&approval));
    draft.run.approval = Some(resolution);
    let tool_call_id = &*approval.tool_call_id;
    let data = draft::data(|out| {
        draft::member(out, "approvalId", approval_id);
        draft::member(out, "toolName", &approval.tool_name);
        draft::member(out, "reason", &approval.reason);
    });
    if resolution == Resolution::Denied {
        let error = if reason.is_empty() { "approval denied" } else { reason };
        draft.end_by_denial(error, tool_call_id, data);
    } else {
        draft.change("approval_granted", tool_call_id, data);
    }
    Ok(())
}

fn resume(draft: &mut Draft, approval_id: &str, input: &str, input_fingerprint: &Digest) -> Result<(), Refused> {
    let resumed_before = draft.run.status == RunStatus::Running && draft.run.approval == Some(Resolution::Approved);
    if draft.run.status != RunStatus::WaitingForApproval && !resumed_before {
        return Err(Refused::Recorded(Outcome::InvalidState));
    }
    if draft.run.approval_id.as_deref() != Some(approval_id) {
        return Err(Refused::Recorded(Outcome::ApprovalMismatch));
    }
    if draft.waits_for(Resolution::Pending) {
        return Err(Refused::Recorded(Outcome::InvalidState));
    }
    if !resumed_before {
        draft.set(BodyKind::ResumeInput, input);
        draft.run.resume_fingerprint = Some(*input_fingerprint);
    } else if draft.run.resume_fingerprint.is_none_or(|first| !same_digest(&first, input_fingerprint)) {
        return Err(Refused::Recorded(Outcome::InvalidState));
    } else if draft.run.claim.is_none() || draft.lease_is_live() {
        // A worker has it until then; or it waits for one, from then on.
        let wait = draft.run.ready_at.map_or(0, |ready_at| ready_at.saturating_sub(draft.now));
        return Err(Refused::Not(refuse::claim_held(if wait > 0 { wait } else { draft.run.lease_ms })));
    }
    let run = &mut draft.run;
    run.epoch += 1;
    run.claim = None;
    run.status = RunStatus::Running;
    run.ready_at = Some(draft.now);
    (run.attempt, run.takeovers) = (0, 0);
    let data = draft::text_data("approvalId", approval_id);
    draft.change(if resumed_before { "run_resume_reclaimed" } else { "run_resumed" }, "", data);
    Ok(())
}
