//! A small world: one run, who acts on it, and what they remember. Everything that happens is a step, and the store is the
//! memory store's tables with the real rules.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::protocol::{HostError, Operation, Resolution};
use crate::runs::command::{Command, End, Held, NewRun, Reply, Retry, Target};
use crate::runs::decide::Rules;
use crate::runs::job::{Work, execute};
use crate::runs::refuse::Reason;
use crate::store::memory::Tables;
use crate::store::{BatchRow, Digest, EventRow, KeyScope, Reader, RunRow, Transaction};

pub(super) const RUN: &str = "run";
pub(super) const LEASE: i64 = 10;
pub(super) const DEADLINE: i64 = 1000;

/// How often something may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Budget {
    pub(super) lost: u8,
    pub(super) deaths: u8,
    pub(super) lease_ends: u8,
    pub(super) deadline: bool,
    /// Mutations of each client beside create.
    pub(super) mutations: u8,
    /// Claims of each worker.
    pub(super) claims: u8,
    pub(super) appends: u8,
    pub(super) admissions: u8,
    pub(super) releases: u8,
    pub(super) suspends: u8,
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

    pub(super) const SMALL: [Budget; 5] = [
        // Losses and deaths around one approval.
        Budget { claims: 1, mutations: 1, ..Budget::BASE },
        // The deadline, against everybody.
        Budget { lost: 0, deaths: 0, deadline: true, mutations: 1, claims: 1, ..Budget::BASE },
        // What a worker tells, and its lost answers.
        Budget { deaths: 0, mutations: 0, suspends: 0, appends: 1, admissions: 1, claims: 1, ..Budget::BASE },
        // Takeovers up to the last attempt.
        Budget { lost: 0, deaths: 0, lease_ends: 3, mutations: 0, suspends: 0, releases: 1, ..Budget::BASE },
        // Resumes, and the reclaim of a resumed run.
        Budget { lost: 0, deaths: 0, claims: 1, ..Budget::BASE },
    ];

    pub(super) const LARGE: [Budget; 3] = [
        Budget { mutations: 1, ..Budget::BASE },
        Budget { claims: 1, deaths: 0, ..Budget::BASE },
        Budget { deadline: true, mutations: 1, appends: 1, admissions: 1, claims: 1, deaths: 0, lease_ends: 0, ..Budget::BASE },
    ];
}

/// What a worker does with a run that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum WorkerCall {
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
pub(super) enum ClientCall {
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
pub(super) enum Step {
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
    /// The timer looks.
    Timer,
}

/// What a client has read of the run: its revision, and its approval's id.
pub(super) type Seen = (u64, Option<String>);

/// An answer, as it can be compared.
pub(super) type Answer = Result<Reply, String>;

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Worker {
    Idle,
    Has { token: u8, lost: Option<(WorkerCall, u8, Answer)> },
    Dead,
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Client {
    created: bool,
    pub(super) seen: Option<Seen>,
    calls: u8,
    pub(super) lost: Option<(ClientCall, u8, Seen, Answer)>,
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
    pub(super) answer: Option<Answer>,
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
    Rules { max_takeovers: 2, key_ttl_ms: i64::MAX, access: None }
}

fn name(refusal: &HostError<'_>) -> String {
    Reason::of(refusal).map_or(refusal.code.name(), Reason::name).to_owned()
}

impl World {
    pub(super) fn new(left: Budget) -> World {
        let client = Client { created: false, seen: None, calls: 0, lost: None };
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

    /// Everything that can happen now.
    pub(super) fn steps(&self) -> Vec<Step> {
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
                if state.seen.is_some() {
                    [ClientCall::Cancel, ClientCall::Approve, ClientCall::Deny, ClientCall::Resume]
                        .into_iter()
                        .for_each(&mut call);
                }
                if state.seen.as_ref().is_some_and(|(_, approval)| approval.is_some()) {
                    call(ClientCall::ApproveAnother);
                }
                let now = run.as_ref().map(|run| (run.revision, run.approval_id.clone()));
                if now != state.seen {
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
                self.clients[client].seen = self.run().map(|run| (run.revision, run.approval_id));
            }
            Step::Call { client, call, lost } => {
                let seen = self.clients[client].seen.clone().unwrap_or_default();
                let number = self.clients[client].calls;
                let answer = self.call(client, call, number, &seen);
                self.left.lost -= u8::from(lost);
                let state = &mut self.clients[client];
                if call == ClientCall::Create {
                    state.created = true;
                } else {
                    state.calls += 1;
                }
                state.lost = lost.then(|| (call, number, seen, answer.clone()));
                self.answer = Some(answer);
            }
            Step::CallAgain { client } => {
                let Some((call, number, seen, _)) = self.clients[client].lost.take() else { unreachable!() };
                self.answer = Some(self.call(client, call, number, &seen));
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
                execute(&mut self.tables.session(self.now), &rules(), run, &Command::TimeOut, &mut Vec::new()).unwrap().unwrap();
                self.shadow.holder = None;
            }
        }
        match (&self.answer, self.event_after(head)) {
            (Some(Err(reason)), _) => reason.clone(),
            (_, Some(event)) => event,
            _ => self.run().map_or("nothing", |run| run.status.name()).to_owned(),
        }
    }

    /// What makes a call another than those before: not needed where a repetition changes nothing.
    fn number(&mut self, call: WorkerCall) -> u8 {
        if matches!(call, WorkerCall::Append | WorkerCall::Admit) {
            self.shadow.calls += 1;
            self.shadow.calls
        } else {
            0
        }
    }

    fn claim(&mut self, worker: usize, lost: bool) -> String {
        self.claims[worker] += 1;
        self.left.lost -= u8::from(lost);
        let token = self.shadow.tokens + 1;
        let head = self.head();
        let command = Command::Claim { claim: token_digest(token), worker: String::new(), lease_ms: LEASE };
        let mut session = self.tables.session(self.now);
        let run = session.next_ready("").unwrap().filter(|run| run.ready_at.is_some_and(|ready_at| ready_at <= self.now));
        let Some(run) = run else { return "nothing to claim".into() };
        let reply = execute(&mut session, &rules(), Some(run), &command, &mut Vec::new()).unwrap().unwrap();
        if matches!(reply, Reply::Claimed { .. }) {
            self.shadow.tokens = token;
            self.shadow.holder = Some(token);
            if !lost {
                self.workers[worker] = Worker::Has { token, lost: None };
            }
        } else {
            self.shadow.holder = None;
        }
        self.answer = Some(Ok(reply));
        self.event_after(head).unwrap_or("running".into())
    }

    fn work(&mut self, token: u8, call: WorkerCall, number: u8) -> Answer {
        let held = Held { run_id: RUN.into(), claim: token_digest(token) };
        let end = |held, fingerprint: u8, end| Command::End { held, fingerprint: [fingerprint; 32], end };
        let command = match call {
            WorkerCall::Heartbeat => Command::Heartbeat { held },
            WorkerCall::Append => {
                let event = EventRow {
                    sequence: 0,
                    at: 0,
                    status: crate::protocol::RunStatus::Running,
                    event_type: format!("own {number}"),
                    step_id: String::new(),
                    tool_call_id: String::new(),
                    data: "{}".into(),
                    metadata: "{}".into(),
                };
                Command::Append { held, events: vec![event.clone(), event], key: Some((format!("{number}"), [number; 32])) }
            }
            WorkerCall::Admit => Command::Admit {
                held,
                step_id: String::new(),
                tool_call_id: format!("call {number}"),
                tool_name: "tool".into(),
                key: format!("{number}"),
                outcome: "1".into(),
            },
            WorkerCall::Release => Command::Release { held, delay_ms: 0 },
            WorkerCall::Suspend => {
                self.shadow.suspends += 1;
                let end_suspend = End::Suspend {
                    // A retry makes a new id, as a library that has lost the answer would.
                    approval_id: format!("approval {}", self.shadow.suspends),
                    tool_call_id: "call".into(),
                    tool_name: "tool".into(),
                    reason: String::new(),
                    metadata: Vec::new(),
                    continuation: "null".into(),
                };
                end(held, number, end_suspend)
            }
            WorkerCall::Complete => end(held, number, End::Complete { result: "1".into() }),
            WorkerCall::Fail => end(held, number, End::Fail { error: "no".into() }),
        };
        let before = self.revision();
        let reply = Work::run(&command, &mut self.tables.session(self.now), &rules(), &mut Vec::new()).unwrap();
        let ended = before != self.revision();
        if ended || (reply.is_ok() && call == WorkerCall::Release) {
            self.shadow.holder = None;
        }
        if reply.is_ok() && matches!(call, WorkerCall::Suspend | WorkerCall::Complete | WorkerCall::Fail) {
            self.shadow.last_ender = Some(token);
        }
        reply.map_err(|refusal| name(&refusal))
    }

    fn call(&mut self, client: usize, call: ClientCall, number: u8, seen: &Seen) -> Answer {
        let target = Target { run_id: RUN.into(), expected_revision: seen.0 };
        let approval_id = seen.1.clone().unwrap_or_else(|| "no approval".into());
        let retry = |operation: Operation, key: String| {
            let mut fingerprint = [0; 32];
            (fingerprint[0], fingerprint[1], fingerprint[2]) = (call as u8, seen.0 as u8, number);
            Retry { scope: KeyScope::new("", operation, key), fingerprint }
        };
        let key = format!("{client} {number}");
        let command = match call {
            // Both clients submit the same run with the same key.
            ClientCall::Create => {
                let (context, input, metadata) = ("{}".to_owned(), "{}".to_owned(), "{}".to_owned());
                let run =
                    NewRun { run_id: RUN.into(), agent_id: String::new(), deadline: Some(DEADLINE), context, input, metadata };
                Command::Create { retry: Retry { fingerprint: [9; 32], ..retry(Operation::CreateRun, "create".into()) }, run }
            }
            ClientCall::Cancel => Command::Cancel { retry: retry(Operation::CancelRun, key), target, reason: "stop".into() },
            ClientCall::Approve | ClientCall::ApproveAnother | ClientCall::Deny => Command::Resolve {
                retry: retry(Operation::ResolveApproval, key),
                target,
                approval_id: if call == ClientCall::ApproveAnother { "another".into() } else { approval_id },
                resolution: if call == ClientCall::Deny { Resolution::Denied } else { Resolution::Approved },
                reason: String::new(),
                metadata: Vec::new(),
            },
            ClientCall::Resume => Command::Resume {
                retry: retry(Operation::ResumeRun, key),
                target,
                approval_id,
                input: "{}".into(),
                input_fingerprint: [1; 32],
            },
        };
        let before = self.revision();
        let reply = Work::run(&command, &mut self.tables.session(self.now), &rules(), &mut Vec::new()).unwrap();
        if before != self.revision() {
            self.shadow.holder = None;
        }
        reply.map_err(|refusal| name(&refusal))
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
