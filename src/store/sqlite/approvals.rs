//! Approvals as statements: found by their id, by their run and number, or by the index that leaves least of what an inbox asks for.

use std::ops::RangeInclusive;

use rusqlite::Row;
use rusqlite::types::{ToSql, Type};

use super::super::{
    ApprovalChange, ApprovalFilter, ApprovalRow, ApprovalState, ListedApproval, OnDenied, RunKey, RunRow, StoreError, Stored,
};
use super::read::{Session, count};
use super::rows::{self, Read, run_columns, signed, unexpected, unsigned};
use crate::protocol::Resolution;

/// The columns of `approval`, in the order in which [`approval`] reads them.
macro_rules! approval_columns {
    () => {
        "number, approval_id, tool_call_id, tool_name, reason, metadata, state, on_denied, approvers, not_owner, approval.created_at, \
         expires_at, resolved_at, decided_by, expired"
    };
}

fn approval(row: &Row<'_>) -> Read<ApprovalRow> {
    let (resolution, open) = match row.get::<_, i64>(6)? {
        1 => (Resolution::Pending, true),
        2 => (Resolution::Approved, false),
        3 => (Resolution::Denied, false),
        4 => (Resolution::Pending, false),
        _ => return Err(unexpected(6, Type::Integer)),
    };
    let on_denied = usize::try_from(row.get::<_, i64>(7)?).ok().and_then(|number| OnDenied::ALL.get(number.checked_sub(1)?));
    Ok(ApprovalRow {
        number: unsigned(row, 0)?,
        approval_id: row.get(1)?,
        tool_call_id: row.get(2)?,
        tool_name: row.get(3)?,
        reason: row.get(4)?,
        metadata: json(row, 5)?,
        resolution,
        open,
        on_denied: *on_denied.ok_or_else(|| unexpected(7, Type::Integer))?,
        approvers: json(row, 8)?,
        not_owner: row.get(9)?,
        created_at: row.get(10)?,
        expires_at: row.get(11)?,
        resolved_at: row.get(12)?,
        decided_by: row.get(13)?,
        expired: row.get(14)?,
    })
}

/// A list that this library wrote as JSON.
fn json<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: usize) -> Read<Vec<T>> {
    match row.get_ref(column)?.as_str()? {
        "[]" => Ok(Vec::new()),
        text => serde_json::from_str(text).map_err(|_| unexpected(column, Type::Text)),
    }
}

fn json_text(list: &impl serde::Serialize) -> Stored<String> {
    serde_json::to_string(list).map_err(|error| StoreError::Broken(error.to_string()))
}

fn on_denied_number(on_denied: OnDenied) -> i64 {
    if on_denied == OnDenied::Fail { 1 } else { 2 }
}

impl Session<'_> {
    pub(super) fn approval_of_id(&self, approval_id: &str) -> Stored<Option<ApprovalRow>> {
        let sql = concat!("SELECT ", approval_columns!(), " FROM approval WHERE approval_id = ?1");
        self.one(sql, [approval_id], approval)
    }

    pub(super) fn approvals_of_run(&self, run: RunKey, numbers: RangeInclusive<u64>) -> Stored<Vec<ApprovalRow>> {
        let sql =
            concat!("SELECT ", approval_columns!(), " FROM approval WHERE run = ?1 AND number BETWEEN ?2 AND ?3 ORDER BY number");
        self.all(sql, (run, signed(*numbers.start()), signed(*numbers.end())), approval)
    }

    pub(super) fn arguments_of(&self, run: RunKey, number: u64) -> Stored<Option<String>> {
        let sql =
            "SELECT json FROM approval CROSS JOIN argument ON argument.approval = approval.id WHERE run = ?1 AND number = ?2";
        self.one(sql, (run, signed(number)), |row| row.get(0))
    }

    pub(super) fn names_approver(&self, run: RunKey, principal: &str) -> Stored<bool> {
        let sql = "SELECT 1 FROM approver WHERE principal = ?1 AND run = ?2 LIMIT 1";
        Ok(self.one(sql, (principal, run), |_| Ok(()))?.is_some())
    }

    /// A page of the inbox: of each state that is asked for its first rows by one index, and of all of them the first.
    pub(super) fn approvals_listed(
        &self,
        filter: &ApprovalFilter,
        after: i64,
        limit: usize,
        max_bytes: usize,
    ) -> Stored<Vec<ListedApproval>> {
        let run = match &filter.run_id {
            None => None,
            Some(run_id) => match self.one("SELECT id FROM run WHERE run_id = ?1", [run_id], |row| row.get::<_, RunKey>(0))? {
                None => return Ok(Vec::new()),
                known => known,
            },
        };
        let mut found = Vec::new();
        for state in ApprovalState::ALL.into_iter().filter(|state| filter.state.is_none_or(|wanted| wanted == *state)) {
            found.extend(self.positions(filter, run, state, after, limit)?);
        }
        found.sort_unstable();
        found.truncate(limit);
        let (mut page, mut total) = (Vec::new(), 0_usize);
        for position in found {
            let listed = self.listed(position)?;
            total = total.saturating_add(listed.row.text_bytes() + listed.arguments.as_ref().map_or(0, String::len));
            if total > max_bytes && !page.is_empty() {
                break;
            }
            page.push(listed);
        }
        Ok(page)
    }

    fn positions(
        &self,
        filter: &ApprovalFilter,
        run: Option<RunKey>,
        state: ApprovalState,
        after: i64,
        limit: usize,
    ) -> Stored<Vec<i64>> {
        let number = i64::from(state.number());
        let limit = count(limit);
        // One index leads; `+` keeps the planner from the others.
        let (mut sql, mut params): (String, Vec<&dyn ToSql>) = match (&run, &filter.approver) {
            (Some(run), _) => {
                ("SELECT id FROM approval WHERE run = ? AND +state = ? AND +id > ?".into(), vec![run, &number, &after])
            }
            (None, Some(approver)) => (
                "SELECT approval.id FROM approver CROSS JOIN approval ON approval.id = approver.approval \
                 WHERE principal = ? AND approver.state = ? AND approver.approval > ?"
                    .into(),
                vec![approver, &number, &after],
            ),
            (None, None) => ("SELECT id FROM approval WHERE ".into(), Vec::new()),
        };
        let mut led = run.is_some() || filter.approver.is_some();
        let order = if run.is_some() {
            "number"
        } else if led {
            "approver.approval"
        } else {
            "id"
        };
        for (column, value) in [("owner", &filter.owner), ("tool_name", &filter.tool_name), ("agent_id", &filter.agent_id)] {
            let Some(value) = value else { continue };
            if led {
                sql.push_str(&format!(" AND +approval.{column} = ?"));
                params.push(value);
            } else {
                led = true;
                sql.push_str(&format!("{column} = ? AND state = ? AND id > ?"));
                params.extend([value as &dyn ToSql, &number, &after]);
            }
        }
        if !led {
            sql.push_str("state = ? AND id > ?");
            params.extend([&number as &dyn ToSql, &after]);
        }
        if let (Some(_), Some(approver)) = (&run, &filter.approver) {
            sql.push_str(" AND EXISTS (SELECT 1 FROM approver WHERE principal = ? AND approver.run = approval.run AND approver.approval = id)");
            params.push(approver);
        }
        sql.push_str(&format!(" ORDER BY {order} LIMIT ?"));
        params.push(&limit);
        self.all(&sql, &params[..], |row| row.get(0))
    }

    fn listed(&self, position: i64) -> Stored<ListedApproval> {
        let gone = || StoreError::Broken(format!("there is no approval at {position}"));
        let sql = concat!("SELECT ", approval_columns!(), ", run FROM approval WHERE id = ?1");
        let both = self.one(sql, [position], |row| Ok((approval(row)?, row.get::<_, RunKey>(15)?)))?;
        let (row, run) = both.ok_or_else(gone)?;
        let run = self.one(concat!("SELECT ", run_columns!(), " FROM run WHERE id = ?1"), [run], rows::run)?.ok_or_else(gone)?;
        let arguments = self.one("SELECT json FROM argument WHERE approval = ?1", [position], |row| row.get(0))?;
        Ok(ListedApproval { position, row, run, arguments })
    }

    /// Writes what became of approvals of a run. `row` is the run.
    pub(super) fn change_approvals(&mut self, run: RunKey, row: &RunRow, changes: &[ApprovalChange]) -> Stored<()> {
        for change in changes {
            match change {
                ApprovalChange::Insert(approval, arguments) => {
                    self.written.bytes += approval.text_bytes() + arguments.as_ref().map_or(0, String::len);
                    self.insert_approval(run, &row.owner, &row.agent_id, approval, arguments.as_deref())?;
                }
                ApprovalChange::Update(approval) => self.update_approval(run, approval)?,
            }
        }
        Ok(())
    }

    pub(super) fn insert_approval(
        &self,
        run: RunKey,
        owner: &str,
        agent_id: &str,
        row: &ApprovalRow,
        arguments: Option<&str>,
    ) -> Stored<()> {
        let state = row.state().number();
        let (metadata, approvers) = (json_text(&row.metadata)?, json_text(&row.approvers)?);
        let on_denied = on_denied_number(row.on_denied);
        let params: [&dyn ToSql; 18] = [
            &run,
            &owner,
            &agent_id,
            &signed(row.number),
            &row.approval_id,
            &row.tool_call_id,
            &row.tool_name,
            &row.reason,
            &metadata,
            &state,
            &on_denied,
            &approvers,
            &row.not_owner,
            &row.created_at,
            &row.expires_at,
            &row.resolved_at,
            &row.decided_by,
            &row.expired,
        ];
        self.execute(
            "INSERT INTO approval (run, owner, agent_id, number, approval_id, tool_call_id, tool_name, reason, metadata, state, \
             on_denied, approvers, not_owner, created_at, expires_at, resolved_at, decided_by, expired) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            &params[..],
        )?;
        let id = self.connection.last_insert_rowid();
        if let Some(arguments) = arguments {
            self.execute("INSERT INTO argument (approval, json) VALUES (?1, ?2)", (id, arguments))?;
        }
        for approver in &row.approvers {
            self.execute(
                "INSERT INTO approver (principal, run, approval, state) VALUES (?1, ?2, ?3, ?4)",
                (approver, run, id, state),
            )?;
        }
        Ok(())
    }

    fn update_approval(&self, run: RunKey, row: &ApprovalRow) -> Stored<()> {
        let id = self.one("SELECT id FROM approval WHERE run = ?1 AND number = ?2", (run, signed(row.number)), |row| {
            row.get::<_, i64>(0)
        })?;
        let id = id.ok_or_else(|| StoreError::Broken(format!("run {run} has no approval {}", row.number)))?;
        let state = row.state().number();
        self.execute(
            "UPDATE approval SET reason = ?2, metadata = ?3, state = ?4, resolved_at = ?5, decided_by = ?6, expired = ?7 WHERE id = ?1",
            (id, &row.reason, json_text(&row.metadata)?, state, row.resolved_at, &row.decided_by, row.expired),
        )?;
        for approver in &row.approvers {
            let sql = "UPDATE approver SET state = ?4 WHERE principal = ?1 AND run = ?2 AND approval = ?3";
            self.execute(sql, (approver, run, id, state))?;
        }
        Ok(())
    }

    pub(super) fn delete_approvals(&self, run: RunKey) -> Stored<()> {
        let sql = "SELECT id, approvers FROM approval WHERE run = ?1";
        for (id, approvers) in self.all(sql, [run], |row| Ok((row.get::<_, i64>(0)?, json::<String>(row, 1)?)))? {
            for approver in approvers {
                self.execute("DELETE FROM approver WHERE principal = ?1 AND run = ?2 AND approval = ?3", (approver, run, id))?;
            }
            self.execute("DELETE FROM argument WHERE approval = ?1", [id])?;
        }
        self.execute("DELETE FROM approval WHERE run = ?1", [run]).map(drop)
    }
}
