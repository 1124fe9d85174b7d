//! What can be read of runs, each as one read of a store.

use super::access::Access;
use super::decide::Rules;
use super::refuse;
use super::views;
use super::work::WorkResult;
use crate::protocol::{Operation, RunStatus};
use crate::service::{EventPage, RunView};
use crate::store::{Reader, RunRow, Stored};

/// A page of events, or of admitted results, ends before it gets larger than this, in bytes.
pub(crate) const MAX_PAGE_BYTES: usize = 4 << 20;

/// The run, for a principal (empty: none) that may see it.
fn visible(
    reader: &mut dyn Reader,
    rules: &Rules,
    principal: &str,
    run_id: &str,
    operation: Operation,
) -> Stored<Option<RunRow>> {
    let Some(run) = reader.run(run_id)? else { return Ok(None) };
    let access = rules.access.access(reader, principal, &run, operation, None)?;
    Ok(Some(run).filter(|_| access != Access::None))
}

/// The view of a run.
pub(crate) fn run(reader: &mut dyn Reader, rules: &Rules, principal: &str, run_id: &str) -> WorkResult<RunView<'static>> {
    match visible(reader, rules, principal, run_id, Operation::GetRun)? {
        None => Ok(Err(refuse::not_found())),
        Some(row) => views::run_view(row, reader).map(Ok),
    }
}

/// A page of a run's events, and the run's status.
pub(crate) fn page(
    reader: &mut dyn Reader,
    rules: &Rules,
    principal: &str,
    run_id: &str,
    after: u64,
    limit: u64,
) -> WorkResult<(EventPage<'static>, RunStatus)> {
    let Some(row) = visible(reader, rules, principal, run_id, Operation::ListEvents)? else {
        return Ok(Err(refuse::not_found()));
    };
    if after + 1 < row.first {
        return Ok(Err(refuse::cursor_expired(row.first, row.head)));
    }
    if after > row.head {
        return Ok(Err(refuse::cursor_ahead(row.head)));
    }
    let rows = if after < row.head {
        reader.events(row.id, after, usize::try_from(limit).unwrap_or(usize::MAX), MAX_PAGE_BYTES)?
    } else {
        Vec::new()
    };
    let next_sequence = rows.last().map_or(after, |event| event.sequence);
    let events = rows.into_iter().map(|event| views::event(run_id, event)).collect::<Stored<Vec<_>>>()?;
    let has_more = !events.is_empty() && next_sequence < row.head;
    Ok(Ok((EventPage { events, next_sequence, has_more }, row.status)))
}
