//! What approvals cost: a suspension by its size, a decision, a page of the inbox among many, and how soon a notifier wakes.

use std::time::Duration;

use agenthost::protocol::{FreeJson, Metadata, Operation, Resolution};
use agenthost::runs::{ApprovalRequest, ClaimRequest, Claimed, ResumeMode, Runs, Suspension};
use agenthost::service::{Call, Request, ResolveApproval};
use agenthost::store::{ApprovalFilter, ApprovalState};
use serde_json::{Value, json};

use crate::files::fill;
use crate::{Scratch, create, median, middle, open, settle};

const ROUNDS: usize = 60;
const PAGE: usize = 256;

pub(crate) fn measure(scratch: &Scratch, scale: usize) -> Value {
    let path = scratch.file();
    let (count, pending) = (1_000_000 / scale, 100_000 / scale);
    let runs = open(&path);
    settle(&runs, &path);
    let mut suspend = serde_json::Map::new();
    for size in [1, 8, 64] {
        suspend.insert(size.to_string(), json!(suspensions(&runs, size)));
    }
    let decide = decisions(&runs);
    let wake = wake_ups(&runs);

    create(&runs, "run-again").expect("a run is created");
    let claimed = claim(&runs);
    runs.suspend(&claimed.claim, suspension(1)).wait().expect("it is suspended");
    drop(runs);
    let columns = "owner, agent_id, status, revision, head, first, epoch, worker, lease_ms, attempt, takeovers, fp, created_at, \
                   updated_at, approval_id, approval, first_approval, last_approval";
    fill(
        &path,
        &format!(
            "INSERT INTO run (run_id, {columns}) SELECT 'run-' || n || ?2, {columns} FROM number, run WHERE run_id = 'run-again'"
        ),
        count,
    );
    let columns = "tool_call_id, tool_name, state, on_denied, not_owner, created_at, expired, approvers, reason, metadata";
    fill(
        &path,
        &format!(
            "INSERT INTO approval (run, number, approval_id, owner, agent_id, {columns}) \
             SELECT run.id, 1, 'approval-' || n || ?2, run.owner, run.agent_id, {} FROM number \
             CROSS JOIN run ON run.run_id = 'run-' || n || 'run-{count}' JOIN (SELECT * FROM approval ORDER BY id DESC LIMIT 1) AS one",
            columns.split(", ").map(|column| format!("one.{column}")).collect::<Vec<_>>().join(", ")
        ),
        pending,
    );
    let runs = open(&path);
    let open_ones = ApprovalFilter { state: Some(ApprovalState::Open), ..ApprovalFilter::default() };
    let owned = ApprovalFilter { owner: Some("someone".into()), ..open_ones.clone() };
    let page = |filter: &ApprovalFilter, after: u64| {
        let page = runs.list_approvals(filter, after, PAGE).wait().expect("it is listed");
        assert_eq!(page.approvals.len(), PAGE);
        page.next
    };
    let first = median(ROUNDS, || {
        page(&open_ones, 0);
    });
    let middle_of = u64::try_from(pending / 2).expect("a position");
    let later = median(ROUNDS, || {
        page(&open_ones, middle_of);
    });
    let of_owner = median(ROUNDS, || {
        page(&owned, 0);
    });
    json!({
        "suspend": suspend,
        "decide": decide,
        "notifier": wake,
        format!("inbox_256_of_{pending}_pending_among_{count}"): first,
        format!("inbox_256_from_the_middle_of_{pending}"): later,
        format!("inbox_256_of_one_owner_among_{pending}"): of_owner,
    })
}

fn claim(runs: &Runs) -> Claimed {
    let request = ClaimRequest { agent_ids: vec!["agent".to_owned()], ..ClaimRequest::default() };
    runs.claim(&request).wait().expect("it is claimed").expect("there is one")
}

fn suspension(size: usize) -> Suspension {
    let arguments = FreeJson::new(r#"{"path":"/var/lib/things","recursive":true}"#).expect("it is JSON").into_owned();
    let approval = |number| ApprovalRequest {
        arguments: Some(arguments.clone()),
        ..ApprovalRequest::new(format!("call-{number}"), "delete_files")
    };
    Suspension { approvals: (0..size).map(approval).collect(), continuation: FreeJson::NULL, resume: ResumeMode::Explicit }
}

/// Runs that are claimed, ready to be suspended.
fn claimed(runs: &Runs, count: usize) -> Vec<Claimed> {
    for _ in 0..count {
        create(runs, &uuid::Uuid::now_v7().to_string()).expect("a run is created");
    }
    (0..count).map(|_| claim(runs)).collect()
}

fn suspensions(runs: &Runs, size: usize) -> f64 {
    let mut ready = claimed(runs, ROUNDS);
    median(ROUNDS, || {
        let claimed = ready.pop().expect("one for each round");
        runs.suspend(&claimed.claim, suspension(size)).wait().expect("it is suspended");
    })
}

fn decisions(runs: &Runs) -> f64 {
    let suspended = |claimed: Claimed| runs.suspend(&claimed.claim, suspension(8)).wait().expect("it is suspended");
    let mut ready: Vec<_> = claimed(runs, ROUNDS).into_iter().map(suspended).collect();
    median(ROUNDS, || {
        let suspended = ready.pop().expect("one for each round");
        let call = Call {
            operation: Operation::ResolveApproval,
            request_id: "request".into(),
            idempotency_key: suspended.approval_ids[3].clone().into(),
            metadata: Metadata::new(),
            principal: Some("someone".into()),
        };
        let request = ResolveApproval {
            run_id: suspended.submission.run_id.clone(),
            expected_revision: suspended.submission.revision,
            approval_id: suspended.approval_ids[3].clone().into(),
            resolution: Resolution::Approved,
            reason: "".into(),
            metadata: Metadata::new(),
        };
        runs.serve(&call, &Request::ResolveApproval(request)).wait().expect("it is resolved");
    })
}

/// From the suspension to the page in the hands of a notifier in the same process.
fn wake_ups(runs: &Runs) -> Value {
    let ready = claimed(runs, ROUNDS);
    let filter = ApprovalFilter::default();
    let mut after = 0;
    loop {
        let page = runs.list_approvals(&filter, after, 1000).wait().expect("it is listed");
        after = page.next;
        if !page.has_more {
            break;
        }
    }
    let mut took: Vec<Duration> = ready
        .iter()
        .map(|claimed| {
            let (sender, woken) = std::sync::mpsc::channel();
            runs.wait_approvals(&filter, after, 10, Duration::from_secs(60)).then(move |page| {
                sender.send((std::time::Instant::now(), page.expect("it waits").next)).expect("somebody waits");
            });
            runs.suspend(&claimed.claim, suspension(1)).wait().expect("it is suspended");
            let committed = std::time::Instant::now();
            let (at, next) = woken.recv().expect("it wakes");
            after = next;
            at.saturating_duration_since(committed)
        })
        .collect();
    json!({ "median": middle(&mut took), "longest": took[took.len() - 1].as_micros() as u64 })
}
