//! What a run is, in a page: a second, simpler telling of the rules, and a search for an order of calls that explains what
//! callers saw (linearizability, after Wing and Gong). It needs no store, so threads and processes can use it alike.

use std::collections::{BTreeMap, HashSet};

/// What a caller asks of the one run of a history.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Requested {
    Create {
        key: String,
    },
    Cancel {
        key: String,
        expected: u64,
    },
    Get,
    /// A claim; `token` is a number that names it in the history.
    Claim {
        token: u64,
    },
    Append {
        token: u64,
    },
    Complete {
        token: u64,
    },
}

/// What the caller was answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Observed {
    Run {
        revision: u64,
        status: &'static str,
    },
    Conflict {
        reason: &'static str,
    },
    NotFound,
    Nothing,
    Appended {
        sequence: u64,
    },
    /// The caller does not know: its process died, or the answer was `unavailable`. It happened once, or not at all.
    Unknown,
}

/// One call: requested not before `from`, answered not after `to` (on one clock for all callers).
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) requested: Requested,
    pub(crate) observed: Observed,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Run {
    revision: u64,
    head: u64,
    status: &'static str,
    holder: Option<u64>,
    completed_by: Option<(u64, u64)>,
    keys: BTreeMap<(bool, String), (u64, Observed)>,
}

impl Run {
    fn observed(&self) -> Observed {
        Observed::Run { revision: self.revision, status: self.status }
    }

    fn becomes(&mut self, status: &'static str) -> Observed {
        (self.revision, self.head, self.status) = (self.revision + 1, self.head + 1, status);
        self.observed()
    }

    fn has_ended(&self) -> bool {
        matches!(self.status, "completed" | "cancelled")
    }

    /// What the rules say.
    fn apply(&mut self, requested: &Requested) -> Observed {
        match requested {
            Requested::Create { key } => self.keyed((true, key.clone()), 0, |run| {
                if run.revision == 0 { run.becomes("created") } else { Observed::Run { revision: 1, status: "created" } }
            }),
            Requested::Cancel { key, expected } => {
                if self.revision == 0 {
                    return Observed::NotFound;
                }
                self.keyed((false, key.clone()), *expected, |run| {
                    if *expected != run.revision {
                        return Observed::Conflict { reason: "revision_mismatch" };
                    }
                    if run.has_ended() {
                        return Observed::Conflict { reason: "invalid_state" };
                    }
                    run.holder = None;
                    run.becomes("cancelled")
                })
            }
            Requested::Get if self.revision == 0 => Observed::NotFound,
            Requested::Get => self.observed(),
            Requested::Claim { token } => {
                if self.status != "created" {
                    return Observed::Nothing;
                }
                self.holder = Some(*token);
                self.becomes("running")
            }
            Requested::Append { token } => {
                if self.holder != Some(*token) {
                    return Observed::Conflict { reason: "claim_lost" };
                }
                self.head += 1;
                Observed::Appended { sequence: self.head }
            }
            Requested::Complete { token } => {
                if let Some((_, revision)) = self.completed_by.filter(|(by, _)| by == token) {
                    return Observed::Run { revision, status: "completed" };
                }
                if self.holder.take_if(|holder| *holder == *token).is_none() {
                    return Observed::Conflict { reason: "claim_lost" };
                }
                self.completed_by = Some((*token, self.revision + 1));
                self.becomes("completed")
            }
        }
    }

    fn keyed(&mut self, key: (bool, String), request: u64, execute: impl FnOnce(&mut Run) -> Observed) -> Observed {
        if let Some((same, observed)) = self.keys.get(&key) {
            return if *same == request { observed.clone() } else { Observed::Conflict { reason: "idempotency_mismatch" } };
        }
        let observed = execute(self);
        self.keys.insert(key, (request, observed.clone()));
        observed
    }
}

/// Finds an order that explains a history of at most 128 calls. None: there is no such order.
pub(crate) fn explain(history: &[Step]) -> Option<Vec<usize>> {
    assert!(history.len() <= 128);
    let mut visited = HashSet::new();
    let mut order = Vec::new();
    search(history, 0, &Run::default(), &mut visited, &mut order).then_some(order)
}

fn search(history: &[Step], done: u128, run: &Run, visited: &mut HashSet<(u128, Run)>, order: &mut Vec<usize>) -> bool {
    let open = || (0..history.len()).filter(|index| done >> index & 1 == 0);
    // What is not known need not have happened.
    if open().all(|index| history[index].observed == Observed::Unknown) {
        return true;
    }
    if !visited.insert((done, run.clone())) {
        return false;
    }
    // Whoever comes next was requested before any of the others was answered.
    let first_told = open()
        .filter(|index| history[*index].observed != Observed::Unknown)
        .map(|index| history[index].to)
        .min()
        .unwrap_or(u64::MAX);
    for index in open().filter(|index| history[*index].from <= first_told) {
        let mut next = run.clone();
        let observed = next.apply(&history[index].requested);
        if observed == history[index].observed || history[index].observed == Observed::Unknown {
            order.push(index);
            if search(history, done | 1 << index, &next, visited, order) {
                return true;
            }
            order.pop();
        }
    }
    false
}
