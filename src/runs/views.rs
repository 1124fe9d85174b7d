//! Between rows and what the contract shows: texts that are stored, and views that are read back out of them.

use std::borrow::Cow;

use crate::protocol::json::{ReadResult, Reader, Writer, slot};
use crate::protocol::{ExecutionContext, FreeJson, Metadata, Path};
use crate::service::{ApprovalView, Event, RunView};
use crate::store::{self, ApprovalRow, BodyKind, EventRow, RunKey, RunRow, StoreError, Stored};

/// The metadata name under which a view says who decided.
const DECIDED_BY: &str = "agenthost.decidedBy";

pub(crate) fn context_text(context: &ExecutionContext<'_>) -> String {
    Writer::text(|out| context.write(out, |_| true))
}

pub(crate) fn metadata_text(metadata: &Metadata<'_>) -> String {
    Writer::text(|out| out.metadata(metadata, |_| true))
}

/// The pairs of metadata, owned.
pub(crate) fn pairs(metadata: &Metadata<'_>) -> Vec<(String, String)> {
    metadata.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Reads a text that was stored. It was checked when it came; that it cannot be read means that the store is damaged.
fn stored<T>(kind: &str, text: &str, read: impl for<'a> FnOnce(&mut Reader<'a>) -> ReadResult<T>) -> Stored<T> {
    let mut reader = Reader::new(text);
    match read(&mut reader) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(violation)) => Err(StoreError::Broken(format!("{kind}: {violation}"))),
        Err(malformed) => Err(StoreError::Broken(format!("{kind}: {}", malformed.violation(Path::ROOT)))),
    }
}

fn owned<T, U>(found: ReadResult<T>, own: impl FnOnce(T) -> U) -> ReadResult<U> {
    Ok(found?.map(own))
}

pub(crate) fn context_of(text: &str) -> Stored<ExecutionContext<'static>> {
    stored("context", text, |reader| owned(ExecutionContext::read(reader, Path::ROOT), ExecutionContext::into_owned))
}

pub(crate) fn metadata_of(text: &str) -> Stored<Metadata<'static>> {
    stored("metadata", text, |reader| owned(slot::metadata(reader, Path::ROOT), Metadata::into_owned))
}

/// The view of an approval. Who decided it stands in the metadata, where no caller can write that name.
pub(crate) fn approval_view(row: ApprovalRow) -> ApprovalView<'static> {
    let mut metadata: Metadata<'static> = row.metadata.into_iter().collect();
    if let Some(principal) = row.decided_by {
        metadata.insert(DECIDED_BY, principal);
    }
    ApprovalView {
        approval_id: row.approval_id.into(),
        tool_call_id: row.tool_call_id.into(),
        tool_name: row.tool_name.into(),
        resolution: row.resolution,
        reason: row.reason.into(),
        created_at_unix_ms: row.created_at,
        resolved_at_unix_ms: row.resolved_at,
        metadata,
    }
}

pub(crate) fn json_of(kind: &str, text: String) -> Stored<FreeJson<'static>> {
    FreeJson::new(Cow::Owned(text)).map_err(|violation| StoreError::Broken(format!("{kind}: {violation}")))
}

/// A text that every run has.
pub(crate) fn required(bodies: &mut dyn store::Reader, run: RunKey, kind: BodyKind) -> Stored<String> {
    bodies.body(run, kind)?.ok_or_else(|| StoreError::Broken(format!("run {run} has no {kind:?}")))
}

/// The view of a run.
pub(crate) fn run_view(row: RunRow, bodies: &mut dyn store::Reader) -> Stored<RunView<'static>> {
    let id = row.id;
    let approval = match &row.approval_id {
        Some(approval_id) => bodies.approval(approval_id)?.map(approval_view),
        None => None,
    };
    let ended = row.status.is_terminal();
    let result = if ended { bodies.body(id, BodyKind::Result)? } else { None };
    let error = if ended { bodies.body(id, BodyKind::Error)? } else { None };
    Ok(RunView {
        revision: row.revision,
        status: row.status,
        context: context_of(&required(bodies, id, BodyKind::Context)?)?,
        created_at_unix_ms: row.created_at,
        updated_at_unix_ms: row.updated_at,
        completed_at_unix_ms: row.completed_at,
        approval,
        result: result.map_or(Ok(FreeJson::NULL), |text| json_of("result", text))?,
        error: error.unwrap_or_default().into(),
        metadata: metadata_of(&required(bodies, id, BodyKind::Metadata)?)?,
        run_id: row.run_id.into(),
    })
}

/// The event of a row.
pub(crate) fn event(run_id: &str, row: EventRow) -> Stored<Event<'static>> {
    let data = FreeJson::new(Cow::Owned(row.data)).map_err(|violation| StoreError::Broken(format!("event: {violation}")))?;
    Ok(Event {
        run_id: Cow::Owned(run_id.to_owned()),
        sequence: row.sequence,
        event_type: row.event_type.into(),
        status: row.status,
        step_id: row.step_id.into(),
        tool_call_id: row.tool_call_id.into(),
        timestamp_unix_ms: row.at,
        data,
        metadata: if row.metadata == "{}" { Metadata::new() } else { metadata_of(&row.metadata)? },
    })
}
