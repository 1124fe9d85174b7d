//! What is done in one transaction: reads what a command has to know, decides, applies the decision, and notes whom to notify.

use smallvec::SmallVec;

use super::access::Access;
use super::command::{Command, CommandOutput};
use super::decide::{Rules, Snapshot, decide};
use super::refuse::Refusal;
use crate::store::{ApprovalChange, Changes, RunChange, RunRow, Stored, Transaction};

/// What is done in a transaction, perhaps more than once.
pub(crate) trait Work: Send + 'static {
    type Output: Send + 'static;

    fn run(
        &self,
        transaction: &mut dyn Transaction,
        rules: &Rules,
        notifications: &mut Notifications,
    ) -> WorkResult<Self::Output>;
}

/// What became of work: the store failed, the caller was refused, or it is done.
pub(crate) type WorkResult<T> = Stored<Result<T, Refusal>>;

/// What a transaction has changed, for who is notified once it is committed. Nearly always one run.
pub(crate) type Notifications = SmallVec<[Notification; 1]>;

/// What a commit has changed of one run.
#[derive(Debug)]
pub(crate) struct Notification {
    pub(crate) run_id: String,
    pub(crate) agent_id: String,
    /// The run has new events, or another holder.
    pub(crate) news: bool,
    /// The run can be claimed, now or later.
    pub(crate) work: bool,
    /// The run has new approvals.
    pub(crate) approvals: bool,
    /// When a timer has something to do with the run, where the change brought that time.
    pub(crate) timer: Option<i64>,
    /// The store's time.
    pub(crate) now: i64,
}

impl Notification {
    fn of(changes: Changes, now: i64) -> Option<Notification> {
        let (before, after) = match changes.run? {
            RunChange::Insert(row) => (None, row),
            RunChange::Update { before, after } => (Some(before), after),
        };
        let claim_changed = before.as_ref().is_none_or(|before| before.claim != after.claim);
        Some(Notification {
            news: claim_changed || !changes.events.is_empty(),
            work: after.claim.is_none() && after.ready_at.is_some(),
            timer: new_timer(before.as_ref(), &after),
            approvals: changes.approvals.iter().any(|change| matches!(change, ApprovalChange::Insert(..))),
            run_id: after.run_id,
            agent_id: after.agent_id,
            now,
        })
    }
}

/// The run's deadline when the run is new, and the expiry of its approvals when that is; the earlier of both.
fn new_timer(before: Option<&RunRow>, after: &RunRow) -> Option<i64> {
    let deadline = after.deadline.filter(|_| before.is_none());
    let expiry = after.approval_expiry.filter(|expiry| before.is_none_or(|before| before.approval_expiry != Some(*expiry)));
    [deadline, expiry].into_iter().flatten().min()
}

/// Decides about one run, and applies the decision.
pub(crate) fn execute(
    transaction: &mut dyn Transaction,
    rules: &Rules,
    run: Option<RunRow>,
    command: &Command,
    notifications: &mut Notifications,
) -> WorkResult<CommandOutput> {
    let key = command.retry().map(|retry| transaction.key(&retry.scope)).transpose()?.flatten();
    let (mut approvals, mut access, mut batch, mut admitted) = (Vec::new(), Access::None, None, None);
    if let Some(run) = &run {
        if command.needs_approvals(run) {
            approvals = transaction.approvals(run.id, run.first_approval..=run.last_approval)?;
        }
        if let Some(retry) = command.retry() {
            let (principal, operation) = (&retry.scope.principal, command.operation());
            access = rules.access.access(transaction, principal, run, operation, command.approval_id())?;
        }
        match command {
            Command::Append { key: Some((key, _)), .. } => batch = transaction.batch(run.id, key)?,
            Command::Admit { tool_call_id, .. } => admitted = transaction.admitted(run.id, tool_call_id)?,
            _ => {}
        }
    }
    let now = transaction.now();
    let decision = decide(&Snapshot { rules, run, key, approvals, access, batch, admitted }, command, now);
    if decision.changes != Changes::default() {
        transaction.apply(&decision.changes)?;
        notifications.extend(Notification::of(decision.changes, now));
    }
    Ok(decision.result)
}

/// A command that says itself which run it is about.
impl Work for Command {
    type Output = CommandOutput;

    fn run(
        &self,
        transaction: &mut dyn Transaction,
        rules: &Rules,
        notifications: &mut Notifications,
    ) -> WorkResult<CommandOutput> {
        let run = self.run_id().map(|run_id| transaction.run(run_id)).transpose()?.flatten();
        execute(transaction, rules, run, self, notifications)
    }
}
