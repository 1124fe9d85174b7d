//! What `get_run` answers.

use std::borrow::Cow;

use super::{ApprovalView, Checked, ResultContext, check_counter, check_run_id, check_time, own, run_status, write_run};
use crate::protocol::json::{FreeJson, ReadResult, Reader, Slot, Writer, slot};
#[cfg(feature = "schema")]
use crate::protocol::schema;
use crate::protocol::{ExecutionContext, Metadata, Path, RunStatus, Violation};

/// A run as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct RunView<'a> {
    /// The run.
    #[cfg_attr(feature = "schema", schemars(with = "schema::Identity"))]
    pub run_id: Cow<'a, str>,
    /// Its revision, 1 to 2^53-1.
    #[cfg_attr(feature = "schema", schemars(with = "schema::Counter"))]
    pub revision: u64,
    /// Its status.
    pub status: RunStatus,
    /// Where it comes from. Its `run_id` is the view's, or empty.
    pub context: ExecutionContext<'a>,
    /// When it was created, in milliseconds since the Unix epoch.
    #[cfg_attr(feature = "schema", schemars(default = "schema::zero", with = "schema::UnixMs"))]
    pub created_at_unix_ms: i64,
    /// When it last changed, in milliseconds since the Unix epoch.
    #[cfg_attr(feature = "schema", schemars(default = "schema::zero", with = "schema::UnixMs"))]
    pub updated_at_unix_ms: i64,
    /// When it ended, in milliseconds since the Unix epoch.
    #[cfg_attr(feature = "schema", schemars(default, with = "Option<schema::UnixMs>"))]
    pub completed_at_unix_ms: Option<i64>,
    /// Its latest approval.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub approval: Option<ApprovalView<'a>>,
    /// What it came to, any JSON, `null` where there is nothing. It leaves the host as it is: no secrets.
    #[cfg_attr(feature = "schema", schemars(default = "schema::null"))]
    pub result: FreeJson<'a>,
    /// Why it failed, empty where it did not.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub error: Cow<'a, str>,
    /// Strings that belong to the run; sensitive names are dropped before they leave.
    #[cfg_attr(feature = "schema", schemars(default = "schema::empty_object", with = "schema::SafeMetadata"))]
    pub metadata: Metadata<'a>,
}

impl<'a> RunView<'a> {
    pub(super) fn read(reader: &mut Reader<'a>, path: Path<'_>) -> ReadResult<RunView<'a>> {
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
                "runId" => run_id.fill_string(reader, place)?,
                "revision" => revision.fill(reader, place, slot::unsigned)?,
                "status" => status.fill(reader, place, run_status)?,
                "context" => context.fill(reader, place, ExecutionContext::read)?,
                "createdAtUnixMs" => created.fill(reader, place, slot::unix_ms)?,
                "updatedAtUnixMs" => updated.fill(reader, place, slot::unix_ms)?,
                "completedAtUnixMs" => completed.fill(reader, place, slot::nullable_unix_ms)?,
                "approval" => approval.fill(reader, place, ApprovalView::read_nullable)?,
                "result" => result.fill(reader, place, FreeJson::from_reader)?,
                "error" => error.fill_string(reader, place)?,
                "metadata" => metadata.fill(reader, place, slot::metadata)?,
                _ => reader.skip_member(place)?,
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

    pub(crate) fn check(&self, path: Path<'_>, about: ResultContext<'_>) -> Checked {
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
        out.member("error", &self.error);
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
