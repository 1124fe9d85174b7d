//! The six operations.

/// One of the six operations of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Submits a run. Mutates.
    CreateRun,
    /// Reads a run.
    GetRun,
    /// Cancels a run. Mutates.
    CancelRun,
    /// Approves or denies what a run waits for. Mutates.
    ResolveApproval,
    /// Lets an approved run go on. Mutates.
    ResumeRun,
    /// Reads a run's events after a cursor.
    ListEvents,
}

impl Operation {
    /// All six, in the order of the contract.
    pub const ALL: [Operation; 6] = [
        Operation::CreateRun,
        Operation::GetRun,
        Operation::CancelRun,
        Operation::ResolveApproval,
        Operation::ResumeRun,
        Operation::ListEvents,
    ];

    /// The name on the wire, for example `create_run`.
    pub const fn name(self) -> &'static str {
        match self {
            Operation::CreateRun => "create_run",
            Operation::GetRun => "get_run",
            Operation::CancelRun => "cancel_run",
            Operation::ResolveApproval => "resolve_approval",
            Operation::ResumeRun => "resume_run",
            Operation::ListEvents => "list_events",
        }
    }

    /// The operation of that name on the wire.
    pub fn from_name(name: &str) -> Option<Operation> {
        Operation::ALL.into_iter().find(|operation| operation.name() == name)
    }

    /// Whether it changes a run: such a request needs an idempotency key.
    pub const fn mutates(self) -> bool {
        !matches!(self, Operation::GetRun | Operation::ListEvents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_nothing_else_is_a_name() {
        for operation in Operation::ALL {
            assert_eq!(Operation::from_name(operation.name()), Some(operation));
        }
        assert_eq!(Operation::from_name("createRun"), None);
        assert_eq!(Operation::from_name(""), None);
    }
}
