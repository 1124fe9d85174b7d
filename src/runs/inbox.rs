//! The inbox: which approvals there are, and a feed of new ones for whoever notifies people. Nothing here is reached by a client's
//! message.

use std::time::Duration;

use super::handle::Runs;
use super::names::{check_name, check_optional_name};
use super::poller::Polled;
use super::promise::ResultFuture;
use super::read::MAX_PAGE_BYTES;
use super::refuse::{self, Refusal};
use super::views;
use super::waiters::Topic;
use crate::protocol::{FreeJson, Path, RunStatus};
use crate::service::ApprovalView;
use crate::store::{ApprovalFilter, ApprovalState, ListedApproval, OnDenied, Reader, Stored};

/// The most approvals of a page.
pub const MAX_PAGE_APPROVALS: usize = 1000;

/// An approval as the inbox shows it: with all that it takes to judge and to decide it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxApproval {
    /// Its place in the order of creation of all approvals: the cursor.
    pub position: u64,
    /// Its run.
    pub run_id: String,
    /// The run's revision now: what `resolve_approval` has to expect.
    pub revision: u64,
    /// The run's state now.
    pub run_status: RunStatus,
    /// The principal that created the run; none for embedded use.
    pub owner: Option<String>,
    /// The agent of the run, or empty.
    pub agent_id: String,
    /// Whether it can be decided, and what became of it.
    pub state: ApprovalState,
    /// The approval, as the run's view shows it.
    pub view: ApprovalView<'static>,
    /// What is to be approved, exactly; none where the worker gave none.
    pub arguments: Option<FreeJson<'static>>,
    /// When it is denied by itself, in milliseconds since the Unix epoch by the store's clock; none for never.
    pub expires_at_unix_ms: Option<i64>,
    /// What a denial does.
    pub on_denied: OnDenied,
    /// The principals that may decide it; empty for whoever may see the run.
    pub approvers: Vec<String>,
    /// Whether the owner of the run may not decide it.
    pub not_owner: bool,
    /// The principal that decided it; none without one, and when it expired.
    pub decided_by: Option<String>,
    /// Whether nobody decided it in time.
    pub expired: bool,
}

/// A page of approvals, in the order of their creation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalPage {
    /// The approvals.
    pub approvals: Vec<InboxApproval>,
    /// The cursor of the next page. Of a page without approvals, the cursor that it was asked with.
    pub next: u64,
    /// Whether there may be more.
    pub has_more: bool,
}

impl Runs {
    /// Lists approvals that fit `filter`, whoever owns their runs, in the order of their creation: those behind the cursor `after` (0:
    /// from the first), at most `limit` (1 to 1000; 0 for 100), and at most 4 MiB of text unless one alone has more. It costs by
    /// the page, not by what there is. For one page of approvals that can be decided give [`ApprovalState::Open`].
    pub fn list_approvals(&self, filter: &ApprovalFilter, after: u64, limit: usize) -> ResultFuture<ApprovalPage> {
        self.begin(|| {
            let limit = checked(filter, limit)?;
            let filter = filter.clone();
            Ok(self.executor().read(move |reader| page(reader, &filter, after, limit).map(Ok)))
        })
    }

    /// The same, and waits for an approval, at most `timeout`, when there is none yet: the feed of a notifier, which keeps the cursor
    /// `next` of what it has handled, and so loses none. Approvals that have been decided in between are among them, unless the
    /// filter names a state.
    pub fn wait_approvals(
        &self,
        filter: &ApprovalFilter,
        after: u64,
        limit: usize,
        timeout: Duration,
    ) -> ResultFuture<ApprovalPage> {
        self.begin(|| {
            let limit = checked(filter, limit)?;
            let filter = filter.clone();
            Ok(self.parts().poller.wait(vec![Topic::Approvals], timeout, move |reader| {
                let page = page(reader, &filter, after, limit)?;
                Ok(Ok(if page.approvals.is_empty() {
                    Polled::NotReady { otherwise: page, again_ms: None }
                } else {
                    Polled::Ready(page)
                }))
            }))
        })
    }
}

fn checked(filter: &ApprovalFilter, limit: usize) -> Result<usize, Refusal> {
    let ApprovalFilter { state: _, approver, owner, agent_id, run_id, tool_name } = filter;
    for (name, value) in [("approver", approver), ("runId", run_id), ("toolName", tool_name)] {
        if let Some(value) = value {
            check_name(Path::ROOT.member(name), value)?;
        }
    }
    for (name, value) in [("owner", owner), ("agentId", agent_id)] {
        check_optional_name(Path::ROOT.member(name), value.as_deref().unwrap_or_default())?;
    }
    match limit {
        0 => Ok(100),
        1..=MAX_PAGE_APPROVALS => Ok(limit),
        _ => Err(refuse::invalid_member("limit", format!("expected 1 to {MAX_PAGE_APPROVALS}, found {limit}"))),
    }
}

fn page(reader: &mut dyn Reader, filter: &ApprovalFilter, after: u64, limit: usize) -> Stored<ApprovalPage> {
    let cursor = i64::try_from(after).unwrap_or(i64::MAX);
    let rows = reader.list_approvals(filter, cursor, limit, MAX_PAGE_BYTES)?;
    let last = rows.last().map_or(cursor, |row| row.position);
    let has_more = !rows.is_empty() && !reader.list_approvals(filter, last, 1, 0)?.is_empty();
    let next = if rows.is_empty() { after } else { last.unsigned_abs() };
    let approvals = rows.into_iter().map(inbox_approval).collect::<Stored<_>>()?;
    Ok(ApprovalPage { approvals, next, has_more })
}

fn inbox_approval(listed: ListedApproval) -> Stored<InboxApproval> {
    let ListedApproval { position, row, run, arguments } = listed;
    Ok(InboxApproval {
        position: position.unsigned_abs(),
        run_id: run.run_id,
        revision: run.revision,
        run_status: run.status,
        owner: Some(run.owner).filter(|owner| !owner.is_empty()),
        agent_id: run.agent_id,
        state: row.state(),
        arguments: arguments.map(|text| views::json_of("arguments", text)).transpose()?,
        expires_at_unix_ms: row.expires_at,
        on_denied: row.on_denied,
        approvers: row.approvers.clone(),
        not_owner: row.not_owner,
        decided_by: row.decided_by.clone(),
        expired: row.expired,
        view: views::approval_view(row),
    })
}
