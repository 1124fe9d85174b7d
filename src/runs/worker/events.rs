//! Checks the events that a worker appends.

use super::types::{LIBRARY_EVENTS, MAX_APPENDED_EVENTS, MAX_EVENT_DATA_BYTES, MAX_EVENT_METADATA_BYTES, NewEvent};
use crate::protocol::{Path, RunStatus, SensitiveNames, Violation};
use crate::runs::fingerprint::{Fingerprint, Repeated};
use crate::runs::names::{check_metadata, check_name, check_optional_name};
use crate::runs::refuse::{self, Refusal};
use crate::runs::views;
use crate::store::{Digest, EventRow};

/// The rows of new events.
pub(super) fn event_rows(sensitive: &SensitiveNames, events: &[NewEvent]) -> Result<Vec<EventRow>, Refusal> {
    if events.is_empty() || events.len() > MAX_APPENDED_EVENTS {
        let expected = format!("expected 1 to {MAX_APPENDED_EVENTS} events, found {}", events.len());
        return Err(refuse::invalid_member("events", expected));
    }
    let rows = events.iter().enumerate().map(|(index, event)| {
        let list = Path::ROOT.member("events");
        let path = list.element(index);
        let refused = |name: &str, expected: String| Err(refuse::invalid(&Violation::new(path.member(name), expected)));
        check_name(path.member("type"), &event.event_type)?;
        if LIBRARY_EVENTS.contains(&&*event.event_type) {
            return refused("type", format!("expected a type of your own, {} is the library's", event.event_type));
        }
        check_optional_name(path.member("stepId"), &event.step_id)?;
        check_optional_name(path.member("toolCallId"), &event.tool_call_id)?;
        check_metadata(path.member("metadata"), &event.metadata, sensitive)?;
        let metadata = views::metadata_text(&event.metadata);
        for (name, most, found) in
            [("data", MAX_EVENT_DATA_BYTES, event.data.as_str().len()), ("metadata", MAX_EVENT_METADATA_BYTES, metadata.len())]
        {
            if found > most {
                return refused(name, format!("expected at most {most} bytes, found {found}"));
            }
        }
        Ok(EventRow {
            sequence: 0,
            at: 0,
            status: RunStatus::Running,
            event_type: event.event_type.clone(),
            step_id: event.step_id.clone(),
            tool_call_id: event.tool_call_id.clone(),
            data: event.data.as_str().to_owned(),
            metadata,
        })
    });
    rows.collect()
}

/// The fingerprint of new events, for the key that they are appended with.
pub(super) fn fingerprint(events: &[NewEvent]) -> Result<Digest, Refusal> {
    let mut fingerprint = Fingerprint::of("append_events");
    let list = Path::ROOT.member("events");
    for (index, event) in events.iter().enumerate() {
        fingerprint.string(&event.event_type).string(&event.step_id).string(&event.tool_call_id).metadata(&event.metadata);
        let path = list.element(index);
        fingerprint.json(&event.data, path.member("data"), Repeated::Kept).map_err(|violation| refuse::invalid(&violation))?;
    }
    Ok(fingerprint.digest())
}
