//! What can happen, and what of it now.

use super::{Worker, World};

/// What a worker does with a run that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::runs::model) enum WorkerCall {
    Heartbeat,
    Append,
    Admit,
    Release,
    Suspend,
    Complete,
    Fail,
}

/// What a client does with a run that it has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::runs::model) enum ClientCall {
    Create,
    Cancel,
    Approve,
    /// Approves what is not the run's approval.
    ApproveAnother,
    Deny,
    Resume,
}

/// One thing that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::runs::model) enum Step {
    /// A worker claims; its answer may be lost.
    Claim { worker: usize, lost: bool },
    /// A worker calls.
    Work { worker: usize, call: WorkerCall, lost: bool },
    /// A worker calls again because the answer was lost.
    WorkAgain { worker: usize },
    /// A worker dies with what it knows.
    Die { worker: usize },
    /// A client reads the run.
    Read { client: usize },
    /// A client calls with what it has read.
    Call { client: usize, call: ClientCall, lost: bool },
    /// A client calls again because the answer was lost.
    CallAgain { client: usize },
    /// The lease of who has the run ends.
    LeaseEnds,
    /// The deadline passes.
    DeadlinePasses,
    /// The timer comes.
    Timer,
}

impl World {
    /// Everything that can happen now.
    pub(in crate::runs::model) fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        let lost: &[bool] = if self.left.lost > 0 { &[false, true] } else { &[false] };
        let run = self.run();
        for (worker, state) in self.workers.iter().enumerate() {
            match state {
                Worker::Dead => {}
                Worker::Idle if self.claims[worker] < self.left.claims && run.is_some() => {
                    steps.extend(lost.iter().map(|&lost| Step::Claim { worker, lost }));
                }
                Worker::Idle => {}
                Worker::Has { lost: Some(_), .. } => steps.push(Step::WorkAgain { worker }),
                Worker::Has { .. } => {
                    let calls = [
                        (WorkerCall::Heartbeat, self.now > 0),
                        (WorkerCall::Append, self.left.appends > 0),
                        (WorkerCall::Admit, self.left.admissions > 0),
                        (WorkerCall::Release, self.left.releases > 0),
                        (WorkerCall::Suspend, self.left.suspends > 0),
                        (WorkerCall::Complete, true),
                        (WorkerCall::Fail, true),
                    ];
                    for (call, _) in calls.into_iter().filter(|(_, possible)| *possible) {
                        steps.extend(lost.iter().map(|&lost| Step::Work { worker, call, lost }));
                    }
                    if self.left.deaths > 0 {
                        steps.push(Step::Die { worker });
                    }
                }
            }
        }
        for (client, state) in self.clients.iter().enumerate() {
            let mut call = |call| steps.extend(lost.iter().map(|&lost| Step::Call { client, call, lost }));
            if state.lost.is_some() {
                steps.push(Step::CallAgain { client });
            } else if !state.created {
                call(ClientCall::Create);
            } else if state.calls < self.left.mutations {
                if state.last_read.is_some() {
                    [ClientCall::Cancel, ClientCall::Approve, ClientCall::Deny, ClientCall::Resume]
                        .into_iter()
                        .for_each(&mut call);
                }
                if state.last_read.as_ref().is_some_and(|(_, approval)| approval.is_some()) {
                    call(ClientCall::ApproveAnother);
                }
                let now = run.as_ref().map(|run| (run.revision, run.approval_id.clone()));
                if now != state.last_read {
                    steps.push(Step::Read { client });
                }
            }
        }
        if let Some(run) = run {
            let ends = run.ready_at.filter(|ends| run.claim.is_some() && *ends > self.now);
            if ends.is_some() && self.left.lease_ends > 0 {
                steps.push(Step::LeaseEnds);
            }
            if self.left.deadline {
                steps.push(Step::DeadlinePasses);
            }
            if run.deadline.is_some_and(|deadline| deadline <= self.now) {
                steps.push(Step::Timer);
            }
        }
        steps
    }
}
