//! A file of the store's own, beside the database.

#![allow(unsafe_code, reason = "a lock of the open file is set by a call of C")]

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
use super::descriptors;

/// A file of which no forked child keeps a descriptor, so that its locks end with this process.
#[derive(Debug)]
pub(crate) struct OwnFile(Option<File>);

impl OwnFile {
    /// Opens a file to read and write it, and makes it when there is none.
    pub(crate) fn open(path: &Path) -> io::Result<OwnFile> {
        let open = || File::options().read(true).write(true).create(true).truncate(false).open(path);
        #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
        return descriptors::with(|descriptors| {
            let file = open()?;
            descriptors.insert(std::os::fd::AsRawFd::as_raw_fd(&file), true);
            Ok(OwnFile(Some(file)))
        });
        #[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
        return open().map(Some).map(OwnFile);
    }

    /// Marks the file for as long as this one is open. A mark is a shared lock of the open file on its first byte: any number may have
    /// one.
    pub(crate) fn mark(&self) -> io::Result<()> {
        #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
        return match lock_first_byte(self, libc::F_OFD_SETLK, libc::F_RDLCK) {
            Some(_) => Ok(()),
            None => Err(io::Error::last_os_error()),
        };
        #[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
        return Ok(());
    }

    /// Whether another, of this process or not, has marked the file and is open. True where that cannot be told.
    pub(crate) fn is_marked_by_others(&self) -> bool {
        #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
        return lock_first_byte(self, libc::F_OFD_GETLK, libc::F_WRLCK) != Some(libc::F_UNLCK);
        #[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
        return true;
    }
}

/// Sets a lock, or asks what would be in its way; gives that lock's kind, `F_UNLCK` for none.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn lock_first_byte(file: &File, command: libc::c_int, kind: libc::c_int) -> Option<libc::c_int> {
    // SAFETY: `flock` is plain data, for which zero is a value.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_len = 1;
    // SAFETY: an open descriptor and a lock that is valid for the call.
    let done = unsafe { libc::fcntl(std::os::fd::AsRawFd::as_raw_fd(file), command, &mut lock) };
    (done == 0).then_some(libc::c_int::from(lock.l_type))
}

impl Deref for OwnFile {
    type Target = File;
    fn deref(&self) -> &File {
        self.0.as_ref().expect("the file is there until it is dropped")
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        // A child's copy has the number of a descriptor that is not the child's to close.
        #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
        if let Some(file) = self.0.take() {
            descriptors::with(|descriptors| {
                if descriptors.remove(std::os::fd::AsRawFd::as_raw_fd(&file)) { drop(file) } else { std::mem::forget(file) }
            });
        }
    }
}
