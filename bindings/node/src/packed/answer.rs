//! Answers as JavaScript packs them, in the order of `lib/packed.js`.

use agenthost::protocol::{ExecutionContext, FreeJson, Operation, Resolution, RunStatus};
use agenthost::service::{Answer, ApprovalView, Event, EventPage, RunSubmission, RunView};

use super::parts::Parts;

/// The answer. None: a part is not what it has to be; then the answer has to come as JSON, whose faults have names.
pub(crate) fn answer(operation: Operation, packed: &[u8]) -> Option<Answer<'_>> {
    let mut parts = Parts::new(packed)?;
    let answer = match operation {
        Operation::GetRun => Answer::Run(run(&mut parts)?),
        Operation::ListEvents => Answer::Page(page(&mut parts)?),
        _ => Answer::Submission(RunSubmission { run_id: parts.cow()?, revision: parts.unsigned()?, status: status(&mut parts)? }),
    };
    parts.end().then_some(answer)
}

#[inline(always)]
fn run<'a>(parts: &mut Parts<'a>) -> Option<RunView<'a>> {
    Some(RunView {
        run_id: parts.cow()?,
        revision: parts.unsigned()?,
        status: status(parts)?,
        context: context(parts)?,
        created_at_unix_ms: parts.signed()?,
        updated_at_unix_ms: parts.signed()?,
        completed_at_unix_ms: parts.optional()?,
        approval: if parts.flag()? { Some(approval(parts)?) } else { None },
        result: free(parts)?,
        error: parts.cow()?,
        metadata: parts.metadata()?,
    })
}

#[inline(always)]
fn context<'a>(parts: &mut Parts<'a>) -> Option<ExecutionContext<'a>> {
    Some(ExecutionContext {
        run_id: parts.cow()?,
        trace_id: parts.cow()?,
        request_id: parts.cow()?,
        tenant_id: parts.cow()?,
        user_id: parts.cow()?,
        application_id: parts.cow()?,
        workspace_id: parts.cow()?,
        conversation_id: parts.cow()?,
        agent_id: parts.cow()?,
        locale: parts.cow()?,
        deadline_unix_ms: parts.optional()?,
        metadata: parts.metadata()?,
    })
}

fn approval<'a>(parts: &mut Parts<'a>) -> Option<ApprovalView<'a>> {
    Some(ApprovalView {
        approval_id: parts.cow()?,
        tool_call_id: parts.cow()?,
        tool_name: parts.cow()?,
        resolution: Resolution::from_name(parts.text()?)?,
        reason: parts.cow()?,
        created_at_unix_ms: parts.signed()?,
        resolved_at_unix_ms: parts.optional()?,
        metadata: parts.metadata()?,
    })
}

fn page<'a>(parts: &mut Parts<'a>) -> Option<EventPage<'a>> {
    let (next_sequence, has_more) = (parts.unsigned()?, parts.flag()?);
    let count = parts.count()?;
    // An event takes some bytes: what is said to follow and does not takes no memory.
    let mut events = Vec::with_capacity(count.min(parts.left() / 16));
    for _ in 0..count {
        events.push(event(parts)?);
    }
    Some(EventPage { events, next_sequence, has_more })
}

fn event<'a>(parts: &mut Parts<'a>) -> Option<Event<'a>> {
    Some(Event {
        run_id: parts.cow()?,
        sequence: parts.unsigned()?,
        event_type: parts.cow()?,
        status: status(parts)?,
        step_id: parts.cow()?,
        tool_call_id: parts.cow()?,
        timestamp_unix_ms: parts.signed()?,
        data: free(parts)?,
        metadata: parts.metadata()?,
    })
}

fn status(parts: &mut Parts<'_>) -> Option<RunStatus> {
    RunStatus::from_name(parts.text()?)
}

fn free<'a>(parts: &mut Parts<'a>) -> Option<FreeJson<'a>> {
    FreeJson::new(parts.text()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Vec<u8> {
        let mut packed = match u8::try_from(value.len()) {
            Ok(length) if length < 0x7f => vec![length],
            _ => std::iter::once(0x7f).chain((0..5).map(|digit| (value.len() >> (7 * digit)) as u8 & 0x7f)).collect(),
        };
        packed.extend(value.as_bytes());
        packed
    }

    fn number(value: i64) -> Vec<u8> {
        let digits = (0..8).map(|digit| (value.unsigned_abs() >> (7 * digit)) as u8 & 0x7f);
        std::iter::once(if value < 0 { 2 } else { 1 }).chain(digits).collect()
    }

    fn packed_run() -> Vec<Vec<u8>> {
        let context = [text("a"), text("t")].into_iter().chain((0..8).map(|_| text("")));
        let of_context = [number(5), vec![1], text("k"), text("v")];
        let times = [number(-1), number(2), vec![0]];
        let rest = [vec![0], text("{\"x\":1}"), text("it"), vec![1], text("n"), text("w")];
        let head = [text("a"), number(7), text("running")];
        head.into_iter().chain(context).chain(of_context).chain(times).chain(rest).collect()
    }

    #[test]
    fn a_run_is_unpacked() {
        let packed = packed_run().concat();
        let Some(Answer::Run(run)) = answer(Operation::GetRun, &packed) else { panic!("not a run") };
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
        let parts = packed_run();
        let whole = parts.concat();
        for length in 0..whole.len() {
            assert!(answer(Operation::GetRun, &whole[..length]).is_none(), "{length}");
        }
        assert!(answer(Operation::GetRun, &[&*whole, &[0]].concat()).is_none());
        for place in 0..parts.len() {
            let mut parts = parts.clone();
            parts[place] = vec![0xff];
            assert!(answer(Operation::GetRun, &parts.concat()).is_none(), "{place}");
        }
    }

    #[test]
    fn a_submission_has_a_status_and_a_revision() {
        let submission = |revision: &[u8], status: &str| [&*text("a"), revision, &*text(status)].concat();
        assert!(answer(Operation::CreateRun, &submission(&number(7), "running")).is_some());
        assert!(answer(Operation::CreateRun, &submission(&number(-7), "running")).is_none());
        assert!(answer(Operation::CreateRun, &submission(&[0], "running")).is_none());
        assert!(answer(Operation::CreateRun, &submission(&number(7), "done")).is_none());
    }

    /// A length is taken as it is said: in bytes, and between characters.
    #[test]
    fn text_of_any_length() {
        for value in ["", "ä", &"x".repeat(126), &"x".repeat(127), &"ü".repeat(70_000)] {
            let packed = [text(value), number(1), text("created")].concat();
            let Some(Answer::Submission(submission)) = answer(Operation::CreateRun, &packed) else { panic!("{}", value.len()) };
            assert_eq!(submission.run_id, value);
        }
        let mut cut = [text("ä"), number(1), text("created")].concat();
        cut[0] = 1;
        assert!(answer(Operation::CreateRun, &cut).is_none());
    }

    /// Memory is taken for what is there, not for what is said.
    #[test]
    fn a_count_without_events() {
        let most = [0x7f; 6];
        assert!(answer(Operation::ListEvents, &[&*number(0), &[0], &most].concat()).is_none());
        let none = [&*number(0), &[1, 0]].concat();
        let Some(Answer::Page(page)) = answer(Operation::ListEvents, &none) else { panic!("not a page") };
        assert!(page.events.is_empty() && page.has_more);
    }
}
