//! How processes notify each other that something was committed: a file beside the database that each writes to and watches.
//! It says that something changed, never what.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::super::StoreError;
use super::locks::OwnFile;

/// Notifies the other processes, and tells their notifications from its own.
pub(super) struct Notifier {
    path: PathBuf,
    file: OwnFile,
    /// Names this store among those that notify; random.
    name: [u8; 8],
}

impl Notifier {
    pub(super) fn open(path: &Path) -> Result<Notifier, StoreError> {
        // Marked before anything is read: what is committed before, and of which nobody is notified, is there to be read.
        let file = OwnFile::open(path)
            .and_then(|file| file.mark().map(|()| file))
            .map_err(|error| StoreError::Unavailable(format!("{} cannot be opened: {error}", path.display())))?;
        let mut name = [0; 8];
        getrandom::fill(&mut name).map_err(|error| StoreError::Unavailable(format!("there is no randomness: {error}")))?;
        Ok(Notifier { path: path.to_owned(), file, name })
    }

    /// The file that is written to.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Notifies the others, if there are any; to be called while this store has the lock for writing. True when others have notified since
    /// this store did: whoever overwrites a name knows it, and the watcher need not look for its own.
    pub(super) fn notify(&self) -> bool {
        if !self.file.is_marked_by_others() {
            return false;
        }
        let others = self.others_notified();
        // A full disk hides no commit: the others poll every few seconds.
        let _ = self.file.write_at(&self.name, 0);
        others
    }

    /// Whether the last to notify was another store.
    pub(super) fn others_notified(&self) -> bool {
        let mut last = [0; 8];
        match self.file.read_at(&mut last, 0) {
            Ok(8) => last != self.name,
            Ok(_) => false,
            Err(_) => true,
        }
    }
}
