//! Rows of the tables as values, and back. Knows columns; no transactions, no rules of runs.

use rusqlite::Row;
use rusqlite::types::{FromSqlError, ToSqlOutput, Type, Value, ValueRef};

use super::super::{
    AdmittedRow, BatchRow, BodyKind, Digest, EventRow, KeyRow, LastOp, Outcome, RunKey, RunRow, StoreError, Stored,
    SuspensionState, WorkerOp,
};
use crate::protocol::RunStatus;

/// A row that was read, or the column that does not hold what this library writes.
pub(super) type Read<T> = rusqlite::Result<T>;

/// The most events of a run, and the most runs of a file: both numbers stand in one key.
const MAX_EVENTS: i64 = (1 << 32) - 1;
const MAX_RUNS: i64 = (1 << 31) - 1;

/// The key of the text of a kind.
pub(super) fn body_id(run: RunKey, kind: BodyKind) -> i64 {
    body_ids(run).0 + i64::from(kind.number())
}

/// The first and the last key that a text of a run can have.
pub(super) fn body_ids(run: RunKey) -> (i64, i64) {
    (run << 4, run << 4 | 15)
}

/// The key of an event; of the last that there could be where there are no more. 0 comes before the first.
pub(super) fn event_id(run: RunKey, sequence: u64) -> i64 {
    run << 32 | signed(sequence).min(MAX_EVENTS)
}

/// The key of an event that is to be written.
pub(super) fn new_event_id(run: RunKey, sequence: u64) -> Stored<i64> {
    if run > MAX_RUNS || signed(sequence) > MAX_EVENTS {
        return Err(StoreError::Unsupported(format!(
            "the file holds no more: a SQLite file has at most {MAX_RUNS} runs with {MAX_EVENTS} events each"
        )));
    }
    Ok(event_id(run, sequence))
}

/// The columns of `run`, in the order in which [`run`] reads them.
macro_rules! run_columns {
    () => {
        "id, run_id, owner, agent_id, status, revision, head, first, epoch, claim, worker, lease_ms, attempt, \
     takeovers, ready_at, deadline, approval_id, approval, fp, resume_fp, last_claim, last_op, last_fp, last_revision, created_at, \
     updated_at, completed_at, first_approval, last_approval, approval_expiry, auto_resume"
    };
}
pub(super) use run_columns;

/// The columns of `event`, in the order in which [`event`] reads them.
macro_rules! event_columns {
    () => {
        "seq, at, status, type, step_id, tool_call_id, data, metadata"
    };
}
pub(super) use event_columns;

/// The columns of `admitted`, in the order in which [`admitted`] reads them.
macro_rules! admitted_columns {
    () => {
        "tool_call_id, key, tool_name, seq, outcome"
    };
}
pub(super) use admitted_columns;

pub(super) fn run(row: &Row<'_>) -> Read<RunRow> {
    Ok(RunRow {
        id: row.get(0)?,
        run_id: row.get(1)?,
        owner: row.get(2)?,
        agent_id: row.get(3)?,
        status: status(row, 4)?,
        revision: unsigned(row, 5)?,
        head: unsigned(row, 6)?,
        first: unsigned(row, 7)?,
        epoch: unsigned(row, 8)?,
        claim: optional_digest(row, 9)?,
        worker: row.get(10)?,
        lease_ms: row.get(11)?,
        attempt: unsigned(row, 12)?,
        takeovers: unsigned(row, 13)?,
        ready_at: row.get(14)?,
        deadline: row.get(15)?,
        approval_id: row.get(16)?,
        suspension: match row.get::<_, Option<i64>>(17)? {
            None => None,
            Some(number) => Some(numbered(&SuspensionState::ALL, 17, number)?),
        },
        fingerprint: digest(row, 18)?,
        resume_fingerprint: optional_digest(row, 19)?,
        last: last(row)?,
        created_at: row.get(24)?,
        updated_at: row.get(25)?,
        completed_at: row.get(26)?,
        first_approval: unsigned(row, 27)?,
        last_approval: unsigned(row, 28)?,
        approval_expiry: row.get(29)?,
        auto_resume: row.get(30)?,
    })
}

fn last(row: &Row<'_>) -> Read<Option<LastOp>> {
    let Some(claim) = optional_digest(row, 20)? else { return Ok(None) };
    let op = u8::try_from(row.get::<_, i64>(21)?).ok().and_then(WorkerOp::from_number);
    Ok(Some(LastOp {
        claim,
        op: op.ok_or_else(|| unexpected(21, Type::Integer))?,
        fingerprint: digest(row, 22)?,
        revision: unsigned(row, 23)?,
    }))
}

pub(super) fn event(row: &Row<'_>) -> Read<EventRow> {
    Ok(EventRow {
        sequence: unsigned(row, 0)?,
        at: row.get(1)?,
        status: status(row, 2)?,
        event_type: row.get(3)?,
        step_id: row.get(4)?,
        tool_call_id: row.get(5)?,
        data: row.get(6)?,
        metadata: row.get(7)?,
    })
}

pub(super) fn admitted(row: &Row<'_>) -> Read<AdmittedRow> {
    Ok(AdmittedRow {
        tool_call_id: row.get(0)?,
        key: row.get(1)?,
        tool_name: row.get(2)?,
        sequence: unsigned(row, 3)?,
        outcome: row.get(4)?,
    })
}

/// From the columns `key, fp, first`.
pub(super) fn batch(row: &Row<'_>) -> Read<BatchRow> {
    Ok(BatchRow { key: row.get(0)?, fingerprint: digest(row, 1)?, first: unsigned(row, 2)? })
}

/// From the columns `fp, outcome, revision, status, expires_at, pending_approvals`.
pub(super) fn key(row: &Row<'_>) -> Read<KeyRow> {
    let outcome = u8::try_from(row.get::<_, i64>(1)?).ok().and_then(Outcome::from_number);
    Ok(KeyRow {
        fingerprint: digest(row, 0)?,
        outcome: outcome.ok_or_else(|| unexpected(1, Type::Integer))?,
        revision: unsigned(row, 2)?,
        status: status(row, 3)?,
        expires_at: row.get(4)?,
        pending_approvals: unsigned(row, 5)?,
    })
}

/// A status in its column: 1 to 7, in the order of the contract.
pub(super) fn status_number(status: RunStatus) -> i64 {
    number(&RunStatus::ALL, status)
}

/// How far a suspension is, in its column: 1 to 3.
pub(super) fn suspension_number(suspension: SuspensionState) -> i64 {
    number(&SuspensionState::ALL, suspension)
}

fn number<T: PartialEq>(all: &[T], value: T) -> i64 {
    all.iter().position(|one| *one == value).map_or(0, |index| index as i64 + 1)
}

fn numbered<T: Copy>(all: &[T], column: usize, number: i64) -> Read<T> {
    let value = usize::try_from(number).ok().and_then(|number| all.get(number.checked_sub(1)?));
    value.copied().ok_or_else(|| unexpected(column, Type::Integer))
}

fn status(row: &Row<'_>, column: usize) -> Read<RunStatus> {
    numbered(&RunStatus::ALL, column, row.get(column)?)
}

pub(super) fn unsigned(row: &Row<'_>, column: usize) -> Read<u64> {
    u64::try_from(row.get::<_, i64>(column)?).map_err(|_| unexpected(column, Type::Integer))
}

fn digest(row: &Row<'_>, column: usize) -> Read<Digest> {
    optional_digest(row, column)?.ok_or_else(|| unexpected(column, Type::Null))
}

fn optional_digest(row: &Row<'_>, column: usize) -> Read<Option<Digest>> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        other => Ok(Some(other.as_blob()?.try_into().map_err(|_| unexpected(column, Type::Blob))?)),
    }
}

#[cold]
pub(super) fn unexpected(column: usize, kind: Type) -> rusqlite::Error {
    let cause = FromSqlError::Other("none of the values that this library writes".into());
    rusqlite::Error::FromSqlConversionFailure(column, kind, Box::new(cause))
}

/// A value on its way into a column: borrowed text and bytes, and numbers.
pub(super) enum Column<'a> {
    Integer(Option<i64>),
    Text(Option<&'a str>),
    Blob(Option<&'a [u8]>),
}

impl rusqlite::ToSql for Column<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Column::Integer(Some(number)) => ToSqlOutput::Owned(Value::Integer(*number)),
            Column::Text(Some(text)) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Column::Blob(Some(bytes)) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            Column::Integer(None) | Column::Text(None) | Column::Blob(None) => ToSqlOutput::Owned(Value::Null),
        })
    }
}

/// An unsigned number in a column. Those of the contract are at most 2^53-1.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The columns of `run` that a decision may change, by name, in one fixed order.
pub(super) fn mutable(row: &RunRow) -> [(&'static str, Column<'_>); 25] {
    use Column::{Blob, Integer, Text};
    let last = row.last.as_ref();
    [
        ("status", Integer(Some(status_number(row.status)))),
        ("revision", Integer(Some(signed(row.revision)))),
        ("head", Integer(Some(signed(row.head)))),
        ("first", Integer(Some(signed(row.first)))),
        ("epoch", Integer(Some(signed(row.epoch)))),
        ("claim", Blob(row.claim.as_ref().map(|digest| &digest[..]))),
        ("worker", Text(Some(&row.worker))),
        ("lease_ms", Integer(Some(row.lease_ms))),
        ("attempt", Integer(Some(signed(row.attempt)))),
        ("takeovers", Integer(Some(signed(row.takeovers)))),
        ("ready_at", Integer(row.ready_at)),
        ("deadline", Integer(row.deadline)),
        ("approval_id", Text(row.approval_id.as_deref())),
        ("approval", Integer(row.suspension.map(suspension_number))),
        ("first_approval", Integer(Some(signed(row.first_approval)))),
        ("last_approval", Integer(Some(signed(row.last_approval)))),
        ("approval_expiry", Integer(row.approval_expiry)),
        ("auto_resume", Integer(Some(i64::from(row.auto_resume)))),
        ("resume_fp", Blob(row.resume_fingerprint.as_ref().map(|digest| &digest[..]))),
        ("last_claim", Blob(last.map(|last| &last.claim[..]))),
        ("last_op", Integer(last.map(|last| i64::from(last.op.number())))),
        ("last_fp", Blob(last.map(|last| &last.fingerprint[..]))),
        ("last_revision", Integer(last.map(|last| signed(last.revision)))),
        ("updated_at", Integer(Some(row.updated_at))),
        ("completed_at", Integer(row.completed_at)),
    ]
}

impl PartialEq for Column<'_> {
    fn eq(&self, other: &Column<'_>) -> bool {
        match (self, other) {
            (Column::Integer(one), Column::Integer(two)) => one == two,
            (Column::Text(one), Column::Text(two)) => one == two,
            (Column::Blob(one), Column::Blob(two)) => one == two,
            _ => false,
        }
    }
}
