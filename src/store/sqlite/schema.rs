//! The tables, and how a file comes to have them: made, brought forward, or refused. Knows no row's meaning.

use rusqlite::{Connection, TransactionBehavior};

use super::super::StoreError;
use super::connection::failed;
use super::read::count;
use super::version_2;

/// `agho`, in the header of every file of ours.
pub(super) const APPLICATION_ID: i32 = 0x6167_686f;

/// The step to each schema version, from 1. Released steps never change; a new version is a new step at the end.
pub(super) const MIGRATIONS: &[Migration] = &[
    Migration { tables: VERSION_1, rows: |_| Ok(()) },
    Migration { tables: version_2::TABLES, rows: version_2::move_approvals },
];

/// A step to a schema version.
pub(super) struct Migration {
    /// Statements that change the tables.
    tables: &'static str,
    /// What no statement can do, afterwards in the same transaction.
    rows: fn(&Connection) -> Result<(), StoreError>,
}

/// Rows of `run` hold no caller's JSON: every append rewrites one. Where there is no owner stands the empty string, so that
/// keys hold no null. Rows that may be large are found by a number, which `rows` makes of the run and the place in it: a search by
/// any other key in the table itself reads each row that it passes to its end, megabytes of it.
const VERSION_1: &str = "
CREATE TABLE run (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id       TEXT    NOT NULL UNIQUE,
    owner        TEXT    NOT NULL,
    agent_id     TEXT    NOT NULL,
    status       INTEGER NOT NULL,
    revision     INTEGER NOT NULL,
    head         INTEGER NOT NULL,
    first        INTEGER NOT NULL,
    epoch        INTEGER NOT NULL,
    claim        BLOB,
    worker       TEXT    NOT NULL,
    lease_ms     INTEGER NOT NULL,
    attempt      INTEGER NOT NULL,
    takeovers    INTEGER NOT NULL,
    ready_at     INTEGER,
    deadline     INTEGER,
    approval_id  TEXT,
    approval     INTEGER,
    fp           BLOB    NOT NULL,
    resume_fp    BLOB,
    last_claim   BLOB,
    last_op      INTEGER,
    last_fp      BLOB,
    last_revision INTEGER,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    completed_at INTEGER
) STRICT;
CREATE INDEX run_ready     ON run (agent_id, ready_at, id) WHERE ready_at IS NOT NULL;
CREATE INDEX run_deadline  ON run (deadline) WHERE deadline IS NOT NULL;
CREATE INDEX run_owner     ON run (owner, id);
CREATE INDEX run_agent     ON run (agent_id, id);
CREATE INDEX run_status    ON run (status, id);
CREATE INDEX run_completed ON run (completed_at) WHERE completed_at IS NOT NULL;

CREATE TABLE body (
    id   INTEGER PRIMARY KEY,
    json TEXT    NOT NULL,
    run  INTEGER AS (id >> 4) VIRTUAL,
    kind INTEGER AS (id & 15) VIRTUAL
) STRICT;

CREATE TABLE event (
    id           INTEGER PRIMARY KEY,
    at           INTEGER NOT NULL,
    status       INTEGER NOT NULL,
    type         TEXT    NOT NULL,
    step_id      TEXT    NOT NULL,
    tool_call_id TEXT    NOT NULL,
    data         TEXT    NOT NULL,
    metadata     TEXT    NOT NULL,
    run          INTEGER AS (id >> 32) VIRTUAL,
    seq          INTEGER AS (id & 4294967295) VIRTUAL
) STRICT;

CREATE TABLE admitted (
    run          INTEGER NOT NULL,
    tool_call_id TEXT    NOT NULL,
    key          TEXT    NOT NULL,
    tool_name    TEXT    NOT NULL,
    seq          INTEGER NOT NULL,
    outcome      TEXT    NOT NULL,
    PRIMARY KEY (run, tool_call_id)
) STRICT;

CREATE TABLE batch (
    run   INTEGER NOT NULL,
    key   TEXT    NOT NULL,
    fp    BLOB    NOT NULL,
    first INTEGER NOT NULL,
    PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE request (
    owner      TEXT    NOT NULL,
    op         TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    fp         BLOB    NOT NULL,
    outcome    INTEGER NOT NULL,
    revision   INTEGER NOT NULL,
    status     INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (owner, op, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX request_expiry ON request (expires_at);
";

/// Brings the database to the last of `migrations`. The caller holds the lock for writing among our processes.
pub(super) fn migrate(connection: &mut Connection, migrations: &[Migration]) -> Result<(), StoreError> {
    let known = migrations.len();
    if version(connection)? == known {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive).map_err(failed)?;
    // Another process may have been faster.
    for step in &migrations[version(&transaction)?.min(known)..] {
        transaction.execute_batch(step.tables).map_err(failed)?;
        (step.rows)(&transaction)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
    transaction.pragma_update(None, "user_version", count(known)).map_err(failed)?;
    transaction.commit().map_err(failed)
}

/// Refuses a database that is not ours or newer than this library.
pub(super) fn recognise(connection: &Connection, migrations: &[Migration]) -> Result<(), StoreError> {
    // One snapshot of all three: another process may be making the tables right now.
    let snapshot = connection.unchecked_transaction().map_err(failed)?;
    let application: i32 = pragma(&snapshot, "application_id")?;
    let version = version(&snapshot)?;
    let objects: i64 = snapshot.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(failed)?;
    if application != APPLICATION_ID && (application != 0 || version != 0 || objects != 0) {
        return Err(StoreError::Unsupported(
            "the file is a SQLite database of another application: give agenthost a file of its own".to_owned(),
        ));
    }
    let known = migrations.len();
    if version > known {
        return Err(StoreError::Unsupported(format!(
            "the file was written by a newer agenthost (schema {version}, this one knows schemas up to {known}): \
             update agenthost, older ones cannot go on with it"
        )));
    }
    Ok(())
}

/// Refuses a database of ours in which tables are missing or whose first pages cannot be read.
pub(super) fn check(connection: &Connection) -> Result<(), StoreError> {
    for table in ["run", "body", "event", "admitted", "batch", "request", "clock", "approval", "argument", "approver"] {
        let probe = format!("SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT 1)");
        connection.query_row(&probe, [], |_| Ok(())).map_err(|error| match failed(error) {
            StoreError::Unavailable(cause) => StoreError::Unavailable(cause),
            other => StoreError::Unsupported(format!(
                "the file is damaged, its table `{table}` cannot be read: restore a backup ({other})"
            )),
        })?;
    }
    Ok(())
}

fn version(connection: &Connection) -> Result<usize, StoreError> {
    let version: i64 = pragma(connection, "user_version")?;
    // A negative version is none that we write.
    Ok(usize::try_from(version).unwrap_or(usize::MAX))
}

fn pragma<T: rusqlite::types::FromSql>(connection: &Connection, name: &str) -> Result<T, StoreError> {
    connection.pragma_query_value(None, name, |row| row.get(0)).map_err(failed)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::time::Duration;

    use rusqlite::trace::{TraceEvent, TraceEventCodes};

    use super::super::connection::Place;
    use super::*;

    fn steps<const N: usize>(tables: [&'static str; N]) -> [Migration; N] {
        tables.map(|tables| Migration { tables, rows: |_| Ok(()) })
    }

    fn tables(connection: &Connection) -> Vec<String> {
        let mut statement = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn a_file_is_brought_forward_step_by_step_and_keeps_its_rows() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &steps(["CREATE TABLE a (x)"])).unwrap();
        connection.execute("INSERT INTO a VALUES (7)", []).unwrap();
        let steps = steps(["CREATE TABLE a (x)", "CREATE TABLE b (x); INSERT INTO b SELECT x + 1 FROM a", "DROP TABLE a"]);
        recognise(&connection, &steps).unwrap();
        migrate(&mut connection, &steps).unwrap();
        assert_eq!(tables(&connection), ["b"]);
        assert_eq!(connection.query_row("SELECT x FROM b", [], |row| row.get::<_, i64>(0)), Ok(8));
        migrate(&mut connection, &steps).unwrap();
    }

    #[test]
    fn a_step_that_fails_leaves_the_file_as_it_was() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &steps(["CREATE TABLE a (x)"])).unwrap();
        let error = migrate(&mut connection, &steps(["CREATE TABLE a (x)", "CREATE TABLE b (x); CREATE TABLE a (x)"]));
        assert!(error.is_err());
        assert_eq!(tables(&connection), ["a"]);
        assert_eq!(version(&connection), Ok(1));
    }

    #[test]
    fn a_newer_schema_is_refused_with_both_versions() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &steps(["CREATE TABLE a (x)", "CREATE TABLE b (x)"])).unwrap();
        let error = recognise(&connection, &steps(["CREATE TABLE a (x)"])).unwrap_err().to_string();
        assert!(error.contains("schema 2") && error.contains("up to 1"), "{error}");
    }

    #[test]
    fn a_database_of_somebody_else_is_refused() {
        let connection = Connection::open_in_memory().unwrap();
        recognise(&connection, MIGRATIONS).unwrap();
        connection.execute_batch("CREATE TABLE bookmarks (url)").unwrap();
        let error = recognise(&connection, MIGRATIONS).unwrap_err().to_string();
        assert!(error.contains("another application"), "{error}");
    }

    /// Another process may make the tables at any instant: here, before each of its statements.
    #[test]
    fn a_file_whose_tables_are_just_being_made_is_ours() {
        let directory = std::env::temp_dir().join(format!("agenthost-{}", uuid::Uuid::now_v7().simple()));
        std::fs::create_dir(&directory).unwrap();
        for instant in 1.. {
            let place = Place::new(&directory.join(format!("{instant}.db")), None).unwrap();
            let (mut reading, mut other) = (place.open().unwrap(), place.open().unwrap());
            other.busy_timeout(Duration::ZERO).unwrap();
            let statements = Arc::new(AtomicUsize::new(0));
            let counted = Arc::clone(&statements);
            let before_each = move |_: TraceEvent<'_>| {
                if counted.fetch_add(1, Relaxed) + 1 == instant {
                    // Whether it is let in is SQLite's affair.
                    let _ = super::super::use_log(&other).and_then(|()| migrate(&mut other, MIGRATIONS));
                }
            };
            reading.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(before_each)).unwrap();
            assert_eq!(recognise(&reading, MIGRATIONS), Ok(()), "made before statement {instant}");
            if statements.load(Relaxed) < instant {
                break;
            }
        }
        std::fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn a_missing_table_is_damage() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, MIGRATIONS).unwrap();
        check(&connection).unwrap();
        connection.execute_batch("DROP TABLE admitted").unwrap();
        let error = check(&connection).unwrap_err().to_string();
        assert!(error.contains("`admitted`"), "{error}");
    }
}
