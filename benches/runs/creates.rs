//! Creates per second, with callers that wait for each: one, some, many; and what a run and its key take in the file.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::{FILLER, Scratch, create, open, ratio, settle};

/// How many runs each caller creates before anything is measured.
const WARM_UP: u64 = 200;
/// The best of some windows counts: what else the machine does only takes away.
const WINDOWS: usize = 4;
const WINDOW: Duration = Duration::from_millis(400);

/// How a caller names its runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ids {
    /// Rising with time, as UUIDv7 does.
    Ordered,
    Random,
}

impl Ids {
    fn next(self) -> String {
        match self {
            Ids::Ordered => uuid::Uuid::now_v7().to_string(),
            Ids::Random => {
                let mut bytes = [0; 16];
                getrandom::fill(&mut bytes).expect("the system has random numbers");
                uuid::Uuid::from_bytes(bytes).to_string()
            }
        }
    }
}

/// Rates with their ratios, and sizes.
pub(crate) fn measure(scratch: &Scratch) -> (Value, Value) {
    let (one, _) = rate(scratch, 1, Ids::Ordered);
    let (eight, _) = rate(scratch, 8, Ids::Ordered);
    let (many, sizes) = rate(scratch, 64, Ids::Ordered);
    let (random, _) = rate(scratch, 64, Ids::Random);
    let rates = json!({
        "ordered_1": one.round(),
        "ordered_8": eight.round(),
        "ordered_64": many.round(),
        "random_64": random.round(),
        "ordered_64_to_1": ratio(many, one),
        "random_64_to_1": ratio(random, one),
    });
    (rates, sizes)
}

fn rate(scratch: &Scratch, callers: usize, ids: Ids) -> (f64, Value) {
    let path = scratch.file();
    let runs = open(&path);
    settle(&runs, &path);
    let (created, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let together = Arc::new(Barrier::new(callers + 1));
    let threads: Vec<_> = (0..callers)
        .map(|_| {
            let (runs, created, stop, together) = (runs.clone(), created.clone(), stop.clone(), together.clone());
            thread::spawn(move || {
                together.wait();
                while !stop.load(Ordering::Relaxed) {
                    create(&runs, &ids.next()).expect("a run is created");
                    created.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    together.wait();
    while created.load(Ordering::Relaxed) < WARM_UP * callers as u64 {
        thread::sleep(Duration::from_millis(1));
    }
    let rate = (0..WINDOWS).fold(0.0_f64, |best, _| {
        let (before, begun) = (created.load(Ordering::Relaxed), Instant::now());
        thread::sleep(WINDOW);
        best.max((created.load(Ordering::Relaxed) - before) as f64 / begun.elapsed().as_secs_f64())
    });
    stop.store(true, Ordering::Relaxed);
    threads.into_iter().for_each(|thread| thread.join().expect("a caller ends"));
    drop(runs);

    let connection = Connection::open(&path).expect("the database opens");
    connection.execute("DELETE FROM event WHERE type = ?1", [FILLER]).expect("it is deleted");
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("it is answered");
    let count = number("SELECT count(*) FROM run").max(1);
    let keys = number("SELECT sum(pgsize) FROM dbstat WHERE aggregate = TRUE AND name IN ('request', 'request_expiry')");
    let all = number("SELECT sum(pgsize) FROM dbstat WHERE aggregate = TRUE");
    let sizes = json!({ "bytes_per_run": (all - keys) / count, "bytes_per_key": keys / count, "runs": count });
    (rate, sizes)
}
