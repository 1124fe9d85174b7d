//! How long it takes until a process that waits for work is notified of a run that another process created.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use agenthost::runs::ClaimRequest;
use serde_json::{Value, json};

use crate::{Scratch, create, middle, open};

const ROUNDS: usize = 40;

/// The process that waits: reports when it was notified, claims the run, waits again.
pub(crate) fn wait_for_work(path: &Path) {
    let runs = open(path);
    let agents = ["agent".to_owned()];
    let mut out = std::io::stdout();
    loop {
        let waiting = runs.wait_for_work(&agents, Duration::from_secs(60));
        writeln!(out, "waiting").and_then(|()| out.flush()).expect("the parent reads");
        if !waiting.wait().expect("it waits") {
            return;
        }
        let notified = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock after 1970").as_nanos();
        let request = ClaimRequest { agent_ids: agents.to_vec(), ..ClaimRequest::default() };
        runs.claim(&request).wait().expect("it is claimed");
        writeln!(out, "{notified}").and_then(|()| out.flush()).expect("the parent reads");
    }
}

pub(crate) fn measure(scratch: &Scratch) -> Value {
    let path = scratch.file();
    let runs = open(&path);
    let program = std::env::current_exe().expect("the program has a path");
    let mut child =
        Command::new(program).arg("waiter").arg(&path).stdout(Stdio::piped()).spawn().expect("the waiting process starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut next = || lines.next().expect("it goes on").expect("it says text");
    let mut took: Vec<Duration> = (0..ROUNDS)
        .map(|round| {
            assert_eq!(next(), "waiting");
            create(&runs, &format!("run-{round}")).expect("a run is created");
            let committed = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock after 1970").as_nanos();
            let notified: u128 = next().parse().expect("a time");
            Duration::from_nanos(u64::try_from(notified.saturating_sub(committed)).unwrap_or(u64::MAX))
        })
        .collect();
    child.kill().expect("the child is ours");
    child.wait().expect("the child is ours");
    let median = middle(&mut took);
    json!({ "median": median, "longest": took[took.len() - 1].as_micros() as u64 })
}
