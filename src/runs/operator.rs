//! The operator's side: what runs there are, making room, copies. Nothing here is reached by a client's message.

use std::path::Path as FilePath;

use super::command::{Command, CommandOutput};
use super::deadlines;
use super::decide::Rules;
use super::executor::LongWork;
use super::handle::Runs;
use super::names::{check_name, check_optional_name};
use super::promise::{ResultFuture, RunFuture};
use super::read::MAX_PAGE_BYTES;
use super::refuse;
use super::views;
use super::work::{Notifications, Work, WorkResult, execute};
use super::worker::Admitted;
use crate::protocol::{MAX_UNSIGNED, Path, RunStatus};
use crate::store::Changes;
use crate::store::{RunChange, RunFilter, RunRow, StoreError, Stored, Transaction};

/// The most runs, or admitted results, of a page.
pub const MAX_PAGE_RUNS: usize = 1000;

/// How many events one transaction deletes, how many admitted results and batches, and how many runs.
const EVENTS_AT_ONCE: u64 = 1000;
const OTHERS_AT_ONCE: usize = 1000;
const RUNS_AT_ONCE: usize = 100;

/// Which runs to list. All that is given has to fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListRuns {
    /// In this state.
    pub status: Option<RunStatus>,
    /// Of this principal; the empty string for runs without one.
    pub owner: Option<String>,
    /// For this agent; the empty string for runs without one.
    pub agent_id: Option<String>,
    /// The cursor of the page before; 0 for the first.
    pub after: u64,
    /// The most runs of the page, 1 to 1000; 0 for 100.
    pub limit: usize,
}

/// A run, in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSummary {
    /// The run.
    pub run_id: String,
    /// The principal that created it; none for embedded use.
    pub owner: Option<String>,
    /// The agent that is to do it, or empty.
    pub agent_id: String,
    /// Its state.
    pub status: RunStatus,
    /// The number of its state changes.
    pub revision: u64,
    /// The sequence of the first event that is still there.
    pub first_sequence: u64,
    /// The sequence of its last event.
    pub head_sequence: u64,
    /// How often it has been claimed since it started or was resumed last.
    pub attempt: u64,
    /// How the last worker called itself, or empty.
    pub worker: String,
    /// When it was created, in milliseconds since the Unix epoch.
    pub created_at_unix_ms: i64,
    /// When it got its last event.
    pub updated_at_unix_ms: i64,
    /// When it ended.
    pub completed_at_unix_ms: Option<i64>,
    /// When it has to end; none without a deadline and once it has ended.
    pub deadline_unix_ms: Option<i64>,
}

/// A page of runs, in the order of their creation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunPage {
    /// The runs.
    pub runs: Vec<RunSummary>,
    /// The cursor of the next page.
    pub next: u64,
    /// Whether there may be more.
    pub has_more: bool,
}

/// A page of admitted results, in the order of their tool call ids' bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdmittedPage {
    /// The results. The last one's id is the cursor of the next page.
    pub results: Vec<Admitted>,
    /// Whether there may be more.
    pub has_more: bool,
}

impl Runs {
    /// Lists runs, whoever owns them, in the order of their creation.
    pub fn list_runs(&self, request: ListRuns) -> ResultFuture<RunPage> {
        self.begin(|| {
            let ListRuns { status, owner, agent_id, after, limit } = request;
            let limit = if limit == 0 { 100 } else { limit };
            if limit > MAX_PAGE_RUNS {
                return Err(refuse::invalid_member("limit", format!("expected 1 to {MAX_PAGE_RUNS}, found {limit}")));
            }
            let filter = RunFilter { status, owner, agent_id };
            let cursor = i64::try_from(after).unwrap_or(i64::MAX);
            Ok(self.executor().read(move |reader| {
                let mut rows = reader.runs(&filter, cursor, limit + 1)?;
                let has_more = rows.len() > limit;
                rows.truncate(limit);
                let next = rows.last().map_or(after, |row| row.id.unsigned_abs());
                Ok(Ok(RunPage { runs: rows.into_iter().map(summary).collect(), next, has_more }))
            }))
        })
    }

    /// The admitted result of a tool call, if there is one.
    pub fn admitted_result(&self, run_id: &str, tool_call_id: &str) -> ResultFuture<Option<Admitted>> {
        self.begin(|| {
            check_name(Path::ROOT.member("runId"), run_id)?;
            check_name(Path::ROOT.member("toolCallId"), tool_call_id)?;
            let (run_id, tool_call_id) = (run_id.to_owned(), tool_call_id.to_owned());
            Ok(self.executor().read(move |reader| {
                let Some(run) = reader.run(&run_id)? else {
                    return Ok(Err(refuse::not_found()));
                };
                Ok(Ok(reader.admitted(run.id, &tool_call_id)?.map(admitted).transpose()?))
            }))
        })
    }

    /// The admitted results of a run whose tool call ids follow `after` (empty: from the first), at most `limit` (1 to 1000),
    /// and at most 4 MiB unless one alone has more.
    pub fn admitted_results(&self, run_id: &str, after: &str, limit: usize) -> ResultFuture<AdmittedPage> {
        self.begin(|| {
            check_name(Path::ROOT.member("runId"), run_id)?;
            check_optional_name(Path::ROOT.member("after"), after)?;
            if !(1..=MAX_PAGE_RUNS).contains(&limit) {
                return Err(refuse::invalid_member("limit", format!("expected 1 to {MAX_PAGE_RUNS}, found {limit}")));
            }
            let (run_id, after) = (run_id.to_owned(), after.to_owned());
            Ok(self.executor().read(move |reader| {
                let Some(run) = reader.run(&run_id)? else {
                    return Ok(Err(refuse::not_found()));
                };
                let rows = reader.admitted_page(run.id, &after, limit, MAX_PAGE_BYTES)?;
                let last = rows.last().map_or(&*after, |row| &*row.tool_call_id);
                let has_more = !rows.is_empty() && !reader.admitted_page(run.id, last, 1, 0)?.is_empty();
                Ok(Ok(AdmittedPage { results: rows.into_iter().map(admitted).collect::<Stored<_>>()?, has_more }))
            }))
        })
    }

    /// Removes the run's events up to and with `through`, but for the last, which stays; gives the sequence of the first that
    /// is there afterwards. Who reads from before it gets a conflict, `cursor_expired`.
    pub fn compact(&self, run_id: &str, through: u64) -> ResultFuture<u64> {
        self.begin(|| {
            check_name(Path::ROOT.member("runId"), run_id)?;
            Ok(self.executor().write_long(Compact { run_id: run_id.to_owned(), through: through.min(MAX_UNSIGNED) }))
        })
    }

    /// Deletes the runs that ended before a time, with all that belongs to them; says how many. Their idempotency keys are
    /// remembered until they expire.
    pub fn purge(&self, ended_before_unix_ms: i64) -> ResultFuture<u64> {
        self.executor().write_long(Purge { before: ended_before_unix_ms, purged: 0 })
    }

    /// Writes a consistent copy of everything to a file that does not exist yet, while the work goes on.
    pub fn backup(&self, to: &FilePath) -> ResultFuture<()> {
        let executor = self.executor().clone();
        let (promise, future) = RunFuture::pair(executor.log());
        let to = to.to_owned();
        // A thread of its own: it takes as long as the file is large.
        let copying = std::thread::Builder::new().name("agenthost-backup".into());
        match copying.spawn(move || promise.resolve(executor.backup(&to))) {
            Ok(_) => future,
            Err(error) => {
                let refusal = self.executor().refusal_of(&StoreError::Unavailable(error.to_string()));
                self.begin(|| Err(refusal))
            }
        }
    }

    /// Ends the runs whose deadline has passed; says how many. A thread does this by itself when the time comes: call it where
    /// the store's clock is not the system's.
    pub fn run_timers(&self) -> ResultFuture<u64> {
        deadlines::end_all(self.executor(), &self.parts().poller.timers)
    }
}

fn summary(row: RunRow) -> RunSummary {
    RunSummary {
        run_id: row.run_id,
        owner: Some(row.owner).filter(|owner| !owner.is_empty()),
        agent_id: row.agent_id,
        status: row.status,
        revision: row.revision,
        first_sequence: row.first,
        head_sequence: row.head,
        attempt: row.attempt,
        worker: row.worker,
        created_at_unix_ms: row.created_at,
        updated_at_unix_ms: row.updated_at,
        completed_at_unix_ms: row.completed_at,
        deadline_unix_ms: row.deadline,
    }
}

fn admitted(row: crate::store::AdmittedRow) -> Stored<Admitted> {
    Ok(Admitted {
        outcome: views::json_of("an admitted outcome", row.outcome)?,
        tool_call_id: row.tool_call_id,
        tool_name: row.tool_name,
        key: row.key,
        sequence: row.sequence,
        repeated: true,
    })
}

/// Removes a run's events from the front.
struct Compact {
    run_id: String,
    through: u64,
}

impl LongWork for Compact {
    type Step = CompactSome;
    type Output = u64;

    fn step(&self) -> CompactSome {
        CompactSome { run_id: self.run_id.clone(), through: self.through }
    }

    fn after(&mut self, (first, more): (u64, bool)) -> Option<u64> {
        (!more).then_some(first)
    }
}

/// Removes a bounded number of events of one run; gives the first that is left, and whether there are more to remove.
struct CompactSome {
    run_id: String,
    through: u64,
}

impl Work for CompactSome {
    type Output = (u64, bool);

    fn run(
        &self,
        transaction: &mut dyn Transaction,
        rules: &Rules,
        notifications: &mut Notifications,
    ) -> WorkResult<(u64, bool)> {
        let Some(run) = transaction.run(&self.run_id)? else {
            return Ok(Err(refuse::not_found()));
        };
        let (id, before) = (run.id, run.first);
        let command = Command::Compact { through: self.through, most: EVENTS_AT_ONCE };
        match execute(transaction, rules, Some(run), &command, notifications)? {
            Ok(CommandOutput::Done { first }) => {
                if first > before {
                    transaction.delete_events(id, first - 1)?;
                }
                Ok(Ok((first, first == before + EVENTS_AT_ONCE)))
            }
            Ok(_) => Ok(Err(refuse::internal("compaction came to something else"))),
            Err(refusal) => Ok(Err(refusal)),
        }
    }
}

/// Deletes the runs that ended before a time.
struct Purge {
    before: i64,
    purged: u64,
}

impl LongWork for Purge {
    type Step = PurgeSome;
    type Output = u64;

    fn step(&self) -> PurgeSome {
        PurgeSome { before: self.before }
    }

    fn after(&mut self, (purged, more): (u64, bool)) -> Option<u64> {
        self.purged += purged;
        (!more).then_some(self.purged)
    }
}

/// Deletes ended runs, a bounded number of rows; gives how many runs, and whether there are more to delete.
struct PurgeSome {
    before: i64,
}

impl Work for PurgeSome {
    type Output = (u64, bool);

    fn run(&self, transaction: &mut dyn Transaction, _: &Rules, _: &mut Notifications) -> WorkResult<(u64, bool)> {
        let runs = transaction.ended_before(self.before, RUNS_AT_ONCE)?;
        let more = runs.len() == RUNS_AT_ONCE;
        let (mut purged, mut events, mut others) = (0, 0, 0);
        for run in runs {
            others += transaction.delete_admitted_and_batches(run.id, OTHERS_AT_ONCE - others)?;
            if others == OTHERS_AT_ONCE {
                return Ok(Ok((purged, true)));
            }
            let stored = run.head + 1 - run.first;
            if events + stored > EVENTS_AT_ONCE && stored > EVENTS_AT_ONCE {
                // A long run goes piece by piece: until its turn comes it is a compacted one.
                let mut shorter = run.clone();
                shorter.first += EVENTS_AT_ONCE;
                transaction.delete_events(run.id, shorter.first - 1)?;
                let update = RunChange::Update { before: run, after: shorter };
                transaction.apply(&Changes { run: Some(update), ..Changes::default() })?;
                return Ok(Ok((purged, true)));
            }
            if events + stored > EVENTS_AT_ONCE && purged > 0 {
                return Ok(Ok((purged, true)));
            }
            transaction.delete_events(run.id, run.head)?;
            transaction.delete_run(run.id)?;
            (purged, events) = (purged + 1, events + stored);
        }
        Ok(Ok((purged, more)))
    }
}
