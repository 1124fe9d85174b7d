//! A run on its way from one state to the next: every state change adds one to the revision and writes one event.

use crate::protocol::json::Writer;
use crate::protocol::{FreeJson, RunStatus};
use crate::store::{AdmittedRow, ApprovalChange, ApprovalRow, BatchRow, BodyKind, Changes, EventRow, RunChange, RunRow};

/// The longest text of a reason or error in an event's data; the run's view has all of it.
const MAX_TEXT_BYTES: usize = 64 << 10;

/// A run and what becomes of it.
pub(super) struct Draft {
    pub(super) now: i64,
    before: RunRow,
    pub(super) run: RunRow,
    bodies: Vec<(BodyKind, Option<String>)>,
    /// Of the latest suspension: as they were, and as they are.
    approvals_before: Vec<ApprovalRow>,
    approvals: Vec<ApprovalRow>,
    /// Of a suspension that begins here: the arguments of each approval.
    new_arguments: Option<Vec<Option<String>>>,
    events: Vec<EventRow>,
    admitted: Option<AdmittedRow>,
    batch: Option<BatchRow>,
}

impl Draft {
    /// A run as it is, with the approvals of its latest suspension.
    pub(super) fn of(run: &RunRow, approvals: &[ApprovalRow], now: i64) -> Draft {
        Draft {
            now,
            before: run.clone(),
            run: run.clone(),
            bodies: Vec::new(),
            approvals_before: approvals.to_vec(),
            approvals: approvals.to_vec(),
            new_arguments: None,
            events: Vec::new(),
            admitted: None,
            batch: None,
        }
    }

    /// What is to be written.
    pub(super) fn into_changes(self) -> Changes {
        if self.before == self.run && self.bodies.is_empty() {
            return Changes::default();
        }
        let mut changes = Vec::new();
        match self.new_arguments {
            Some(arguments) => {
                let new = self.approvals.into_iter().zip(arguments);
                changes.extend(new.map(|(row, arguments)| ApprovalChange::Insert(row, arguments)));
            }
            None => {
                let changed = self.approvals.into_iter().zip(&self.approvals_before).filter(|(row, before)| row != *before);
                changes.extend(changed.map(|(row, _)| ApprovalChange::Update(row)));
            }
        }
        Changes {
            run: Some(RunChange::Update { before: self.before, after: self.run }),
            bodies: self.bodies,
            approvals: changes,
            events: self.events,
            admitted: self.admitted,
            batch: self.batch,
            key: None,
        }
    }

    pub(super) fn set(&mut self, kind: BodyKind, text: impl Into<String>) {
        self.bodies.push((kind, Some(text.into())));
    }

    pub(super) fn delete(&mut self, kind: BodyKind) {
        self.bodies.push((kind, None));
    }

    /// The approvals of the latest suspension, in order.
    pub(super) fn approvals(&self) -> &[ApprovalRow] {
        &self.approvals
    }

    pub(super) fn approval_mut(&mut self, index: usize) -> &mut ApprovalRow {
        &mut self.approvals[index]
    }

    /// A new suspension, with the arguments of each approval. All approvals of the one before were decided.
    pub(super) fn begin_suspension(&mut self, approvals: Vec<ApprovalRow>, arguments: Vec<Option<String>>) {
        (self.approvals, self.new_arguments) = (approvals, Some(arguments));
    }

    pub(super) fn admit(&mut self, row: AdmittedRow) {
        self.admitted = Some(row);
    }

    pub(super) fn remember_batch(&mut self, row: BatchRow) {
        self.batch = Some(row);
    }

    /// Writes an event that changes no state.
    pub(super) fn event(&mut self, event: EventRow) {
        self.run.head += 1;
        self.run.updated_at = self.now;
        self.events.push(EventRow { sequence: self.run.head, at: self.now, status: self.run.status, ..event });
    }

    /// The state has changed, to what the row now says.
    pub(super) fn change(&mut self, event_type: &str, tool_call_id: &str, data: String) {
        self.run.revision += 1;
        self.event(library_event(event_type, tool_call_id, data));
    }

    /// Ends the run. `error` is empty where it ended well.
    pub(super) fn end(&mut self, status: RunStatus, event_type: &str, error: &str, data: String) {
        self.end_about(status, event_type, error, "", data);
    }

    /// A denial ends the run, and its one event says both.
    pub(super) fn end_by_denial(&mut self, error: &str, tool_call_id: &str, data: String) {
        self.end_about(RunStatus::Failed, "approval_denied", error, tool_call_id, data);
    }

    fn end_about(&mut self, status: RunStatus, event_type: &str, error: &str, tool_call_id: &str, data: String) {
        let run = &mut self.run;
        run.status = status;
        run.claim = None;
        run.ready_at = None;
        run.deadline = None;
        run.completed_at = Some(self.now);
        run.approval_expiry = None;
        // What nobody decided stays pending, for ever.
        self.approvals.iter_mut().for_each(|approval| approval.open = false);
        if run.suspension.is_some() {
            // Nobody goes on from there any more; what a worker kept to itself does not stay longer than it has to.
            self.delete(BodyKind::Continuation);
            self.delete(BodyKind::ResumeInput);
        }
        if !error.is_empty() {
            self.set(BodyKind::Error, error);
        }
        self.change(event_type, tool_call_id, data);
    }

    /// Ends the run when its deadline has passed: by a timer, or before the first command that comes later.
    pub(super) fn time_out_if_overdue(&mut self) {
        const ERROR: &str = "deadline exceeded";
        if self.run.deadline.is_some_and(|deadline| deadline <= self.now) {
            self.end(RunStatus::TimedOut, "run_timed_out", ERROR, text_data("error", ERROR));
        }
    }

    /// Whether a worker has the run, and its lease has not ended.
    pub(super) fn lease_is_live(&self) -> bool {
        self.run.claim.is_some() && self.run.ready_at.is_some_and(|ends| ends > self.now)
    }
}

/// An event of the library's own, its place and time yet to get.
pub(super) fn library_event(event_type: &str, tool_call_id: &str, data: String) -> EventRow {
    EventRow {
        sequence: 0,
        at: 0,
        status: RunStatus::Created,
        event_type: event_type.into(),
        step_id: String::new(),
        tool_call_id: tool_call_id.into(),
        data,
        metadata: "{}".into(),
    }
}

/// `{}`.
pub(super) fn no_data() -> String {
    FreeJson::EMPTY_OBJECT.as_str().into()
}

/// An object of one text.
pub(super) fn text_data(name: &'static str, text: &str) -> String {
    data(|out| member(out, name, text))
}

/// An object with these members.
pub(super) fn data(members: impl FnOnce(&mut Writer)) -> String {
    let json = FreeJson::written(|out| {
        out.open_object();
        members(out);
        out.close_object();
    });
    json.as_str().into()
}

/// A text member, cut where it is longer than an event should be.
pub(super) fn member(out: &mut Writer, name: &'static str, text: &str) {
    let mut end = text.len().min(MAX_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    out.name(name);
    out.string(&text[..end]);
}
