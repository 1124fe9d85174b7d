//! What a process of the torture does until it is killed: some threads create runs and append to them, and each says so on a
//! pipe once it is acknowledged.

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::db::Db;

/// Threads of one process that write.
const THREADS: u64 = 3;

/// Never returns, unless a write fails. `name` is unique among all processes that ever write to the database.
pub(crate) fn work(path: &Path, name: &str, mut report: impl Write + Send + 'static) {
    let db = match Db::try_open(path) {
        Ok(db) => db,
        Err(error) => {
            let _ = writeln!(report, "error opening: {error}");
            return;
        }
    };
    let report = Arc::new(Mutex::new(report));
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            let (db, name, report) = (db.clone(), format!("{name}-{thread}"), Arc::clone(&report));
            std::thread::spawn(move || {
                // One write of one line each: whole or not there, when the process is killed.
                let report_line = |line: String| report.lock().unwrap().write_all(line.as_bytes()).is_ok();
                for number in 0.. {
                    let run_id = format!("{name}-{number}");
                    let mut reported = match db.create(&run_id) {
                        Ok(()) => report_line(format!("head {run_id} 1\n")),
                        Err(error) => report_line(format!("error creating: {error}\n")),
                    };
                    for count in 1..4 {
                        reported &= match db.append(&run_id, count, "{\"text\":\"and so on\"}") {
                            Ok(head) => report_line(format!("head {run_id} {head}\n")),
                            Err(error) => report_line(format!("error appending: {error}\n")),
                        };
                    }
                    if !reported {
                        return;
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        let _ = thread.join();
    }
}
