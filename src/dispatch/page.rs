//! A page that is built event by event, straight into the response: a service need not hold it as a whole.

use super::response::{Completed, check_size};
use super::{Dispatcher, ExpectedAnswer};
use crate::protocol::json::Writer;
use crate::protocol::{Path, Violation};
use crate::service::{Event, PageProgress, close_page, open_page};

/// The response to `list_events` while its events come in.
pub struct PageBuilder<'a> {
    expected: ExpectedAnswer<'a>,
    progress: PageProgress,
    out: Writer,
    count: usize,
}

impl<'a> PageBuilder<'a> {
    /// A page without events yet, with room for about `hint` bytes of them.
    pub(crate) fn new(expected: ExpectedAnswer<'a>, hint: usize) -> PageBuilder<'a> {
        let mut out = expected.begin(hint + 60);
        open_page(&mut out);
        PageBuilder { expected, progress: PageProgress::default(), out, count: 0 }
    }

    /// A page whose first event is known and whose others are not: with room for as many like it as were asked for, within
    /// reason.
    pub(crate) fn begin_with(expected: ExpectedAnswer<'a>, first: &Event<'_>) -> PageBuilder<'a> {
        const MOST: usize = 64 * 1024;
        let (size, limit) = (first.size_hint(), usize::try_from(expected.limit).unwrap_or(usize::MAX));
        PageBuilder::new(expected, size.saturating_mul(limit).min(MOST).max(size))
    }

    /// The page's next event. When it is refused the page has to end as [`PageBuilder::broken`].
    pub(crate) fn event(&mut self, dispatcher: &Dispatcher, event: &Event<'_>) -> Result<(), Box<Violation>> {
        let events = Path::ROOT.member("events");
        self.progress.event(events.element(self.count), self.expected.about(), event)?;
        event.write(&mut self.out, |name| !dispatcher.sensitive_names.contains(name));
        self.count += 1;
        check_size(dispatcher, self.out.len())
    }

    /// Ends the page.
    pub(crate) fn finish(self, dispatcher: &Dispatcher, next_sequence: u64, has_more: bool) -> Completed {
        let PageBuilder { expected, progress, mut out, .. } = self;
        if let Err(violation) = progress.end(Path::ROOT, expected.about(), next_sequence, has_more) {
            return expected.broken(violation);
        }
        close_page(&mut out, next_sequence, has_more);
        expected.finish(dispatcher, out)
    }

    /// The response when an event was refused.
    pub(crate) fn broken(self, violation: Box<Violation>) -> Completed {
        self.expected.broken(violation)
    }
}
