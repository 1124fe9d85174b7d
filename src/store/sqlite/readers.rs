//! The threads that read: each job over one snapshot, beside the writer and each other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rusqlite::Connection;

use super::super::{ReadJob, Stored};
use super::connection::failed;
use super::read::{Session, Written};
use super::shared::Shared;

/// Serves the queue until it is closed and empty.
pub(super) fn serve(shared: &Arc<Shared>, connection: Connection) -> Option<Connection> {
    while let Some(job) = shared.reads.pop() {
        // What a caller does with its answer must not end the thread that others need.
        let _ = catch_unwind(AssertUnwindSafe(|| serve_one(shared, &connection, job)));
        // A caller forked on this thread, and its child has come back to here: the connection is the parent's.
        if shared.is_forked() {
            std::mem::forget(connection);
            return None;
        }
        if !connection.is_autocommit() {
            // The job panicked. An error here shows when the next job begins.
            let _ = connection.execute_batch("ROLLBACK");
        }
    }
    Some(connection)
}

fn serve_one(shared: &Shared, connection: &Connection, job: Box<dyn ReadJob>) {
    // The snapshot is taken by the first read, so it has every commit that was answered before.
    if let Err(error) = run(connection, "BEGIN") {
        return job.failed(error);
    }
    let mut session = Session { connection, now: i64::MIN, written: Written::default() };
    match session.written_time().and_then(|written| shared.time.now(written)) {
        Ok(now) => session.now = now,
        Err(error) => {
            let _ = run(connection, "ROLLBACK");
            return job.failed(error);
        }
    }
    let answer = job.run(&mut session);
    // Ends the snapshot before anybody acts on the answer. Nothing was written, so nothing can be lost.
    let _ = run(connection, "COMMIT");
    answer();
}

fn run(connection: &Connection, sql: &str) -> Stored<()> {
    connection.prepare_cached(sql).and_then(|mut statement| statement.execute([])).map(drop).map_err(failed)
}
