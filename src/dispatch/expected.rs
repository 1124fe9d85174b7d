//! What is kept of a call until it is answered.

use std::borrow::Cow;

use crate::protocol::Operation;
use crate::service::ResultContext;

/// What the answer to a decoded call has to fit. It can be completed once: the methods that answer consume it.
#[derive(Clone, Debug)]
pub struct ExpectedAnswer<'a> {
    pub(super) operation: Operation,
    ids: Ids<'a>,
    after_sequence: u64,
    pub(super) limit: u64,
}

/// The ids of the request and of its run.
#[derive(Clone, Debug)]
enum Ids<'a> {
    /// As the message has them.
    Apart { request_id: Cow<'a, str>, run_id: Cow<'a, str> },
    /// Kept for later in one piece, the run's id from that place on.
    Together { both: Box<str>, run_id: usize },
}

impl<'a> ExpectedAnswer<'a> {
    pub(super) fn new(
        operation: Operation,
        request_id: Cow<'a, str>,
        run_id: Cow<'a, str>,
        (after_sequence, limit): (u64, u64),
    ) -> ExpectedAnswer<'a> {
        ExpectedAnswer { operation, ids: Ids::Apart { request_id, run_id }, after_sequence, limit }
    }

    /// The operation that is to be answered.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// The same, without a borrow of the message: for a call that is answered later.
    pub fn into_owned(self) -> ExpectedAnswer<'static> {
        let ids = match self.ids {
            Ids::Apart { request_id, run_id } => {
                let mut both = String::with_capacity(request_id.len() + run_id.len());
                both.push_str(&request_id);
                both.push_str(&run_id);
                Ids::Together { both: both.into(), run_id: request_id.len() }
            }
            Ids::Together { both, run_id } => Ids::Together { both, run_id },
        };
        ExpectedAnswer { operation: self.operation, ids, after_sequence: self.after_sequence, limit: self.limit }
    }

    pub(super) fn request_id(&self) -> &str {
        match &self.ids {
            Ids::Apart { request_id, .. } => request_id,
            Ids::Together { both, run_id } => &both[..*run_id],
        }
    }

    pub(super) fn about(&self) -> ResultContext<'_> {
        let run_id = match &self.ids {
            Ids::Apart { run_id, .. } => run_id,
            Ids::Together { both, run_id } => &both[*run_id..],
        };
        ResultContext { run_id: Some(run_id), after_sequence: Some(self.after_sequence), limit: Some(self.limit) }
    }
}
