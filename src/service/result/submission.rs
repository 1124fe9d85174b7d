//! What the four mutations answer.

use std::borrow::Cow;

use super::{Checked, ResultContext, check_counter, check_run_id, own, run_status, write_run};
use crate::protocol::json::{ReadResult, Reader, Slot, Writer, slot};
#[cfg(feature = "schema")]
use crate::protocol::schema;
use crate::protocol::{Path, RunStatus};

/// What a mutation answers: the run as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct RunSubmission<'a> {
    /// The run.
    #[cfg_attr(feature = "schema", schemars(with = "schema::Identity"))]
    pub run_id: Cow<'a, str>,
    /// Its revision, 1 to 2^53-1.
    #[cfg_attr(feature = "schema", schemars(with = "schema::Counter"))]
    pub revision: u64,
    /// Its status.
    pub status: RunStatus,
}

impl<'a> RunSubmission<'a> {
    pub(super) fn read(reader: &mut Reader<'a>, path: Path<'_>) -> ReadResult<RunSubmission<'a>> {
        if reader.peek() != Some(b'{') {
            return slot::wrong_type(reader, path, "a submission, an object");
        }
        let (mut run_id, mut revision, mut status) = (Slot::Absent, Slot::Absent, Slot::Absent);
        reader.enter_object()?;
        let mut first = true;
        while let Some(name) = reader.next_member(&mut first)? {
            let place = path.member(&name);
            match &*name {
                "runId" => run_id.fill_string(reader, place)?,
                "revision" => revision.fill(reader, place, slot::unsigned)?,
                "status" => status.fill(reader, place, run_status)?,
                _ => reader.skip_member(place)?,
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

    pub(crate) fn check(&self, path: Path<'_>, about: ResultContext<'_>) -> Checked {
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
