//! The promises, checked on every step and in every state.

use super::world::{LEASE, RUN, Step, Worker, WorkerCall, World, batches, rules, token_digest};
use crate::protocol::{Operation, Resolution, RunStatus};
use crate::runs::command::{ClaimHolder, Command, CommandOutput, End, Retry, Target};
use crate::runs::work::{Notifications, Work, execute};
use crate::store::{KeyScope, Reader, SuspensionState};

/// What a step may do to a run.
pub(super) fn step(before: &World, after: &World, step: &Step) {
    let (old, new) = (before.run(), after.run());
    let (old_events, new_events) = (before.events(), after.events());
    // Nothing that happened is changed: events are only added, without a gap.
    assert_eq!(new_events[..old_events.len()], old_events, "{step:?}");
    for (index, event) in new_events.iter().enumerate() {
        assert_eq!(event.sequence, index as u64 + 1, "{step:?}");
    }
    let added = &new_events[old_events.len()..];
    let Some(new) = new else { return assert!(old.is_none() && added.is_empty()) };
    assert_eq!(new.head, new_events.len() as u64);
    let changes = added.iter().filter(|event| !event.event_type.starts_with("own") && event.event_type != "tool_result_admitted");
    let was = old.as_ref().map_or(0, |run| run.revision);
    assert_eq!(new.revision, was + changes.count() as u64, "one event for each state change: {step:?}");
    if let Some(old) = &old {
        if old.status.is_terminal() {
            assert_eq!(*old, new, "an ended run changed: {step:?}");
        }
        let mut status = old.status;
        for event in added {
            assert!(may_follow(status, event.status), "{status:?} to {:?}: {step:?}", event.status);
            status = event.status;
        }
        assert_eq!(status, new.status);
        assert!(new.epoch >= old.epoch && new.created_at == old.created_at);
    }
    assert_eq!(new.ready_at.is_none(), new.status.is_terminal() || new.status == RunStatus::WaitingForApproval);
    assert_eq!(new.completed_at.is_some(), new.status.is_terminal());
    assert_eq!(new.deadline.is_none(), new.status.is_terminal());
    assert_eq!(new.claim, after.shadow.holder.map(token_digest), "who has the run: {step:?}");
    once(after);
    answers(before, after, step);
}

fn may_follow(from: RunStatus, to: RunStatus) -> bool {
    use RunStatus::{Cancelled, Completed, Created, Failed, Running, TimedOut, WaitingForApproval};
    matches!(
        (from, to),
        (Created | Running | WaitingForApproval, Cancelled | Failed | TimedOut)
            | (Created, Running)
            | (Running, Running | WaitingForApproval | Completed)
            | (WaitingForApproval, WaitingForApproval | Running)
    )
}

/// Nothing is there twice.
fn once(world: &World) {
    let events = world.events();
    let count = |event_type: &str| events.iter().filter(|event| event.event_type == event_type).count();
    assert!(count("run_created") == 1 && count("run_started") <= 1);
    assert!(count("approval_granted") + count("approval_denied") <= count("approval_required"));
    let ends = ["approval_denied", "run_completed", "run_failed", "run_cancelled", "run_timed_out"];
    let ended = ends.iter().map(|end| count(end)).sum::<usize>();
    assert_eq!(ended, usize::from(world.run().is_some_and(|run| run.status.is_terminal())));
    if ended == 1 {
        assert!(events.last().is_some_and(|last| ends.contains(&&*last.event_type)), "something followed the end");
    }
    for batch in batches(world) {
        assert_eq!(count(&format!("own {}", batch.key)), 2, "a batch has two events, once");
    }
}

/// What a step may be answered.
fn answers(before: &World, after: &World, step: &Step) {
    let Some(answer) = &after.answer else { return };
    match *step {
        Step::Work { worker, .. } | Step::WorkAgain { worker } => {
            let Worker::Has { token, lost } = &before.workers[worker] else { unreachable!() };
            let overdue = before.run().and_then(|run| run.deadline).is_some_and(|deadline| deadline <= before.now);
            let holds = before.shadow.holder == Some(*token) && !overdue;
            let call = match (step, lost) {
                (Step::Work { call, .. }, _) => *call,
                (_, Some((call, ..))) => *call,
                _ => unreachable!(),
            };
            let repeats = lost.as_ref().and_then(|(_, _, first)| first.as_ref().ok());
            let ends = matches!(call, WorkerCall::Suspend | WorkerCall::Complete | WorkerCall::Fail);
            match repeats {
                // The lost call was accepted, and ended the claim: the same answer, until another claim has ended.
                Some(first) if ends => {
                    let expected =
                        if before.shadow.last_ender == Some(*token) { Ok(first.clone()) } else { Err("claim_lost".into()) };
                    assert_eq!(*answer, expected, "{step:?}");
                }
                Some(CommandOutput::Appended { first, last, .. }) if holds => {
                    assert!(matches!(answer, Ok(CommandOutput::Appended { first: f, last: l, .. }) if (f, l) == (first, last)));
                }
                Some(CommandOutput::Admitted { sequence, .. }) if holds => {
                    assert!(matches!(answer, Ok(CommandOutput::Admitted { sequence: s, repeated: true, .. }) if s == sequence));
                }
                // Who holds the run may write, an ended lease or not; nobody else may.
                _ => assert_eq!(answer.is_ok(), holds, "{step:?} {answer:?}"),
            }
            if !holds && repeats.is_none() {
                assert_eq!(*answer, Err("claim_lost".to_owned()), "{step:?}");
            }
        }
        Step::CallAgain { client } => {
            let Some((.., first)) = &before.clients[client].lost else { unreachable!() };
            // Refusals that are not recorded may come out differently later.
            if *first != Err("claim_held".to_owned()) {
                assert_eq!(answer, first, "a retry gets the first outcome");
                assert!(before.run().is_some_and(|run| run.revision <= after.run().unwrap().revision));
            }
        }
        Step::Call { client, call, .. } if call != super::world::ClientCall::Create => {
            let run = after.run().unwrap();
            let last_read = before.clients[client].last_read.clone().unwrap();
            match answer {
                Ok(reply) => {
                    assert_eq!(last_read.0 + 1, run.revision, "a stale revision was accepted: {step:?}");
                    assert_eq!(*reply, CommandOutput::Submission { revision: run.revision, status: run.status });
                }
                Err(reason) if reason == "revision_mismatch" => assert_ne!(last_read.0, run.revision),
                Err(_) => assert_eq!(last_read.0, run.revision),
            }
        }
        _ => {}
    }
}

/// From everywhere there is a way on, whatever the others do: a client can cancel, and a fresh worker and a fresh client can
/// bring the run to its end.
pub(super) fn never_stuck(world: &World) {
    let Some(run) = world.run().filter(|run| !run.status.is_terminal()) else { return };
    if run.deadline.is_some_and(|deadline| deadline <= world.now) {
        let mut overdue = world.tables.clone();
        let mut session = overdue.session(world.now);
        let _ = execute(&mut session, &rules(), Some(run), &Command::TimeOut, &mut Notifications::new()).unwrap();
        assert_eq!(session.run(RUN).unwrap().unwrap().status, RunStatus::TimedOut);
        return;
    }
    let mut cancelled = world.tables.clone();
    let cancel = Command::Cancel { retry: fresh(Operation::CancelRun, 0), target: target(run.revision), reason: String::new() };
    let reply = cancel.run(&mut cancelled.session(world.now), &rules(), &mut Notifications::new()).unwrap();
    assert!(matches!(reply, Ok(CommandOutput::Submission { status: RunStatus::Cancelled, .. })));

    let (mut tables, mut now) = (world.tables.clone(), world.now);
    for round in 1..=4 {
        let run = tables.session(now).run(RUN).unwrap().unwrap();
        if run.status.is_terminal() {
            return;
        }
        if run.status == RunStatus::WaitingForApproval {
            let (retry, target, approval_id) =
                (fresh(Operation::ResumeRun, round), target(run.revision), run.approval_id.unwrap());
            let command = if run.suspension == Some(SuspensionState::Pending) {
                let (reason, metadata) = (String::new(), Vec::new());
                Command::Resolve { retry, target, approval_id, resolution: Resolution::Approved, reason, metadata }
            } else {
                Command::Resume { retry, target, approval_id, input: "{}".into(), input_fingerprint: [1; 32] }
            };
            command.run(&mut tables.session(now), &rules(), &mut Notifications::new()).unwrap().unwrap();
            continue;
        }
        now = now.max(run.ready_at.unwrap());
        let mut session = tables.session(now);
        let run = session.next_ready("").unwrap().unwrap();
        let claim = Command::Claim { claim: [99; 32], worker: String::new(), lease_ms: LEASE };
        if execute(&mut session, &rules(), Some(run), &claim, &mut Notifications::new()).unwrap() == Ok(CommandOutput::NotClaimed)
        {
            continue;
        }
        let holder = ClaimHolder { run_id: RUN.into(), claim: [99; 32] };
        let complete = Command::End { holder, fingerprint: [0; 32], end: End::Complete { result: "1".into() } };
        complete.run(&mut session, &rules(), &mut Notifications::new()).unwrap().unwrap();
    }
    assert!(tables.session(now).run(RUN).unwrap().unwrap().status.is_terminal(), "stuck");
}

fn fresh(operation: Operation, round: u8) -> Retry {
    Retry { scope: KeyScope::new("", operation, format!("fresh {round}")), fingerprint: [round; 32] }
}

fn target(expected_revision: u64) -> Target {
    Target { run_id: RUN.into(), expected_revision }
}
