//! The six requests: their types, their rules, and their bodies as JSON (protocol, "Request").

use std::borrow::Cow;
use std::mem::take;

use crate::protocol::json::{FreeJson, Malformed, ReadResult, Reader, Slot, Writer, read_all, slot};
#[cfg(feature = "schema")]
use crate::protocol::schema;
use crate::protocol::{
    DEFAULT_CANCEL_REASON, DEFAULT_PAGE_EVENTS, ExecutionContext, MAX_PAGE_EVENTS, MAX_UNIX_MS, MAX_UNSIGNED, Metadata,
    Operation, Path, Resolution, SensitiveNames, Violation, check_identity, quoted,
};

/// Submits a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct CreateRun<'a> {
    /// Where the run comes from; its `run_id` names the run.
    #[cfg_attr(feature = "schema", schemars(with = "crate::protocol::context::SubmittedContext"))]
    pub context: ExecutionContext<'a>,
    /// What the run is to work on; `{}` when the request has none.
    #[cfg_attr(feature = "schema", schemars(default = "schema::empty_object"))]
    pub input: FreeJson<'a>,
    /// Strings that belong to the run.
    #[cfg_attr(feature = "schema", schemars(default = "schema::empty_object"))]
    pub metadata: Metadata<'a>,
}

/// Reads a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct GetRun<'a> {
    /// The run.
    #[cfg_attr(feature = "schema", schemars(with = "schema::Identity"))]
    pub run_id: Cow<'a, str>,
}

/// Cancels a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct CancelRun<'a> {
    /// The run.
    #[cfg_attr(feature = "schema", schemars(with = "schema::Identity"))]
    pub run_id: Cow<'a, str>,
    /// The revision that the caller has seen, 1 to 2^53-1.
    #[cfg_attr(feature = "schema", schemars(with = "schema::Counter"))]
    pub expected_revision: u64,
    /// Why; `agent run cancelled` when the request says nothing.
    #[cfg_attr(feature = "schema", schemars(default = "schema::cancel_reason"))]
    pub reason: Cow<'a, str>,
}

/// Approves or denies what a run waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct ResolveApproval<'a> {
    /// The run.
    #[cfg_attr(feature = "schema", schemars(with = "schema::Identity"))]
    pub run_id: Cow<'a, str>,
    /// The revision that the caller has seen, 1 to 2^53-1.
    #[cfg_attr(feature = "schema", schemars(with = "schema::Counter"))]
    pub expected_revision: u64,
    /// The approval, as the run's view names it.
    #[cfg_attr(feature = "schema", schemars(with = "schema::Identity"))]
    pub approval_id: Cow<'a, str>,
    /// Approved or denied, never pending.
    #[cfg_attr(feature = "schema", schemars(with = "schema::Decision"))]
    pub resolution: Resolution,
    /// Why; empty when the request says nothing.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub reason: Cow<'a, str>,
    /// Strings that belong to the resolution.
    #[cfg_attr(feature = "schema", schemars(default = "schema::empty_object"))]
    pub metadata: Metadata<'a>,
}

/// Lets an approved run go on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct ResumeRun<'a> {
    /// The run.
    #[cfg_attr(feature = "schema", schemars(with = "schema::Identity"))]
    pub run_id: Cow<'a, str>,
    /// The revision that the caller has seen, 1 to 2^53-1.
    #[cfg_attr(feature = "schema", schemars(with = "schema::Counter"))]
    pub expected_revision: u64,
    /// The approval that was given.
    #[cfg_attr(feature = "schema", schemars(with = "schema::Identity"))]
    pub approval_id: Cow<'a, str>,
    /// What the run gets to go on with; `{}` when the request has none.
    #[cfg_attr(feature = "schema", schemars(default = "schema::empty_object"))]
    pub input: FreeJson<'a>,
}

/// Reads events after a cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct ListEvents<'a> {
    /// The run.
    #[cfg_attr(feature = "schema", schemars(with = "schema::Identity"))]
    pub run_id: Cow<'a, str>,
    /// Only events with a larger sequence are asked for; 0 for all, at most 2^53-1.
    #[cfg_attr(feature = "schema", schemars(default = "schema::zero", with = "schema::Cursor"))]
    pub after_sequence: u64,
    /// The most events that the page may hold, 1 to 1000.
    #[cfg_attr(feature = "schema", schemars(default = "schema::page_limit", with = "schema::PageLimit"))]
    pub limit: u64,
}

/// One of the six requests.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each variant holds the request that it is named after")]
#[allow(clippy::large_enum_variant, reason = "a request is moved once, to the service")]
pub enum Request<'a> {
    CreateRun(CreateRun<'a>),
    GetRun(GetRun<'a>),
    CancelRun(CancelRun<'a>),
    ResolveApproval(ResolveApproval<'a>),
    ResumeRun(ResumeRun<'a>),
    ListEvents(ListEvents<'a>),
}

macro_rules! into_request {
    ($($name:ident),*) => {
        $(
            impl<'a> From<$name<'a>> for Request<'a> {
                fn from(request: $name<'a>) -> Request<'a> {
                    Request::$name(request)
                }
            }
        )*
    };
}

into_request!(CreateRun, GetRun, CancelRun, ResolveApproval, ResumeRun, ListEvents);

impl<'a> Request<'a> {
    /// The operation that the request asks for.
    pub fn operation(&self) -> Operation {
        match self {
            Request::CreateRun(_) => Operation::CreateRun,
            Request::GetRun(_) => Operation::GetRun,
            Request::CancelRun(_) => Operation::CancelRun,
            Request::ResolveApproval(_) => Operation::ResolveApproval,
            Request::ResumeRun(_) => Operation::ResumeRun,
            Request::ListEvents(_) => Operation::ListEvents,
        }
    }

    /// Reads the request of `operation` from JSON text, the body of a message: what is absent and not required has its default.
    /// Whether its values keep the rules is checked where it is sent.
    ///
    /// # Errors
    /// The text is not JSON, or has not the shape of the body. The violation's path leads from the root of the message.
    pub fn from_json(operation: Operation, text: &'a str) -> Result<Request<'a>, Violation> {
        let path = Path::ROOT.member("body");
        let mut body = Body::default();
        let read = read_all(text, path, |reader, path| body.read(reader, path));
        read.and_then(|()| body.take_request(operation, path)).map_err(|violation| *violation)
    }

    /// The request as JSON, every member, as the body of a message has it.
    pub fn to_json(&self) -> String {
        Writer::text(|out| self.write(out))
    }

    /// The run that the request is about.
    pub fn run_id(&self) -> &str {
        self.run_id_text()
    }

    /// The same request, owned.
    pub fn into_owned(self) -> Request<'static> {
        let own = |text: Cow<'a, str>| Cow::Owned(text.into_owned());
        match self {
            Request::CreateRun(CreateRun { context, input, metadata }) => Request::CreateRun(CreateRun {
                context: context.into_owned(),
                input: input.into_owned(),
                metadata: metadata.into_owned(),
            }),
            Request::GetRun(GetRun { run_id }) => Request::GetRun(GetRun { run_id: own(run_id) }),
            Request::CancelRun(CancelRun { run_id, expected_revision, reason }) => {
                Request::CancelRun(CancelRun { run_id: own(run_id), expected_revision, reason: own(reason) })
            }
            Request::ResolveApproval(request) => Request::ResolveApproval(ResolveApproval {
                run_id: own(request.run_id),
                expected_revision: request.expected_revision,
                approval_id: own(request.approval_id),
                resolution: request.resolution,
                reason: own(request.reason),
                metadata: request.metadata.into_owned(),
            }),
            Request::ResumeRun(ResumeRun { run_id, expected_revision, approval_id, input }) => Request::ResumeRun(ResumeRun {
                run_id: own(run_id),
                expected_revision,
                approval_id: own(approval_id),
                input: input.into_owned(),
            }),
            Request::ListEvents(ListEvents { run_id, after_sequence, limit }) => {
                Request::ListEvents(ListEvents { run_id: own(run_id), after_sequence, limit })
            }
        }
    }

    pub(crate) fn run_id_text(&self) -> &Cow<'a, str> {
        match self {
            Request::CreateRun(request) => &request.context.run_id,
            Request::GetRun(request) => &request.run_id,
            Request::CancelRun(request) => &request.run_id,
            Request::ResolveApproval(request) => &request.run_id,
            Request::ResumeRun(request) => &request.run_id,
            Request::ListEvents(request) => &request.run_id,
        }
    }

    /// Refuses values that break the operation's rules. `path` leads to the body.
    pub(crate) fn check(&self, path: Path<'_>, sensitive: &SensitiveNames) -> Result<(), Box<Violation>> {
        if let Request::CreateRun(request) = self {
            return check_context(path.member("context"), &request.context, sensitive);
        }
        check_identity(path.member("runId"), self.run_id())?;
        match self {
            Request::CreateRun(_) | Request::GetRun(_) => Ok(()),
            Request::CancelRun(request) => check_revision(path, request.expected_revision),
            Request::ResolveApproval(request) => {
                check_revision(path, request.expected_revision)?;
                check_identity(path.member("approvalId"), &request.approval_id)?;
                if request.resolution == Resolution::Pending {
                    return Err(unknown_decision(path));
                }
                Ok(())
            }
            Request::ResumeRun(request) => {
                check_revision(path, request.expected_revision)?;
                check_identity(path.member("approvalId"), &request.approval_id)
            }
            Request::ListEvents(request) => {
                if request.after_sequence > MAX_UNSIGNED {
                    return Err(Violation::new(path.member("afterSequence"), "expected at most 2^53-1, found a larger number"));
                }
                if !(1..=MAX_PAGE_EVENTS).contains(&request.limit) {
                    let expected = format!("expected 1 to {MAX_PAGE_EVENTS}, found {}", request.limit);
                    return Err(Violation::new(path.member("limit"), expected));
                }
                Ok(())
            }
        }
    }

    /// Writes the body, every member that the operation has.
    pub(crate) fn write(&self, out: &mut Writer) {
        out.open_object();
        match self {
            Request::CreateRun(request) => {
                out.name("context");
                request.context.write(out, |_| true);
                out.name("input");
                out.free_json(&request.input);
                out.name("metadata");
                out.metadata(&request.metadata, |_| true);
            }
            Request::GetRun(request) => write_run_id(out, &request.run_id),
            Request::CancelRun(request) => {
                write_run_id(out, &request.run_id);
                write_revision(out, request.expected_revision);
                out.member("reason", &request.reason);
            }
            Request::ResolveApproval(request) => {
                write_run_id(out, &request.run_id);
                write_revision(out, request.expected_revision);
                out.member("approvalId", &request.approval_id);
                out.word("resolution", request.resolution.name());
                out.member("reason", &request.reason);
                out.name("metadata");
                out.metadata(&request.metadata, |_| true);
            }
            Request::ResumeRun(request) => {
                write_run_id(out, &request.run_id);
                write_revision(out, request.expected_revision);
                out.member("approvalId", &request.approval_id);
                out.name("input");
                out.free_json(&request.input);
            }
            Request::ListEvents(request) => {
                write_run_id(out, &request.run_id);
                out.name("afterSequence");
                out.unsigned(request.after_sequence);
                out.name("limit");
                out.unsigned(request.limit);
            }
        }
        out.close_object();
    }
}

fn check_context(path: Path<'_>, context: &ExecutionContext<'_>, sensitive: &SensitiveNames) -> Result<(), Box<Violation>> {
    check_identity(path.member("runId"), &context.run_id)?;
    if context.deadline_unix_ms.is_some_and(|deadline| deadline.unsigned_abs() > MAX_UNIX_MS.unsigned_abs()) {
        return Err(Violation::new(path.member("deadlineUnixMs"), "expected a time within 8640000000000000 ms of the epoch"));
    }
    let metadata = path.member("metadata");
    match context.metadata.iter().find(|(name, _)| sensitive.contains(name)) {
        None => Ok(()),
        Some((name, _)) => {
            let advice = format!(
                "expected no secrets, found the sensitive name {}: move it out of the context, into a secret store of the host",
                quoted(name)
            );
            Err(Violation::new(metadata.member(name), advice))
        }
    }
}

fn check_revision(path: Path<'_>, revision: u64) -> Result<(), Box<Violation>> {
    if (1..=MAX_UNSIGNED).contains(&revision) {
        return Ok(());
    }
    let expected = format!("expected 1 to 2^53-1, found {revision}");
    Err(Violation::new(path.member("expectedRevision"), expected))
}

fn unknown_decision(path: Path<'_>) -> Box<Violation> {
    Violation::new(path.member("resolution"), "expected \"approved\" or \"denied\"")
}

fn write_run_id(out: &mut Writer, run_id: &str) {
    out.member("runId", run_id);
}

fn write_revision(out: &mut Writer, revision: u64) {
    out.name("expectedRevision");
    out.unsigned(revision);
}

/// A request's body as it was read, before it is known which operation it belongs to: what the operation does not name
/// is never asked for, and so ignored.
#[derive(Default)]
pub(crate) struct Body<'a> {
    context: Slot<ExecutionContext<'a>>,
    input: Slot<FreeJson<'a>>,
    metadata: Slot<Metadata<'a>>,
    run_id: Slot<Cow<'a, str>>,
    expected_revision: Slot<u64>,
    approval_id: Slot<Cow<'a, str>>,
    resolution: Slot<Cow<'a, str>>,
    reason: Slot<Cow<'a, str>>,
    after_sequence: Slot<u64>,
    limit: Slot<u64>,
}

impl<'a> Body<'a> {
    /// Reads the object that comes next.
    pub(crate) fn read(&mut self, reader: &mut Reader<'a>, path: Path<'_>) -> ReadResult<()> {
        if reader.peek() != Some(b'{') {
            return slot::wrong_type(reader, path, "an object");
        }
        reader.enter_object()?;
        let mut first = true;
        while let Some(name) = reader.next_member(&mut first)? {
            self.read_member(reader, &name, path.member(&name))?;
        }
        Ok(Ok(()))
    }

    fn read_member(&mut self, reader: &mut Reader<'a>, name: &str, path: Path<'_>) -> Result<(), Malformed> {
        match name {
            "context" => self.context.fill(reader, path, ExecutionContext::read),
            "input" => self.input.fill(reader, path, FreeJson::from_reader),
            "metadata" => self.metadata.fill(reader, path, slot::metadata),
            "runId" => self.run_id.fill_string(reader, path),
            "expectedRevision" => self.expected_revision.fill(reader, path, slot::unsigned),
            "approvalId" => self.approval_id.fill_string(reader, path),
            "resolution" => self.resolution.fill_string(reader, path),
            "reason" => self.reason.fill_string(reader, path),
            "afterSequence" => self.after_sequence.fill(reader, path, slot::unsigned),
            "limit" => self.limit.fill(reader, path, slot::unsigned),
            _ => reader.skip_member(path),
        }
    }

    /// Takes the operation's request out of the body, with every default filled in. Values are checked by [`Request::check`].
    pub(crate) fn take_request(&mut self, operation: Operation, path: Path<'_>) -> Result<Request<'a>, Box<Violation>> {
        let run_id = |slot: &mut Slot<Cow<'a, str>>| take(slot).required(path.member("runId"), "the run's id");
        let revision =
            |slot: &mut Slot<u64>| take(slot).required(path.member("expectedRevision"), "the revision that was last seen");
        let approval_id = |slot: &mut Slot<Cow<'a, str>>| take(slot).required(path.member("approvalId"), "the approval's id");
        let input =
            |slot: &mut Slot<FreeJson<'a>>| Ok::<_, Box<Violation>>(take(slot).optional()?.unwrap_or(FreeJson::EMPTY_OBJECT));
        Ok(match operation {
            Operation::CreateRun => Request::CreateRun(CreateRun {
                context: take(&mut self.context)
                    .required(path.member("context"), "the execution context, an object with \"runId\"")?,
                input: input(&mut self.input)?,
                metadata: take(&mut self.metadata).or_default()?,
            }),
            Operation::GetRun => Request::GetRun(GetRun { run_id: run_id(&mut self.run_id)? }),
            Operation::CancelRun => Request::CancelRun(CancelRun {
                run_id: run_id(&mut self.run_id)?,
                expected_revision: revision(&mut self.expected_revision)?,
                reason: take(&mut self.reason).optional()?.unwrap_or(Cow::Borrowed(DEFAULT_CANCEL_REASON)),
            }),
            Operation::ResolveApproval => {
                let decision = take(&mut self.resolution).required(path.member("resolution"), "\"approved\" or \"denied\"")?;
                Request::ResolveApproval(ResolveApproval {
                    run_id: run_id(&mut self.run_id)?,
                    expected_revision: revision(&mut self.expected_revision)?,
                    approval_id: approval_id(&mut self.approval_id)?,
                    resolution: Resolution::from_name(&decision).ok_or_else(|| unknown_decision(path))?,
                    reason: take(&mut self.reason).or_default()?,
                    metadata: take(&mut self.metadata).or_default()?,
                })
            }
            Operation::ResumeRun => Request::ResumeRun(ResumeRun {
                run_id: run_id(&mut self.run_id)?,
                expected_revision: revision(&mut self.expected_revision)?,
                approval_id: approval_id(&mut self.approval_id)?,
                input: input(&mut self.input)?,
            }),
            Operation::ListEvents => Request::ListEvents(ListEvents {
                run_id: run_id(&mut self.run_id)?,
                after_sequence: take(&mut self.after_sequence).or_default()?,
                limit: take(&mut self.limit).optional()?.unwrap_or(DEFAULT_PAGE_EVENTS),
            }),
        })
    }
}
