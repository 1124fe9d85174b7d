//! What durable runs cost in a SQLite file, with full sync, on a disk and in memory. Each figure that is compared with another is
//! measured beside it in the same run: machines differ, ratios less. `--json` for machines, `--quick` for a tenth of the rows, `--appends`
//! for appends alone.

mod approvals;
mod creates;
mod files;
mod notification;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agenthost::protocol::{ExecutionContext, FreeJson, HostError, Metadata, Operation};
use agenthost::runs::{ClaimRequest, NewEvent, Runs, RunsOptions};
use agenthost::service::{Answer, Call, CreateRun, Request};
use rusqlite::Connection;
use serde_json::{Value, json};

/// The type of the events that `settle` writes.
const FILLER: &str = "filler";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [role, path] = &arguments[..]
        && role == "waiter"
    {
        return notification::wait_for_work(Path::new(path));
    }
    let asked = |name: &str| arguments.iter().any(|argument| argument == name);
    let scale = if asked("--quick") { 10 } else { 1 };
    let disk = Scratch::new(&std::env::temp_dir());
    let memory = Path::new("/dev/shm").is_dir().then(|| Scratch::new(Path::new("/dev/shm")));

    let appends = |scratch: &Scratch| json!({ "append_us": files::appends(scratch) });
    let measure = |scratch: &Scratch| if asked("--appends") { appends(scratch) } else { measure(scratch, scale) };
    let mut report = json!({ "disk": measure(&disk) });
    if let Some(memory) = &memory {
        report["tmpfs"] = measure(memory);
    }
    if !asked("--appends") {
        let of = |place: &str| report[place]["creates_per_second"]["ordered_64"].as_f64().unwrap_or(0.0);
        report["creates_64_disk_to_tmpfs"] = ratio(of("disk"), of("tmpfs"));
    }
    if asked("--json") {
        println!("{report:#}");
    } else {
        print("", &report);
    }
}

fn measure(scratch: &Scratch, scale: usize) -> Value {
    let (creates, sizes) = creates::measure(scratch);
    json!({
        "creates_per_second": creates,
        "file": sizes,
        "append_us": files::appends(scratch),
        "first_256_events_us": files::pages(scratch, scale),
        "claim_us": files::claims(scratch, scale),
        "approvals_us": approvals::measure(scratch, scale),
        "notify_another_process_us": notification::measure(scratch),
    })
}

fn print(path: &str, value: &Value) {
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            print(&if path.is_empty() { name.clone() } else { format!("{path} {name}") }, value);
        }),
        value => println!("{path:60} {value}"),
    }
}

/// One figure through another, to two digits.
fn ratio(one: f64, other: f64) -> Value {
    json!((one / other * 100.0).round() / 100.0)
}

/// The middle of what `work` takes, in microseconds.
fn median(count: usize, mut work: impl FnMut()) -> f64 {
    let mut took: Vec<Duration> = (0..count)
        .map(|_| {
            let begun = Instant::now();
            work();
            begun.elapsed()
        })
        .collect();
    middle(&mut took)
}

fn middle(took: &mut [Duration]) -> f64 {
    took.sort_unstable();
    (took[took.len() / 2].as_secs_f64() * 1e7).round() / 10.0
}

/// A directory that is gone afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new(parent: &Path) -> Scratch {
        let path = parent.join(format!("agenthost-bench-{}", uuid::Uuid::now_v7().simple()));
        std::fs::create_dir(&path).expect("a directory of its own");
        Scratch(path)
    }

    /// A file in it that is not there yet.
    fn file(&self) -> PathBuf {
        self.0.join(format!("{}.db", uuid::Uuid::now_v7().simple()))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn open(path: &Path) -> Runs {
    Runs::open(&format!("sqlite:{}", path.display()), RunsOptions::default()).expect("the database opens")
}

/// Writes so much that the log begins anew in a file that has its size: from then on commits write over it, as they do in any
/// database that has been in use for a while. As long as it grows each sync has to record its new size as well.
fn settle(runs: &Runs, path: &Path) {
    create_for(runs, "filler", &uuid::Uuid::now_v7().to_string()).expect("a run is created");
    let request = ClaimRequest { agent_ids: vec!["filler".to_owned()], ..ClaimRequest::default() };
    let claimed = runs.claim(&request).wait().expect("it is claimed").expect("there is one");
    let data = FreeJson::new(format!("\"{}\"", "x".repeat(1_000_000)).as_str()).expect("it is JSON").into_owned();
    let event = [NewEvent::new(FILLER, data)];
    for _ in 0..40 {
        runs.append_events(&claimed.claim, &event, None).wait().expect("it is appended");
    }
    runs.complete(&claimed.claim, FreeJson::NULL).wait().expect("it is completed");
    wait_until_moved(path);
}

/// Waits until the database holds everything that its log holds: a pause in the commits is used to move it.
fn wait_until_moved(path: &Path) {
    const LONGEST: Duration = Duration::from_secs(60);
    let connection = Connection::open(path).expect("the database opens");
    let begun = Instant::now();
    loop {
        let log =
            connection.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| Ok((row.get::<_, i64>(1)?, row.get::<_, i64>(2)?)));
        let (pages, moved) = log.expect("the log is measured");
        if pages == moved {
            return;
        }
        assert!(begun.elapsed() < LONGEST, "{moved} of {pages} pages of the log were moved in {LONGEST:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Creates a run of the agent `agent`, with a key of its own.
fn create(runs: &Runs, run_id: &str) -> Result<Answer<'static>, HostError<'static>> {
    create_for(runs, "agent", run_id)
}

fn create_for(runs: &Runs, agent_id: &str, run_id: &str) -> Result<Answer<'static>, HostError<'static>> {
    let call = Call {
        operation: Operation::CreateRun,
        request_id: "request".into(),
        idempotency_key: run_id.into(),
        metadata: Metadata::new(),
        principal: Some("someone".into()),
    };
    let context = ExecutionContext {
        run_id: run_id.into(),
        agent_id: agent_id.into(),
        tenant_id: "tenant".into(),
        ..ExecutionContext::default()
    };
    let input = FreeJson::new(r#"{"question":"how long is a piece of string?","attachments":[]}"#).expect("it is JSON");
    let request = Request::CreateRun(CreateRun { context, input, metadata: Metadata::new() });
    runs.serve(&call, &request).wait()
}
