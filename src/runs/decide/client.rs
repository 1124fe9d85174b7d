//! The four mutations of clients: the key first, then revision and state.

use super::approvals;
use super::draft::{self, Draft};
use super::keys::{record, recorded};
use super::refused::Refused;
use super::rules::Snapshot;
use crate::protocol::RunStatus;
use crate::runs::access::Access;
use crate::runs::command::{Command, CommandOutput, NewRun, Retry, Target};
use crate::runs::refuse::{self, Refusal};
use crate::runs::token::same_digest;
use crate::store::{BodyKind, Changes, KeyRow, KeyScope, Outcome, RunChange, RunRow};

/// What a command with a key comes to: a run to insert, the record of the key, and the result.
type Decided = (Option<Changes>, Option<(KeyScope, KeyRow)>, Result<CommandOutput, Refusal>);

pub(super) fn decide(snapshot: &Snapshot<'_>, draft: &mut Option<Draft>, command: &Command, retry: &Retry, now: i64) -> Decided {
    if let Some(key) = snapshot.key.as_ref().filter(|key| key.expires_at > now) {
        if !same_digest(&key.fingerprint, &retry.fingerprint) {
            return (None, None, Err(refuse::idempotency_mismatch("request")));
        }
        return (None, None, recorded(key));
    }
    let (principal, access) = (&*retry.scope.principal, snapshot.access);
    let keep = |outcome, revision, status, pending| {
        let row = record(snapshot.rules, retry, outcome, (revision, status), pending, now);
        let result = recorded(&row);
        (Some((retry.scope.clone(), row)), result)
    };
    if let Command::Create { run, .. } = command {
        let (outcome, revision, status) = match draft.as_ref().filter(|_| access == Access::Full) {
            // The same request with another key, or one whose key is forgotten: the first outcome again.
            Some(draft) if same_digest(&draft.run.fingerprint, &retry.fingerprint) => (Outcome::Success, 1, RunStatus::Created),
            Some(draft) => (Outcome::RunExists, draft.run.revision, draft.run.status),
            None if snapshot.run.is_some() => (Outcome::RunExists, 0, RunStatus::Created),
            None => {
                let (key, result) = keep(Outcome::Success, 1, RunStatus::Created, 0);
                return (Some(create(run, retry, now)), key, result);
            }
        };
        let (key, result) = keep(outcome, revision, status, 0);
        return (None, key, result);
    }
    let Some(draft) = draft.as_mut().filter(|_| access != Access::None) else {
        return (None, None, Err(refuse::not_found()));
    };
    if access == Access::Approver && !matches!(command, Command::Resolve { .. }) {
        return (None, None, Err(refuse::approver_only()));
    }
    let outcome = match mutate(snapshot, draft, principal, command) {
        Ok(()) => Outcome::Success,
        Err(Refused::Recorded(outcome)) => outcome,
        Err(Refused::Not(refusal)) => return (None, None, Err(refusal)),
    };
    let waits = outcome == Outcome::InvalidState && matches!(command, Command::Resume { .. });
    let pending = if waits { approvals::pending(draft) } else { 0 };
    let (key, result) = keep(outcome, draft.run.revision, draft.run.status, pending);
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
        suspension: None,
        first_approval: 0,
        last_approval: 0,
        approval_expiry: None,
        auto_resume: false,
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

fn mutate(snapshot: &Snapshot<'_>, draft: &mut Draft, principal: &str, command: &Command) -> Result<(), Refused> {
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
            approvals::resolve(snapshot, draft, principal, approval_id, *resolution, reason, metadata)
        }
        Command::Resume { target, approval_id, input, input_fingerprint, .. } => {
            expect(draft, target)?;
            approvals::resume(draft, approval_id, input, input_fingerprint)
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
