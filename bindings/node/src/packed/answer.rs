//! Answers as JavaScript packs them, in the order of `lib/packed/answer.js`.

use agenthost::members;
use agenthost::protocol::{ExecutionContext, FreeJson, Operation, Resolution, RunStatus};
use agenthost::service::{Answer, ApprovalView, Event, EventPage, RunSubmission, RunView};

use super::reader::{NumberBytes, Reader, Texts};

/// The answer. None: a member is not what it has to be; then the answer has to come as JSON, whose faults have names.
pub(crate) fn unpack<'a>(operation: Operation, numbers: &'a [NumberBytes], texts: &'a Texts) -> Option<Answer<'a>> {
    let mut reader = Reader::new(numbers, texts);
    let answer = match operation {
        Operation::GetRun => Answer::Run(reader.run()?),
        Operation::ListEvents => Answer::Page(reader.page()?),
        _ => Answer::Submission(reader.submission()?),
    };
    reader.end().then_some(answer)
}

/// Reads a value of a type, member by member in the contract's order: each kind of member is a method of the reader.
macro_rules! read {
    ({ $reader:ident } $type:ident { $($name:ident = $field:ident: $kind:ident,)* }) => {
        Some($type { $($field: $reader.$kind()?),* })
    };
}

impl<'a> Reader<'a> {
    #[inline(always)]
    fn run(&mut self) -> Option<RunView<'a>> {
        members!(RunView => read! { self })
    }

    fn submission(&mut self) -> Option<RunSubmission<'a>> {
        members!(RunSubmission => read! { self })
    }

    fn page(&mut self) -> Option<EventPage<'a>> {
        let (next_sequence, has_more) = (self.unsigned()?, self.flag()?);
        let count = self.count()?;
        // An event takes nine numbers at the least: what is said to follow and does not takes no memory.
        let mut events = Vec::with_capacity(count.min(self.left() / 9));
        for _ in 0..count {
            events.push(self.event()?);
        }
        Some(EventPage { events, next_sequence, has_more })
    }

    fn event(&mut self) -> Option<Event<'a>> {
        members!(Event => read! { self })
    }

    #[inline(always)]
    fn context(&mut self) -> Option<ExecutionContext<'a>> {
        members!(ExecutionContext => read! { self })
    }

    /// An approval or nothing.
    fn approval(&mut self) -> Option<Option<ApprovalView<'a>>> {
        if self.flag()? { members!(ApprovalView => read! { self }).map(Some) } else { Some(None) }
    }

    fn run_status(&mut self) -> Option<RunStatus> {
        RunStatus::from_name(self.str()?)
    }

    fn resolution(&mut self) -> Option<Resolution> {
        Resolution::from_name(self.str()?)
    }

    fn free_json(&mut self) -> Option<FreeJson<'a>> {
        FreeJson::new(self.str()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part: its numbers, and its text.
    type Part = (Vec<f64>, String);

    fn text(value: &str) -> Part {
        (vec![value.encode_utf16().count() as f64], value.to_owned())
    }

    fn number(value: f64) -> Part {
        (vec![value], String::new())
    }

    fn packed(parts: &[Part]) -> (Vec<NumberBytes>, Texts) {
        let numbers = parts.iter().flat_map(|(numbers, _)| numbers.iter().map(|number| number.to_ne_bytes())).collect();
        let texts: Vec<u16> = parts.iter().flat_map(|(_, text)| text.encode_utf16()).collect();
        (numbers, Texts::new(&texts).unwrap())
    }

    fn is_answer(operation: Operation, parts: &[Part]) -> bool {
        let (numbers, texts) = packed(parts);
        unpack(operation, &numbers, &texts).is_some()
    }

    fn a_run() -> Vec<Part> {
        let context = [text("a"), text("t")].into_iter().chain((0..8).map(|_| text("")));
        let of_context = [number(5.0), number(1.0), text("k"), text("v")];
        let times = [number(-1.0), number(2.0), number(f64::NAN)];
        let rest = [number(0.0), text("{\"x\":1}"), text("it"), number(1.0), text("n"), text("w")];
        let head = [text("a"), number(7.0), text("running")];
        head.into_iter().chain(context).chain(of_context).chain(times).chain(rest).collect()
    }

    #[test]
    fn a_run_is_unpacked() {
        let (numbers, texts) = packed(&a_run());
        let Some(Answer::Run(run)) = unpack(Operation::GetRun, &numbers, &texts) else { panic!("not a run") };
        assert_eq!((&*run.run_id, run.revision, run.status, &*run.error), ("a", 7, RunStatus::Running, "it"));
        assert_eq!((&*run.context.trace_id, run.context.deadline_unix_ms, run.completed_at_unix_ms), ("t", Some(5), None));
        assert_eq!((run.created_at_unix_ms, run.updated_at_unix_ms, &run.approval), (-1, 2, &None));
        assert_eq!(
            (run.context.metadata.get("k"), run.metadata.get("n"), run.result.as_str()),
            (Some("v"), Some("w"), "{\"x\":1}")
        );
    }

    /// Whatever is missing, too much or of another kind is found out, at any place.
    #[test]
    fn what_is_not_an_answer_is_none() {
        let parts = a_run();
        assert!(is_answer(Operation::GetRun, &parts));
        let (numbers, texts) = packed(&parts);
        for length in 0..numbers.len() {
            assert!(unpack(Operation::GetRun, &numbers[..length], &texts).is_none(), "{length}");
        }
        for more in [number(0.0), (vec![], "x".to_owned())] {
            assert!(!is_answer(Operation::GetRun, &[&*parts, &[more]].concat()));
        }
        for place in (0..parts.len()).filter(|&place| !parts[place].1.is_empty()) {
            let mut parts = parts.clone();
            parts[place].0[0] += 1.0;
            assert!(!is_answer(Operation::GetRun, &parts), "{place}");
        }
    }

    #[test]
    fn a_submission_has_a_status_and_a_revision() {
        let submission = |revision, status| is_answer(Operation::CreateRun, &[text("a"), number(revision), text(status)]);
        assert!(submission(7.0, "running"));
        assert!(!submission(-7.0, "running"));
        assert!(!submission(f64::NAN, "running"));
        assert!(!submission(7.0, "done"));
    }

    /// A length is taken as it is said: in UTF-16 units, and between characters.
    #[test]
    fn text_of_any_length() {
        for value in ["", "a", "ä", "\u{1f600}", &"x".repeat(127), &"ü\u{1f600}".repeat(70_000)] {
            let (numbers, texts) = packed(&[text(value), number(1.0), text("created")]);
            let Some(Answer::Submission(submission)) = unpack(Operation::CreateRun, &numbers, &texts) else { panic!("{value}") };
            assert_eq!(submission.run_id, value);
        }
        let mut cut = [text("\u{1f600}"), number(1.0), text("created")];
        cut[0].0[0] = 1.0;
        assert!(!is_answer(Operation::CreateRun, &cut));
        cut[0].0[0] = 100.0;
        assert!(!is_answer(Operation::CreateRun, &cut));
    }

    #[test]
    fn a_lone_surrogate_is_no_text() {
        assert!(Texts::new(&[0x61, 0xd800, 0x62]).is_none());
    }

    /// Memory is taken for what is there, not for what is said.
    #[test]
    fn a_count_without_events() {
        assert!(!is_answer(Operation::ListEvents, &[number(0.0), number(0.0), number(9_007_199_254_740_991.0)]));
        let (numbers, texts) = packed(&[number(0.0), number(1.0), number(0.0)]);
        let Some(Answer::Page(page)) = unpack(Operation::ListEvents, &numbers, &texts) else { panic!("not a page") };
        assert!(page.events.is_empty() && page.has_more);
    }
}
