//! How calls are made: as commands, by the real rules, over the memory store's tables.

use super::{CallResult, ClientCall, DEADLINE, LEASE, LastRead, RUN, Worker, WorkerCall, World, name, rules, token_digest};
use crate::protocol::{Operation, Resolution};
use crate::runs::command::{ClaimHolder, Command, CommandOutput, End, NewApproval, NewRun, Retry, Target};
use crate::runs::work::{Notifications, Work, execute};
use crate::store::{EventRow, KeyScope, OnDenied, Reader};

impl World {
    /// What makes a call another than those before: not needed where a repetition changes nothing.
    pub(super) fn number(&mut self, call: WorkerCall) -> u8 {
        if matches!(call, WorkerCall::Append | WorkerCall::Admit) {
            self.shadow.calls += 1;
            self.shadow.calls
        } else {
            0
        }
    }

    pub(super) fn claim(&mut self, worker: usize, lost: bool) -> String {
        self.claims[worker] += 1;
        self.left.lost -= u8::from(lost);
        let token = self.shadow.tokens + 1;
        let head = self.head();
        let command = Command::Claim { claim: token_digest(token), worker: String::new(), lease_ms: LEASE };
        let mut session = self.tables.session(self.now);
        let run = session.next_ready("").unwrap().filter(|run| run.ready_at.is_some_and(|ready_at| ready_at <= self.now));
        let Some(run) = run else { return "nothing to claim".into() };
        let reply = execute(&mut session, &rules(), Some(run), &command, &mut Notifications::new()).unwrap().unwrap();
        if matches!(reply, CommandOutput::Claimed { .. }) {
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

    pub(super) fn work(&mut self, token: u8, call: WorkerCall, number: u8) -> CallResult {
        let holder = ClaimHolder { run_id: RUN.into(), claim: token_digest(token) };
        let end = |holder, fingerprint: u8, end| Command::End { holder, fingerprint: [fingerprint; 32], end };
        let command = match call {
            WorkerCall::Heartbeat => Command::Heartbeat { holder },
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
                Command::Append { holder, events: vec![event.clone(), event], key: Some((format!("{number}"), [number; 32])) }
            }
            WorkerCall::Admit => Command::Admit {
                holder,
                step_id: String::new(),
                tool_call_id: format!("call {number}"),
                tool_name: "tool".into(),
                key: format!("{number}"),
                outcome: "1".into(),
            },
            WorkerCall::Release => Command::Release { holder, delay_ms: 0 },
            WorkerCall::Suspend => {
                self.shadow.suspends += 1;
                let end_suspend = End::Suspend {
                    approvals: vec![NewApproval {
                        // A retry makes a new id, as a library that has lost the answer would.
                        approval_id: format!("approval {}", self.shadow.suspends),
                        tool_call_id: "call".into(),
                        tool_name: "tool".into(),
                        reason: String::new(),
                        metadata: Vec::new(),
                        arguments: None,
                        expires_at: None,
                        on_denied: OnDenied::Fail,
                        approvers: Vec::new(),
                        not_owner: false,
                    }],
                    auto_resume: false,
                    continuation: "null".into(),
                };
                end(holder, number, end_suspend)
            }
            WorkerCall::Complete => end(holder, number, End::Complete { result: "1".into() }),
            WorkerCall::Fail => end(holder, number, End::Fail { error: "no".into() }),
        };
        let before = self.revision();
        let reply = Work::run(&command, &mut self.tables.session(self.now), &rules(), &mut Notifications::new()).unwrap();
        let ended = before != self.revision();
        if ended || (reply.is_ok() && call == WorkerCall::Release) {
            self.shadow.holder = None;
        }
        if reply.is_ok() && matches!(call, WorkerCall::Suspend | WorkerCall::Complete | WorkerCall::Fail) {
            self.shadow.last_ender = Some(token);
        }
        reply.map_err(|refusal| name(&refusal))
    }

    pub(super) fn call(&mut self, client: usize, call: ClientCall, number: u8, last_read: &LastRead) -> CallResult {
        let target = Target { run_id: RUN.into(), expected_revision: last_read.0 };
        let approval_id = last_read.1.clone().unwrap_or_else(|| "no approval".into());
        let retry = |operation: Operation, key: String| {
            let mut fingerprint = [0; 32];
            (fingerprint[0], fingerprint[1], fingerprint[2]) = (call as u8, last_read.0 as u8, number);
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
        let reply = Work::run(&command, &mut self.tables.session(self.now), &rules(), &mut Notifications::new()).unwrap();
        if before != self.revision() {
            self.shadow.holder = None;
        }
        reply.map_err(|refusal| name(&refusal))
    }
}
