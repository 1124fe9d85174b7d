//! Locks that another SQLite in this process cannot drop, and descriptors that a forked child cannot keep.
//!
//! SQLite locks with POSIX `fcntl` locks. They belong to the process: when any other code in it closes any descriptor
//! of the database (Python's `sqlite3` closing a connection), the kernel drops all of them, and that other SQLite meets
//! none of them either, so it deletes a log that is in use. On Linux this module replaces the system calls that SQLite
//! makes (`xSetSystemCall`), before the first database is opened, so that it takes open-file-description locks instead.
//! These belong to the open file, and conflict with everybody else's locks as usual.
//!
//! An open file lives as long as anybody refers to it. A forked child would keep the locks of its killed parent, through
//! an inherited descriptor or an inherited mapping of the index. So a fork handler closes the descriptors in the child,
//! and mappings are not inherited.
//!
//! The module knows nothing of runs, tables or transactions. On other systems it does nothing.

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod calls;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod files;

use std::fs::File;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static SWITCHED_OFF: AtomicBool = AtomicBool::new(false);
static INSTALLED: OnceLock<Result<(), &'static str>> = OnceLock::new();

/// Why no database can be opened here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    /// SQLite does not let its system calls be replaced.
    #[error("SQLite's system calls cannot be replaced: {0}")]
    NotReplaceable(&'static str),
    /// The parent had databases open when it forked: SQLite's own state in this process speaks of files that are shut.
    #[error("this process was forked while its parent had a database open: open databases after the fork, or exec first")]
    Forked,
}

/// Makes SQLite's locks safe, once for the process. Must succeed before any database is opened.
pub(super) fn install() -> Result<(), Refused> {
    if forked_while_open() {
        return Err(Refused::Forked);
    }
    if SWITCHED_OFF.load(Ordering::Acquire) {
        return Ok(());
    }
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    return INSTALLED.get_or_init(calls::replace).map_err(Refused::NotReplaceable);
    #[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
    return INSTALLED.get_or_init(|| Ok(())).map_err(Refused::NotReplaceable);
}

/// Leaves SQLite's locks as they are, to show what happens then. Only for tests, before the first database is opened.
#[doc(hidden)]
pub fn switch_off_for_a_test() {
    assert!(INSTALLED.get().is_none(), "a database has been opened already");
    SWITCHED_OFF.store(true, Ordering::Release);
}

/// Whether this process is a child that was forked while a database was open: its parent's stores are shut here.
pub(super) fn forked_while_open() -> bool {
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    return files::forked_while_open();
    #[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
    return false;
}

/// A file whose descriptor is closed in every forked child, so that its locks and watches end with this process.
#[derive(Debug)]
pub(super) struct OwnFile(Option<File>);

impl OwnFile {
    /// Opens a file to read and write it, and makes it when there is none.
    pub(super) fn open(path: &std::path::Path) -> std::io::Result<OwnFile> {
        let open = || File::options().read(true).write(true).create(true).truncate(false).open(path);
        #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
        return files::opened(open).map(Some).map(OwnFile);
        #[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
        return open().map(Some).map(OwnFile);
    }

    /// Marks the file for as long as this one is open.
    pub(super) fn mark(&self) -> std::io::Result<()> {
        #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
        return files::mark(self);
        #[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
        return Ok(());
    }

    /// Whether another, of this process or not, has marked the file and is open. True where that cannot be told.
    pub(super) fn is_marked_by_others(&self) -> bool {
        #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
        return files::is_marked_by_others(self);
        #[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
        return true;
    }
}

impl std::ops::Deref for OwnFile {
    type Target = File;
    fn deref(&self) -> &File {
        self.0.as_ref().expect("the file is there until it is dropped")
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
        files::close(self.0.take());
    }
}
