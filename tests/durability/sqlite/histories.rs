//! Whether one order explains what random callers in several processes were answered.
//!
//! A run's events are its order: each state change is one event and one revision. So every outcome must fit the revision that it
//! names, every state change must have one call that made it, and no call may see less than what was told before it began, or more
//! than what was asked before it ended.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use libtest_mimic::Trial;
use rusqlite::Connection;

use crate::random_calls::{CallRecord, Outcome};
use crate::roles::{self, Scratch};
use crate::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("what_random_callers_in_three_processes_were_told_is_explained_by_one_order", || {
            for seed in 1..3 {
                if let Err(wrong) = history(seed) {
                    panic!("seed {seed}: {wrong}");
                }
            }
        }),
        trial("an_answer_that_no_order_explains_is_noticed", noticed),
    ]
}

/// A run as its events tell it.
struct Run {
    /// Type and status after each revision; the first is revision 1.
    changes: Vec<(String, String)>,
    /// Sequence and data of what workers appended.
    notes: BTreeMap<i64, String>,
}

fn record(path: &Path, seed: u64) -> Vec<CallRecord> {
    let seeds: Vec<String> = (0..3).map(|process| (seed * 100 + process).to_string()).collect();
    let mut children: Vec<_> =
        seeds.iter().map(|seed| roles::start("make-calls", &[path.to_str().unwrap(), &format!("caller-{seed}"), seed])).collect();
    children.iter_mut().for_each(roles::wait_for_signal);
    children.iter_mut().for_each(|child| drop(child.stdin.take()));
    // Each is read to its end at once: a full pipe would stop the others' callers.
    let readers: Vec<_> = children
        .into_iter()
        .map(|child| std::thread::spawn(move || child.wait_with_output().expect("a process of callers ends")))
        .collect();
    let mut told = Vec::new();
    for reader in readers {
        let output = reader.join().expect("a reader reads");
        assert!(output.status.success(), "callers failed: {}", output.status);
        let text = String::from_utf8(output.stdout).expect("they say text");
        told.extend(text.lines().map(|line| serde_json::from_str::<CallRecord>(line).expect("a line is a call")));
    }
    told
}

fn history(seed: u64) -> Result<(), String> {
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    let told = record(&path, seed);
    explain(&read(&path)?, &told)
}

fn read(path: &Path) -> Result<HashMap<String, Run>, String> {
    let connection = Connection::open(path).map_err(|error| error.to_string())?;
    let statuses = ["", "created", "running", "waiting_for_approval", "completed", "failed", "cancelled", "timed_out"];
    let mut runs = HashMap::new();
    let mut select =
        connection.prepare("SELECT id, run_id, revision, head, status FROM run").map_err(|error| error.to_string())?;
    let rows = select.query_map([], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get(2)?, row.get::<_, i64>(3)?, row.get::<_, i64>(4)?))
    });
    for row in rows.map_err(|error| error.to_string())? {
        let (id, run_id, revision, head, status): (_, _, i64, _, _) = row.map_err(|error| error.to_string())?;
        let mut run = Run { changes: Vec::new(), notes: BTreeMap::new() };
        let mut next = 1;
        let mut events = connection
            .prepare_cached("SELECT seq, type, status, data FROM event WHERE id > ?1 << 32 AND id < (?1 + 1) << 32 ORDER BY id")
            .map_err(|error| error.to_string())?;
        let rows = events.query_map([id], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?, row.get::<_, String>(3)?))
        });
        for row in rows.map_err(|error| error.to_string())? {
            let (sequence, event_type, status, data) = row.map_err(|error| error.to_string())?;
            if sequence != next {
                return Err(format!("{run_id}: event {next} is missing"));
            }
            next += 1;
            if event_type == "note" {
                run.notes.insert(sequence, data);
            } else {
                run.changes.push((event_type, statuses[status as usize].to_owned()));
            }
        }
        let last = run.changes.last().map(|(_, status)| status.as_str());
        if revision != run.changes.len() as i64 || head != next - 1 || last != Some(statuses[status as usize]) {
            return Err(format!(
                "{run_id}: its row (revision {revision}, head {head}) is not what its events say: {:?}",
                run.changes
            ));
        }
        legal(&run_id, &run.changes)?;
        runs.insert(run_id, run);
    }
    Ok(runs)
}

/// Each change must follow from the one before.
fn legal(run_id: &str, changes: &[(String, String)]) -> Result<(), String> {
    let mut before = ("", "");
    for (event, status) in changes {
        let fits = match event.as_str() {
            "run_created" => before.0.is_empty() && status == "created",
            "run_started" => before.1 == "created" && status == "running",
            "run_reclaimed" | "run_resume_reclaimed" => before.1 == "running" && status == "running",
            "approval_required" => before.1 == "running" && status == "waiting_for_approval",
            "approval_granted" => before.0 == "approval_required" && status == "waiting_for_approval",
            "approval_denied" => before.0 == "approval_required" && status == "failed",
            "run_resumed" => before.0 == "approval_granted" && status == "running",
            "run_completed" => before.1 == "running" && status == "completed",
            "run_failed" => before.1 == "running" && status == "failed",
            "run_cancelled" => ["created", "running", "waiting_for_approval"].contains(&before.1) && status == "cancelled",
            _ => false,
        };
        if !fits {
            return Err(format!("{run_id}: {event} cannot follow {before:?}: {changes:?}"));
        }
        before = (event, status);
    }
    Ok(())
}

/// The events that a call may have made.
fn makes(call: &str) -> &'static [&'static str] {
    match call {
        "create_run" => &["run_created"],
        "cancel_run" => &["run_cancelled"],
        "resolve_approval" => &["approval_granted", "approval_denied"],
        "resume_run" => &["run_resumed", "run_resume_reclaimed"],
        "suspend" => &["approval_required"],
        "complete" => &["run_completed"],
        _ => &[],
    }
}

fn explain(runs: &HashMap<String, Run>, told: &[CallRecord]) -> Result<(), String> {
    let mut makers: HashMap<(&str, usize), Vec<&CallRecord>> = HashMap::new();
    let mut by_key: HashMap<(&str, &str), Vec<&CallRecord>> = HashMap::new();
    let mut notes = 0;
    for call in told {
        if !call.key.is_empty() {
            by_key.entry((&call.call, &call.key)).or_default().push(call);
        }
        match &call.outcome {
            Outcome::At(revision, status) => {
                let run = runs.get(&call.run_id).ok_or_else(|| format!("there is no such run: {call:?}"))?;
                let change = (*revision as usize).checked_sub(1).and_then(|index| run.changes.get(index));
                let Some((event, after)) = change else { return Err(format!("there is no such revision: {call:?}")) };
                let makes = makes(&call.call);
                if after != status || !(makes.is_empty() || makes.contains(&event.as_str())) {
                    return Err(format!("the run was then {event}, {after}: {call:?}"));
                }
                if !makes.is_empty() {
                    makers.entry((&call.run_id, *revision as usize)).or_default().push(call);
                }
            }
            Outcome::Appended(sequence) => {
                notes += 1;
                let stored = runs.get(&call.run_id).and_then(|run| run.notes.get(&(*sequence as i64)));
                if stored != Some(&format!("{:?}", call.request)) {
                    return Err(format!("its event is not there: {call:?}"));
                }
            }
            Outcome::Refused(code, reason, _) if reason.is_empty() && code != "not_found" => {
                return Err(format!("nobody may be told this: {call:?}"));
            }
            _ => {}
        }
    }
    let stored: usize = runs.values().map(|run| run.notes.len()).sum();
    if stored != notes {
        return Err(format!("{notes} appends were acknowledged, {stored} events are there"));
    }
    for (run_id, run) in runs {
        for (index, (event, _)) in run.changes.iter().enumerate() {
            made_once(run_id, event, makers.get(&(run_id.as_str(), index + 1)).map_or(&[][..], |calls| calls))?;
        }
    }
    by_key.values().try_for_each(|calls| one_key(calls))?;
    in_time(told, &makers)
}

/// A state change has one call that made it; others of the same name repeat it with its key. (Equal creates repeat with any.)
fn made_once(run_id: &str, event: &str, calls: &[&CallRecord]) -> Result<(), String> {
    // Claims and the library itself make these.
    if ["run_started", "run_reclaimed", "run_failed", "run_timed_out"].contains(&event) {
        return Ok(());
    }
    let Some(first) = calls.first() else { return Err(format!("{run_id}: nobody was told of {event}")) };
    let by_key = event != "run_created" && !first.key.is_empty();
    if calls.iter().any(|call| if by_key { call.key != first.key } else { call.request != first.request }) {
        return Err(format!("{run_id}: two calls made one {event}: {calls:?}"));
    }
    Ok(())
}

/// One key has one request and one outcome; other requests with it are told so.
fn one_key(calls: &[&CallRecord]) -> Result<(), String> {
    let recorded = |call: &&&CallRecord| match &call.outcome {
        Outcome::At(..) => true,
        Outcome::Refused(_, reason, _) => ["revision_mismatch", "invalid_state", "approval_mismatch"].contains(&reason.as_str()),
        _ => false,
    };
    let mut recorded = calls.iter().filter(recorded);
    let Some(first) = recorded.next() else { return Ok(()) };
    // A create that meets a run of an equal request repeats it, whatever the key.
    match recorded.find(|call| call.request != first.request || call.outcome != first.outcome) {
        Some(other) => Err(format!("one key, two outcomes: {first:?} and {other:?}")),
        None => Ok(()),
    }
}

/// No call with a key of its own, and no read, sees less than was told before it began; nobody sees what nobody has asked for.
fn in_time(told: &[CallRecord], makers: &HashMap<(&str, usize), Vec<&CallRecord>>) -> Result<(), String> {
    let seen = |call: &CallRecord| match &call.outcome {
        Outcome::At(revision, _) => Some(*revision),
        Outcome::Refused(_, reason, current) if reason == "revision_mismatch" => Some(*current),
        _ => None,
    };
    let mut by_run: HashMap<&str, Vec<&CallRecord>> = HashMap::new();
    told.iter().for_each(|call| by_run.entry(&call.run_id).or_default().push(call));
    for calls in by_run.values() {
        let mut ended: Vec<&CallRecord> = calls.iter().copied().filter(|call| seen(call).is_some()).collect();
        ended.sort_unstable_by_key(|call| call.ended);
        for call in calls {
            let Some(revision) = seen(call) else { continue };
            let repeats = !call.key.is_empty() && (!call.key.starts_with("caller-") || call.call == "create_run");
            if !repeats {
                let known = ended.iter().take_while(|other| other.ended < call.begun).filter_map(|other| seen(other)).max();
                if known.is_some_and(|known| known > revision) {
                    return Err(format!("revision {known:?} was told before: {call:?}"));
                }
            }
            if let Some(makers) = makers.get(&(call.run_id.as_str(), revision as usize))
                && makers.iter().all(|maker| maker.begun > call.ended)
            {
                return Err(format!("it was told before it was asked for: {call:?}, {makers:?}"));
            }
        }
    }
    Ok(())
}

/// The checker must see what is wrong, or it proves nothing: each of these changes one answer of a good history.
fn noticed() {
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    let told = record(&path, 9);
    let runs = read(&path).unwrap();
    explain(&runs, &told).unwrap();
    let position = |call: &str, fits: fn(&Outcome) -> bool| {
        told.iter().position(|told| told.call == call && fits(&told.outcome)).expect("the history has such a call")
    };
    let at = |outcome: &Outcome| matches!(outcome, Outcome::At(..));
    let changed = |index: usize, change: &dyn Fn(&mut CallRecord)| {
        let mut told = told.clone();
        change(&mut told[index]);
        assert!(explain(&runs, &told).is_err(), "not noticed: {:?}", told[index]);
    };
    changed(position("get_run", at), &|call| call.outcome = Outcome::At(1, "completed".to_owned()));
    changed(position("suspend", at), &|call| call.outcome = Outcome::At(1, "created".to_owned()));
    changed(position("claim", at), &|call| call.outcome = Outcome::At(999, "running".to_owned()));
    changed(position("suspend", at), &|call| call.outcome = Outcome::Nothing);
    changed(position("append", |outcome| matches!(outcome, Outcome::Appended(_))), &|call| call.outcome = Outcome::Done);
    changed(position("append", |outcome| matches!(outcome, Outcome::Appended(_))), &|call| call.request.push('x'));
    changed(position("create_run", at), &|call| call.outcome = Outcome::Refused("unavailable".into(), String::new(), 0));
    // A read long after everything that sees the first revision of a run that went on, and one long before that sees a later.
    let suspended = told[position("suspend", at)].clone();
    for (time, outcome) in [(u64::MAX, Outcome::At(1, "created".to_owned())), (1, suspended.outcome.clone())] {
        let mut told = told.clone();
        told.push(CallRecord { begun: time, ended: time, call: "get_run".to_owned(), outcome, ..suspended.clone() });
        assert!(explain(&runs, &told).is_err(), "not noticed: {:?}", told.last());
    }
}
