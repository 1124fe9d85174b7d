//! The step from schema 1 to schema 2: a clock that never goes back, and approvals as rows. In schema 1 a run had one approval, as the
//! text of its view.

use rusqlite::Connection;

use super::super::{ApprovalRow, OnDenied, StoreError};
use super::connection::failed;
use super::read::{Session, Written};
use crate::protocol::json::read_all;
use crate::protocol::{Path, Resolution};
use crate::service::ApprovalView;

pub(super) const TABLES: &str = "
-- One row: the highest time that was written.
CREATE TABLE clock (
    id   INTEGER PRIMARY KEY,
    time INTEGER NOT NULL
) STRICT;
INSERT INTO clock SELECT 1, max(updated_at) FROM run HAVING count(*) > 0;

ALTER TABLE run ADD COLUMN first_approval  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN last_approval   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN approval_expiry INTEGER;
ALTER TABLE run ADD COLUMN auto_resume     INTEGER NOT NULL DEFAULT 0;
CREATE INDEX run_approval_expiry ON run (approval_expiry) WHERE approval_expiry IS NOT NULL;
ALTER TABLE request ADD COLUMN pending_approvals INTEGER NOT NULL DEFAULT 0;

-- Owner and agent are the run's, which never change: an inbox is found by one index.
CREATE TABLE approval (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    run          INTEGER NOT NULL,
    number       INTEGER NOT NULL,
    approval_id  TEXT    NOT NULL UNIQUE,
    owner        TEXT    NOT NULL,
    agent_id     TEXT    NOT NULL,
    tool_call_id TEXT    NOT NULL,
    tool_name    TEXT    NOT NULL,
    state        INTEGER NOT NULL,
    on_denied    INTEGER NOT NULL,
    not_owner    INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    resolved_at  INTEGER,
    decided_by   TEXT,
    expired      INTEGER NOT NULL,
    approvers    TEXT    NOT NULL,
    reason       TEXT    NOT NULL,
    metadata     TEXT    NOT NULL,
    UNIQUE (run, number)
) STRICT;
CREATE INDEX approval_state ON approval (state, id);
CREATE INDEX approval_owner ON approval (owner, state, id);
CREATE INDEX approval_agent ON approval (agent_id, state, id);
CREATE INDEX approval_tool  ON approval (tool_name, state, id);

-- Apart from their approval: they may be large, and only who decides or goes on reads them.
CREATE TABLE argument (
    approval INTEGER PRIMARY KEY,
    json     TEXT    NOT NULL
) STRICT;

CREATE TABLE approver (
    principal TEXT    NOT NULL,
    run       INTEGER NOT NULL,
    approval  INTEGER NOT NULL,
    state     INTEGER NOT NULL,
    PRIMARY KEY (principal, run, approval)
) STRICT, WITHOUT ROWID;
CREATE INDEX approver_inbox ON approver (principal, state, approval);
";

/// What `BodyKind` and status meant in schema 1.
const APPROVAL_BODY: i64 = 4;
const WAITING_FOR_APPROVAL: i64 = 3;

/// Makes a row of each approval.
pub(super) fn move_approvals(connection: &Connection) -> Result<(), StoreError> {
    let session = Session { connection, now: 0, written: Written::default() };
    let mut runs = connection
        .prepare(
            "SELECT run.id, owner, agent_id, status, json FROM run JOIN body ON body.id = (run.id << 4) + ?1 \
             WHERE approval IS NOT NULL ORDER BY run.id",
        )
        .map_err(failed)?;
    let mut runs = runs.query([APPROVAL_BODY]).map_err(failed)?;
    while let Some(row) = runs.next().map_err(failed)? {
        let read = |column| row.get::<_, String>(column).map_err(failed);
        let (run, status): (i64, i64) = (row.get(0).map_err(failed)?, row.get(3).map_err(failed)?);
        let text = read(4)?;
        let view = read_all(&text, Path::ROOT, ApprovalView::read)
            .map_err(|violation| StoreError::Broken(format!("the approval of run {run}: {violation}")))?;
        let approval = ApprovalRow {
            number: 1,
            approval_id: view.approval_id.into_owned(),
            tool_call_id: view.tool_call_id.into_owned(),
            tool_name: view.tool_name.into_owned(),
            reason: view.reason.into_owned(),
            metadata: view.metadata.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            resolution: view.resolution,
            open: view.resolution == Resolution::Pending && status == WAITING_FOR_APPROVAL,
            on_denied: OnDenied::Fail,
            approvers: Vec::new(),
            not_owner: false,
            created_at: view.created_at_unix_ms,
            expires_at: None,
            resolved_at: view.resolved_at_unix_ms,
            decided_by: None,
            expired: false,
        };
        session.insert_approval(run, &read(1)?, &read(2)?, &approval, None)?;
    }
    connection
        .execute_batch(
            "DELETE FROM body WHERE id IN (SELECT (id << 4) + 4 FROM run WHERE approval IS NOT NULL); \
             UPDATE run SET first_approval = 1, last_approval = 1 WHERE approval IS NOT NULL;",
        )
        .map_err(failed)
}
