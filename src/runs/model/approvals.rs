//! Every interleaving around one suspension of two approvals: one that ends the run when it is denied, for one approver and four
//! eyes; one that lets the run go on and expires. An owner, an approver, a stranger and an embedded caller decide, resume and cancel,
//! with lost answers, retries by others, a worker that dies, timers, a deadline; explicit and automatic resume.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::protocol::{Operation, Resolution, RunStatus};
use crate::runs::access::AccessRule;
use crate::runs::command::{ClaimHolder, Command, CommandOutput, End, NewApproval, NewRun, Retry, Target};
use crate::runs::decide::Rules;
use crate::runs::refuse::{Reason, Refusal};
use crate::runs::work::{Notifications, Work, execute};
use crate::store::memory::Tables;
use crate::store::{ApprovalRow, EventRow, KeyScope, OnDenied, Reader, RunRow, SuspensionState};

const RUN: &str = "run";
const OWNER: &str = "ann";
const APPROVER: &str = "bob";
const STRANGER: &str = "eve";
const NOBODY: &str = "";
const LEASE: i64 = 10;
const EXPIRY: i64 = 100;
const DEADLINE: i64 = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Budget {
    auto: bool,
    /// Decisions, resumes and cancels altogether.
    calls: u8,
    /// Answers that are lost; the call is then repeated, by whoever made it and by somebody else.
    lost: u8,
    claims: u8,
    /// How often a worker that dies leaves its lease to end.
    lease_ends: u8,
    expiry: bool,
    deadline: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Call {
    Resolve(u8, Resolution),
    Resume(u8),
    Cancel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Claim,
    Suspend {
        lost: bool,
    },
    SuspendAgain,
    Complete,
    Call {
        caller: &'static str,
        call: Call,
        stale: bool,
        lost: bool,
    },
    /// The call whose answer was lost, again: by its caller, or with the same key by another.
    CallAgain {
        caller: &'static str,
    },
    LeaseEnds,
    ExpiryPasses,
    DeadlinePasses,
    Timer,
}

type Answer = Result<CommandOutput, String>;

#[derive(Clone)]
struct World {
    tables: Tables,
    now: i64,
    left: Budget,
    tokens: u8,
    holder: Option<u8>,
    suspended_by: Option<(u8, Option<Answer>)>,
    suspended_at: u64,
    keys: u8,
    lost: Option<(&'static str, Call, u64, u8, Answer)>,
    /// What callers were answered: which approval, how, and by whom it was decided.
    answered: BTreeMap<u8, (Resolution, &'static str)>,
    answer: Option<Answer>,
}

impl Hash for World {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.now, self.left, self.tokens, self.holder, &self.suspended_by, self.keys, &self.lost, &self.answered).hash(state);
        self.tables.peek(RUN).hash(state);
        self.approvals().hash(state);
    }
}

fn rules() -> Rules {
    Rules { max_takeovers: 5, key_ttl_ms: i64::MAX, access: AccessRule::default() }
}

fn name(refusal: &Refusal) -> String {
    Reason::of(refusal).map_or(refusal.code.name(), Reason::name).to_owned()
}

fn digest(world: &World) -> u64 {
    let mut hasher = DefaultHasher::new();
    world.hash(&mut hasher);
    hasher.finish()
}

fn id(approval: u8) -> String {
    format!("approval {approval}")
}

impl World {
    fn new(left: Budget) -> World {
        let mut tables = Tables::default();
        let run = NewRun {
            run_id: RUN.into(),
            agent_id: String::new(),
            deadline: Some(DEADLINE),
            context: "{}".into(),
            input: "{}".into(),
            metadata: "{}".into(),
        };
        let retry = Retry { scope: KeyScope::new(OWNER, Operation::CreateRun, "create"), fingerprint: [0; 32] };
        Work::run(&Command::Create { retry, run }, &mut tables.session(0), &rules(), &mut Notifications::new()).unwrap().unwrap();
        World {
            tables,
            now: 0,
            left,
            tokens: 0,
            holder: None,
            suspended_by: None,
            suspended_at: 0,
            keys: 0,
            lost: None,
            answered: BTreeMap::new(),
            answer: None,
        }
    }

    fn run(&self) -> RunRow {
        self.tables.peek(RUN).unwrap().0.clone()
    }

    fn events(&self) -> Vec<EventRow> {
        self.tables.peek(RUN).unwrap().1.values().cloned().collect()
    }

    fn approvals(&self) -> Vec<ApprovalRow> {
        self.tables.peek_approvals(RUN)
    }

    fn steps(&self) -> Vec<Step> {
        let (run, mut steps) = (self.run(), Vec::new());
        let lost: &[bool] = if self.left.lost > 0 { &[false, true] } else { &[false] };
        if self.left.claims > 0 && run.ready_at.is_some_and(|ready_at| ready_at <= self.now) {
            steps.push(Step::Claim);
        }
        if self.holder.is_some() {
            steps.push(Step::Complete);
            if run.first_approval == 0 {
                steps.extend(lost.iter().map(|&lost| Step::Suspend { lost }));
            }
            if self.left.lease_ends > 0 && run.ready_at.is_some_and(|ends| ends > self.now) {
                steps.push(Step::LeaseEnds);
            }
        }
        if matches!(self.suspended_by, Some((_, Some(_)))) {
            steps.push(Step::SuspendAgain);
        }
        if let Some((caller, ..)) = &self.lost {
            steps.push(Step::CallAgain { caller });
            steps
                .extend([OWNER, APPROVER].iter().filter(|other| *other != caller).map(|other| Step::CallAgain { caller: other }));
        } else if self.left.calls > 0 && run.first_approval > 0 {
            let mut calls = vec![Call::Cancel];
            for approval in [0, 1] {
                calls.extend([Call::Resolve(approval, Resolution::Approved), Call::Resolve(approval, Resolution::Denied)]);
                calls.push(Call::Resume(approval));
            }
            for caller in [OWNER, APPROVER, STRANGER, NOBODY] {
                for &call in &calls {
                    steps.extend(lost.iter().map(|&lost| Step::Call { caller, call, stale: false, lost }));
                    if caller == OWNER && run.revision != self.suspended_at {
                        steps.push(Step::Call { caller, call, stale: true, lost: false });
                    }
                }
            }
        }
        if self.left.expiry && run.first_approval > 0 {
            steps.push(Step::ExpiryPasses);
        }
        if self.left.deadline {
            steps.push(Step::DeadlinePasses);
        }
        if [run.deadline, run.approval_expiry].into_iter().flatten().any(|at| at <= self.now) {
            steps.push(Step::Timer);
        }
        steps
    }

    fn write(&mut self, command: &Command) -> Answer {
        let reply = Work::run(command, &mut self.tables.session(self.now), &rules(), &mut Notifications::new()).unwrap();
        reply.map_err(|refusal| name(&refusal))
    }

    fn end(&mut self, token: u8, end: End) -> Answer {
        let holder = ClaimHolder { run_id: RUN.into(), claim: [token; 32] };
        self.write(&Command::End { holder, fingerprint: [7; 32], end })
    }

    fn suspend(&mut self, token: u8) -> Answer {
        let approval = |number, on_denied, expires_at, approvers: &[&str], not_owner| NewApproval {
            approval_id: id(number),
            tool_call_id: format!("call {number}"),
            tool_name: "tool".into(),
            reason: String::new(),
            metadata: Vec::new(),
            arguments: Some(format!("{number}")),
            expires_at,
            on_denied,
            approvers: approvers.iter().map(|name| (*name).to_owned()).collect(),
            not_owner,
        };
        let approvals = vec![
            approval(0, OnDenied::Fail, None, &[APPROVER, OWNER], true),
            approval(1, OnDenied::Resume, Some(EXPIRY), &[], false),
        ];
        self.end(token, End::Suspend { approvals, continuation: "null".into(), auto_resume: self.left.auto })
    }

    fn call(&mut self, caller: &'static str, call: Call, expected_revision: u64, key: u8) -> Answer {
        let mut fingerprint = [0; 32];
        (fingerprint[0], fingerprint[1]) = (expected_revision as u8, digest_of(&call));
        let target = Target { run_id: RUN.into(), expected_revision };
        let retry = |operation| Retry { scope: KeyScope::new(caller, operation, format!("{key}")), fingerprint };
        let command = match call {
            Call::Resolve(approval, resolution) => Command::Resolve {
                retry: retry(Operation::ResolveApproval),
                target,
                approval_id: id(approval),
                resolution,
                reason: String::new(),
                metadata: Vec::new(),
            },
            Call::Resume(approval) => Command::Resume {
                retry: retry(Operation::ResumeRun),
                target,
                approval_id: id(approval),
                input: "{}".into(),
                input_fingerprint: crate::runs::fingerprint::empty_input(),
            },
            Call::Cancel => Command::Cancel { retry: retry(Operation::CancelRun), target, reason: "stop".into() },
        };
        let before = self.run().epoch;
        let answer = self.write(&command);
        if let (Ok(_), Call::Resolve(approval, resolution)) = (&answer, call) {
            self.answered.entry(approval).or_insert((resolution, caller));
        }
        let run = self.run();
        if run.epoch != before || run.status.is_terminal() {
            self.holder = None;
        }
        answer
    }

    fn take(&mut self, step: Step) -> String {
        self.answer = None;
        match step {
            Step::Claim => {
                self.left.claims -= 1;
                let claim = Command::Claim { claim: [self.tokens + 1; 32], worker: String::new(), lease_ms: LEASE };
                let mut session = self.tables.session(self.now);
                let run = session.next_ready("").unwrap();
                let reply = execute(&mut session, &rules(), run, &claim, &mut Notifications::new()).unwrap().unwrap();
                self.holder = None;
                if matches!(reply, CommandOutput::Claimed { .. }) {
                    self.tokens += 1;
                    self.holder = Some(self.tokens);
                }
                self.answer = Some(Ok(reply));
            }
            Step::Suspend { lost } => {
                let token = self.holder.take().unwrap();
                let answer = self.suspend(token);
                self.suspended_at = self.run().revision;
                self.left.lost -= u8::from(lost);
                self.suspended_by = Some((token, lost.then(|| answer.clone())));
                self.answer = Some(answer);
            }
            Step::SuspendAgain => {
                let Some((token, Some(_))) = self.suspended_by.clone() else { unreachable!() };
                self.answer = Some(self.suspend(token));
                self.suspended_by = Some((token, None));
            }
            Step::Complete => {
                let token = self.holder.take().unwrap();
                self.answer = Some(self.end(token, End::Complete { result: "1".into() }));
            }
            Step::Call { caller, call, stale, lost } => {
                self.left.calls -= 1;
                self.left.lost -= u8::from(lost);
                self.keys += 1;
                let revision = if stale { self.suspended_at } else { self.run().revision };
                let answer = self.call(caller, call, revision, self.keys);
                self.lost = lost.then(|| (caller, call, revision, self.keys, answer.clone()));
                self.answer = Some(answer);
            }
            Step::CallAgain { caller } => {
                let Some((_, call, revision, key, _)) = self.lost.take() else { unreachable!() };
                self.answer = Some(self.call(caller, call, revision, key));
            }
            Step::LeaseEnds => {
                self.left.lease_ends -= 1;
                self.now = self.run().ready_at.unwrap();
            }
            Step::ExpiryPasses => {
                self.left.expiry = false;
                self.now = self.now.max(EXPIRY);
            }
            Step::DeadlinePasses => {
                self.left.deadline = false;
                self.now = self.now.max(DEADLINE);
            }
            Step::Timer => {
                let run = self.run();
                execute(&mut self.tables.session(self.now), &rules(), Some(run), &Command::TimeOut, &mut Notifications::new())
                    .unwrap()
                    .unwrap();
                if self.run().status.is_terminal() {
                    self.holder = None;
                }
            }
        }
        match &self.answer {
            Some(Err(reason)) => reason.clone(),
            _ => format!("{:?}", self.run().status),
        }
    }
}

fn digest_of(call: &Call) -> u8 {
    match call {
        Call::Resolve(approval, Resolution::Approved) => *approval,
        Call::Resolve(approval, _) => 2 + approval,
        Call::Resume(approval) => 4 + approval,
        Call::Cancel => 6,
    }
}

/// The promises about approvals, on one step.
fn check(before: &World, after: &World, step: Step) {
    let (old, new) = (before.run(), after.run());
    let (rows, events) = (after.approvals(), after.events());
    for row in &rows {
        let was = before.approvals().into_iter().find(|was| was.number == row.number);
        let decided = row.resolution != Resolution::Pending;
        let count = events.iter().filter(|event| is_decision(event) && event.data.contains(&row.approval_id)).count();
        assert_eq!(count, usize::from(decided), "every decision has exactly one event: {step:?}");
        assert_eq!(row.resolved_at.is_some(), decided, "{step:?}");
        assert_eq!(row.open, !decided && !new.status.is_terminal(), "{step:?}");
        let Some(was) = was else { continue };
        if was.resolution != Resolution::Pending {
            assert_eq!(was, *row, "a decision was taken twice: {step:?}");
        } else if decided {
            assert!(!old.status.is_terminal(), "a decision after the end: {step:?}");
            let expired = row.expires_at.is_some_and(|at| at <= after.now);
            assert!(row.resolution == Resolution::Denied || !expired, "a grant after the expiry: {step:?}");
            assert_eq!(row.expired, expired, "{step:?}");
            if expired {
                assert_eq!((row.resolved_at, &row.decided_by, &*row.reason), (Some(EXPIRY), &None, "approval expired"));
            } else {
                let by = row.decided_by.as_deref().unwrap_or(NOBODY);
                let may: &[&str] = if row.approval_id == id(0) { &[APPROVER] } else { &[OWNER, NOBODY] };
                assert!(may.contains(&by), "somebody outside the rule decided: {step:?}");
            }
        }
    }
    let denied = rows.iter().any(|row| row.resolution == Resolution::Denied && row.on_denied == OnDenied::Fail);
    if denied {
        assert_eq!(new.status, RunStatus::Failed, "a denial that ends the run did not: {step:?}");
        assert_eq!(new.suspension, Some(SuspensionState::Denied), "{step:?}");
    }
    if old.status == RunStatus::WaitingForApproval && new.status == RunStatus::Running {
        assert!(rows.iter().all(|row| row.resolution != Resolution::Pending), "resumed while one is pending: {step:?}");
    }
    let waits = new.status == RunStatus::WaitingForApproval;
    let pending = rows.iter().filter(|row| row.open);
    assert_eq!(new.suspension == Some(SuspensionState::Pending) && waits, pending.clone().count() > 0, "{step:?}");
    assert_eq!(new.approval_expiry, pending.filter_map(|row| row.expires_at).min(), "{step:?}");
    if let Some(shown) = &new.approval_id {
        let row = rows.iter().find(|row| row.approval_id == *shown).unwrap();
        let oldest = rows.iter().find(|row| row.resolution == Resolution::Pending);
        assert!(oldest.is_none_or(|oldest| oldest.number == row.number), "the oldest that is pending is shown: {step:?}");
    }
    if waits && rows.iter().all(|row| !row.open) {
        assert!(!before.left.auto, "the last decision did not resume: {step:?}");
    }
    // What callers were told is what is there, and what a claim gets.
    for (approval, (resolution, by)) in &after.answered {
        let row = rows.iter().find(|row| row.approval_id == id(*approval)).unwrap();
        let decided_by = row.decided_by.as_deref().unwrap_or(NOBODY);
        assert_eq!((row.resolution, decided_by), (*resolution, *by), "a decision that was answered is not there: {step:?}");
    }
    if let (Step::Claim, Some(Ok(CommandOutput::Claimed { .. })), true) = (step, &after.answer, new.first_approval > 0) {
        let mut tables = after.tables.clone();
        let claimed = tables.session(after.now).approvals(new.id, new.first_approval..=new.last_approval).unwrap();
        assert_eq!(claimed.len(), 2);
        assert!(claimed.iter().all(|row| row.resolution != Resolution::Pending), "a claim of what is not decided: {step:?}");
    }
    match (step, &after.answer) {
        (Step::CallAgain { caller }, Some(answer)) => {
            let Some((first_caller, call, revision, _, first)) = &before.lost else { unreachable!() };
            if caller == *first_caller {
                if *first != Err("claim_held".to_owned()) && !is_refusal(first) {
                    assert_eq!(answer, first, "a retry gets the first outcome: {step:?}");
                }
            } else if answer.is_ok() {
                assert_eq!(*revision, old.revision, "a replay by another principal: {call:?} {step:?}");
            }
        }
        (Step::SuspendAgain, Some(answer)) => {
            let Some((_, Some(first))) = &before.suspended_by else { unreachable!() };
            let ended_since = new.last.as_ref().is_none_or(|last| last.op != crate::store::WorkerOp::Suspend);
            assert!(answer == first || ended_since, "the retry of a suspend: {step:?} {answer:?}");
        }
        (Step::Call { caller, call, .. }, Some(Ok(_))) => {
            let others = matches!(call, Call::Cancel | Call::Resume(_)) && caller == APPROVER;
            assert!(!others && caller != STRANGER, "somebody outside the rule: {step:?}");
        }
        _ => {}
    }
}

fn is_decision(event: &EventRow) -> bool {
    matches!(&*event.event_type, "approval_granted" | "approval_denied")
}

/// Refusals are not recorded: a retry may be answered otherwise.
fn is_refusal(answer: &Answer) -> bool {
    matches!(answer.as_ref().map_err(String::as_str), Err("forbidden" | "unauthorized" | "not_found"))
}

const SMALL: [Budget; 3] = [
    Budget { auto: true, calls: 3, lost: 0, claims: 2, lease_ends: 0, expiry: true, deadline: false },
    Budget { auto: false, calls: 3, lost: 1, claims: 2, lease_ends: 0, expiry: true, deadline: false },
    Budget { auto: false, calls: 4, lost: 0, claims: 3, lease_ends: 1, expiry: false, deadline: true },
];

const LARGE: [Budget; 3] = [
    Budget { auto: true, calls: 4, lost: 2, claims: 3, lease_ends: 1, expiry: true, deadline: true },
    Budget { auto: false, calls: 4, lost: 2, claims: 3, lease_ends: 1, expiry: true, deadline: true },
    Budget { auto: false, calls: 5, lost: 1, claims: 3, lease_ends: 1, expiry: true, deadline: false },
];

#[test]
fn every_interleaving_of_deciders_keeps_the_promises_about_approvals() {
    let large = std::env::var("AGENTHOST_MODEL").is_ok_and(|size| size == "large");
    let mut coverage: BTreeMap<String, u64> = BTreeMap::new();
    for budget in if large { LARGE } else { SMALL } {
        let first = World::new(budget);
        let mut seen = HashSet::from([digest(&first)]);
        let mut open = vec![first];
        while let Some(world) = open.pop() {
            for step in world.steps() {
                let mut next = world.clone();
                *coverage.entry(next.take(step)).or_default() += 1;
                check(&world, &next, step);
                if seen.insert(digest(&next)) {
                    open.push(next);
                }
            }
        }
        println!("model of approvals: {} states with {budget:?}", seen.len());
    }
    for expected in
        ["forbidden", "unauthorized", "not_found", "revision_mismatch", "invalid_state", "claim_held", "Failed", "Running"]
    {
        assert!(coverage.contains_key(expected), "{expected} was never seen: {coverage:?}");
    }
}
