//! Calls and answers as one string each: a crossing of the border costs more than taking a string apart, and much less than
//! writing and reading JSON on both sides of it. `lib/packed.js` is the other end. What cannot be packed goes as JSON.

use std::borrow::Cow;
use std::str::FromStr;

use agenthost::protocol::{ExecutionContext, FreeJson, Metadata, Operation, RunStatus};
use agenthost::service::{Answer, Call, Request, RunSubmission, RunView};

/// A call for JavaScript: one character for the operation; four numbers of five characters (the call's, and how many UTF-16
/// units `requestId`, `idempotencyKey` and metadata have); these three; the request. The request of `get_run` is its run id;
/// every other, and metadata that is not empty, is JSON.
pub(crate) fn call(number: usize, call: &Call<'_>, request: &Request<'_>) -> Vec<u8> {
    let body: Cow<'_, str> = match request {
        Request::GetRun(request) => Cow::Borrowed(&*request.run_id),
        other => Cow::Owned(other.to_json()),
    };
    let metadata = metadata_json(&call.metadata);
    let parts = [&*call.request_id, &*call.idempotency_key, &*metadata, &*body];
    let mut out = Vec::with_capacity(HEADER + parts.iter().map(|part| part.len()).sum::<usize>());
    out.push(b'0' + digit(call.operation));
    write_number(&mut out, number);
    parts[..3].iter().for_each(|part| write_number(&mut out, units(part)));
    parts.iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
    out
}

/// One character, and four numbers.
const HEADER: usize = 1 + 4 * DIGITS;
/// The characters of a number: seven bits each, the lowest first.
const DIGITS: usize = 5;

fn write_number(out: &mut Vec<u8>, number: usize) {
    out.extend((0..DIGITS).map(|digit| (number >> (7 * digit)) as u8 & 0x7f));
}

/// The order of the methods in `lib/call.js`.
fn digit(operation: Operation) -> u8 {
    match operation {
        Operation::CreateRun => 0,
        Operation::GetRun => 1,
        Operation::CancelRun => 2,
        Operation::ResolveApproval => 3,
        Operation::ResumeRun => 4,
        Operation::ListEvents => 5,
    }
}

fn units(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

fn metadata_json(metadata: &Metadata<'_>) -> String {
    if metadata.is_empty() {
        return String::new();
    }
    let bytes: usize = metadata.iter().map(|(name, value)| name.len() + value.len() + 6).sum();
    let mut out = Vec::with_capacity(bytes + 2);
    for (index, (name, value)) in metadata.iter().enumerate() {
        out.push(if index == 0 { b'{' } else { b',' });
        quote(&mut out, name);
        out.push(b':');
        quote(&mut out, value);
    }
    out.push(b'}');
    // What is written here is UTF-8.
    String::from_utf8(out).unwrap_or_default()
}

/// A string as JSON.
fn quote(out: &mut Vec<u8>, value: &str) {
    // Without a way out of the loop it is done many bytes at a time.
    let plain = value.bytes().fold(true, |plain, byte| plain & (byte >= 0x20) & (byte != b'"') & (byte != b'\\'));
    if plain {
        out.push(b'"');
        out.extend_from_slice(value.as_bytes());
        out.push(b'"');
    } else {
        // Writing into memory does not fail.
        let _ = serde_json::to_writer(out, value);
    }
}

/// Stands between the parts of an answer, and behind the last.
const SEPARATOR: u8 = 1;

/// An answer as JavaScript has packed it. None: a part is not what it has to be, or holds the separator; then the answer has to
/// come as JSON, whose faults have names.
pub(crate) fn answer(operation: Operation, packed: &str) -> Option<Answer<'_>> {
    let mut parts = Parts(packed);
    let answer = match operation {
        Operation::GetRun => Answer::Run(run(&mut parts)?),
        Operation::ListEvents => return None,
        _ => Answer::Submission(RunSubmission { run_id: parts.text()?, revision: parts.parse()?, status: parts.status()? }),
    };
    parts.end().then_some(answer)
}

/// The counts come first: they are JavaScript's own, and no value can move them.
fn run<'a>(parts: &mut Parts<'a>) -> Option<RunView<'a>> {
    let (of_context, of_run): (usize, usize) = (parts.parse()?, parts.parse()?);
    Some(RunView {
        run_id: parts.text()?,
        revision: parts.parse()?,
        status: parts.status()?,
        context: ExecutionContext {
            run_id: parts.text()?,
            trace_id: parts.text()?,
            request_id: parts.text()?,
            tenant_id: parts.text()?,
            user_id: parts.text()?,
            application_id: parts.text()?,
            workspace_id: parts.text()?,
            conversation_id: parts.text()?,
            agent_id: parts.text()?,
            locale: parts.text()?,
            deadline_unix_ms: parts.optional()?,
            metadata: parts.metadata(of_context)?,
        },
        created_at_unix_ms: parts.parse()?,
        updated_at_unix_ms: parts.parse()?,
        completed_at_unix_ms: parts.optional()?,
        approval: None,
        result: FreeJson::new(parts.next()?).ok()?,
        error: parts.text()?,
        metadata: parts.metadata(of_run)?,
    })
}

/// The parts of an answer that are left.
struct Parts<'a>(&'a str);

impl<'a> Parts<'a> {
    fn next(&mut self) -> Option<&'a str> {
        // Most parts are too short for a search that looks at many bytes at a time.
        let end = self.0.bytes().position(|byte| byte == SEPARATOR)?;
        let (part, rest) = self.0.split_at(end);
        self.0 = &rest[1..];
        Some(part)
    }

    fn text(&mut self) -> Option<Cow<'a, str>> {
        self.next().map(Cow::Borrowed)
    }

    fn parse<T: FromStr>(&mut self) -> Option<T> {
        self.next()?.parse().ok()
    }

    fn optional<T: FromStr>(&mut self) -> Option<Option<T>> {
        match self.next()? {
            "" => Some(None),
            value => value.parse().ok().map(Some),
        }
    }

    fn status(&mut self) -> Option<RunStatus> {
        RunStatus::from_name(self.next()?)
    }

    fn metadata(&mut self, pairs: usize) -> Option<Metadata<'a>> {
        (0..pairs).map(|_| Some((self.next()?, self.next()?))).collect()
    }

    /// Whether nothing is left behind the last separator.
    fn end(self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "1|1|a|7|running|a|t|||||||||5|k|v|1|2||{\"x\":1}|it|n|w|";

    fn packed(text: &str) -> String {
        text.replace('|', "\u{1}")
    }

    #[test]
    fn a_run_is_unpacked() {
        let text = packed(RUN);
        let Some(Answer::Run(run)) = answer(Operation::GetRun, &text) else { panic!("not a run") };
        assert_eq!((&*run.run_id, run.revision, run.status, &*run.error), ("a", 7, RunStatus::Running, "it"));
        assert_eq!((&*run.context.trace_id, run.context.deadline_unix_ms, run.completed_at_unix_ms), ("t", Some(5), None));
        assert_eq!(
            (run.context.metadata.get("k"), run.metadata.get("n"), run.result.as_str()),
            (Some("v"), Some("w"), "{\"x\":1}")
        );
    }

    /// A value that holds the separator could otherwise pose as other members.
    #[test]
    fn a_separator_in_any_part_is_found_out() {
        let parts: Vec<&str> = RUN.split('|').collect();
        for place in 2..parts.len() {
            for more in ["|", "||", "0|1", "|||||"] {
                let mut parts = parts.clone();
                let value = format!("{}{more}", parts[place]);
                parts[place] = &value;
                assert!(answer(Operation::GetRun, &packed(&parts.join("|"))).is_none(), "{place} {more}");
            }
        }
        for text in ["a|7|running|", "a|7|running"] {
            assert_eq!(answer(Operation::CreateRun, &packed(text)).is_some(), text.ends_with('|'));
        }
        for text in ["a||7|running|", "a|7|running||", "a|7|running|x", "a|7.5|running|", "a|7|done|", "a|NaN|running|", ""] {
            assert!(answer(Operation::CreateRun, &packed(text)).is_none(), "{text}");
        }
    }
}
