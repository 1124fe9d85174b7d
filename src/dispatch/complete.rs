//! The second half of dispatch: checks what a service answers before it leaves, and encodes it.

use super::response::{Completed, check_size, failure};
use super::{Dispatcher, ExpectedAnswer, PageBuilder};
use crate::protocol::{ErrorCode, HostError, Operation, Path, Violation};
use crate::service::Answer;

impl ExpectedAnswer<'_> {
    /// Checks what a service answers, and encodes it.
    pub fn complete(self, dispatcher: &Dispatcher, result: Result<Answer<'_>, HostError<'_>>) -> Completed {
        match result {
            Ok(answer) => self.complete_answer(dispatcher, &answer),
            Err(error) => self.complete_error(dispatcher, &error),
        }
    }

    /// Like [`ExpectedAnswer::complete`], with a result as JSON text.
    pub(crate) fn complete_text(self, dispatcher: &Dispatcher, text: &str) -> Completed {
        match Answer::from_json(self.operation, text) {
            Ok(answer) => self.complete_answer(dispatcher, &answer),
            Err(violation) => self.broken(Box::new(violation)),
        }
    }

    pub(crate) fn complete_answer(self, dispatcher: &Dispatcher, answer: &Answer<'_>) -> Completed {
        if !answers(answer, self.operation) {
            let expected = format!("expected a result of {}", self.operation.name());
            return self.broken(Violation::new(Path::ROOT, expected));
        }
        if let Answer::Page(page) = answer {
            let mut builder = PageBuilder::new(self, page.events.iter().map(|event| event.size_hint()).sum());
            for event in &page.events {
                if let Err(violation) = builder.event(dispatcher, event) {
                    return builder.broken(violation);
                }
            }
            return builder.finish(dispatcher, page.next_sequence, page.has_more);
        }
        if let Err(violation) = answer.check(Path::ROOT, self.about()) {
            return self.broken(violation);
        }
        let keep = |name: &str| !dispatcher.sensitive_names.contains(name);
        let mut out = self.begin(match answer {
            Answer::Submission(submission) => submission.size_hint(),
            Answer::Run(run) => run.size_hint(),
            Answer::Page(_) => 0,
        });
        match answer {
            Answer::Submission(submission) => submission.write(&mut out),
            Answer::Run(run) => run.write(&mut out, keep),
            Answer::Page(_) => {}
        }
        self.finish(dispatcher, out)
    }

    pub(crate) fn complete_error(self, dispatcher: &Dispatcher, error: &HostError<'_>) -> Completed {
        if error.code == ErrorCode::Internal {
            return Completed { response: self.internal(error.retryable), broken: None };
        }
        let keep = |name: &str| !dispatcher.sensitive_names.contains(name);
        let response = failure(self.request_id(), self.operation, error, keep);
        match check_size(dispatcher, response.len()) {
            Ok(()) => Completed { response, broken: None },
            Err(violation) => self.broken(violation),
        }
    }
}

/// Whether an answer of this kind belongs to `operation`.
pub(crate) fn answers(answer: &Answer<'_>, operation: Operation) -> bool {
    match answer {
        Answer::Submission(_) => operation.mutates(),
        Answer::Run(_) => operation == Operation::GetRun,
        Answer::Page(_) => operation == Operation::ListEvents,
    }
}
