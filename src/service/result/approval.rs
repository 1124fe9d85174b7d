//! The approval in a run's view.

use std::borrow::Cow;

use super::{Checked, check_time, own};
use crate::protocol::json::{ReadResult, Reader, Slot, Writer, slot};
#[cfg(feature = "schema")]
use crate::protocol::schema;
use crate::protocol::{Metadata, Path, Resolution, Violation, check_identity, check_not_empty};

/// What a run waits for, or waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "camelCase", transform = schema::resolved_once_decided))]
pub struct ApprovalView<'a> {
    /// The approval. An identity.
    #[cfg_attr(feature = "schema", schemars(with = "schema::Identity"))]
    pub approval_id: Cow<'a, str>,
    /// The tool call that needs it, not empty.
    #[cfg_attr(feature = "schema", schemars(with = "schema::NotEmpty"))]
    pub tool_call_id: Cow<'a, str>,
    /// The tool, not empty.
    #[cfg_attr(feature = "schema", schemars(with = "schema::NotEmpty"))]
    pub tool_name: Cow<'a, str>,
    /// What became of it.
    pub resolution: Resolution,
    /// Why it is needed, or why it was decided so.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub reason: Cow<'a, str>,
    /// When it was asked for, in milliseconds since the Unix epoch.
    #[cfg_attr(feature = "schema", schemars(default = "schema::zero", with = "schema::UnixMs"))]
    pub created_at_unix_ms: i64,
    /// When it was decided, in milliseconds since the Unix epoch: none while pending, some once resolved.
    #[cfg_attr(feature = "schema", schemars(default, with = "Option<schema::UnixMs>"))]
    pub resolved_at_unix_ms: Option<i64>,
    /// Strings that belong to it; sensitive names are dropped before they leave.
    #[cfg_attr(feature = "schema", schemars(default = "schema::empty_object", with = "schema::SafeMetadata"))]
    pub metadata: Metadata<'a>,
}

impl<'a> ApprovalView<'a> {
    pub(super) fn read_nullable(reader: &mut Reader<'a>, path: Path<'_>) -> ReadResult<Option<ApprovalView<'a>>> {
        if reader.null()? {
            return Ok(Ok(None));
        }
        Ok(ApprovalView::read(reader, path)?.map(Some))
    }

    pub(crate) fn read(reader: &mut Reader<'a>, path: Path<'_>) -> ReadResult<ApprovalView<'a>> {
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
                "approvalId" => id.fill_string(reader, place)?,
                "toolCallId" => call.fill_string(reader, place)?,
                "toolName" => tool.fill_string(reader, place)?,
                "resolution" => resolution.fill(reader, place, approval_resolution)?,
                "reason" => reason.fill_string(reader, place)?,
                "createdAtUnixMs" => created.fill(reader, place, slot::unix_ms)?,
                "resolvedAtUnixMs" => resolved.fill(reader, place, slot::nullable_unix_ms)?,
                "metadata" => metadata.fill(reader, place, slot::metadata)?,
                _ => reader.skip_member(place)?,
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

    pub(super) fn check(&self, path: Path<'_>) -> Checked {
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

    pub(crate) fn write(&self, out: &mut Writer, keep: impl Fn(&str) -> bool) {
        out.open_object();
        out.member("approvalId", &self.approval_id);
        out.member("toolCallId", &self.tool_call_id);
        out.member("toolName", &self.tool_name);
        out.word("resolution", self.resolution.name());
        out.member("reason", &self.reason);
        out.name("createdAtUnixMs");
        out.signed(self.created_at_unix_ms);
        out.name("resolvedAtUnixMs");
        out.nullable_signed(self.resolved_at_unix_ms);
        out.name("metadata");
        out.metadata(&self.metadata, keep);
        out.close_object();
    }

    pub(super) fn size_hint(&self) -> usize {
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

fn approval_resolution(reader: &mut Reader<'_>, path: Path<'_>) -> ReadResult<Resolution> {
    Ok(slot::string(reader, path)?.and_then(|name| {
        Resolution::from_name(&name).ok_or_else(|| Violation::new(path, "expected \"pending\", \"approved\" or \"denied\""))
    }))
}
