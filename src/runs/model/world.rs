//! A small world: one run, who acts on it, and what they remember. Everything that happens is a step, and the store is the
//! memory store's tables with the real rules.

mod budget;
mod calls;
mod steps;

use std::hash::{DefaultHasher, Hash, Hasher};

pub(super) use budget::Budget;
pub(super) use steps::{ClientCall, Step, WorkerCall};

use crate::protocol::HostError;
use crate::runs::access::AccessRule;
use crate::runs::command::{Command, CommandOutput};
use crate::runs::decide::Rules;
use crate::runs::refuse::Reason;
use crate::runs::work::{Notifications, execute};
use crate::store::memory::Tables;
use crate::store::{BatchRow, Digest, EventRow, Reader, RunRow, Transaction};

pub(super) const RUN: &str = "run";
pub(super) const LEASE: i64 = 10;
pub(super) const DEADLINE: i64 = 1000;

/// What a client has read of the run: its revision, and its approval's id.
pub(super) type LastRead = (u64, Option<String>);

/// An answer, as it can be compared.
pub(super) type CallResult = Result<CommandOutput, String>;

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Worker {
    Idle,
    Has { token: u8, lost: Option<(WorkerCall, u8, CallResult)> },
    Dead,
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Client {
    created: bool,
    pub(super) last_read: Option<LastRead>,
    calls: u8,
    pub(super) lost: Option<(ClientCall, u8, LastRead, CallResult)>,
}

/// What is known beside the store, independently of it: who has the run.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Shadow {
    /// The token of who may write.
    pub(super) holder: Option<u8>,
    /// The token of who ended a claim last by suspend, complete or fail.
    pub(super) last_ender: Option<u8>,
    tokens: u8,
    suspends: u8,
    calls: u8,
}

#[derive(Clone)]
pub(super) struct World {
    pub(super) tables: Tables,
    pub(super) now: i64,
    pub(super) workers: [Worker; 2],
    claims: [u8; 2],
    pub(super) clients: [Client; 2],
    pub(super) shadow: Shadow,
    pub(super) left: Budget,
    /// What the last step was answered. Not part of the state.
    pub(super) answer: Option<CallResult>,
}

impl Hash for World {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.now, &self.shadow, self.left).hash(state);
        // Both workers are alike, and so are both clients: who of them is which makes no other state.
        let mut workers = [0, 1].map(|index| digest(&(&self.workers[index], self.claims[index])));
        let mut clients = [0, 1].map(|index| digest(&self.clients[index]));
        workers.sort_unstable();
        clients.sort_unstable();
        (workers, clients).hash(state);
        self.tables.peek(RUN).hash(state);
    }
}

pub(super) fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

pub(super) fn rules() -> Rules {
    Rules { max_takeovers: 2, key_ttl_ms: i64::MAX, access: AccessRule::default() }
}

fn name(refusal: &HostError<'_>) -> String {
    Reason::of(refusal).map_or(refusal.code.name(), Reason::name).to_owned()
}

impl World {
    pub(super) fn new(left: Budget) -> World {
        let client = Client { created: false, last_read: None, calls: 0, lost: None };
        World {
            tables: Tables::default(),
            now: 0,
            workers: [Worker::Idle, Worker::Idle],
            claims: [0; 2],
            clients: [client.clone(), client],
            shadow: Shadow::default(),
            left,
            answer: None,
        }
    }

    pub(super) fn run(&self) -> Option<RunRow> {
        self.tables.peek(RUN).map(|(run, _)| run.clone())
    }

    pub(super) fn revision(&self) -> u64 {
        self.tables.peek(RUN).map_or(0, |(run, _)| run.revision)
    }

    pub(super) fn head(&self) -> u64 {
        self.tables.peek(RUN).map_or(0, |(run, _)| run.head)
    }

    /// The event after `sequence`.
    fn event_after(&self, sequence: u64) -> Option<String> {
        self.tables.peek(RUN).and_then(|(_, events)| events.get(&(sequence + 1))).map(|event| event.event_type.clone())
    }

    pub(super) fn events(&self) -> Vec<EventRow> {
        self.tables.peek(RUN).map_or(Vec::new(), |(_, events)| events.values().cloned().collect())
    }

    /// Does a step; what it came to, in a word.
    pub(super) fn take(&mut self, step: &Step) -> String {
        self.answer = None;
        let head = self.head();
        match *step {
            Step::Claim { worker, lost } => return self.claim(worker, lost),
            Step::Work { worker, call, lost } => {
                let Worker::Has { token, .. } = self.workers[worker] else { unreachable!() };
                let number = self.number(call);
                let answer = self.work(token, call, number);
                match call {
                    WorkerCall::Append => self.left.appends -= 1,
                    WorkerCall::Admit => self.left.admissions -= 1,
                    WorkerCall::Release => self.left.releases -= 1,
                    WorkerCall::Suspend => self.left.suspends -= 1,
                    _ => {}
                }
                self.left.lost -= u8::from(lost);
                let over = answer.is_err() || !matches!(call, WorkerCall::Heartbeat | WorkerCall::Append | WorkerCall::Admit);
                self.workers[worker] = match lost {
                    true => Worker::Has { token, lost: Some((call, number, answer.clone())) },
                    false if over => Worker::Idle,
                    false => Worker::Has { token, lost: None },
                };
                self.answer = Some(answer);
            }
            Step::WorkAgain { worker } => {
                let Worker::Has { token, lost: Some((call, number, _)) } = self.workers[worker].clone() else { unreachable!() };
                let answer = self.work(token, call, number);
                let over = answer.is_err() || !matches!(call, WorkerCall::Heartbeat | WorkerCall::Append | WorkerCall::Admit);
                self.workers[worker] = if over { Worker::Idle } else { Worker::Has { token, lost: None } };
                self.answer = Some(answer);
            }
            Step::Die { worker } => {
                self.left.deaths -= 1;
                self.workers[worker] = Worker::Dead;
            }
            Step::Read { client } => {
                self.clients[client].last_read = self.run().map(|run| (run.revision, run.approval_id));
            }
            Step::Call { client, call, lost } => {
                let last_read = self.clients[client].last_read.clone().unwrap_or_default();
                let number = self.clients[client].calls;
                let answer = self.call(client, call, number, &last_read);
                self.left.lost -= u8::from(lost);
                let state = &mut self.clients[client];
                if call == ClientCall::Create {
                    state.created = true;
                } else {
                    state.calls += 1;
                }
                state.lost = lost.then(|| (call, number, last_read, answer.clone()));
                self.answer = Some(answer);
            }
            Step::CallAgain { client } => {
                let Some((call, number, last_read, _)) = self.clients[client].lost.take() else { unreachable!() };
                self.answer = Some(self.call(client, call, number, &last_read));
                return "repeated".into();
            }
            Step::LeaseEnds => {
                self.left.lease_ends -= 1;
                self.now = self.run().and_then(|run| run.ready_at).unwrap_or(self.now);
            }
            Step::DeadlinePasses => {
                self.left.deadline = false;
                self.now = self.now.max(DEADLINE);
            }
            Step::Timer => {
                let run = self.run();
                execute(&mut self.tables.session(self.now), &rules(), run, &Command::TimeOut, &mut Notifications::new())
                    .unwrap()
                    .unwrap();
                self.shadow.holder = None;
            }
        }
        match (&self.answer, self.event_after(head)) {
            (Some(Err(reason)), _) => reason.clone(),
            (_, Some(event)) => event,
            _ => self.run().map_or("nothing", |run| run.status.name()).to_owned(),
        }
    }
}

pub(super) fn token_digest(token: u8) -> Digest {
    [token; 32]
}

pub(super) fn batches(world: &World) -> Vec<BatchRow> {
    let mut tables = world.tables.clone();
    let mut session = tables.session(world.now);
    let Some(run) = session.run(RUN).unwrap() else { return Vec::new() };
    (1..=world.shadow.calls).filter_map(|number| session.batch(run.id, &format!("{number}")).unwrap()).collect()
}
