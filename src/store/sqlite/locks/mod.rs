//! Locks that another SQLite in this process cannot drop, and descriptors that a forked child cannot keep.
//!
//! SQLite locks with POSIX `fcntl` locks. They belong to the process: when any other code in it closes any descriptor
//! of the database (Python's `sqlite3` closing a connection), the kernel drops all of them, and that other SQLite meets
//! none of them either, so it deletes a log that is in use. On Linux this module replaces the system calls that SQLite
//! makes (`xSetSystemCall`), before the first database is opened, so that it takes open-file-description locks instead.
//! These belong to the open file, and conflict with everybody else's locks as usual.
//!
//! An open file lives as long as anybody refers to it. A forked child would keep the locks of its killed parent, through
//! an inherited descriptor or an inherited mapping of the index. So a fork handler lets go of the descriptors in the child,
//! mappings are not inherited, and what the child opens has nothing to do with what SQLite knows of the parent's files.
//!
//! The module knows nothing of runs, tables or transactions. On other systems it does nothing.

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod calls;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod descriptors;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod fork;
mod own_file;

pub(super) use own_file::OwnFile;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static SWITCHED_OFF: AtomicBool = AtomicBool::new(false);
static INSTALLED: OnceLock<Result<(), &'static str>> = OnceLock::new();

/// Why no database can be opened here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    /// SQLite does not let its system calls be replaced.
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    #[error("SQLite's system calls cannot be replaced: {0}")]
    NotReplaceable(&'static str),
    /// A process from which this one was forked had opened a database: SQLite's own state in this process speaks of that one's files.
    #[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
    #[error(
        "this process was forked from one that had opened a database, which can be dealt with on Linux only: open the first after the fork, or exec"
    )]
    Forked,
}

/// Makes SQLite's locks safe, once for the process. Must succeed before any database is opened.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub(super) fn install() -> Result<(), Refused> {
    if !SWITCHED_OFF.load(Ordering::Acquire) {
        INSTALLED.get_or_init(calls::replace).map_err(Refused::NotReplaceable)?;
    }
    fork::register();
    Ok(())
}

/// Refuses a child of a process that had opened a database.
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
pub(super) fn install() -> Result<(), Refused> {
    static FIRST: OnceLock<u64> = OnceLock::new();
    let _installed = INSTALLED.get_or_init(|| Ok(()));
    let here = crate::host::fork::generation();
    if *FIRST.get_or_init(|| here) == here { Ok(()) } else { Err(Refused::Forked) }
}

/// Leaves SQLite's locks as they are, to show what happens then. Only for tests, before the first database is opened.
#[doc(hidden)]
pub fn switch_off_for_a_test() {
    assert!(INSTALLED.get().is_none(), "a database has been opened already");
    SWITCHED_OFF.store(true, Ordering::Release);
}
