//! How much may happen: the bounds of a model.

/// How often something may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::runs::model) struct Budget {
    pub(in crate::runs::model) lost: u8,
    pub(in crate::runs::model) deaths: u8,
    pub(in crate::runs::model) lease_ends: u8,
    pub(in crate::runs::model) deadline: bool,
    /// Mutations of each client beside create.
    pub(in crate::runs::model) mutations: u8,
    /// Claims of each worker.
    pub(in crate::runs::model) claims: u8,
    pub(in crate::runs::model) appends: u8,
    pub(in crate::runs::model) admissions: u8,
    pub(in crate::runs::model) releases: u8,
    pub(in crate::runs::model) suspends: u8,
}

impl Budget {
    const BASE: Budget = Budget {
        lost: 1,
        deaths: 1,
        lease_ends: 1,
        deadline: false,
        mutations: 2,
        claims: 2,
        appends: 0,
        admissions: 0,
        releases: 0,
        suspends: 1,
    };

    pub(in crate::runs::model) const SMALL: [Budget; 5] = [
        // Losses and deaths around one approval.
        Budget { claims: 1, mutations: 1, ..Budget::BASE },
        // The deadline, against everybody.
        Budget { lost: 0, deaths: 0, deadline: true, mutations: 1, claims: 1, ..Budget::BASE },
        // A worker's events and results, and its lost answers.
        Budget { deaths: 0, mutations: 0, suspends: 0, appends: 1, admissions: 1, claims: 1, ..Budget::BASE },
        // Takeovers up to the last attempt.
        Budget { lost: 0, deaths: 0, lease_ends: 3, mutations: 0, suspends: 0, releases: 1, ..Budget::BASE },
        // Resumes, and the reclaim of a resumed run.
        Budget { lost: 0, deaths: 0, claims: 1, ..Budget::BASE },
    ];

    /// Some minutes.
    pub(in crate::runs::model) const LARGE: [Budget; 4] = [
        // Takeovers and two lease ends between all the others.
        Budget { lease_ends: 2, ..Budget::BASE },
        // The deadline, against takeovers, deaths, two lost answers and two approvals.
        Budget { deadline: true, lease_ends: 2, mutations: 1, lost: 2, suspends: 2, ..Budget::BASE },
        // Workers' events and results, beside everything else.
        Budget { mutations: 1, appends: 1, admissions: 1, releases: 1, lease_ends: 0, ..Budget::BASE },
        // Two approvals, one after the other.
        Budget { suspends: 2, deaths: 0, claims: 2, lease_ends: 0, ..Budget::BASE },
    ];
}
