//! What each statement of the store costs, by SQLite's own plan for it: none goes through a table, none sorts, and rows that may be large
//! are found by their number or through an index, never among each other.

use std::sync::{Arc, Mutex};

use rusqlite::Connection;
use rusqlite::trace::{TraceEvent, TraceEventCodes};

use super::read::{Session, Written};
use super::schema::{MIGRATIONS, migrate};
use crate::protocol::{Operation, Resolution, RunStatus};
use crate::store::{
    AdmittedRow, ApprovalChange, ApprovalFilter, ApprovalRow, ApprovalState, BatchRow, BodyKind, Changes, EventRow, KeyRow,
    KeyScope, LastOp, OnDenied, Outcome, Reader, RunChange, RunFilter, RunRow, StoreError, SuspensionState, Transaction,
    WorkerOp,
};

fn row() -> RunRow {
    RunRow {
        id: 1,
        run_id: "run".into(),
        owner: "ann".into(),
        agent_id: "agent".into(),
        status: RunStatus::Created,
        revision: 1,
        head: 1,
        first: 1,
        epoch: 0,
        claim: None,
        worker: String::new(),
        lease_ms: 0,
        attempt: 0,
        takeovers: 0,
        ready_at: Some(1),
        deadline: Some(9),
        approval_id: None,
        suspension: None,
        first_approval: 0,
        last_approval: 0,
        approval_expiry: None,
        auto_resume: false,
        fingerprint: [1; 32],
        resume_fingerprint: None,
        last: None,
        created_at: 1,
        updated_at: 1,
        completed_at: None,
    }
}

fn approval() -> ApprovalRow {
    ApprovalRow {
        number: 1,
        approval_id: "a".into(),
        tool_call_id: "c".into(),
        tool_name: "t".into(),
        reason: "r".into(),
        metadata: vec![("n".into(), "v".into())],
        resolution: Resolution::Pending,
        open: true,
        on_denied: OnDenied::Resume,
        approvers: vec!["bob".into()],
        not_owner: true,
        created_at: 1,
        expires_at: Some(7),
        resolved_at: None,
        decided_by: None,
        expired: false,
    }
}

/// Decided, with every column another that a decision changes.
fn decided() -> ApprovalRow {
    ApprovalRow {
        reason: "s".into(),
        metadata: Vec::new(),
        resolution: Resolution::Denied,
        open: false,
        resolved_at: Some(7),
        decided_by: Some("bob".into()),
        expired: true,
        ..approval()
    }
}

/// Filters by each member alone, and by all of them.
fn filters() -> Vec<ApprovalFilter> {
    let all = ApprovalFilter {
        state: Some(ApprovalState::Open),
        approver: Some("bob".into()),
        owner: Some("ann".into()),
        agent_id: Some("agent".into()),
        run_id: Some("run".into()),
        tool_name: Some("t".into()),
    };
    let none = ApprovalFilter::default();
    vec![
        ApprovalFilter { state: all.state, ..none.clone() },
        ApprovalFilter { approver: all.approver.clone(), ..none.clone() },
        ApprovalFilter { owner: all.owner.clone(), ..none.clone() },
        ApprovalFilter { agent_id: all.agent_id.clone(), ..none.clone() },
        ApprovalFilter { run_id: all.run_id.clone(), ..none.clone() },
        ApprovalFilter { tool_name: all.tool_name.clone(), ..none.clone() },
        ApprovalFilter { run_id: None, ..all.clone() },
        ApprovalFilter { run_id: None, approver: None, ..all.clone() },
        none,
        all,
    ]
}

fn event(sequence: u64) -> EventRow {
    EventRow {
        sequence,
        at: 1,
        status: RunStatus::Created,
        event_type: "e".into(),
        step_id: String::new(),
        tool_call_id: String::new(),
        data: "1".into(),
        metadata: "{}".into(),
    }
}

fn insert() -> Changes {
    let key = KeyRow {
        fingerprint: [1; 32],
        outcome: Outcome::Success,
        revision: 1,
        status: RunStatus::Created,
        pending_approvals: 1,
        expires_at: 5,
    };
    Changes {
        run: Some(RunChange::Insert(row())),
        bodies: BodyKind::ALL.map(|kind| (kind, Some("{}".to_owned()))).to_vec(),
        events: vec![event(1)],
        key: Some((KeyScope::new("ann", Operation::CreateRun, "k"), key)),
        ..Changes::default()
    }
}

/// A change of every column that changes, and of everything beside the row.
fn update() -> Changes {
    let last = LastOp { claim: [2; 32], op: WorkerOp::Suspend, fingerprint: [3; 32], revision: 2 };
    let after = RunRow {
        status: RunStatus::WaitingForApproval,
        revision: 2,
        head: 2,
        first: 2,
        epoch: 1,
        claim: Some([4; 32]),
        worker: "w".into(),
        lease_ms: 1,
        attempt: 1,
        takeovers: 1,
        ready_at: None,
        deadline: None,
        approval_id: Some("a".into()),
        suspension: Some(SuspensionState::Pending),
        first_approval: 1,
        last_approval: 1,
        approval_expiry: Some(7),
        auto_resume: true,
        resume_fingerprint: Some([5; 32]),
        last: Some(last),
        updated_at: 2,
        completed_at: Some(2),
        ..row()
    };
    let outcome = "1".to_owned();
    Changes {
        run: Some(RunChange::Update { before: row(), after }),
        bodies: vec![(BodyKind::ResumeInput, None)],
        approvals: vec![ApprovalChange::Insert(approval(), Some("1".into()))],
        events: vec![event(2)],
        admitted: Some(AdmittedRow { tool_call_id: "c".into(), key: "k".into(), tool_name: "t".into(), sequence: 2, outcome }),
        batch: Some(BatchRow { key: "b".into(), fingerprint: [6; 32], first: 2 }),
        key: None,
    }
}

/// Everything that a store is asked.
fn ask(session: &mut Session<'_>) -> Result<(), StoreError> {
    session.apply(&insert())?;
    session.apply(&update())?;
    session.run("run")?;
    session.body(1, BodyKind::Input)?;
    session.approval("a")?;
    session.approvals(1, 1..=1)?;
    session.arguments(1, 1)?;
    session.is_approver(1, "bob")?;
    for filter in filters() {
        session.list_approvals(&filter, 0, 10, 1000)?;
    }
    let (before, after) = (row(), RunRow { revision: 3, ..row() });
    let run = Some(RunChange::Update { before, after });
    session.apply(&Changes { run, approvals: vec![ApprovalChange::Update(decided())], ..Changes::default() })?;
    assert_eq!(session.events(1, 0, 10, 1000)?.len(), 2);
    assert!(session.admitted(1, "c")?.is_some());
    assert_eq!(session.admitted_page(1, "", 10, 1000)?.len(), 1);
    for given in 0..8 {
        let status = (given & 1 > 0).then_some(RunStatus::WaitingForApproval);
        let (owner, agent_id) = ((given & 2 > 0).then(|| "ann".into()), (given & 4 > 0).then(|| "agent".into()));
        assert_eq!(session.runs(&RunFilter { status, owner, agent_id }, 0, 10)?.len(), 1);
    }
    session.next_ready("agent")?;
    session.next_deadline()?;
    session.next_expiry()?;
    session.key(&KeyScope::new("ann", Operation::CreateRun, "k"))?;
    session.batch(1, "b")?;
    session.overdue(10, 10)?;
    session.ended_before(10, 10)?;
    session.delete_keys(10, 10)?;
    session.delete_events(1, 1)?;
    assert_eq!(session.delete_admitted_and_batches(1, 10)?, 2);
    session.delete_run(1)?;
    session.written_time()?;
    session.write_time().map(drop)
}

#[test]
fn each_statement_finds_its_rows_by_an_index() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection, MIGRATIONS).unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    let note = move |event: TraceEvent<'_>| {
        if let TraceEvent::Stmt(statement, _) = event {
            noted.lock().unwrap().push(statement.sql().into_owned());
        }
    };
    connection.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(note)).unwrap();
    ask(&mut Session { connection: &connection, now: 1, written: Written::default() }).unwrap();
    connection.trace_v2(TraceEventCodes::empty(), None::<fn(TraceEvent<'_>)>).unwrap();

    let asked = std::mem::take(&mut *asked.lock().unwrap());
    assert!(asked.len() > 40, "{asked:#?}");
    for sql in asked {
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let count = statement.parameter_count();
        let unbound = vec![rusqlite::types::Null; count];
        let plan = statement.query_map(rusqlite::params_from_iter(unbound), |row| row.get::<_, String>(3)).unwrap();
        for step in plan.map(Result::unwrap) {
            let by_index = step.contains("USING") && !step.contains("TEMP B-TREE");
            assert!(by_index || step.starts_with("LIST SUBQUERY"), "{sql}: {step}");
            let large = ["SEARCH body", "SEARCH event"].iter().any(|search| step.starts_with(search));
            assert!(!large || step.contains("USING INTEGER PRIMARY KEY"), "{sql}: {step}");
            assert!(!step.starts_with("SEARCH admitted USING PRIMARY KEY"), "{sql}: {step}");
        }
    }
}

#[test]
fn a_run_that_holds_no_more_says_so() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection, MIGRATIONS).unwrap();
    let mut session = Session { connection: &connection, now: 1, written: Written::default() };
    session.apply(&insert()).unwrap();
    let most = (1 << 32) - 1;
    let append = |sequence| Changes {
        run: Some(RunChange::Update { before: row(), after: RunRow { head: sequence, ..row() } }),
        events: vec![event(sequence)],
        ..Changes::default()
    };
    session.apply(&append(most)).unwrap();
    let refused = session.apply(&append(most + 1));
    assert!(matches!(&refused, Err(StoreError::Unsupported(text)) if text.contains("4294967295 events")), "{refused:?}");
    // The last of this run comes before the first of the next, and cursors may lie anywhere.
    session.apply(&Changes { run: Some(RunChange::Insert(RunRow { run_id: "next".into(), ..row() })), ..insert() }).unwrap();
    let sequences = |session: &mut Session<'_>, run, after| {
        session.events(run, after, 10, 1000).unwrap().iter().map(|event| event.sequence).collect::<Vec<_>>()
    };
    assert_eq!(sequences(&mut session, 1, 0), [1, most]);
    assert_eq!(sequences(&mut session, 1, 1), [most]);
    assert_eq!(sequences(&mut session, 2, 0), [1]);
    for after in [most, most + 1, (1 << 53) - 1, u64::MAX] {
        assert!(sequences(&mut session, 1, after).is_empty(), "{after}");
    }
    session.delete_run(1).unwrap();
    assert_eq!(sequences(&mut session, 2, 0), [1]);
    assert_eq!(session.body(2, BodyKind::Error), Ok(Some("{}".to_owned())));
}
