//! A durable run's whole life: created twice with one key, worked on, suspended, approved, its worker killed with -9, taken over
//! and finished, its events followed; then this process's own service is killed, and everything is read back.
//!
//! `cargo run --example durable [FILE]`; the file is made, and has to be new. Without one it is a temporary file.

use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use agenthost::host::{Host, HostOptions};
use agenthost::protocol::FreeJson;
use agenthost::runs::{ApprovalRequest, ClaimRequest, NewEvent, ResumeMode, Runs, RunsOptions, Suspension};
use agenthost::store::{ApprovalFilter, OnDenied};

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--service", url] => service(url),
        ["--worker", url] => worker_that_hangs(url),
        [file] => demo(file),
        [] => {
            let file = std::env::temp_dir().join(format!("agenthost-durable-{}.db", std::process::id()));
            demo(&file.to_string_lossy())
        }
        _ => Err("usage: durable [FILE]".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn open(url: &str) -> Result<Runs, Failure> {
    Ok(Runs::open(url, RunsOptions { lease: Duration::from_millis(500), ..RunsOptions::default() })?)
}

fn json(text: &str) -> Result<FreeJson<'static>, Failure> {
    Ok(FreeJson::new(text.to_owned())?)
}

/// Sends an envelope, and gives the body of the response.
fn send(host: &Host, operation: &str, key: &str, body: &str) -> Result<serde_json::Value, Failure> {
    let message = format!(
        r#"{{"protocolVersion":"2026-07-01","requestId":"demo","idempotencyKey":"{key}","operation":"{operation}","body":{body}}}"#
    );
    let response: serde_json::Value = serde_json::from_slice(&host.dispatch_json(message.as_bytes()))?;
    println!("{operation}: {}", if response["ok"] == true { &response["body"] } else { &response["error"] });
    Ok(response["body"].clone())
}

fn any_agent() -> ClaimRequest {
    ClaimRequest { agent_ids: vec![String::new()], worker: format!("process {}", std::process::id()), lease: None }
}

/// Starts this program in another role, and waits until it has said that it is where it is to be killed.
fn start_and_kill(role: &str, url: &str) -> Result<(), Failure> {
    let mut child = Command::new(std::env::current_exe()?).args([role, url]).stdout(Stdio::piped()).spawn()?;
    let mut said = String::new();
    if let Some(output) = child.stdout.take() {
        for line in std::io::BufRead::lines(std::io::BufReader::new(output)) {
            said = line?;
            println!("  {role}: {said}");
            if said == "ready" {
                break;
            }
        }
    }
    // SIGKILL: no destructor runs, nothing is flushed.
    child.kill()?;
    child.wait()?;
    if said == "ready" { Ok(()) } else { Err(format!("{role} failed").into()) }
}

/// Everything but the end, then silence.
fn service(url: &str) -> Result<(), Failure> {
    let runs = open(url)?;
    let host = runs.host(HostOptions::default());
    let create = r#"{"context":{"runId":"report"},"input":{"topic":"otters"},"metadata":{"project":"demo"}}"#;
    let first = send(&host, "create_run", "create-1", create)?;
    assert_eq!(send(&host, "create_run", "create-1", create)?, first, "one key, one run");

    let claimed = runs.claim(&any_agent()).wait()?.ok_or("there is no work")?;
    runs.append_events(&claimed.claim, &[NewEvent::new("progress", json(r#"{"percent":40}"#)?)], Some("40")).wait()?;
    // Two things need somebody's word. The run goes on without the second one.
    let publish = ApprovalRequest {
        reason: "it is public".into(),
        arguments: Some(json(r#"{"page":"/otters"}"#)?),
        ..ApprovalRequest::new("call-1", "publish")
    };
    let mail = ApprovalRequest {
        arguments: Some(json(r#"{"to":"everybody"}"#)?),
        on_denied: OnDenied::Resume,
        ..ApprovalRequest::new("call-2", "send_mail")
    };
    let suspension =
        Suspension { approvals: vec![publish, mail], continuation: json(r#"{"draft":7}"#)?, resume: ResumeMode::Explicit };
    let approvals = runs.suspend(&claimed.claim, suspension).wait()?.approval_ids;
    for waiting in runs.list_approvals(&ApprovalFilter::default(), 0, 0).wait()?.approvals {
        println!("inbox: {} {}", waiting.view.tool_name, waiting.arguments.as_ref().map_or("", FreeJson::as_str));
    }
    let (first, second) = (&approvals[0], &approvals[1]);
    let body = format!(
        r#"{{"runId":"report","expectedRevision":3,"approvalId":"{second}","resolution":"denied","reason":"not today"}}"#
    );
    send(&host, "resolve_approval", "deny-2", &body)?;
    let body = format!(r#"{{"runId":"report","expectedRevision":4,"approvalId":"{first}","resolution":"approved"}}"#);
    send(&host, "resolve_approval", "approve-1", &body)?;
    let body = format!(r#"{{"runId":"report","expectedRevision":5,"approvalId":"{first}","input":{{"title":"Otters"}}}}"#);
    send(&host, "resume_run", "resume-1", &body)?;

    start_and_kill("--worker", url)?;
    println!("the worker is dead; its lease ends, and another takes over");
    let claimed = loop {
        runs.wait_for_work(&[String::new()], Duration::from_secs(10)).wait()?;
        if let Some(claimed) = runs.claim(&any_agent()).wait()? {
            break claimed;
        }
    };
    for decided in &claimed.approvals {
        println!("{}: {} {}", decided.view.tool_name, decided.view.resolution.name(), decided.view.reason);
    }
    println!("attempt {} goes on from {:?}", claimed.attempt, claimed.continuation.as_ref().map(FreeJson::as_str));
    runs.complete(&claimed.claim, json(r#"{"pages":3}"#)?).wait()?;

    let mut after = 0;
    loop {
        let followed = runs.wait_events(None, "report", after, 100, Duration::from_secs(10)).wait()?;
        for event in &followed.page.events {
            println!("event {} {} {}", event.sequence, event.event_type, event.data);
        }
        after = followed.page.next_sequence;
        if followed.is_drained() {
            break;
        }
    }
    println!("ready");
    loop {
        std::thread::park();
    }
}

/// Takes the run, says so, and never comes to an end.
fn worker_that_hangs(url: &str) -> Result<(), Failure> {
    let runs = open(url)?;
    let claimed = runs.claim(&any_agent()).wait()?.ok_or("there is no work")?;
    println!("works on {} (attempt {})", claimed.claim.run_id, claimed.attempt);
    println!("ready");
    loop {
        std::thread::park();
    }
}

fn demo(file: &str) -> Result<(), Failure> {
    let url = format!("sqlite:{file}");
    start_and_kill("--service", &url)?;
    println!("the service is dead; what it acknowledged is read back");
    let runs = open(&url)?;
    let host = runs.host(HostOptions::default());
    let view = send(&host, "get_run", "", r#"{"runId":"report"}"#)?;
    let page = send(&host, "list_events", "", r#"{"runId":"report"}"#)?;
    let again = send(
        &host,
        "create_run",
        "create-1",
        r#"{"context":{"runId":"report"},"input":{"topic":"otters"},"metadata":{"project":"demo"}}"#,
    )?;
    let story: Vec<_> = page["events"].as_array().into_iter().flatten().filter_map(|event| event["type"].as_str()).collect();
    let expected = [
        "run_created",
        "run_started",
        "progress",
        "approval_required",
        "approval_required",
        "approval_denied",
        "approval_granted",
        "run_resumed",
        "run_reclaimed",
        "run_completed",
    ];
    let whole = view["status"] == "completed" && view["result"]["pages"] == 3 && again["revision"] == 1 && story == expected;
    if whole { Ok(()) } else { Err(format!("something was lost: {story:?}").into()) }
}
