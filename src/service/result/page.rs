//! What `list_events` answers, and the rules that join a page's events.

use super::{Checked, Event, ResultContext, check_counter, check_run_id, check_time};
use crate::protocol::json::{ReadResult, Reader, Slot, Writer, slot};
#[cfg(feature = "schema")]
use crate::protocol::schema;
use crate::protocol::{MAX_PAGE_EVENTS, MAX_UNSIGNED, Path, Violation, check_not_empty};

/// Events after a cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "camelCase", transform = schema::nothing_after_no_events))]
pub struct EventPage<'a> {
    /// The events, sequences rising.
    #[cfg_attr(feature = "schema", schemars(length(max = MAX_PAGE_EVENTS)))]
    pub events: Vec<Event<'a>>,
    /// The cursor for the next page: the last event's sequence, or the request's cursor when there is none.
    #[cfg_attr(feature = "schema", schemars(default = "schema::zero", with = "schema::Cursor"))]
    pub next_sequence: u64,
    /// Whether more events are there already.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub has_more: bool,
}

impl<'a> EventPage<'a> {
    pub(super) fn read(reader: &mut Reader<'a>, path: Path<'_>) -> ReadResult<EventPage<'a>> {
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
                _ => reader.skip_member(place)?,
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

    pub(super) fn write(&self, out: &mut Writer) {
        open_page(out);
        for event in &self.events {
            event.write(out, |_| true);
        }
        close_page(out, self.next_sequence, self.has_more);
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

/// A page up to its first event.
pub(crate) fn open_page(out: &mut Writer) {
    out.open_object();
    out.name("events");
    out.open_array();
}

/// The end of a page behind its last event.
pub(crate) fn close_page(out: &mut Writer, next_sequence: u64, has_more: bool) {
    out.close_array();
    out.name("nextSequence");
    out.unsigned(next_sequence);
    out.name("hasMore");
    out.boolean(has_more);
    out.close_object();
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
    pub(crate) fn event(&mut self, path: Path<'_>, about: ResultContext<'_>, event: &Event<'_>) -> Checked {
        let limit = about.limit.unwrap_or(MAX_PAGE_EVENTS);
        if self.count == limit {
            return Err(Violation::new(path, format!("expected at most {limit} events")));
        }
        let run_id = about.run_id.or(self.run_id.as_deref());
        check_run_id(path, &event.run_id, ResultContext { run_id, ..about })?;
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
    pub(crate) fn end(&self, path: Path<'_>, about: ResultContext<'_>, next_sequence: u64, has_more: bool) -> Checked {
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
