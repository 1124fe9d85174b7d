//! The side of workers: whoever claims a run works on it until the run ends, waits for an approval, or somebody else takes it.
//!
//! Every call of a worker renews its lease. A call with a claim that is not valid any more is a `conflict` with the reason
//! `claim_lost`. An equal retry of the call that ended the claim returns its first outcome, so a lost answer does no harm.

mod claim;
mod events;
mod types;

pub use types::*;

use std::time::Duration;

use super::Runs;
use super::command::{Command, End, Held, Reply};
use super::fingerprint::{Fingerprint, Repeated};
use super::job::ResultFuture;
use super::names::{check_metadata, check_name, check_optional_name};
use super::promise::RunFuture;
use super::refuse::{self, Refusal};
use super::views;
use crate::protocol::{FreeJson, Path};
use crate::service::RunSubmission;
use crate::store::Digest;

impl Runs {
    /// Says that the worker is alive.
    pub fn heartbeat(&self, claim: &Claim) -> ResultFuture<Lease> {
        self.held(
            claim,
            |held| Ok(Command::Heartbeat { held }),
            |reply| match reply {
                Reply::Held { lease_ends_at } => Some(Lease { ends_at_unix_ms: lease_ends_at }),
                _ => None,
            },
        )
    }

    /// Appends 1 to 1000 events, all or none. With a key (1 to 255 bytes, of this run) a retry stores nothing twice; the same
    /// key with other events is a conflict, `idempotency_mismatch`.
    pub fn append_events(&self, claim: &Claim, events: &[NewEvent], key: Option<&str>) -> ResultFuture<Appended> {
        let core = self.core();
        self.held(
            claim,
            |held| {
                let (rows, fingerprint) = events::event_rows(core, events)?;
                if let Some(key) = key {
                    check_name(Path::ROOT.member("key"), key)?;
                }
                Ok(Command::Append { held, events: rows, key: key.map(|key| (key.to_owned(), fingerprint)) })
            },
            |reply| match reply {
                Reply::Appended { first, last, lease_ends_at } => {
                    Some(Appended { first_sequence: first, last_sequence: last, lease: Lease { ends_at_unix_ms: lease_ends_at } })
                }
                _ => None,
            },
        )
    }

    /// Ends the claim and has the run wait for an approval. An approved run rests until somebody resumes it.
    pub fn suspend(&self, claim: &Claim, suspension: Suspension) -> ResultFuture<Suspended> {
        let run_id = claim.run_id.clone();
        let core = self.core();
        self.held(
            claim,
            |held| {
                let Suspension { tool_call_id, tool_name, reason, metadata, continuation } = suspension;
                check_name(Path::ROOT.member("toolCallId"), &tool_call_id)?;
                check_text("toolName", &tool_name)?;
                check_metadata(Path::ROOT.member("metadata"), &metadata, &core.sensitive)?;
                let mut fingerprint = Fingerprint::of("suspend");
                fingerprint.string(&tool_call_id).string(&tool_name).string(&reason).metadata(&metadata);
                json(&mut fingerprint, "continuation", &continuation)?;
                let end = End::Suspend {
                    approval_id: uuid::Uuid::now_v7().to_string(),
                    tool_call_id,
                    tool_name,
                    reason,
                    metadata: views::pairs(&metadata),
                    continuation: continuation.as_str().to_owned(),
                };
                Ok(Command::End { held, fingerprint: fingerprint.digest(), end })
            },
            move |reply| match reply {
                Reply::Ended { revision, status, approval_id } => {
                    Some(Suspended { submission: RunSubmission { run_id: run_id.into(), revision, status }, approval_id })
                }
                _ => None,
            },
        )
    }

    /// Records the outcome of a tool call for good. The same call and key again returns the first outcome; another key is a
    /// conflict, `idempotency_mismatch`.
    pub fn admit_tool_result(&self, claim: &Claim, result: ToolResult) -> ResultFuture<Admitted> {
        let (call, tool, name) = (result.tool_call_id.clone(), result.tool_name.clone(), result.key.clone());
        let decoded = self.held(
            claim,
            |held| {
                let ToolResult { step_id, tool_call_id, tool_name, key, outcome } = result;
                check_optional_name(Path::ROOT.member("stepId"), &step_id)?;
                check_name(Path::ROOT.member("toolCallId"), &tool_call_id)?;
                check_text("toolName", &tool_name)?;
                check_name(Path::ROOT.member("key"), &key)?;
                check_size("outcome", &outcome, MAX_JSON_BYTES)?;
                Ok(Command::Admit { held, step_id, tool_call_id, tool_name, key, outcome: outcome.as_str().to_owned() })
            },
            |reply| match reply {
                Reply::Admitted { sequence, outcome, repeated } => Some((sequence, outcome, repeated)),
                _ => None,
            },
        );
        let core = self.core().clone();
        decoded.map(move |reply| {
            let (sequence, outcome, repeated) = reply?;
            let outcome = views::json_of("an admitted outcome", outcome).map_err(|error| core.store_failed(&error))?;
            Ok(Admitted { tool_call_id: call, tool_name: tool, key: name, sequence, outcome, repeated })
        })
    }

    /// Ends the run well.
    pub fn complete(&self, claim: &Claim, result: FreeJson<'static>) -> ResultFuture<RunSubmission<'static>> {
        self.end(claim, || {
            let mut fingerprint = Fingerprint::of("complete");
            json(&mut fingerprint, "result", &result)?;
            Ok((fingerprint.digest(), End::Complete { result: result.as_str().to_owned() }))
        })
    }

    /// Ends the run with an error, which callers see as the run's `error`.
    pub fn fail(&self, claim: &Claim, error: &str) -> ResultFuture<RunSubmission<'static>> {
        self.end(claim, || {
            check_text("error", error)?;
            Ok((Fingerprint::of("fail").string(error).digest(), End::Fail { error: error.to_owned() }))
        })
    }

    /// Gives the run back: somebody may claim it, `delay` (0 to 366 days) from now.
    pub fn release(&self, claim: &Claim, delay: Duration) -> ResultFuture<()> {
        self.held(
            claim,
            |held| {
                if delay > MAX_DELAY {
                    return Err(refuse::invalid_member("delay", "expected at most 366 days"));
                }
                Ok(Command::Release { held, delay_ms: millis(delay) })
            },
            |reply| matches!(reply, Reply::Released { .. }).then_some(()),
        )
    }

    fn end(
        &self,
        claim: &Claim,
        prepare: impl FnOnce() -> Result<(Digest, End), Refusal>,
    ) -> ResultFuture<RunSubmission<'static>> {
        let run_id = claim.run_id.clone();
        self.held(
            claim,
            |held| prepare().map(|(fingerprint, end)| Command::End { held, fingerprint, end }),
            move |reply| match reply {
                Reply::Ended { revision, status, .. } => Some(RunSubmission { run_id: run_id.into(), revision, status }),
                _ => None,
            },
        )
    }

    /// A command of whoever holds a claim.
    fn held<T: Send + 'static>(
        &self,
        claim: &Claim,
        prepare: impl FnOnce(Held) -> Result<Command, Refusal>,
        reply: impl FnOnce(Reply) -> Option<T> + Send + 'static,
    ) -> ResultFuture<T> {
        start(|| {
            check_name(Path::ROOT.member("runId"), &claim.run_id)?;
            let command = prepare(Held { run_id: claim.run_id.clone(), claim: claim.token.digest() })?;
            let later = self.core().write(command);
            Ok(later.map(|done| reply(done?).ok_or_else(|| refuse::internal("a worker's command came to something else"))))
        })
    }
}

/// Starts something, unless it is refused at once.
pub(crate) fn start<T: Send + 'static>(start: impl FnOnce() -> Result<ResultFuture<T>, Refusal>) -> ResultFuture<T> {
    start().unwrap_or_else(|refusal| RunFuture::ready(Err(refusal)))
}

pub(crate) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

pub(crate) fn lease_ms(lease: Duration) -> Result<i64, Refusal> {
    let ms = millis(lease);
    if ms == 0 || lease > MAX_LEASE {
        return Err(refuse::invalid_member("lease", "expected 1 ms to 24 hours"));
    }
    Ok(ms)
}

fn check_text(name: &str, text: &str) -> Result<(), Refusal> {
    match text {
        "" => Err(refuse::invalid_member(name, "expected a string that is not empty")),
        _ if text.len() > MAX_JSON_BYTES => Err(too_long(name, MAX_JSON_BYTES, text.len())),
        _ => Ok(()),
    }
}

fn check_size(name: &str, value: &FreeJson<'_>, most: usize) -> Result<(), Refusal> {
    let found = value.as_str().len();
    if found > most { Err(too_long(name, most, found)) } else { Ok(()) }
}

fn too_long(name: &str, most: usize, found: usize) -> Refusal {
    refuse::invalid_member(name, format!("expected at most {most} bytes, found {found}"))
}

/// A worker's JSON: its size, and its part of the fingerprint.
fn json(fingerprint: &mut Fingerprint, name: &str, value: &FreeJson<'_>) -> Result<(), Refusal> {
    check_size(name, value, MAX_JSON_BYTES)?;
    let path = Path::ROOT.member(name);
    fingerprint.json(value, path, Repeated::Kept).map(|_| ()).map_err(|violation| refuse::invalid(&violation))
}
