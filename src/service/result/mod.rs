//! The three results: their types, their rules, and their JSON (protocol, "Response" and promise 6). A dispatcher checks
//! with these rules what a service answers, a client what it reads.

mod approval;
mod event;
mod page;
mod run;
mod submission;

pub use approval::ApprovalView;
pub use event::Event;
pub use page::EventPage;
pub use run::RunView;
pub use submission::RunSubmission;

pub(crate) use page::{PageProgress, close_page, open_page};

use std::borrow::Cow;

use crate::protocol::json::{ReadResult, Reader, Writer, read_all, slot};
use crate::protocol::{MAX_UNIX_MS, MAX_UNSIGNED, Operation, Path, RunStatus, SensitiveNames, Violation, check_identity};

/// One of the three results.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "an answer is moved once, into the response")]
pub enum Answer<'a> {
    /// Of the four mutations.
    Submission(RunSubmission<'a>),
    /// Of `get_run`.
    Run(RunView<'a>),
    /// Of `list_events`.
    Page(EventPage<'a>),
}

/// What is known of the request that a result answers. A log or a proxy knows nothing.
#[derive(Clone, Copy, Default)]
pub(crate) struct ResultContext<'e> {
    pub(crate) run_id: Option<&'e str>,
    pub(crate) after_sequence: Option<u64>,
    pub(crate) limit: Option<u64>,
}

type Checked = Result<(), Box<Violation>>;

impl<'a> Answer<'a> {
    /// Reads the result of `operation` that comes next.
    pub(crate) fn read(operation: Operation, reader: &mut Reader<'a>, path: Path<'_>) -> ReadResult<Answer<'a>> {
        Ok(match operation {
            Operation::GetRun => RunView::read(reader, path)?.map(Answer::Run),
            Operation::ListEvents => EventPage::read(reader, path)?.map(Answer::Page),
            _ => RunSubmission::read(reader, path)?.map(Answer::Submission),
        })
    }

    /// Reads the result of `operation` from JSON text, as a service in another language gives it: what is absent and not
    /// required has its default. Whether its values keep the rules is checked where it is answered.
    ///
    /// # Errors
    /// The text is not JSON, or has not the shape of the result.
    pub fn from_json(operation: Operation, text: &'a str) -> Result<Answer<'a>, Violation> {
        read_all(text, Path::ROOT, |reader, path| Answer::read(operation, reader, path)).map_err(|violation| *violation)
    }

    /// The result as JSON, every member, as the body of a response has it; sensitive metadata too.
    pub fn to_json(&self) -> String {
        Writer::text(|out| match self {
            Answer::Submission(submission) => submission.write(out),
            Answer::Run(run) => run.write(out, |_| true),
            Answer::Page(page) => page.write(out),
        })
    }

    /// Refuses a result that breaks a rule.
    pub(crate) fn check(&self, path: Path<'_>, about: ResultContext<'_>) -> Checked {
        match self {
            Answer::Submission(submission) => submission.check(path, about),
            Answer::Run(run) => run.check(path, about),
            Answer::Page(page) => {
                let events = path.member("events");
                let mut progress = PageProgress::default();
                for (index, event) in page.events.iter().enumerate() {
                    progress.event(events.element(index), about, event)?;
                }
                progress.end(path, about, page.next_sequence, page.has_more)
            }
        }
    }

    /// Drops metadata with sensitive names.
    pub(crate) fn redact(&mut self, sensitive: &SensitiveNames) {
        let keep = |name: &str| !sensitive.contains(name);
        match self {
            Answer::Submission(_) => {}
            Answer::Run(run) => {
                run.context.metadata.retain(keep);
                run.metadata.retain(keep);
                if let Some(approval) = &mut run.approval {
                    approval.metadata.retain(keep);
                }
            }
            Answer::Page(page) => page.events.iter_mut().for_each(|event| event.metadata.retain(keep)),
        }
    }

    /// The same result, owned.
    pub fn into_owned(self) -> Answer<'static> {
        match self {
            Answer::Submission(submission) => Answer::Submission(submission.into_owned()),
            Answer::Run(run) => Answer::Run(run.into_owned()),
            Answer::Page(page) => Answer::Page(page.into_owned()),
        }
    }
}

fn check_run_id(path: Path<'_>, run_id: &str, about: ResultContext<'_>) -> Checked {
    let place = path.member("runId");
    check_identity(place, run_id)?;
    match about.run_id {
        Some(expected) if expected != run_id => Err(Violation::new(place, "expected the run that was asked for, found another")),
        _ => Ok(()),
    }
}

fn check_counter(path: Path<'_>, value: u64) -> Checked {
    if (1..=MAX_UNSIGNED).contains(&value) {
        Ok(())
    } else {
        Err(Violation::new(path, format!("expected 1 to 2^53-1, found {value}")))
    }
}

fn check_time(path: Path<'_>, time: Option<i64>) -> Checked {
    match time {
        Some(time) if time.unsigned_abs() > MAX_UNIX_MS.unsigned_abs() => {
            Err(Violation::new(path, "expected a time within 8640000000000000 ms of the epoch"))
        }
        _ => Ok(()),
    }
}

fn run_status(reader: &mut Reader<'_>, path: Path<'_>) -> ReadResult<RunStatus> {
    Ok(slot::string(reader, path)?.and_then(|name| {
        RunStatus::from_name(&name).ok_or_else(|| Violation::new(path, "expected one of the seven run statuses"))
    }))
}

/// The members that a submission and a view begin with.
fn write_run(out: &mut Writer, run_id: &str, revision: u64, status: RunStatus) {
    out.member("runId", run_id);
    out.name("revision");
    out.unsigned(revision);
    out.word("status", status.name());
}

fn own(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}
