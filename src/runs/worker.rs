//! The side of workers: whoever claims a run works on it until the run ends, waits for an approval, or somebody else takes it.
//!
//! Every call of a worker renews its lease. A call with a claim that is not valid any more is a `conflict` with the reason
//! `claim_lost`. An equal retry of the call that ended the claim returns its first outcome, so a lost answer does no harm.

use std::sync::Arc;
use std::time::Duration;

use super::Runs;
use super::command::{Command, End, Held, Reply};
use super::core::Core;
use super::decide::Rules;
use super::fingerprint::{Fingerprint, Repeated};
use super::job::{Done, LaterResult, Touched, Work, execute};
use super::later::Later;
use super::names::{check_metadata, check_name, check_optional_name};
use super::refuse::{self, Refusal};
use super::token::ClaimToken;
use super::views;
use crate::protocol::{ExecutionContext, FreeJson, Metadata, Path, Resolution, RunStatus, Violation};
use crate::service::{ApprovalView, RunSubmission};
use crate::store::{BodyKind, Digest, EventRow, RunRow, Stored, Transaction};

/// The longest `result`, continuation, and admitted outcome, in bytes.
pub const MAX_JSON_BYTES: usize = 4 << 20;
/// The longest data of an event, in bytes.
pub const MAX_EVENT_DATA_BYTES: usize = 1 << 20;
/// The longest metadata of an event, as JSON, in bytes.
pub const MAX_EVENT_METADATA_BYTES: usize = 64 << 10;
/// The most events of one `append_events`.
pub const MAX_APPENDED_EVENTS: usize = 1000;
/// The longest lease.
pub const MAX_LEASE: Duration = Duration::from_secs(24 * 3600);
/// The longest delay of a release.
pub const MAX_DELAY: Duration = Duration::from_secs(366 * 24 * 3600);

/// The events that the library writes. Workers write others.
pub const LIBRARY_EVENTS: [&str; 13] = [
    "run_created",
    "run_started",
    "approval_required",
    "approval_granted",
    "approval_denied",
    "run_resumed",
    "run_resume_reclaimed",
    "run_reclaimed",
    "tool_result_admitted",
    "run_completed",
    "run_failed",
    "run_cancelled",
    "run_timed_out",
];

/// What a worker looks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimRequest {
    /// The agents whose runs it works on, at least one; the empty string for runs without one.
    pub agent_ids: Vec<String>,
    /// How it calls itself, for people; may be empty.
    pub worker: String,
    /// How long it may be silent before somebody else may take over, 1 ms to 24 h; none for the default of these runs (30 s).
    pub lease: Option<Duration>,
}

/// A claim: which run, and the right to work on it. Every call of a worker brings it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The run.
    pub run_id: String,
    /// The right to work on it.
    pub token: ClaimToken,
}

/// A run that was claimed, with all that there is to go on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// What every call about the run brings.
    pub claim: Claim,
    /// The principal that created the run; none for embedded use.
    pub owner: Option<String>,
    /// How often the run has been claimed since it started or was resumed last: 1 for the first time.
    pub attempt: u64,
    /// The run's revision.
    pub revision: u64,
    /// When the lease ends unless it is renewed, in milliseconds since the Unix epoch by the store's clock. A heartbeat is due
    /// after a third of the lease.
    pub lease_ends_at_unix_ms: i64,
    /// The lease, in milliseconds.
    pub lease_ms: u64,
    /// Where the run comes from.
    pub context: ExecutionContext<'static>,
    /// What it is to work on.
    pub input: FreeJson<'static>,
    /// Strings that belong to the run.
    pub metadata: Metadata<'static>,
    /// After a resume: the approval.
    pub approval: Option<ApprovalView<'static>>,
    /// After a resume: what `suspend` was given to go on from. Not for anybody else's eyes.
    pub continuation: Option<FreeJson<'static>>,
    /// After a resume: the input of `resume_run`.
    pub resume_input: Option<FreeJson<'static>>,
}

/// Something that happened, told by a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEvent {
    /// What kind of event: 1 to 255 bytes, none of [`LIBRARY_EVENTS`].
    pub event_type: String,
    /// The step that it belongs to, or empty.
    pub step_id: String,
    /// The tool call that it belongs to, or empty.
    pub tool_call_id: String,
    /// What happened, at most 1 MiB. Every caller that may see the run sees it.
    pub data: FreeJson<'static>,
    /// Strings, without sensitive names, at most 64 KiB.
    pub metadata: Metadata<'static>,
}

impl NewEvent {
    /// An event of that type with that data, and nothing else.
    pub fn new(event_type: impl Into<String>, data: FreeJson<'static>) -> NewEvent {
        let (step_id, tool_call_id) = (String::new(), String::new());
        NewEvent { event_type: event_type.into(), step_id, tool_call_id, data, metadata: Metadata::new() }
    }
}

/// What a run waits for, and how it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspension {
    /// The tool call that needs an approval: 1 to 255 bytes.
    pub tool_call_id: String,
    /// The tool, not empty.
    pub tool_name: String,
    /// Why it is needed; may be empty.
    pub reason: String,
    /// Strings that belong to the approval, without sensitive names.
    pub metadata: Metadata<'static>,
    /// Whatever the worker that goes on needs, at most 4 MiB. Nobody else gets it.
    pub continuation: FreeJson<'static>,
}

/// What a tool call came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// The step that it belongs to, or empty.
    pub step_id: String,
    /// The tool call: 1 to 255 bytes. One result is admitted for each.
    pub tool_call_id: String,
    /// The tool, not empty.
    pub tool_name: String,
    /// Names the execution: 1 to 255 bytes. A retry brings the same.
    pub key: String,
    /// The outcome, at most 4 MiB.
    pub outcome: FreeJson<'static>,
}

/// How long a claim is safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// When it ends, in milliseconds since the Unix epoch by the store's clock.
    pub ends_at_unix_ms: i64,
}

/// Where appended events stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The sequence of the first.
    pub first_sequence: u64,
    /// The sequence of the last.
    pub last_sequence: u64,
    /// The renewed lease.
    pub lease: Lease,
}

/// The outcome of a tool call that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// The tool call.
    pub tool_call_id: String,
    /// The tool.
    pub tool_name: String,
    /// The execution's key.
    pub key: String,
    /// The sequence of the event `tool_result_admitted`.
    pub sequence: u64,
    /// The outcome that was admitted first.
    pub outcome: FreeJson<'static>,
    /// Whether it had been admitted before this call.
    pub repeated: bool,
}

/// A run that waits for an approval now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspended {
    /// The run as it was then.
    pub submission: RunSubmission<'static>,
    /// The approval, for `resolve_approval` and `resume_run`.
    pub approval_id: String,
}

impl Runs {
    /// Takes the longest claimable run of these agents: one that is new, was released, resumed, or whose worker has been silent
    /// longer than its lease. None when there is none; [`Runs::wait_for_work`] waits for one.
    pub fn claim(&self, request: &ClaimRequest) -> LaterResult<Option<Claimed>> {
        start(|| {
            if request.agent_ids.is_empty() {
                return Err(refuse::invalid_member("agentIds", "expected at least one agent, the empty string for runs without"));
            }
            for (index, agent_id) in request.agent_ids.iter().enumerate() {
                check_optional_name(Path::ROOT.member("agentIds").element(index), agent_id)?;
            }
            check_optional_name(Path::ROOT.member("worker"), &request.worker)?;
            let core = self.core();
            let lease_ms = match request.lease {
                None => core.lease_ms,
                Some(lease) => lease_ms(lease)?,
            };
            let token = ClaimToken::new().map_err(|_| refuse::internal("there is no randomness"))?;
            let (agent_ids, worker) = (request.agent_ids.clone(), request.worker.clone());
            Ok(core.claim(TakeWork { agent_ids, worker, lease_ms, token }))
        })
    }

    /// Says that the worker is alive.
    pub fn heartbeat(&self, claim: &Claim) -> LaterResult<Lease> {
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
    pub fn append_events(&self, claim: &Claim, events: &[NewEvent], key: Option<&str>) -> LaterResult<Appended> {
        let core = self.core();
        self.held(
            claim,
            |held| {
                let (rows, fingerprint) = event_rows(core, events)?;
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
    pub fn suspend(&self, claim: &Claim, suspension: Suspension) -> LaterResult<Suspended> {
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
    pub fn admit_tool_result(&self, claim: &Claim, result: ToolResult) -> LaterResult<Admitted> {
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
    pub fn complete(&self, claim: &Claim, result: FreeJson<'static>) -> LaterResult<RunSubmission<'static>> {
        self.end(claim, || {
            let mut fingerprint = Fingerprint::of("complete");
            json(&mut fingerprint, "result", &result)?;
            Ok((fingerprint.digest(), End::Complete { result: result.as_str().to_owned() }))
        })
    }

    /// Ends the run with an error, which callers see as the run's `error`.
    pub fn fail(&self, claim: &Claim, error: &str) -> LaterResult<RunSubmission<'static>> {
        self.end(claim, || {
            check_text("error", error)?;
            Ok((Fingerprint::of("fail").string(error).digest(), End::Fail { error: error.to_owned() }))
        })
    }

    /// Gives the run back: somebody may claim it, `delay` (0 to 366 days) from now.
    pub fn release(&self, claim: &Claim, delay: Duration) -> LaterResult<()> {
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
    ) -> LaterResult<RunSubmission<'static>> {
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
    ) -> LaterResult<T> {
        start(|| {
            check_name(Path::ROOT.member("runId"), &claim.run_id)?;
            let command = prepare(Held { run_id: claim.run_id.clone(), claim: claim.token.digest() })?;
            let later = self.core().write(command);
            Ok(later.map(|done| reply(done?).ok_or_else(|| refuse::internal("a worker's command came to something else"))))
        })
    }
}

/// Starts something, unless it is refused at once.
pub(crate) fn start<T: Send + 'static>(start: impl FnOnce() -> Result<LaterResult<T>, Refusal>) -> LaterResult<T> {
    start().unwrap_or_else(|refusal| Later::given(Err(refusal)))
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

fn event_rows(core: &Core, events: &[NewEvent]) -> Result<(Vec<EventRow>, Digest), Refusal> {
    if events.is_empty() || events.len() > MAX_APPENDED_EVENTS {
        let expected = format!("expected 1 to {MAX_APPENDED_EVENTS} events, found {}", events.len());
        return Err(refuse::invalid_member("events", expected));
    }
    let mut fingerprint = Fingerprint::of("append_events");
    let rows = events.iter().enumerate().map(|(index, event)| {
        let list = Path::ROOT.member("events");
        let path = list.element(index);
        let refused = |name: &str, expected: String| Err(refuse::invalid(&Violation::new(path.member(name), expected)));
        check_name(path.member("type"), &event.event_type)?;
        if LIBRARY_EVENTS.contains(&&*event.event_type) {
            return refused("type", format!("expected a type of your own, {} is the library's", event.event_type));
        }
        check_optional_name(path.member("stepId"), &event.step_id)?;
        check_optional_name(path.member("toolCallId"), &event.tool_call_id)?;
        check_metadata(path.member("metadata"), &event.metadata, &core.sensitive)?;
        let metadata = views::metadata_text(&event.metadata);
        for (name, most, found) in
            [("data", MAX_EVENT_DATA_BYTES, event.data.as_str().len()), ("metadata", MAX_EVENT_METADATA_BYTES, metadata.len())]
        {
            if found > most {
                return refused(name, format!("expected at most {most} bytes, found {found}"));
            }
        }
        fingerprint.string(&event.event_type).string(&event.step_id).string(&event.tool_call_id).metadata(&event.metadata);
        fingerprint.json(&event.data, path.member("data"), Repeated::Kept).map_err(|violation| refuse::invalid(&violation))?;
        Ok(EventRow {
            sequence: 0,
            at: 0,
            status: RunStatus::Running,
            event_type: event.event_type.clone(),
            step_id: event.step_id.clone(),
            tool_call_id: event.tool_call_id.clone(),
            data: event.data.as_str().to_owned(),
            metadata,
        })
    });
    let rows = rows.collect::<Result<Vec<_>, Refusal>>()?;
    Ok((rows, fingerprint.digest()))
}

/// A worker looks for work.
#[derive(Clone)]
struct TakeWork {
    agent_ids: Vec<String>,
    worker: String,
    lease_ms: i64,
    token: ClaimToken,
}

/// What a look for work came to.
enum Taken {
    Claimed(Box<Claimed>),
    Nothing,
    /// Only runs that have ended on the way: look again, in another transaction.
    Again,
}

impl Core {
    fn claim(self: &Arc<Core>, work: TakeWork) -> LaterResult<Option<Claimed>> {
        let (promise, later) = Later::pair();
        let (core, again) = (self.clone(), work.clone());
        self.write(work).then(move |taken| match taken {
            Err(refusal) => promise.give(Err(refusal)),
            Ok(Taken::Claimed(claimed)) => promise.give(Ok(Some(*claimed))),
            Ok(Taken::Nothing) => promise.give(Ok(None)),
            Ok(Taken::Again) => core.claim(again).then(move |claimed| promise.give(claimed)),
        });
        later
    }
}

impl Work for TakeWork {
    type Output = Taken;

    fn run(&self, transaction: &mut dyn Transaction, rules: &Rules, touched: &mut Vec<Touched>) -> Done<Taken> {
        const RUNS_AT_ONCE: usize = 32;
        let claim = Command::Claim { claim: self.token.digest(), worker: self.worker.clone(), lease_ms: self.lease_ms };
        for _ in 0..RUNS_AT_ONCE {
            let Some(run) = longest_claimable(transaction, &self.agent_ids)? else {
                return Ok(Ok(Taken::Nothing));
            };
            let run_id = run.run_id.clone();
            match execute(transaction, rules, Some(run), &claim, touched)? {
                Ok(Reply::Claimed { lease_ends_at }) => {
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
        let run = transaction.run(run_id)?.ok_or_else(|| crate::store::StoreError::Broken("a claimed run is gone".into()))?;
        let mut text = |kind| views::required(transaction, run.id, kind);
        let context = views::context_of(&text(BodyKind::Context)?)?;
        let input = views::json_of("input", text(BodyKind::Input)?)?;
        let metadata = views::metadata_of(&text(BodyKind::Metadata)?)?;
        let (mut approval, mut continuation, mut resume_input) = (None, None, None);
        if run.approval == Some(Resolution::Approved) {
            approval = Some(views::approval_of(&text(BodyKind::Approval)?)?);
            continuation = Some(views::json_of("continuation", text(BodyKind::Continuation)?)?);
            resume_input = Some(views::json_of("resume input", text(BodyKind::ResumeInput)?)?);
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
            approval,
            continuation,
            resume_input,
        })
    }
}
