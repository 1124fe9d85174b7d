//! Connections as this store needs them, and what SQLite's errors mean to its callers.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::super::StoreError;
use super::locks;

/// How long a statement waits for a lock that another program's SQLite holds. Our own processes queue for a lock of their own.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Where a database is, and through which VFS it is reached.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    /// SQLite's name of the VFS; its default one when there is none.
    pub(super) vfs: Option<String>,
}

/// What a connection is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Write,
    Read,
}

impl Place {
    /// Makes the path absolute, so that nothing in it reads as an URI and no change of directory matters.
    pub(super) fn new(path: &Path, vfs: Option<&str>) -> Result<Place, StoreError> {
        if path.as_os_str().is_empty() {
            return Err(StoreError::Unsupported("the path of the database is empty".to_owned()));
        }
        if path.as_os_str().as_encoded_bytes().contains(&0) {
            return Err(StoreError::Unsupported("the path of the database holds U+0000".to_owned()));
        }
        let refused = |error| StoreError::Unsupported(format!("the path of the database cannot be used: {error}"));
        let absolute = std::path::absolute(path).map_err(refused)?;
        // A link to the file is followed once, here: its companions stand beside the file itself.
        let path = std::fs::canonicalize(&absolute).unwrap_or(absolute);
        if path.is_dir() {
            return Err(StoreError::Unsupported("the path of the database is a directory: name a file in it".to_owned()));
        }
        if path.parent().is_some_and(|directory| !directory.is_dir()) {
            return Err(StoreError::Unsupported("the directory of the database does not exist: make it first".to_owned()));
        }
        Ok(Place { path, vfs: vfs.map(str::to_owned) })
    }

    /// The file of that name beside the database: `runs.db` and `-wake` give `runs.db-wake`.
    pub(super) fn beside(&self, suffix: &str) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(suffix);
        path.into()
    }

    /// Opens the file, and makes it when there is none. Reads nothing yet.
    pub(super) fn open(&self) -> Result<Connection, StoreError> {
        locks::install().map_err(|error| StoreError::Unsupported(error.to_string()))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_EXRESCODE;
        let opened = match &self.vfs {
            None => Connection::open_with_flags(&self.path, flags),
            Some(vfs) => Connection::open_with_flags_and_vfs(&self.path, flags, vfs.as_str()),
        };
        let connection = opened.map_err(failed)?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
        Ok(connection)
    }

    /// Opens the file for what it is needed for. It is a database of ours already.
    pub(super) fn connect(&self, purpose: Purpose) -> Result<Connection, StoreError> {
        let connection = self.open()?;
        set_up(&connection, purpose)?;
        Ok(connection)
    }
}

/// The settings that live with a connection, not with the file.
pub(super) fn set_up(connection: &Connection, purpose: Purpose) -> Result<(), StoreError> {
    connection.set_prepared_statement_cache_capacity(128);
    connection
        .execute_batch(
            "PRAGMA synchronous = FULL;
             PRAGMA foreign_keys = OFF;
             PRAGMA trusted_schema = OFF;
             PRAGMA temp_store = MEMORY;
             PRAGMA cache_size = -16384;
             PRAGMA wal_autocheckpoint = 16000;
             PRAGMA journal_size_limit = 67108864;",
        )
        .map_err(failed)?;
    if purpose == Purpose::Read {
        connection.execute_batch("PRAGMA query_only = ON").map_err(failed)?;
    }
    Ok(())
}

/// What an error of SQLite means: wait and try again, or the file or this code is wrong.
pub(super) fn failed(error: rusqlite::Error) -> StoreError {
    let text = error.to_string();
    let rusqlite::Error::SqliteFailure(failure, _) = &error else { return StoreError::Broken(text) };
    match failure.code {
        ErrorCode::DatabaseCorrupt => StoreError::Broken(format!("the file is damaged: {text}")),
        ErrorCode::NotADatabase => StoreError::Unsupported(format!("the file is not a SQLite database: {text}")),
        ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::DiskFull
        | ErrorCode::SystemIoFailure
        | ErrorCode::CannotOpen
        | ErrorCode::ReadOnly
        | ErrorCode::OutOfMemory
        | ErrorCode::PermissionDenied
        | ErrorCode::FileLockingProtocolFailed
        | ErrorCode::OperationInterrupted
        | ErrorCode::OperationAborted
        | ErrorCode::SchemaChanged => StoreError::Unavailable(text),
        _ => StoreError::Broken(text),
    }
}
