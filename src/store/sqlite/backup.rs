//! A copy of the database while it is written to.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::super::{StoreError, Stored};
use super::connection::{Place, Purpose, failed};

/// Copies everything committed to `to`. The copy appears under its name when it is whole and on disk, or not at all.
pub(super) fn backup(place: &Place, to: &Path) -> Stored<()> {
    if to.symlink_metadata().is_ok() {
        return Err(exists(to));
    }
    let to = Place::new(to, place.vfs.as_deref())?;
    let random = getrandom::u64().map_err(|error| StoreError::Unavailable(format!("there is no randomness: {error}")))?;
    let part = to.beside(&format!("-part-{random:016x}"));
    let result = copy(place, &part).and_then(|()| publish(&part, &to.path));
    if result.is_err() {
        // What is left of a failed copy has a name that nobody looks for.
        let _ = fs::remove_file(&part);
    }
    result
}

fn copy(place: &Place, part: &Path) -> Stored<()> {
    let from = place.connect(Purpose::Read)?;
    let mut into: Connection = Place { path: part.to_owned(), vfs: place.vfs.clone() }.open()?;
    let copying = Backup::new(&from, &mut into).map_err(failed)?;
    // All pages in one step, over one snapshot: a copy in several would start anew with each commit.
    loop {
        match copying.step(-1).map_err(failed)? {
            StepResult::Done => break,
            StepResult::More => {}
            _ => return Err(StoreError::Unavailable("the database was locked by another program".to_owned())),
        }
    }
    drop(copying);
    into.close().map_err(|(_, error)| failed(error))
}

fn publish(part: &Path, to: &PathBuf) -> Stored<()> {
    let unavailable = |error: std::io::Error| StoreError::Unavailable(format!("the copy could not be written: {error}"));
    File::open(part).and_then(|file| file.sync_all()).map_err(unavailable)?;
    // Unlike a rename, a link never replaces a file.
    match fs::hard_link(part, to) {
        Ok(()) => fs::remove_file(part).map_err(unavailable)?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(exists(to)),
        // A file system without links.
        Err(_) => fs::rename(part, to).map_err(unavailable)?,
    }
    sync_directory_of(to).map_err(unavailable)
}

fn exists(to: &Path) -> StoreError {
    StoreError::Unsupported(format!("{} exists: a copy never replaces a file", to.display()))
}

/// Makes a new name in the directory outlive a loss of power.
pub(super) fn sync_directory_of(path: &Path) -> std::io::Result<()> {
    match path.parent() {
        Some(directory) => File::open(directory)?.sync_all(),
        None => Ok(()),
    }
}
