//! What a run and an approval can be.

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunStatus {
    /// Accepted, not started.
    Created,
    /// Being worked on.
    Running,
    /// Suspended until an approval is resolved.
    WaitingForApproval,
    /// Ended with a result.
    Completed,
    /// Ended with an error, or its approval was denied.
    Failed,
    /// Ended by `cancel_run`.
    Cancelled,
    /// Ended by its deadline.
    TimedOut,
}

impl RunStatus {
    /// All seven, in the order of the contract.
    pub const ALL: [RunStatus; 7] = [
        RunStatus::Created,
        RunStatus::Running,
        RunStatus::WaitingForApproval,
        RunStatus::Completed,
        RunStatus::Failed,
        RunStatus::Cancelled,
        RunStatus::TimedOut,
    ];

    /// The name on the wire, for example `waiting_for_approval`.
    pub const fn name(self) -> &'static str {
        match self {
            RunStatus::Created => "created",
            RunStatus::Running => "running",
            RunStatus::WaitingForApproval => "waiting_for_approval",
            RunStatus::Completed => "completed",
            RunStatus::Failed => "failed",
            RunStatus::Cancelled => "cancelled",
            RunStatus::TimedOut => "timed_out",
        }
    }

    /// The status of that name on the wire.
    pub fn from_name(name: &str) -> Option<RunStatus> {
        RunStatus::ALL.into_iter().find(|status| status.name() == name)
    }

    /// Whether a run of this status never changes again.
    pub const fn is_terminal(self) -> bool {
        !matches!(self, RunStatus::Created | RunStatus::Running | RunStatus::WaitingForApproval)
    }
}

/// What became of an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resolution {
    /// Nobody has decided yet. Not a valid decision in `resolve_approval`.
    Pending,
    /// The tool call may go on.
    Approved,
    /// The tool call may not go on.
    Denied,
}

impl Resolution {
    /// All three, in the order of the contract.
    pub const ALL: [Resolution; 3] = [Resolution::Pending, Resolution::Approved, Resolution::Denied];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Resolution::Pending => "pending",
            Resolution::Approved => "approved",
            Resolution::Denied => "denied",
        }
    }

    /// The resolution of that name on the wire.
    pub fn from_name(name: &str) -> Option<Resolution> {
        Resolution::ALL.into_iter().find(|resolution| resolution.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_four_statuses_are_terminal() {
        let terminal: Vec<_> = RunStatus::ALL.into_iter().filter(|status| status.is_terminal()).collect();
        assert_eq!(terminal, RunStatus::ALL[3..]);
    }

    #[test]
    fn names_are_read_back() {
        for status in RunStatus::ALL {
            assert_eq!(RunStatus::from_name(status.name()), Some(status));
        }
        for resolution in Resolution::ALL {
            assert_eq!(Resolution::from_name(resolution.name()), Some(resolution));
        }
        assert_eq!(RunStatus::from_name("canceled"), None);
        assert_eq!(Resolution::from_name("Approved"), None);
    }
}
