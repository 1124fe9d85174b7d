//! The reads of the trait as statements, each by one index.

use std::ops::RangeInclusive;

use rusqlite::types::ToSql;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Row};

use super::super::{
    AdmittedRow, ApprovalFilter, ApprovalRow, BodyKind, EventRow, ListedApproval, Reader, RunFilter, RunKey, RunRow, Stored,
};
use super::connection::failed;
use super::rows::{self, Read, admitted_columns, event_columns, run_columns, status_number};

/// What one job reads and writes. The transaction around it is its owner's.
pub(super) struct Session<'c> {
    pub(super) connection: &'c Connection,
    /// The store's time when the job began.
    pub(super) now: i64,
    pub(super) written: Written,
}

/// What a job has written, for others to act on.
#[derive(Clone, Copy, Default)]
pub(super) struct Written {
    /// Anything at all.
    pub(super) rows: bool,
    /// Something that somebody in another process may wait for, who is to be notified.
    pub(super) notifies: bool,
    /// The bytes of its texts.
    pub(super) bytes: usize,
}

impl std::ops::AddAssign for Written {
    fn add_assign(&mut self, other: Written) {
        self.rows |= other.rows;
        self.notifies |= other.notifies;
        self.bytes += other.bytes;
    }
}

impl<'c> Session<'c> {
    /// The highest time that is written in the file.
    pub(super) fn written_time(&self) -> Stored<i64> {
        let time = self.one("SELECT time FROM clock WHERE id = 1", [], |row| row.get(0))?;
        Ok(time.unwrap_or(i64::MIN))
    }

    /// The statement, compiled once for the connection.
    pub(super) fn prepare(&self, sql: &str) -> Stored<CachedStatement<'c>> {
        self.connection.prepare_cached(sql).map_err(failed)
    }

    pub(super) fn one<T>(&self, sql: &str, params: impl Params, read: fn(&Row<'_>) -> Read<T>) -> Stored<Option<T>> {
        self.prepare(sql)?.query_row(params, read).optional().map_err(failed)
    }

    pub(super) fn all<T>(&self, sql: &str, params: impl Params, read: fn(&Row<'_>) -> Read<T>) -> Stored<Vec<T>> {
        let mut statement = self.prepare(sql)?;
        statement.query_map(params, read).and_then(Iterator::collect).map_err(failed)
    }

    /// The first rows: at most `max_bytes` of text, unless the first alone has more.
    fn page<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: fn(&Row<'_>) -> Read<T>,
        max_bytes: usize,
        bytes: fn(&T) -> usize,
    ) -> Stored<Vec<T>> {
        let mut statement = self.prepare(sql)?;
        let (mut page, mut total) = (Vec::new(), 0_usize);
        for row in statement.query_map(params, read).map_err(failed)? {
            let row = row.map_err(failed)?;
            total = total.saturating_add(bytes(&row));
            if total > max_bytes && !page.is_empty() {
                break;
            }
            page.push(row);
        }
        Ok(page)
    }
}

impl Reader for Session<'_> {
    fn now(&self) -> i64 {
        self.now
    }

    fn run(&mut self, run_id: &str) -> Stored<Option<RunRow>> {
        self.one(concat!("SELECT ", run_columns!(), " FROM run WHERE run_id = ?1"), [run_id], rows::run)
    }

    fn body(&mut self, run: RunKey, kind: BodyKind) -> Stored<Option<String>> {
        self.one("SELECT json FROM body WHERE id = ?1", [rows::body_id(run, kind)], |row| row.get(0))
    }

    fn events(&mut self, run: RunKey, after: u64, limit: usize, max_bytes: usize) -> Stored<Vec<EventRow>> {
        let sql = concat!("SELECT ", event_columns!(), " FROM event WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT ?3");
        let ids = (rows::event_id(run, after), rows::event_id(run, u64::MAX));
        self.page(sql, (ids.0, ids.1, count(limit)), rows::event, max_bytes, |event| event.data.len() + event.metadata.len())
    }

    fn admitted(&mut self, run: RunKey, tool_call_id: &str) -> Stored<Option<AdmittedRow>> {
        let sql = concat!("SELECT ", admitted_columns!(), " FROM admitted WHERE run = ?1 AND tool_call_id = ?2");
        self.one(sql, (run, tool_call_id), rows::admitted)
    }

    fn admitted_page(&mut self, run: RunKey, after: &str, limit: usize, max_bytes: usize) -> Stored<Vec<AdmittedRow>> {
        let sql = concat!(
            "SELECT ",
            admitted_columns!(),
            " FROM admitted WHERE run = ?1 AND tool_call_id > ?2 ORDER BY tool_call_id LIMIT ?3"
        );
        self.page(sql, (run, after, count(limit)), rows::admitted, max_bytes, |row| row.outcome.len())
    }

    fn runs(&mut self, filter: &RunFilter, after: RunKey, limit: usize) -> Stored<Vec<RunRow>> {
        let status = filter.status.map(status_number);
        let mut sql = String::from(concat!("SELECT ", run_columns!(), " FROM run WHERE id > ?"));
        let mut params: Vec<&dyn ToSql> = vec![&after];
        // One index leads, the most selective that the filter has; `+` keeps the planner from the others.
        let leading = [filter.owner.is_some(), filter.agent_id.is_some(), status.is_some()].iter().position(|given| *given);
        let mut fit = |place: usize, column: &str| {
            let plus = if leading == Some(place) { "" } else { "+" };
            sql.push_str(&format!(" AND {plus}{column} = ?"));
        };
        if let Some(owner) = &filter.owner {
            fit(0, "owner");
            params.push(owner);
        }
        if let Some(agent_id) = &filter.agent_id {
            fit(1, "agent_id");
            params.push(agent_id);
        }
        if let Some(status) = &status {
            fit(2, "status");
            params.push(status);
        }
        let limit = count(limit);
        params.push(&limit);
        sql.push_str(" ORDER BY id LIMIT ?");
        self.all(&sql, &params[..], rows::run)
    }

    fn approval(&mut self, approval_id: &str) -> Stored<Option<ApprovalRow>> {
        self.approval_of_id(approval_id)
    }

    fn approvals(&mut self, run: RunKey, numbers: RangeInclusive<u64>) -> Stored<Vec<ApprovalRow>> {
        self.approvals_of_run(run, numbers)
    }

    fn arguments(&mut self, run: RunKey, number: u64) -> Stored<Option<String>> {
        self.arguments_of(run, number)
    }

    fn is_approver(&mut self, run: RunKey, principal: &str) -> Stored<bool> {
        self.names_approver(run, principal)
    }

    fn list_approvals(
        &mut self,
        filter: &ApprovalFilter,
        after: i64,
        limit: usize,
        max_bytes: usize,
    ) -> Stored<Vec<ListedApproval>> {
        self.approvals_listed(filter, after, limit, max_bytes)
    }

    fn next_ready(&mut self, agent_id: &str) -> Stored<Option<RunRow>> {
        let sql = concat!(
            "SELECT ",
            run_columns!(),
            " FROM run INDEXED BY run_ready WHERE agent_id = ?1 AND ready_at IS NOT NULL ORDER BY ready_at, id LIMIT 1"
        );
        self.one(sql, [agent_id], rows::run)
    }

    fn next_deadline(&mut self) -> Stored<Option<i64>> {
        let deadline = "SELECT deadline FROM run WHERE deadline IS NOT NULL ORDER BY deadline LIMIT 1";
        let expiry = "SELECT approval_expiry FROM run WHERE approval_expiry IS NOT NULL ORDER BY approval_expiry LIMIT 1";
        let first = |sql| self.one(sql, [], |row| row.get::<_, i64>(0));
        Ok([first(deadline)?, first(expiry)?].into_iter().flatten().min())
    }

    fn next_expiry(&mut self) -> Stored<Option<i64>> {
        self.one("SELECT expires_at FROM request ORDER BY expires_at LIMIT 1", [], |row| row.get(0))
    }
}

/// A number of rows in a statement.
pub(super) fn count(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}
