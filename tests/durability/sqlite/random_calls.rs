//! Random calls of clients and workers on a few runs, each recorded with its outcome. Three processes make them at once.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, SystemTime};

use agenthost::protocol::{ExecutionContext, FreeJson, HostError, Metadata, Operation, Resolution};
use agenthost::runs::{ApprovalRequest, Claim, ClaimRequest, NewEvent, Reason, ResumeMode, Runs, RunsOptions, Suspension};
use agenthost::service::{Answer, Call, CancelRun, CreateRun, GetRun, Request, ResolveApproval, ResumeRun, RunSubmission};
use serde::{Deserialize, Serialize};

use crate::kill::Dice;
use crate::roles;

/// A call and what came of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CallRecord {
    /// Nanoseconds since the Unix epoch.
    pub(crate) begun: u64,
    pub(crate) ended: u64,
    pub(crate) call: String,
    pub(crate) run_id: String,
    /// The idempotency key; empty where there is none.
    pub(crate) key: String,
    /// What was asked, for calls with one key.
    pub(crate) request: String,
    pub(crate) outcome: Outcome,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Outcome {
    /// A run at a revision, in a status.
    At(u64, String),
    /// Events were appended, from a sequence on.
    Appended(u64),
    Done,
    Nothing,
    /// Code, reason, and the current revision where it was given.
    Refused(String, String, u64),
}

/// How many calls each thread makes.
const CALLS: u64 = 240;

/// Makes random calls, and says each as a line.
pub(crate) fn make(path: &Path, name: &str, seed: u64) {
    let runs = Runs::open(&format!("sqlite:{}", path.display()), RunsOptions::default()).expect("the runs open");
    roles::signal_parent();
    roles::wait_for_parent();
    let lines = Arc::new(Mutex::new(Vec::new()));
    let threads: Vec<_> = (0..2)
        .map(|thread| {
            let (runs, lines, name) = (runs.clone(), Arc::clone(&lines), format!("{name}-{thread}"));
            thread::spawn(move || {
                let mut caller = Caller { runs, name, dice: Dice(seed * 10 + thread), claims: Vec::new(), number: 0 };
                for number in 0..CALLS {
                    caller.number = number;
                    let record = caller.call();
                    lines.lock().unwrap().push(serde_json::to_string(&record).unwrap());
                }
                // So that every run can end: whatever is held is given back.
                for claim in caller.claims {
                    let _ = caller.runs.release(&claim, Duration::ZERO).wait();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("a caller ends"));
    lines.lock().unwrap().iter().for_each(|line| println!("{line}"));
}

struct Caller {
    runs: Runs,
    name: String,
    dice: Dice,
    claims: Vec<Claim>,
    number: u64,
}

fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock after 1970").as_nanos() as u64
}

fn json(text: &str) -> FreeJson<'static> {
    FreeJson::new(text.to_owned()).expect("it is JSON")
}

impl Caller {
    fn call(&mut self) -> CallRecord {
        // Six runs at a time; all callers move on to the next six at about the same call.
        let run_id = format!("run-{}", self.number / 60 * 6 + self.dice.below(6));
        match self.dice.below(12) {
            0 | 1 => self.create(run_id),
            2 => self.get(run_id),
            3 => self.cancel(run_id),
            4 => self.resolve(run_id),
            5 | 6 => self.resume(run_id),
            7 | 8 => self.claim(),
            _ => self.work(),
        }
    }

    /// Makes a client's call, and records it.
    fn ask(&mut self, operation: Operation, key: String, request: Request<'_>, asked: String) -> CallRecord {
        let call = Call {
            operation,
            request_id: "request".into(),
            idempotency_key: key.as_str().into(),
            metadata: Metadata::new(),
            principal: None,
        };
        let begun = now();
        let outcome = match self.runs.serve(&call, &request).wait() {
            Ok(Answer::Submission(submission)) => at(&submission),
            Ok(Answer::Run(view)) => Outcome::At(view.revision, view.status.name().to_owned()),
            Ok(other) => panic!("{other:?}"),
            Err(error) => refused(&error),
        };
        let run_id = request.run_id().to_owned();
        CallRecord { begun, ended: now(), call: operation.name().to_owned(), run_id, key, request: asked, outcome }
    }

    /// A key that only this call has, or one of a few that others may have too.
    fn key(&mut self, operation: &str, run_id: &str) -> String {
        match self.dice.below(3) {
            0 => format!("{operation}-{run_id}-{}", self.dice.below(2)),
            _ => format!("{}-{}", self.name, self.number),
        }
    }

    fn view(&self, run_id: &str) -> Option<agenthost::service::RunView<'static>> {
        let call = Call {
            operation: Operation::GetRun,
            request_id: "read".into(),
            idempotency_key: "".into(),
            metadata: Metadata::new(),
            principal: None,
        };
        match self.runs.serve(&call, &Request::GetRun(GetRun { run_id: run_id.into() })).wait() {
            Ok(Answer::Run(view)) => Some(view),
            _ => None,
        }
    }

    fn create(&mut self, run_id: String) -> CallRecord {
        let key = self.key("create", &run_id);
        let input = self.dice.below(4) / 3;
        let context =
            ExecutionContext { run_id: run_id.as_str().into(), agent_id: "agent".into(), ..ExecutionContext::default() };
        let request = CreateRun { context, input: json(&input.to_string()), metadata: Metadata::new() };
        self.ask(Operation::CreateRun, key, Request::CreateRun(request), format!("{run_id} {input}"))
    }

    fn get(&mut self, run_id: String) -> CallRecord {
        self.ask(Operation::GetRun, String::new(), Request::GetRun(GetRun { run_id: run_id.into() }), String::new())
    }

    /// The run's revision, or one that it had or never had.
    fn expected(&mut self, current: u64) -> u64 {
        match self.dice.below(5) {
            0 => (current + self.dice.below(3)).saturating_sub(1).max(1),
            _ => current,
        }
    }

    fn cancel(&mut self, run_id: String) -> CallRecord {
        let current = self.view(&run_id).map_or(1, |view| view.revision);
        // Seldom at first, or no run comes far.
        if current < 4 && self.dice.below(4) != 0 {
            return self.get(run_id);
        }
        let (key, expected_revision) = (self.key("cancel", &run_id), self.expected(current));
        let request = CancelRun { run_id: run_id.as_str().into(), expected_revision, reason: "enough".into() };
        self.ask(Operation::CancelRun, key, Request::CancelRun(request), format!("{run_id} {expected_revision}"))
    }

    fn resolve(&mut self, run_id: String) -> CallRecord {
        let Some((current, approval)) = self.view(&run_id).and_then(|view| Some((view.revision, view.approval?))) else {
            return self.get(run_id);
        };
        let (key, expected_revision) = (self.key("resolve", &run_id), self.expected(current));
        let resolution = if self.dice.below(5) == 0 { Resolution::Denied } else { Resolution::Approved };
        let asked = format!("{run_id} {expected_revision} {} {}", approval.approval_id, resolution.name());
        let request = ResolveApproval {
            run_id: run_id.as_str().into(),
            expected_revision,
            approval_id: approval.approval_id,
            resolution,
            reason: "".into(),
            metadata: Metadata::new(),
        };
        self.ask(Operation::ResolveApproval, key, Request::ResolveApproval(request), asked)
    }

    fn resume(&mut self, run_id: String) -> CallRecord {
        let Some((current, approval)) = self.view(&run_id).and_then(|view| Some((view.revision, view.approval?))) else {
            return self.create(run_id);
        };
        let (key, expected_revision) = (self.key("resume", &run_id), self.expected(current));
        let asked = format!("{run_id} {expected_revision} {}", approval.approval_id);
        let request = ResumeRun {
            run_id: run_id.as_str().into(),
            expected_revision,
            approval_id: approval.approval_id,
            input: json("{\"go\":\"on\"}"),
        };
        self.ask(Operation::ResumeRun, key, Request::ResumeRun(request), asked)
    }

    fn claim(&mut self) -> CallRecord {
        // Some leases end before the worker is done, so that others take over.
        let lease = [3, 3, 10_000][self.dice.below(3) as usize];
        let request = ClaimRequest {
            agent_ids: vec!["agent".to_owned()],
            worker: self.name.clone(),
            lease: Some(Duration::from_millis(lease)),
        };
        let begun = now();
        let claimed = self.runs.claim(&request).wait();
        let ended = now();
        let (run_id, outcome) = match claimed {
            Ok(None) => (String::new(), Outcome::Nothing),
            Ok(Some(claimed)) => {
                self.claims.push(claimed.claim.clone());
                (claimed.claim.run_id, Outcome::At(claimed.revision, "running".to_owned()))
            }
            Err(error) => (String::new(), refused(&error)),
        };
        CallRecord { begun, ended, call: "claim".to_owned(), run_id, key: String::new(), request: String::new(), outcome }
    }

    /// A call with one of the claims that this worker has, or had.
    fn work(&mut self) -> CallRecord {
        if self.claims.is_empty() {
            return self.claim();
        }
        let index = self.dice.below(self.claims.len() as u64) as usize;
        let claim = self.claims[index].clone();
        let name = format!("{}-{}", self.name, self.number);
        let (call, begun) = (self.dice.below(10), now());
        let (call, outcome) = match call {
            0..=3 => {
                let event = [NewEvent::new("note", json(&format!("{name:?}")))];
                let first = self.runs.append_events(&claim, &event, Some(&name)).wait();
                let again = self.runs.append_events(&claim, &event, Some(&name)).wait();
                if let (Ok(first), Ok(again)) = (&first, &again) {
                    assert_eq!(first.first_sequence, again.first_sequence, "a retry stored the event again");
                }
                ("append", first.map_or_else(|error| refused(&error), |appended| Outcome::Appended(appended.first_sequence)))
            }
            4 => ("heartbeat", self.runs.heartbeat(&claim).wait().map_or_else(|error| refused(&error), |_| Outcome::Done)),
            5 => {
                self.claims.remove(index);
                let released = self.runs.release(&claim, Duration::ZERO).wait();
                ("release", released.map_or_else(|error| refused(&error), |()| Outcome::Done))
            }
            6..=8 => {
                self.claims.remove(index);
                let approvals = vec![ApprovalRequest::new("call", "tool")];
                let suspension = Suspension { approvals, continuation: json("[1]"), resume: ResumeMode::Explicit };
                let suspended = self.runs.suspend(&claim, suspension).wait();
                ("suspend", suspended.map_or_else(|error| refused(&error), |suspended| at(&suspended.submission)))
            }
            _ => {
                self.claims.remove(index);
                let completed = self.runs.complete(&claim, json("\"done\"")).wait();
                ("complete", completed.map_or_else(|error| refused(&error), |submission| at(&submission)))
            }
        };
        CallRecord {
            begun,
            ended: now(),
            call: call.to_owned(),
            run_id: claim.run_id,
            key: String::new(),
            request: name,
            outcome,
        }
    }
}

fn at(submission: &RunSubmission<'_>) -> Outcome {
    Outcome::At(submission.revision, submission.status.name().to_owned())
}

fn refused(error: &HostError<'_>) -> Outcome {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Details {
        #[serde(default)]
        current_revision: u64,
    }
    let current = error.details.parse().map_or(0, |details: Details| details.current_revision);
    let reason = Reason::of(error).map_or("", Reason::name);
    Outcome::Refused(error.code.name().to_owned(), reason.to_owned(), current)
}
