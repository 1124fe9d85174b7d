//! The side of workers: who claims a run works on it until the run ends, waits for an approval, or somebody else takes it.
//!
//! Every call of a worker renews its lease. A call with a claim that is not valid any more is a `conflict` with the reason
//! `claim_lost`. An equal retry of the call that ended the claim returns its first outcome, so a lost answer does no harm.

mod checks;
mod claim;
mod events;
mod suspend;
mod types;

pub use types::*;

use std::time::Duration;

use super::command::{ClaimHolder, Command, CommandOutput, End};
use super::fingerprint::Fingerprint;
use super::handle::Runs;
use super::limits::{MAX_DELAY, millis};
use super::names::{check_name, check_optional_name};
use super::promise::ResultFuture;
use super::refuse::{self, Refusal};
use super::views;
use crate::protocol::{FreeJson, Path};
use crate::service::RunSubmission;
use crate::store::Digest;
use checks::{check_size, check_text, json};

impl Runs {
    /// Says that the worker is alive.
    pub fn heartbeat(&self, claim: &Claim) -> ResultFuture<Lease> {
        self.with_claim(
            claim,
            |holder| Ok(Command::Heartbeat { holder }),
            |output| match output {
                CommandOutput::Renewed { lease_ends_at } => Some(Lease { ends_at_unix_ms: lease_ends_at }),
                _ => None,
            },
        )
    }

    /// Appends 1 to 1000 events, all or none. With a key (1 to 255 bytes, of this run) a retry stores nothing twice; the same
    /// key with other events is a conflict, `idempotency_mismatch`.
    pub fn append_events(&self, claim: &Claim, events: &[NewEvent], key: Option<&str>) -> ResultFuture<Appended> {
        let sensitive = &self.parts().sensitive;
        self.with_claim(
            claim,
            |holder| {
                let rows = events::event_rows(sensitive, events)?;
                let keyed = |key: &str| {
                    check_name(Path::ROOT.member("key"), key)?;
                    Ok((key.to_owned(), events::fingerprint(events)?))
                };
                Ok(Command::Append { holder, events: rows, key: key.map(keyed).transpose()? })
            },
            |output| match output {
                CommandOutput::Appended { first, last, lease_ends_at } => {
                    Some(Appended { first_sequence: first, last_sequence: last, lease: Lease { ends_at_unix_ms: lease_ends_at } })
                }
                _ => None,
            },
        )
    }

    /// Ends the claim and has the run wait for approvals, 1 to 64. What becomes of them, and when the run goes on, each of them and
    /// the suspension say (approvals). An approval whose expiry is past already is denied at once.
    pub fn suspend(&self, claim: &Claim, suspension: Suspension) -> ResultFuture<Suspended> {
        let run_id = claim.run_id.clone();
        let sensitive = &self.parts().sensitive;
        self.with_claim(
            claim,
            |holder| {
                let (end, fingerprint) = suspend::suspension(sensitive, suspension)?;
                Ok(Command::End { holder, fingerprint, end })
            },
            move |output| match output {
                CommandOutput::Ended { revision, status, approval_ids } => {
                    Some(Suspended { submission: RunSubmission { run_id: run_id.into(), revision, status }, approval_ids })
                }
                _ => None,
            },
        )
    }

    /// Records the outcome of a tool call for good. The same call and key again returns the first outcome; another key is a
    /// conflict, `idempotency_mismatch`.
    pub fn admit_tool_result(&self, claim: &Claim, result: ToolResult) -> ResultFuture<Admitted> {
        let (call, tool, name) = (result.tool_call_id.clone(), result.tool_name.clone(), result.key.clone());
        let decoded = self.with_claim(
            claim,
            |holder| {
                let ToolResult { step_id, tool_call_id, tool_name, key, outcome } = result;
                check_optional_name(Path::ROOT.member("stepId"), &step_id)?;
                check_name(Path::ROOT.member("toolCallId"), &tool_call_id)?;
                check_text("toolName", &tool_name)?;
                check_name(Path::ROOT.member("key"), &key)?;
                check_size(Path::ROOT.member("outcome"), &outcome, MAX_JSON_BYTES)?;
                Ok(Command::Admit { holder, step_id, tool_call_id, tool_name, key, outcome: outcome.as_str().to_owned() })
            },
            |output| match output {
                CommandOutput::Admitted { sequence, outcome, repeated } => Some((sequence, outcome, repeated)),
                _ => None,
            },
        );
        let executor = self.executor().clone();
        decoded.map(move |reply| {
            let (sequence, outcome, repeated) = reply?;
            let outcome = views::json_of("an admitted outcome", outcome).map_err(|error| executor.refusal_of(&error))?;
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
        self.with_claim(
            claim,
            |holder| {
                if delay > MAX_DELAY {
                    return Err(refuse::invalid_member("delay", "expected at most 366 days"));
                }
                Ok(Command::Release { holder, delay_ms: millis(delay) })
            },
            |output| matches!(output, CommandOutput::Released { .. }).then_some(()),
        )
    }

    fn end(
        &self,
        claim: &Claim,
        prepare: impl FnOnce() -> Result<(Digest, End), Refusal>,
    ) -> ResultFuture<RunSubmission<'static>> {
        let run_id = claim.run_id.clone();
        self.with_claim(
            claim,
            |holder| prepare().map(|(fingerprint, end)| Command::End { holder, fingerprint, end }),
            move |output| match output {
                CommandOutput::Ended { revision, status, .. } => Some(RunSubmission { run_id: run_id.into(), revision, status }),
                _ => None,
            },
        )
    }

    /// A command of the holder of a claim.
    fn with_claim<T: Send + 'static>(
        &self,
        claim: &Claim,
        prepare: impl FnOnce(ClaimHolder) -> Result<Command, Refusal>,
        output: impl FnOnce(CommandOutput) -> Option<T> + Send + 'static,
    ) -> ResultFuture<T> {
        self.begin(|| {
            check_name(Path::ROOT.member("runId"), &claim.run_id)?;
            let command = prepare(ClaimHolder { run_id: claim.run_id.clone(), claim: claim.token.digest() })?;
            let future = self.executor().write(command);
            Ok(future.map(|done| output(done?).ok_or_else(|| refuse::internal("a worker's command came to something else"))))
        })
    }
}
