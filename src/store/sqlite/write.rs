//! The writes of the trait as statements. A row of `run` is updated in the columns that differ, so that an append touches
//! the hot row, one index entry and its events, whatever the run has behind it.

use rusqlite::Params;
use rusqlite::types::ToSql;

use super::super::{
    AdmittedRow, BatchRow, BodyKind, Changes, EventRow, KeyRow, KeyScope, RunChange, RunKey, RunRow, StoreError, Stored,
    Transaction,
};
use super::connection::failed;
use super::read::{Session, count};
use super::rows::{self, mutable, run_columns, signed, status_number, suspension_number};

impl Session<'_> {
    pub(super) fn execute(&self, sql: &str, params: impl Params) -> Stored<usize> {
        self.prepare(sql)?.execute(params).map_err(failed)
    }

    /// Keeps the session's time as the highest that is written.
    pub(super) fn write_time(&self) -> Stored<usize> {
        self.execute("INSERT OR REPLACE INTO clock (id, time) VALUES (1, ?1)", [self.now])
    }

    fn insert_run(&self, row: &RunRow) -> Stored<RunKey> {
        let last = row.last.as_ref();
        let sql = concat!(
            "INSERT INTO run (",
            run_columns!(),
            ") VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        );
        let params: [&dyn ToSql; 30] = [
            &row.run_id,
            &row.owner,
            &row.agent_id,
            &status_number(row.status),
            &signed(row.revision),
            &signed(row.head),
            &signed(row.first),
            &signed(row.epoch),
            &row.claim,
            &row.worker,
            &row.lease_ms,
            &signed(row.attempt),
            &signed(row.takeovers),
            &row.ready_at,
            &row.deadline,
            &row.approval_id,
            &row.suspension.map(suspension_number),
            &row.fingerprint,
            &row.resume_fingerprint,
            &last.map(|last| last.claim),
            &last.map(|last| last.op.number()),
            &last.map(|last| last.fingerprint),
            &last.map(|last| signed(last.revision)),
            &row.created_at,
            &row.updated_at,
            &row.completed_at,
            &signed(row.first_approval),
            &signed(row.last_approval),
            &row.approval_expiry,
            &row.auto_resume,
        ];
        self.execute(sql, &params[..])?;
        Ok(self.connection.last_insert_rowid())
    }

    fn update_run(&self, before: &RunRow, after: &RunRow) -> Stored<()> {
        let (before, after_columns) = (mutable(before), mutable(after));
        let mut sql = String::from("UPDATE run SET ");
        let mut params: Vec<&dyn ToSql> = Vec::with_capacity(8);
        for ((name, value), (_, old)) in after_columns.iter().zip(&before) {
            if value != old {
                if !params.is_empty() {
                    sql.push_str(", ");
                }
                sql.push_str(name);
                sql.push_str(" = ?");
                params.push(value);
            }
        }
        if params.is_empty() {
            return Ok(());
        }
        sql.push_str(" WHERE id = ?");
        params.push(&after.id);
        match self.execute(&sql, &params[..])? {
            1 => Ok(()),
            _ => Err(StoreError::Broken(format!("there is no run with the key {}", after.id))),
        }
    }

    fn set_body(&self, run: RunKey, kind: BodyKind, json: Option<&str>) -> Stored<usize> {
        match json {
            Some(json) => self.execute(
                "INSERT INTO body (id, json) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET json = excluded.json",
                (rows::body_id(run, kind), json),
            ),
            None => self.execute("DELETE FROM body WHERE id = ?1", [rows::body_id(run, kind)]),
        }
    }

    fn insert_event(&self, run: RunKey, event: &EventRow) -> Stored<usize> {
        self.execute(
            "INSERT INTO event (id, at, status, type, step_id, tool_call_id, data, metadata) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            (
                rows::new_event_id(run, event.sequence)?,
                event.at,
                status_number(event.status),
                &event.event_type,
                &event.step_id,
                &event.tool_call_id,
                &event.data,
                &event.metadata,
            ),
        )
    }

    fn insert_admitted(&self, run: RunKey, row: &AdmittedRow) -> Stored<usize> {
        self.execute(
            "INSERT INTO admitted (run, tool_call_id, key, tool_name, seq, outcome) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            (run, &row.tool_call_id, &row.key, &row.tool_name, signed(row.sequence), &row.outcome),
        )
    }

    fn insert_batch(&self, run: RunKey, row: &BatchRow) -> Stored<usize> {
        self.execute(
            "INSERT INTO batch (run, key, fp, first) VALUES (?1, ?2, ?3, ?4)",
            (run, &row.key, row.fingerprint, signed(row.first)),
        )
    }

    fn set_key(&self, scope: &KeyScope, row: &KeyRow) -> Stored<usize> {
        self.execute(
            "INSERT OR REPLACE INTO request (owner, op, key, fp, outcome, revision, status, expires_at, pending_approvals) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            (
                &scope.principal,
                scope.operation,
                &scope.key,
                row.fingerprint,
                row.outcome.number(),
                signed(row.revision),
                status_number(row.status),
                row.expires_at,
                signed(row.pending_approvals),
            ),
        )
    }
}

impl Transaction for Session<'_> {
    fn key(&mut self, scope: &KeyScope) -> Stored<Option<KeyRow>> {
        self.one(
            "SELECT fp, outcome, revision, status, expires_at, pending_approvals FROM request WHERE owner = ?1 AND op = ?2 AND key = ?3",
            (&scope.principal, scope.operation, &scope.key),
            rows::key,
        )
    }

    fn batch(&mut self, run: RunKey, key: &str) -> Stored<Option<BatchRow>> {
        self.one("SELECT key, fp, first FROM batch WHERE run = ?1 AND key = ?2", (run, key), rows::batch)
    }

    fn overdue(&mut self, now: i64, limit: usize) -> Stored<Vec<RunRow>> {
        let sql = concat!("SELECT ", run_columns!(), " FROM run WHERE deadline <= ?1 ORDER BY deadline LIMIT ?2");
        let mut due = self.all(sql, (now, count(limit)), rows::run)?;
        let sql = concat!(
            "SELECT ",
            run_columns!(),
            " FROM run WHERE approval_expiry <= ?1 AND (+deadline IS NULL OR +deadline > ?1) ORDER BY approval_expiry LIMIT ?2"
        );
        due.extend(self.all(sql, (now, count(limit - due.len())), rows::run)?);
        Ok(due)
    }

    fn ended_before(&mut self, before: i64, limit: usize) -> Stored<Vec<RunRow>> {
        let sql = concat!("SELECT ", run_columns!(), " FROM run WHERE completed_at < ?1 ORDER BY completed_at LIMIT ?2");
        self.all(sql, (before, count(limit)), rows::run)
    }

    fn apply(&mut self, changes: &Changes) -> Stored<()> {
        self.written.rows = true;
        if let Some((scope, row)) = &changes.key {
            self.set_key(scope, row)?;
        }
        let run = match &changes.run {
            None => return Ok(()),
            Some(RunChange::Insert(row)) => {
                self.written.notifies = true;
                self.insert_run(row)?
            }
            Some(RunChange::Update { before, after }) => {
                // A heartbeat only moves the lease's end, which nobody waits for.
                self.written.notifies |= before.head != after.head || before.claim != after.claim || before.epoch != after.epoch;
                self.update_run(before, after)?;
                after.id
            }
        };
        if let Some(RunChange::Insert(row) | RunChange::Update { after: row, .. }) = &changes.run {
            self.change_approvals(run, row, &changes.approvals)?;
        }
        for (kind, json) in &changes.bodies {
            self.written.bytes += json.as_ref().map_or(0, String::len);
            self.set_body(run, *kind, json.as_deref())?;
        }
        for event in &changes.events {
            self.written.bytes += event.data.len() + event.metadata.len();
            self.insert_event(run, event)?;
        }
        if let Some(row) = &changes.admitted {
            self.written.bytes += row.outcome.len();
            self.insert_admitted(run, row)?;
        }
        if let Some(row) = &changes.batch {
            self.insert_batch(run, row)?;
        }
        Ok(())
    }

    fn delete_events(&mut self, run: RunKey, through: u64) -> Stored<()> {
        self.written.notifies = true;
        let ids = (rows::event_id(run, 0), rows::event_id(run, through));
        self.execute("DELETE FROM event WHERE id BETWEEN ?1 AND ?2", ids).map(drop)
    }

    fn delete_admitted_and_batches(&mut self, run: RunKey, limit: usize) -> Stored<usize> {
        let admitted = self.execute(
            "DELETE FROM admitted WHERE rowid IN (SELECT rowid FROM admitted WHERE run = ?1 LIMIT ?2)",
            (run, count(limit)),
        )?;
        let batches = self.execute(
            "DELETE FROM batch WHERE run = ?1 AND key IN (SELECT key FROM batch WHERE run = ?1 LIMIT ?2)",
            (run, count(limit - admitted)),
        )?;
        Ok(admitted + batches)
    }

    fn delete_run(&mut self, run: RunKey) -> Stored<()> {
        self.written.notifies = true;
        self.execute("DELETE FROM body WHERE id BETWEEN ?1 AND ?2", rows::body_ids(run))?;
        self.delete_events(run, u64::MAX)?;
        self.delete_approvals(run)?;
        for table in ["admitted", "batch"] {
            self.execute(&format!("DELETE FROM {table} WHERE run = ?1"), [run])?;
        }
        self.execute("DELETE FROM run WHERE id = ?1", [run]).map(drop)
    }

    fn delete_keys(&mut self, now: i64, limit: usize) -> Stored<usize> {
        self.execute(
            "DELETE FROM request WHERE (owner, op, key) IN \
             (SELECT owner, op, key FROM request WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)",
            (now, count(limit)),
        )
    }
}
