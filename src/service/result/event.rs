//! One event of a page.

use std::borrow::Cow;

use super::{own, run_status};
use crate::protocol::json::{FreeJson, ReadResult, Reader, Slot, Writer, slot};
#[cfg(feature = "schema")]
use crate::protocol::schema;
use crate::protocol::{Metadata, Path, RunStatus};

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct Event<'a> {
    /// The run.
    #[cfg_attr(feature = "schema", schemars(with = "schema::Identity"))]
    pub run_id: Cow<'a, str>,
    /// Its place among the run's events, 1 to 2^53-1.
    #[cfg_attr(feature = "schema", schemars(with = "schema::Counter"))]
    pub sequence: u64,
    /// What kind of event it is, not empty.
    #[cfg_attr(feature = "schema", schemars(rename = "type", with = "schema::NotEmpty"))]
    pub event_type: Cow<'a, str>,
    /// The run's status after it.
    pub status: RunStatus,
    /// The step that it belongs to, or empty.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub step_id: Cow<'a, str>,
    /// The tool call that it belongs to, or empty.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub tool_call_id: Cow<'a, str>,
    /// When it happened, in milliseconds since the Unix epoch.
    #[cfg_attr(feature = "schema", schemars(default = "schema::zero", with = "schema::UnixMs"))]
    pub timestamp_unix_ms: i64,
    /// What happened, any JSON. It leaves the host as it is: no secrets.
    #[cfg_attr(feature = "schema", schemars(default = "schema::null"))]
    pub data: FreeJson<'a>,
    /// Strings that belong to it; sensitive names are dropped before they leave.
    #[cfg_attr(feature = "schema", schemars(default = "schema::empty_object", with = "schema::SafeMetadata"))]
    pub metadata: Metadata<'a>,
}

impl<'a> Event<'a> {
    pub(super) fn read(reader: &mut Reader<'a>, path: Path<'_>) -> ReadResult<Event<'a>> {
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
                "runId" => run_id.fill_string(reader, place)?,
                "sequence" => sequence.fill(reader, place, slot::unsigned)?,
                "type" => event_type.fill_string(reader, place)?,
                "status" => status.fill(reader, place, run_status)?,
                "stepId" => step.fill_string(reader, place)?,
                "toolCallId" => call.fill_string(reader, place)?,
                "timestampUnixMs" => timestamp.fill(reader, place, slot::unix_ms)?,
                "data" => data.fill(reader, place, FreeJson::from_reader)?,
                "metadata" => metadata.fill(reader, place, slot::metadata)?,
                _ => reader.skip_member(place)?,
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
        out.member("runId", &self.run_id);
        out.name("sequence");
        out.unsigned(self.sequence);
        out.member("type", &self.event_type);
        out.word("status", self.status.name());
        out.member("stepId", &self.step_id);
        out.member("toolCallId", &self.tool_call_id);
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
