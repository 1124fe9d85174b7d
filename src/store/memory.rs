//! A store that lives as long as its process: every job runs at once, on the thread that brings it, under one lock.

mod approvals;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::time::StoreTime;
use super::{
    AdmittedRow, ApprovalChange, ApprovalFilter, ApprovalRow, BatchRow, BodyKind, Changes, Clock, EventRow, JobNumber, KeyRow,
    KeyScope, ListedApproval, ReadJob, Reader, RunChange, RunFilter, RunKey, RunRow, Store, StoreError, Stored, Transaction,
    WriteJob,
};
use approvals::Approvals;

/// Runs in memory.
pub struct MemoryStore {
    time: StoreTime,
    /// None once it is closed.
    tables: Mutex<Option<Tables>>,
}

impl MemoryStore {
    /// A store without runs.
    pub fn new(clock: Clock) -> MemoryStore {
        MemoryStore { time: StoreTime::new(clock), tables: Mutex::new(Some(Tables::default())) }
    }

    /// What was written is never ahead of what this process has seen.
    fn now(&self) -> Stored<i64> {
        self.time.now(i64::MIN)
    }

    /// A job that panics is over before it writes (it decides first), so the tables stay usable.
    fn lock(&self) -> MutexGuard<'_, Option<Tables>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn write(&self, mut job: Box<dyn WriteJob>) -> JobNumber {
        let committed = {
            let mut tables = self.lock();
            match tables.as_mut() {
                Some(tables) => self.now().and_then(|now| job.run(&mut tables.session(now))),
                None => Err(StoreError::Closed),
            }
        };
        job.done(committed);
        0
    }

    fn read(&self, job: Box<dyn ReadJob>) {
        let mut tables = self.lock();
        let Some(open) = tables.as_mut() else {
            drop(tables);
            return job.failed(StoreError::Closed);
        };
        let now = match self.now() {
            Ok(now) => now,
            Err(error) => {
                drop(tables);
                return job.failed(error);
            }
        };
        let answer = job.run(&mut open.session(now));
        drop(tables);
        answer();
    }

    fn watch(&self, _changed: Arc<dyn Fn() + Send + Sync>) {}

    fn backup(&self, _to: &Path) -> Stored<()> {
        Err(StoreError::Unsupported("runs in memory cannot be backed up: open a file".into()))
    }

    fn close(&self) {
        *self.lock() = None;
    }
}

/// Everything that is stored, with the indexes that the reads need.
#[derive(Clone, Default)]
pub(crate) struct Tables {
    last: RunKey,
    ids: HashMap<String, RunKey>,
    runs: BTreeMap<RunKey, Run>,
    ready: BTreeMap<String, BTreeSet<(i64, RunKey)>>,
    deadlines: BTreeSet<(i64, RunKey)>,
    completed: BTreeSet<(i64, RunKey)>,
    approvals: Approvals,
    approval_expiries: BTreeSet<(i64, RunKey)>,
    keys: HashMap<KeyScope, KeyRow>,
    expiries: BTreeSet<(i64, KeyScope)>,
}

#[derive(Clone)]
struct Run {
    row: RunRow,
    bodies: BTreeMap<BodyKind, String>,
    events: BTreeMap<u64, EventRow>,
    admitted: BTreeMap<String, AdmittedRow>,
    batches: HashMap<String, BatchRow>,
}

impl Tables {
    pub(crate) fn session(&mut self, now: i64) -> Session<'_> {
        Session { now, tables: self }
    }

    /// A run's row and events, for tests that read them often.
    #[cfg(test)]
    pub(crate) fn peek(&self, run_id: &str) -> Option<(&RunRow, &BTreeMap<u64, EventRow>)> {
        let run = self.runs.get(self.ids.get(run_id)?)?;
        Some((&run.row, &run.events))
    }

    /// The approvals of a run, for the same.
    #[cfg(test)]
    pub(crate) fn peek_approvals(&self, run_id: &str) -> Vec<ApprovalRow> {
        let run = self.ids.get(run_id).copied().unwrap_or_default();
        self.approvals.of_run(run, 0..=u64::MAX).map(|(_, stored)| stored.row.clone()).collect()
    }

    fn run(&mut self, run: RunKey) -> Stored<&mut Run> {
        self.runs.get_mut(&run).ok_or_else(|| StoreError::Broken(format!("no run {run}")))
    }

    /// Takes a row out of the indexes, or puts it in.
    fn index(&mut self, row: &RunRow, present: bool) {
        let put = |set: &mut BTreeSet<(i64, RunKey)>, time: Option<i64>| {
            if let Some(time) = time {
                if present {
                    set.insert((time, row.id))
                } else {
                    set.remove(&(time, row.id))
                };
            }
        };
        put(&mut self.deadlines, row.deadline);
        put(&mut self.approval_expiries, row.approval_expiry);
        put(&mut self.completed, row.completed_at);
        if row.ready_at.is_some() {
            let ready = self.ready.entry(row.agent_id.clone()).or_default();
            put(ready, row.ready_at);
            if ready.is_empty() {
                self.ready.remove(&row.agent_id);
            }
        }
    }
}

/// What one job reads and writes.
pub(crate) struct Session<'t> {
    now: i64,
    tables: &'t mut Tables,
}

impl Session<'_> {
    fn rows(&self, times: impl Iterator<Item = RunKey>, limit: usize) -> Vec<RunRow> {
        times.filter_map(|id| self.tables.runs.get(&id)).map(|run| run.row.clone()).take(limit).collect()
    }
}

impl Reader for Session<'_> {
    fn now(&self) -> i64 {
        self.now
    }

    fn run(&mut self, run_id: &str) -> Stored<Option<RunRow>> {
        let run = self.tables.ids.get(run_id).and_then(|id| self.tables.runs.get(id));
        Ok(run.map(|run| run.row.clone()))
    }

    fn body(&mut self, run: RunKey, kind: BodyKind) -> Stored<Option<String>> {
        Ok(self.tables.run(run)?.bodies.get(&kind).cloned())
    }

    fn events(&mut self, run: RunKey, after: u64, limit: usize, max_bytes: usize) -> Stored<Vec<EventRow>> {
        let events = self.tables.run(run)?.events.range(after.saturating_add(1)..).map(|(_, event)| event);
        Ok(page(events.cloned(), limit, max_bytes, |event| event.data.len() + event.metadata.len()))
    }

    fn admitted(&mut self, run: RunKey, tool_call_id: &str) -> Stored<Option<AdmittedRow>> {
        Ok(self.tables.run(run)?.admitted.get(tool_call_id).cloned())
    }

    fn admitted_page(&mut self, run: RunKey, after: &str, limit: usize, max_bytes: usize) -> Stored<Vec<AdmittedRow>> {
        use std::ops::Bound::{Excluded, Unbounded};
        let admitted = self.tables.run(run)?.admitted.range::<str, _>((Excluded(after), Unbounded)).map(|(_, row)| row);
        Ok(page(admitted.cloned(), limit, max_bytes, |row| row.outcome.len()))
    }

    fn runs(&mut self, filter: &RunFilter, after: RunKey, limit: usize) -> Stored<Vec<RunRow>> {
        let later = self.tables.runs.range(after.saturating_add(1)..).map(|(_, run)| &run.row);
        Ok(later.filter(|row| filter.fits(row)).take(limit).cloned().collect())
    }

    fn next_ready(&mut self, agent_id: &str) -> Stored<Option<RunRow>> {
        let first = self.tables.ready.get(agent_id).and_then(|ready| ready.first());
        Ok(first.and_then(|(_, id)| self.tables.runs.get(id)).map(|run| run.row.clone()))
    }

    fn approval(&mut self, approval_id: &str) -> Stored<Option<ApprovalRow>> {
        Ok(self.tables.approvals.of_id(approval_id).map(|stored| stored.row.clone()))
    }

    fn approvals(&mut self, run: RunKey, numbers: RangeInclusive<u64>) -> Stored<Vec<ApprovalRow>> {
        Ok(self.tables.approvals.of_run(run, numbers).map(|(_, stored)| stored.row.clone()).collect())
    }

    fn arguments(&mut self, run: RunKey, number: u64) -> Stored<Option<String>> {
        Ok(self.tables.approvals.of_run(run, number..=number).next().and_then(|(_, stored)| stored.arguments.clone()))
    }

    fn is_approver(&mut self, run: RunKey, principal: &str) -> Stored<bool> {
        Ok(self.tables.approvals.is_approver(run, principal))
    }

    fn list_approvals(
        &mut self,
        filter: &ApprovalFilter,
        after: i64,
        limit: usize,
        max_bytes: usize,
    ) -> Stored<Vec<ListedApproval>> {
        let run = match &filter.run_id {
            None => None,
            Some(run_id) => match self.tables.ids.get(run_id) {
                None => return Ok(Vec::new()),
                known => known.copied(),
            },
        };
        let listed = self.tables.approvals.candidates(filter, run, after).filter_map(|(position, stored)| {
            let run = &self.tables.runs.get(&stored.run)?.row;
            filter.fits(&stored.row, run).then_some((position, stored, run))
        });
        Ok(page(listed, limit, max_bytes, |(_, stored, _)| {
            stored.row.text_bytes() + stored.arguments.as_ref().map_or(0, String::len)
        })
        .into_iter()
        .map(|(position, stored, run)| ListedApproval {
            position,
            row: stored.row.clone(),
            run: run.clone(),
            arguments: stored.arguments.clone(),
        })
        .collect())
    }

    fn next_deadline(&mut self) -> Stored<Option<i64>> {
        let first = |times: &BTreeSet<(i64, RunKey)>| times.first().map(|(time, _)| *time);
        Ok([first(&self.tables.deadlines), first(&self.tables.approval_expiries)].into_iter().flatten().min())
    }

    fn next_expiry(&mut self) -> Stored<Option<i64>> {
        Ok(self.tables.expiries.first().map(|(expires_at, _)| *expires_at))
    }
}

/// The first rows of `rows`: at most `limit`, and at most `max_bytes` of text unless the first alone has more.
fn page<T>(rows: impl Iterator<Item = T>, limit: usize, max_bytes: usize, bytes: impl Fn(&T) -> usize) -> Vec<T> {
    let (mut page, mut total) = (Vec::new(), 0_usize);
    for row in rows.take(limit) {
        total = total.saturating_add(bytes(&row));
        if total > max_bytes && !page.is_empty() {
            break;
        }
        page.push(row);
    }
    page
}

impl Transaction for Session<'_> {
    fn key(&mut self, scope: &KeyScope) -> Stored<Option<KeyRow>> {
        Ok(self.tables.keys.get(scope).cloned())
    }

    fn batch(&mut self, run: RunKey, key: &str) -> Stored<Option<BatchRow>> {
        Ok(self.tables.run(run)?.batches.get(key).cloned())
    }

    fn overdue(&mut self, now: i64, limit: usize) -> Stored<Vec<RunRow>> {
        let mut due = self.rows(self.tables.deadlines.range(..=(now, RunKey::MAX)).map(|(_, id)| *id), limit);
        let expired = self.tables.approval_expiries.range(..=(now, RunKey::MAX)).map(|(_, id)| *id);
        let expired = self.rows(expired, limit).into_iter().filter(|run| run.deadline.is_none_or(|deadline| deadline > now));
        due.extend(expired);
        due.truncate(limit);
        Ok(due)
    }

    fn ended_before(&mut self, before: i64, limit: usize) -> Stored<Vec<RunRow>> {
        Ok(self.rows(self.tables.completed.range(..(before, RunKey::MIN)).map(|(_, id)| *id), limit))
    }

    fn apply(&mut self, changes: &Changes) -> Stored<()> {
        let tables = &mut *self.tables;
        if let Some((scope, row)) = &changes.key {
            if let Some(old) = tables.keys.insert(scope.clone(), row.clone()) {
                tables.expiries.remove(&(old.expires_at, scope.clone()));
            }
            tables.expiries.insert((row.expires_at, scope.clone()));
        }
        let row = match &changes.run {
            None => return Ok(()),
            Some(RunChange::Insert(row)) => {
                tables.last += 1;
                let row = RunRow { id: tables.last, ..row.clone() };
                tables.ids.insert(row.run_id.clone(), row.id);
                let run = Run {
                    row: row.clone(),
                    bodies: BTreeMap::new(),
                    events: BTreeMap::new(),
                    admitted: BTreeMap::new(),
                    batches: HashMap::new(),
                };
                tables.runs.insert(row.id, run);
                row
            }
            Some(RunChange::Update { before, after }) => {
                tables.index(before, false);
                after.clone()
            }
        };
        tables.index(&row, true);
        for change in &changes.approvals {
            match change {
                ApprovalChange::Insert(approval, arguments) => tables.approvals.insert(&row, approval, arguments.as_ref()),
                ApprovalChange::Update(approval) => tables.approvals.update(&row, approval),
            }
        }
        let run = tables.run(row.id)?;
        run.row = row;
        for (kind, body) in &changes.bodies {
            match body {
                Some(body) => run.bodies.insert(*kind, body.clone()),
                None => run.bodies.remove(kind),
            };
        }
        run.events.extend(changes.events.iter().map(|event| (event.sequence, event.clone())));
        run.admitted.extend(changes.admitted.iter().map(|row| (row.tool_call_id.clone(), row.clone())));
        run.batches.extend(changes.batch.iter().map(|row| (row.key.clone(), row.clone())));
        Ok(())
    }

    fn delete_events(&mut self, run: RunKey, through: u64) -> Stored<()> {
        let run = self.tables.run(run)?;
        run.events = run.events.split_off(&through.saturating_add(1));
        Ok(())
    }

    fn delete_admitted_and_batches(&mut self, run: RunKey, limit: usize) -> Stored<usize> {
        let run = self.tables.run(run)?;
        let mut deleted = 0;
        while deleted < limit && run.admitted.pop_first().is_some() {
            deleted += 1;
        }
        let keys: Vec<String> = run.batches.keys().take(limit - deleted).cloned().collect();
        keys.iter().for_each(|key| drop(run.batches.remove(key)));
        Ok(deleted + keys.len())
    }

    fn delete_run(&mut self, run: RunKey) -> Stored<()> {
        if let Some(run) = self.tables.runs.remove(&run) {
            self.tables.index(&run.row, false);
            self.tables.ids.remove(&run.row.run_id);
            self.tables.approvals.remove_run(&run.row);
        }
        Ok(())
    }

    fn delete_keys(&mut self, now: i64, limit: usize) -> Stored<usize> {
        let tables = &mut *self.tables;
        let mut deleted = 0;
        while deleted < limit && tables.expiries.first().is_some_and(|(expires_at, _)| *expires_at <= now) {
            if let Some((_, scope)) = tables.expiries.pop_first() {
                tables.keys.remove(&scope);
            }
            deleted += 1;
        }
        Ok(deleted)
    }
}
