//! What a worker asks approvals for: checked, and made a command.

use super::checks::{check_bytes, check_size, json};
use super::types::{ApprovalRequest, MAX_APPROVALS, MAX_ARGUMENTS_BYTES, ResumeMode, Suspension};
use crate::protocol::{MAX_UNIX_MS, Path, SensitiveNames, Violation};
use crate::runs::command::{End, NewApproval};
use crate::runs::fingerprint::{Fingerprint, Repeated};
use crate::runs::names::{check_approval_metadata, check_name};
use crate::runs::refuse::{self, Refusal};
use crate::runs::views;
use crate::store::{Digest, OnDenied};

/// The longest reason of an approval, and its longest metadata as JSON, in bytes.
const MAX_TEXT_BYTES: usize = 64 << 10;

/// The command of a suspension, and its fingerprint.
pub(super) fn suspension(sensitive: &SensitiveNames, suspension: Suspension) -> Result<(End, Digest), Refusal> {
    let Suspension { approvals, continuation, resume } = suspension;
    if approvals.is_empty() || approvals.len() > MAX_APPROVALS {
        let expected = format!("expected 1 to {MAX_APPROVALS} approvals, found {}", approvals.len());
        return Err(refuse::invalid_member("approvals", expected));
    }
    let mut fingerprint = Fingerprint::of("suspend");
    fingerprint.string(resume.name());
    let list = Path::ROOT.member("approvals");
    let mut commands = Vec::with_capacity(approvals.len());
    for (index, approval) in approvals.into_iter().enumerate() {
        commands.push(new_approval(sensitive, &mut fingerprint, list.element(index), approval)?);
    }
    json(&mut fingerprint, "continuation", &continuation)?;
    let auto_resume = resume == ResumeMode::Auto;
    let end = End::Suspend { approvals: commands, continuation: continuation.as_str().to_owned(), auto_resume };
    Ok((end, fingerprint.digest()))
}

fn new_approval(
    sensitive: &SensitiveNames,
    fingerprint: &mut Fingerprint,
    path: Path<'_>,
    approval: ApprovalRequest,
) -> Result<NewApproval, Refusal> {
    let ApprovalRequest { tool_call_id, tool_name, reason, metadata, arguments, expires_at_unix_ms, .. } = approval;
    let ApprovalRequest { on_denied, approvers, not_owner, .. } = approval;
    check_name(path.member("toolCallId"), &tool_call_id)?;
    check_name(path.member("toolName"), &tool_name)?;
    check_approval_metadata(path.member("metadata"), &metadata, sensitive)?;
    check_bytes(path.member("reason"), reason.len(), MAX_TEXT_BYTES)?;
    check_bytes(path.member("metadata"), views::metadata_text(&metadata).len(), MAX_TEXT_BYTES)?;
    fingerprint.string(&tool_call_id).string(&tool_name).string(&reason).metadata(&metadata);
    fingerprint.unsigned(u64::from(arguments.is_some()));
    if let Some(arguments) = &arguments {
        let place = path.member("arguments");
        check_size(place, arguments, MAX_ARGUMENTS_BYTES)?;
        fingerprint.json(arguments, place, Repeated::Kept).map_err(|violation| refuse::invalid(&violation))?;
    }
    if expires_at_unix_ms.is_some_and(|at| at.unsigned_abs() > MAX_UNIX_MS.unsigned_abs()) {
        let expected = format!("expected a time within {MAX_UNIX_MS} ms of the Unix epoch");
        return Err(refuse::invalid(&Violation::new(path.member("expiresAtUnixMs"), expected)));
    }
    fingerprint.string(&expires_at_unix_ms.map(|at| at.to_string()).unwrap_or_default());
    fingerprint.unsigned(u64::from(on_denied == OnDenied::Resume)).unsigned(u64::from(not_owner));
    let list = path.member("approvers");
    if approvers.len() > MAX_APPROVALS {
        let expected = format!("expected at most {MAX_APPROVALS} approvers, found {}", approvers.len());
        return Err(refuse::invalid(&Violation::new(list, expected)));
    }
    fingerprint.unsigned(approvers.len() as u64);
    for (index, approver) in approvers.iter().enumerate() {
        check_name(list.element(index), approver)?;
        if approvers[..index].contains(approver) {
            return Err(refuse::invalid(&Violation::new(list.element(index), "expected each approver once, found one again")));
        }
        fingerprint.string(approver);
    }
    Ok(NewApproval {
        approval_id: uuid::Uuid::now_v7().to_string(),
        tool_call_id,
        tool_name,
        reason,
        metadata: views::pairs(&metadata),
        arguments: arguments.map(|arguments| arguments.as_str().to_owned()),
        expires_at: expires_at_unix_ms,
        on_denied,
        approvers,
        not_owner,
    })
}
