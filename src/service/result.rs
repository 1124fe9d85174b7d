//! The three results: their types, their rules, and their JSON (protocol, "Response" and promise 6). A dispatcher checks
//! with these rules what a service answers, a client what it reads.

use std::borrow::Cow;

use crate::protocol::json::{Found, FreeJson, Reader, Slot, Writer, slot};
use crate::protocol::{
    ExecutionContext, MAX_PAGE_EVENTS, MAX_UNIX_MS, MAX_UNSIGNED, Metadata, Operation, Path, Resolution, RunStatus,
    SensitiveNames, Violation, check_identity, check_not_empty,
};

/// What a mutation answers: the run as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSubmission<'a> {
    /// The run.
    pub run_id: Cow<'a, str>,
    /// Its revision, 1 to 2^53-1.
    pub revision: u64,
    /// Its status.
    pub status: RunStatus,
}

/// A run as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunView<'a> {
    /// The run.
    pub run_id: Cow<'a, str>,
    /// Its revision, 1 to 2^53-1.
    pub revision: u64,
    /// Its status.
    pub status: RunStatus,
    /// Where it comes from. Its `run_id` is the view's, or empty.
    pub context: ExecutionContext<'a>,
    /// When it was created, in milliseconds since the Unix epoch.
    pub created_at_unix_ms: i64,
    /// When it last changed, in milliseconds since the Unix epoch.
    pub updated_at_unix_ms: i64,
    /// When it ended, in milliseconds since the Unix epoch.
    pub completed_at_unix_ms: Option<i64>,
    /// Its latest approval.
    pub approval: Option<ApprovalView<'a>>,
    /// What it came to, any JSON, `null` where there is nothing. It leaves the host as it is: no secrets.
    pub result: FreeJson<'a>,
    /// Why it failed, empty where it did not.
    pub error: Cow<'a, str>,
    /// Strings that belong to the run; sensitive names are dropped before they leave.
    pub metadata: Metadata<'a>,
}

/// What a run waits for, or waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalView<'a> {
    /// The approval. An identity.
    pub approval_id: Cow<'a, str>,
    /// The tool call that needs it, not empty.
    pub tool_call_id: Cow<'a, str>,
    /// The tool, not empty.
    pub tool_name: Cow<'a, str>,
    /// What became of it.
    pub resolution: Resolution,
    /// Why it is needed, or why it was decided so.
    pub reason: Cow<'a, str>,
    /// When it was asked for, in milliseconds since the Unix epoch.
    pub created_at_unix_ms: i64,
    /// When it was decided, in milliseconds since the Unix epoch: none while pending, some once resolved.
    pub resolved_at_unix_ms: Option<i64>,
    /// Strings that belong to it; sensitive names are dropped before they leave.
    pub metadata: Metadata<'a>,
}

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// The run.
    pub run_id: Cow<'a, str>,
    /// Its place among the run's events, 1 to 2^53-1.
    pub sequence: u64,
    /// What kind of event it is, not empty.
    pub event_type: Cow<'a, str>,
    /// The run's status after it.
    pub status: RunStatus,
    /// The step that it belongs to, or empty.
    pub step_id: Cow<'a, str>,
    /// The tool call that it belongs to, or empty.
    pub tool_call_id: Cow<'a, str>,
    /// When it happened, in milliseconds since the Unix epoch.
    pub timestamp_unix_ms: i64,
    /// What happened, any JSON. It leaves the host as it is: no secrets.
    pub data: FreeJson<'a>,
    /// Strings that belong to it; sensitive names are dropped before they leave.
    pub metadata: Metadata<'a>,
}

/// Events after a cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPage<'a> {
    /// The events, sequences rising.
    pub events: Vec<Event<'a>>,
    /// The cursor for the next page: the last event's sequence, or the request's cursor when there is none.
    pub next_sequence: u64,
    /// Whether more events are there already.
    pub has_more: bool,
}

/// One of the three results.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "an answer is moved once, into the response")]
pub enum Answer<'a> {
    /// Of the four mutations.
    Submission(RunSubmission<'a>),
    /// Of `get_run`.
    Run(RunView<'a>),
    /// Of `list_events`.
    Page(EventPage<'a>),
}

/// What is known of the request that a result answers. A log or a proxy knows nothing.
#[derive(Clone, Copy, Default)]
pub(crate) struct About<'e> {
    pub(crate) run_id: Option<&'e str>,
    pub(crate) after_sequence: Option<u64>,
    pub(crate) limit: Option<u64>,
}

type Checked = Result<(), Box<Violation>>;

impl<'a> Answer<'a> {
    /// Reads the result of `operation` that comes next.
    pub(crate) fn read(operation: Operation, reader: &mut Reader<'a>, path: Path<'_>) -> Found<Answer<'a>> {
        Ok(match operation {
            Operation::GetRun => RunView::read(reader, path)?.map(Answer::Run),
            Operation::ListEvents => EventPage::read(reader, path)?.map(Answer::Page),
            _ => RunSubmission::read(reader, path)?.map(Answer::Submission),
        })
    }

    /// Refuses a result that breaks a rule.
    pub(crate) fn check(&self, path: Path<'_>, about: About<'_>) -> Checked {
        match self {
            Answer::Submission(submission) => submission.check(path, about),
            Answer::Run(run) => run.check(path, about),
            Answer::Page(page) => {
                let events = path.member("events");
                let mut progress = PageProgress::default();
                for (index, event) in page.events.iter().enumerate() {
                    progress.event(events.element(index), about, event)?;
                }
                progress.end(path, about, page.next_sequence, page.has_more)
            }
        }
    }

    /// Drops metadata with sensitive names.
    pub(crate) fn redact(&mut self, sensitive: &SensitiveNames) {
        let keep = |name: &str| !sensitive.contains(name);
        match self {
            Answer::Submission(_) => {}
            Answer::Run(run) => {
                run.context.metadata.retain(keep);
                run.metadata.retain(keep);
                if let Some(approval) = &mut run.approval {
                    approval.metadata.retain(keep);
                }
            }
            Answer::Page(page) => page.events.iter_mut().for_each(|event| event.metadata.retain(keep)),
        }
    }

    /// The same result, owned.
    pub fn into_owned(self) -> Answer<'static> {
        match self {
            Answer::Submission(submission) => Answer::Submission(submission.into_owned()),
            Answer::Run(run) => Answer::Run(run.into_owned()),
            Answer::Page(page) => Answer::Page(page.into_owned()),
        }
    }
}

impl<'a> RunSubmission<'a> {
    fn read(reader: &mut Reader<'a>, path: Path<'_>) -> Found<RunSubmission<'a>> {
        if reader.peek() != Some(b'{') {
            return slot::wrong_type(reader, path, "a submission, an object");
        }
        let (mut run_id, mut revision, mut status) = (Slot::Absent, Slot::Absent, Slot::Absent);
        reader.enter_object()?;
        let mut first = true;
        while let Some(name) = reader.next_member(&mut first)? {
            let place = path.member(&name);
            match &*name {
                "runId" => run_id.fill(reader, place, slot::string)?,
                "revision" => revision.fill(reader, place, slot::unsigned)?,
                "status" => status.fill(reader, place, run_status)?,
                _ => reader.skip_value()?,
            }
        }
        Ok((move || {
            Ok(RunSubmission {
                run_id: run_id.required(path.member("runId"), "the run's id")?,
                revision: revision.required(path.member("revision"), "the run's revision")?,
                status: status.required(path.member("status"), "the run's status")?,
            })
        })())
    }

    pub(crate) fn check(&self, path: Path<'_>, about: About<'_>) -> Checked {
        check_run_id(path, &self.run_id, about)?;
        check_counter(path.member("revision"), self.revision)
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.open_object();
        write_run(out, &self.run_id, self.revision, self.status);
        out.close_object();
    }

    /// About how many bytes [`RunSubmission::write`] writes.
    pub(crate) fn size_hint(&self) -> usize {
        80 + self.run_id.len()
    }

    /// The same submission, owned.
    pub fn into_owned(self) -> RunSubmission<'static> {
        RunSubmission { run_id: own(self.run_id), revision: self.revision, status: self.status }
    }
}

impl<'a> RunView<'a> {
    fn read(reader: &mut Reader<'a>, path: Path<'_>) -> Found<RunView<'a>> {
        if reader.peek() != Some(b'{') {
            return slot::wrong_type(reader, path, "a run view, an object");
        }
        let (mut run_id, mut revision, mut status, mut context) = (Slot::Absent, Slot::Absent, Slot::Absent, Slot::Absent);
        let (mut created, mut updated, mut completed) = (Slot::Absent, Slot::Absent, Slot::Absent);
        let (mut approval, mut result, mut error, mut metadata) = (Slot::Absent, Slot::Absent, Slot::Absent, Slot::Absent);
        reader.enter_object()?;
        let mut first = true;
        while let Some(name) = reader.next_member(&mut first)? {
            let place = path.member(&name);
            match &*name {
                "runId" => run_id.fill(reader, place, slot::string)?,
                "revision" => revision.fill(reader, place, slot::unsigned)?,
                "status" => status.fill(reader, place, run_status)?,
                "context" => context.fill(reader, place, ExecutionContext::read)?,
                "createdAtUnixMs" => created.fill(reader, place, slot::unix_ms)?,
                "updatedAtUnixMs" => updated.fill(reader, place, slot::unix_ms)?,
                "completedAtUnixMs" => completed.fill(reader, place, slot::nullable_unix_ms)?,
                "approval" => approval.fill(reader, place, ApprovalView::read_nullable)?,
                "result" => result.fill(reader, place, slot::free_json)?,
                "error" => error.fill(reader, place, slot::string)?,
                "metadata" => metadata.fill(reader, place, slot::metadata)?,
                _ => reader.skip_value()?,
            }
        }
        Ok((move || {
            Ok(RunView {
                run_id: run_id.required(path.member("runId"), "the run's id")?,
                revision: revision.required(path.member("revision"), "the run's revision")?,
                status: status.required(path.member("status"), "the run's status")?,
                context: context.required(path.member("context"), "the execution context")?,
                created_at_unix_ms: created.or_default()?,
                updated_at_unix_ms: updated.or_default()?,
                completed_at_unix_ms: completed.or_default()?,
                approval: approval.or_default()?,
                result: result.optional()?.unwrap_or(FreeJson::NULL),
                error: error.or_default()?,
                metadata: metadata.or_default()?,
            })
        })())
    }

    pub(crate) fn check(&self, path: Path<'_>, about: About<'_>) -> Checked {
        check_run_id(path, &self.run_id, about)?;
        check_counter(path.member("revision"), self.revision)?;
        let context = path.member("context");
        if !self.context.run_id.is_empty() && self.context.run_id != self.run_id {
            return Err(Violation::new(context.member("runId"), "expected the view's run, found another"));
        }
        check_time(context.member("deadlineUnixMs"), self.context.deadline_unix_ms)?;
        check_time(path.member("createdAtUnixMs"), Some(self.created_at_unix_ms))?;
        check_time(path.member("updatedAtUnixMs"), Some(self.updated_at_unix_ms))?;
        check_time(path.member("completedAtUnixMs"), self.completed_at_unix_ms)?;
        match &self.approval {
            Some(approval) => approval.check(path.member("approval")),
            None => Ok(()),
        }
    }

    pub(crate) fn write(&self, out: &mut Writer, keep: impl Fn(&str) -> bool) {
        out.open_object();
        write_run(out, &self.run_id, self.revision, self.status);
        out.name("context");
        self.context.write(out, &keep);
        out.name("createdAtUnixMs");
        out.signed(self.created_at_unix_ms);
        out.name("updatedAtUnixMs");
        out.signed(self.updated_at_unix_ms);
        out.name("completedAtUnixMs");
        out.nullable_signed(self.completed_at_unix_ms);
        out.name("approval");
        match &self.approval {
            Some(approval) => approval.write(out, &keep),
            None => out.null(),
        }
        out.name("result");
        out.free_json(&self.result);
        out.name("error");
        out.string(&self.error);
        out.name("metadata");
        out.metadata(&self.metadata, &keep);
        out.close_object();
    }

    /// About how many bytes [`RunView::write`] writes.
    pub(crate) fn size_hint(&self) -> usize {
        let approval = self.approval.as_ref().map_or(4, ApprovalView::size_hint);
        let texts = self.run_id.len() + self.result.as_str().len() + self.error.len();
        300 + texts + self.context.size_hint() + approval + self.metadata.size_hint()
    }

    /// The same view, owned.
    pub fn into_owned(self) -> RunView<'static> {
        RunView {
            run_id: own(self.run_id),
            revision: self.revision,
            status: self.status,
            context: self.context.into_owned(),
            created_at_unix_ms: self.created_at_unix_ms,
            updated_at_unix_ms: self.updated_at_unix_ms,
            completed_at_unix_ms: self.completed_at_unix_ms,
            approval: self.approval.map(ApprovalView::into_owned),
            result: self.result.into_owned(),
            error: own(self.error),
            metadata: self.metadata.into_owned(),
        }
    }
}

impl<'a> ApprovalView<'a> {
    fn read_nullable(reader: &mut Reader<'a>, path: Path<'_>) -> Found<Option<ApprovalView<'a>>> {
        if reader.null()? {
            return Ok(Ok(None));
        }
        Ok(ApprovalView::read(reader, path)?.map(Some))
    }

    fn read(reader: &mut Reader<'a>, path: Path<'_>) -> Found<ApprovalView<'a>> {
        if reader.peek() != Some(b'{') {
            return slot::wrong_type(reader, path, "an approval view, an object, or null");
        }
        let (mut id, mut call, mut tool, mut resolution) = (Slot::Absent, Slot::Absent, Slot::Absent, Slot::Absent);
        let (mut reason, mut created, mut resolved, mut metadata) = (Slot::Absent, Slot::Absent, Slot::Absent, Slot::Absent);
        reader.enter_object()?;
        let mut first = true;
        while let Some(name) = reader.next_member(&mut first)? {
            let place = path.member(&name);
            match &*name {
                "approvalId" => id.fill(reader, place, slot::string)?,
                "toolCallId" => call.fill(reader, place, slot::string)?,
                "toolName" => tool.fill(reader, place, slot::string)?,
                "resolution" => resolution.fill(reader, place, approval_resolution)?,
                "reason" => reason.fill(reader, place, slot::string)?,
                "createdAtUnixMs" => created.fill(reader, place, slot::unix_ms)?,
                "resolvedAtUnixMs" => resolved.fill(reader, place, slot::nullable_unix_ms)?,
                "metadata" => metadata.fill(reader, place, slot::metadata)?,
                _ => reader.skip_value()?,
            }
        }
        Ok((move || {
            Ok(ApprovalView {
                approval_id: id.required(path.member("approvalId"), "the approval's id")?,
                tool_call_id: call.required(path.member("toolCallId"), "the tool call's id")?,
                tool_name: tool.required(path.member("toolName"), "the tool's name")?,
                resolution: resolution.required(path.member("resolution"), "the approval's resolution")?,
                reason: reason.or_default()?,
                created_at_unix_ms: created.or_default()?,
                resolved_at_unix_ms: resolved.or_default()?,
                metadata: metadata.or_default()?,
            })
        })())
    }

    fn check(&self, path: Path<'_>) -> Checked {
        check_identity(path.member("approvalId"), &self.approval_id)?;
        check_not_empty(path.member("toolCallId"), &self.tool_call_id)?;
        check_not_empty(path.member("toolName"), &self.tool_name)?;
        check_time(path.member("createdAtUnixMs"), Some(self.created_at_unix_ms))?;
        check_time(path.member("resolvedAtUnixMs"), self.resolved_at_unix_ms)?;
        match (self.resolution, self.resolved_at_unix_ms) {
            (Resolution::Pending, Some(_)) => {
                Err(Violation::new(path.member("resolvedAtUnixMs"), "expected null while the approval is pending"))
            }
            (Resolution::Approved | Resolution::Denied, None) => {
                Err(Violation::new(path.member("resolvedAtUnixMs"), "expected a time once the approval is resolved"))
            }
            _ => Ok(()),
        }
    }

    fn write(&self, out: &mut Writer, keep: impl Fn(&str) -> bool) {
        out.open_object();
        for (name, value) in [
            ("approvalId", &*self.approval_id),
            ("toolCallId", &self.tool_call_id),
            ("toolName", &self.tool_name),
            ("resolution", self.resolution.name()),
            ("reason", &self.reason),
        ] {
            out.name(name);
            out.string(value);
        }
        out.name("createdAtUnixMs");
        out.signed(self.created_at_unix_ms);
        out.name("resolvedAtUnixMs");
        out.nullable_signed(self.resolved_at_unix_ms);
        out.name("metadata");
        out.metadata(&self.metadata, keep);
        out.close_object();
    }

    fn size_hint(&self) -> usize {
        let texts = self.approval_id.len() + self.tool_call_id.len() + self.tool_name.len() + self.reason.len();
        220 + texts + self.metadata.size_hint()
    }

    /// The same view, owned.
    pub fn into_owned(self) -> ApprovalView<'static> {
        ApprovalView {
            approval_id: own(self.approval_id),
            tool_call_id: own(self.tool_call_id),
            tool_name: own(self.tool_name),
            resolution: self.resolution,
            reason: own(self.reason),
            created_at_unix_ms: self.created_at_unix_ms,
            resolved_at_unix_ms: self.resolved_at_unix_ms,
            metadata: self.metadata.into_owned(),
        }
    }
}

impl<'a> Event<'a> {
    fn read(reader: &mut Reader<'a>, path: Path<'_>) -> Found<Event<'a>> {
        if reader.peek() != Some(b'{') {
            return slot::wrong_type(reader, path, "an event, an object");
        }
        let (mut run_id, mut sequence, mut event_type, mut status) = (Slot::Absent, Slot::Absent, Slot::Absent, Slot::Absent);
        let (mut step, mut call, mut timestamp) = (Slot::Absent, Slot::Absent, Slot::Absent);
        let (mut data, mut metadata) = (Slot::Absent, Slot::Absent);
        reader.enter_object()?;
        let mut first = true;
        while let Some(name) = reader.next_member(&mut first)? {
            let place = path.member(&name);
            match &*name {
                "runId" => run_id.fill(reader, place, slot::string)?,
                "sequence" => sequence.fill(reader, place, slot::unsigned)?,
                "type" => event_type.fill(reader, place, slot::string)?,
                "status" => status.fill(reader, place, run_status)?,
                "stepId" => step.fill(reader, place, slot::string)?,
                "toolCallId" => call.fill(reader, place, slot::string)?,
                "timestampUnixMs" => timestamp.fill(reader, place, slot::unix_ms)?,
                "data" => data.fill(reader, place, slot::free_json)?,
                "metadata" => metadata.fill(reader, place, slot::metadata)?,
                _ => reader.skip_value()?,
            }
        }
        Ok((move || {
            Ok(Event {
                run_id: run_id.required(path.member("runId"), "the run's id")?,
                sequence: sequence.required(path.member("sequence"), "the event's sequence")?,
                event_type: event_type.required(path.member("type"), "the event's type")?,
                status: status.required(path.member("status"), "the run's status")?,
                step_id: step.or_default()?,
                tool_call_id: call.or_default()?,
                timestamp_unix_ms: timestamp.or_default()?,
                data: data.optional()?.unwrap_or(FreeJson::NULL),
                metadata: metadata.or_default()?,
            })
        })())
    }

    pub(crate) fn write(&self, out: &mut Writer, keep: impl Fn(&str) -> bool) {
        out.open_object();
        out.name("runId");
        out.string(&self.run_id);
        out.name("sequence");
        out.unsigned(self.sequence);
        for (name, value) in [
            ("type", &*self.event_type),
            ("status", self.status.name()),
            ("stepId", &self.step_id),
            ("toolCallId", &self.tool_call_id),
        ] {
            out.name(name);
            out.string(value);
        }
        out.name("timestampUnixMs");
        out.signed(self.timestamp_unix_ms);
        out.name("data");
        out.free_json(&self.data);
        out.name("metadata");
        out.metadata(&self.metadata, keep);
        out.close_object();
    }

    /// About how many bytes [`Event::write`] writes.
    pub(crate) fn size_hint(&self) -> usize {
        let texts = self.run_id.len() + self.event_type.len() + self.step_id.len() + self.tool_call_id.len();
        200 + texts + self.data.as_str().len() + self.metadata.size_hint()
    }

    /// The same event, owned.
    pub fn into_owned(self) -> Event<'static> {
        Event {
            run_id: own(self.run_id),
            sequence: self.sequence,
            event_type: own(self.event_type),
            status: self.status,
            step_id: own(self.step_id),
            tool_call_id: own(self.tool_call_id),
            timestamp_unix_ms: self.timestamp_unix_ms,
            data: self.data.into_owned(),
            metadata: self.metadata.into_owned(),
        }
    }
}

impl<'a> EventPage<'a> {
    fn read(reader: &mut Reader<'a>, path: Path<'_>) -> Found<EventPage<'a>> {
        if reader.peek() != Some(b'{') {
            return slot::wrong_type(reader, path, "an event page, an object");
        }
        let (mut events, mut next, mut more) = (Slot::Absent, Slot::Absent, Slot::Absent);
        reader.enter_object()?;
        let mut first = true;
        while let Some(name) = reader.next_member(&mut first)? {
            let place = path.member(&name);
            match &*name {
                "events" => events
                    .fill(reader, place, |reader, place| slot::array(reader, place, MAX_PAGE_EVENTS as usize, Event::read))?,
                "nextSequence" => next.fill(reader, place, slot::unsigned)?,
                "hasMore" => more.fill(reader, place, slot::boolean)?,
                _ => reader.skip_value()?,
            }
        }
        Ok((move || {
            Ok(EventPage {
                events: events.required(path.member("events"), "the events, an array")?,
                next_sequence: next.or_default()?,
                has_more: more.or_default()?,
            })
        })())
    }

    /// The same page, owned.
    pub fn into_owned(self) -> EventPage<'static> {
        EventPage {
            events: self.events.into_iter().map(Event::into_owned).collect(),
            next_sequence: self.next_sequence,
            has_more: self.has_more,
        }
    }
}

/// How far a page has been checked, event by event: a page need not be in memory as a whole.
#[derive(Default)]
pub(crate) struct PageProgress {
    run_id: Option<String>,
    last: Option<u64>,
    count: u64,
}

impl PageProgress {
    /// Refuses an event that cannot be the page's next.
    pub(crate) fn event(&mut self, path: Path<'_>, about: About<'_>, event: &Event<'_>) -> Checked {
        let limit = about.limit.unwrap_or(MAX_PAGE_EVENTS);
        if self.count == limit {
            return Err(Violation::new(path, format!("expected at most {limit} events")));
        }
        let run_id = about.run_id.or(self.run_id.as_deref());
        check_run_id(path, &event.run_id, About { run_id, ..about })?;
        if run_id.is_none() {
            self.run_id = Some(event.run_id.to_string());
        }
        check_counter(path.member("sequence"), event.sequence)?;
        if self.last.or(about.after_sequence).is_some_and(|before| event.sequence <= before) {
            return Err(Violation::new(
                path.member("sequence"),
                "expected a sequence after the cursor and after the event before",
            ));
        }
        check_not_empty(path.member("type"), &event.event_type)?;
        check_time(path.member("timestampUnixMs"), Some(event.timestamp_unix_ms))?;
        self.last = Some(event.sequence);
        self.count += 1;
        Ok(())
    }

    /// Refuses an end that does not follow from the events.
    pub(crate) fn end(&self, path: Path<'_>, about: About<'_>, next_sequence: u64, has_more: bool) -> Checked {
        if has_more && self.count == 0 {
            return Err(Violation::new(path.member("hasMore"), "expected false in a page without events"));
        }
        let next = path.member("nextSequence");
        if next_sequence > MAX_UNSIGNED {
            return Err(Violation::new(next, "expected at most 2^53-1"));
        }
        match self.last.or(about.after_sequence) {
            Some(expected) if next_sequence != expected => {
                let what =
                    if self.count > 0 { "the last event's sequence" } else { "the request's cursor, as there is no event" };
                Err(Violation::new(next, format!("expected {expected}, {what}, found {next_sequence}")))
            }
            _ => Ok(()),
        }
    }
}

fn check_run_id(path: Path<'_>, run_id: &str, about: About<'_>) -> Checked {
    let place = path.member("runId");
    check_identity(place, run_id)?;
    match about.run_id {
        Some(expected) if expected != run_id => Err(Violation::new(place, "expected the run that was asked for, found another")),
        _ => Ok(()),
    }
}

fn check_counter(path: Path<'_>, value: u64) -> Checked {
    if (1..=MAX_UNSIGNED).contains(&value) {
        Ok(())
    } else {
        Err(Violation::new(path, format!("expected 1 to 2^53-1, found {value}")))
    }
}

fn check_time(path: Path<'_>, time: Option<i64>) -> Checked {
    match time {
        Some(time) if time.unsigned_abs() > MAX_UNIX_MS.unsigned_abs() => {
            Err(Violation::new(path, "expected a time within 8640000000000000 ms of the epoch"))
        }
        _ => Ok(()),
    }
}

fn run_status(reader: &mut Reader<'_>, path: Path<'_>) -> Found<RunStatus> {
    Ok(slot::string(reader, path)?.and_then(|name| {
        RunStatus::from_name(&name).ok_or_else(|| Violation::new(path, "expected one of the seven run statuses"))
    }))
}

fn approval_resolution(reader: &mut Reader<'_>, path: Path<'_>) -> Found<Resolution> {
    Ok(slot::string(reader, path)?.and_then(|name| {
        Resolution::from_name(&name).ok_or_else(|| Violation::new(path, "expected \"pending\", \"approved\" or \"denied\""))
    }))
}

/// The members that a submission and a view begin with.
fn write_run(out: &mut Writer, run_id: &str, revision: u64, status: RunStatus) {
    out.name("runId");
    out.string(run_id);
    out.name("revision");
    out.unsigned(revision);
    out.name("status");
    out.string(status.name());
}

fn own(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}
