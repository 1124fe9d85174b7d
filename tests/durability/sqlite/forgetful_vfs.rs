//! A VFS for SQLite that remembers what was synced and forgets the rest when the power goes, and that fails on demand.
//!
//! Files are real ones, written as ever. Beside them this keeps what a disk would hold: what was written before the last sync,
//! and the writes since. `cut_power` makes files of the first and an arbitrary part of the second, sector by sector.

#![allow(unsafe_code, reason = "a VFS is a struct of C functions")]

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Mutex, MutexGuard, Once};

use rusqlite::ffi;

use crate::kill::Dice;

/// The name under which SQLite knows this VFS.
pub(crate) const NAME: &str = "forgetful";

const SECTOR: usize = 512;

/// What a disk holds of one file.
#[derive(Default)]
struct Disk {
    synced: Vec<u8>,
    since: Vec<Change>,
}

#[derive(Clone)]
enum Change {
    Write(usize, Vec<u8>),
    Truncate(usize),
}

/// A call that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    DiskFull,
    Write,
    Sync,
}

#[derive(Default)]
struct State {
    disks: HashMap<PathBuf, Disk>,
    /// Files of SQLite, by address, with their names and the functions they had.
    open: HashMap<usize, (PathBuf, usize)>,
    /// Copies of these functions with some replaced, by the address of the originals.
    replaced: HashMap<usize, usize>,
    /// Which calls fail, after so many that do not.
    fault: Option<(Fault, u64)>,
    failed: u64,
    syncs_are_lies: bool,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

fn state() -> MutexGuard<'static, Option<State>> {
    STATE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn with<R>(work: impl FnOnce(&mut State) -> R) -> R {
    work(state().get_or_insert_default())
}

/// Registers the VFS with SQLite.
pub(crate) fn register() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        // SAFETY: the unix VFS lives as long as the process; its copy too, as it is leaked.
        unsafe {
            let unix = ffi::sqlite3_vfs_find(c"unix".as_ptr());
            assert!(!unix.is_null());
            let mut vfs = *unix;
            vfs.zName = c"forgetful".as_ptr();
            vfs.pNext = ptr::null_mut();
            vfs.xOpen = Some(open);
            vfs.xDelete = Some(delete);
            assert_eq!(ffi::sqlite3_vfs_register(Box::leak(Box::new(vfs)), 0), ffi::SQLITE_OK);
        }
    });
}

/// From now on such calls fail, after `after` that do not. None: no more.
pub(crate) fn fail(fault: Option<(Fault, u64)>) {
    with(|state| (state.fault, state.failed) = (fault, 0));
}

/// How many calls have failed since `fail`.
pub(crate) fn failures() -> u64 {
    with(|state| state.failed)
}

/// A disk that says it has synced, and has not.
pub(crate) fn lie_about_syncs(lie: bool) {
    with(|state| state.syncs_are_lies = lie);
}

/// Writes to `into` what a disk may hold when the power goes now: of the database `path` and its log.
pub(crate) fn cut_power(path: &Path, into: &Path, dice: &mut Dice) {
    with(|state| {
        for suffix in ["", "-wal", "-journal"] {
            let name = |path: &Path| PathBuf::from(format!("{}{suffix}", path.display()));
            let Some(disk) = state.disks.get(&name(path)) else { continue };
            let mut bytes = disk.synced.clone();
            // Nothing, all, or some of what was not synced.
            let extent = dice.below(4);
            for change in &disk.since {
                apply(&mut bytes, change, |_| match extent {
                    0 => false,
                    1 => true,
                    _ => dice.below(2) == 0,
                });
            }
            if suffix.is_empty() || !bytes.is_empty() {
                std::fs::write(name(into), bytes).expect("the copy is written");
            }
        }
    });
}

/// Applies a change, or only some of its sectors.
fn apply(bytes: &mut Vec<u8>, change: &Change, mut keep: impl FnMut(usize) -> bool) {
    match change {
        Change::Truncate(size) => {
            if keep(0) {
                bytes.resize(*size, 0);
            }
        }
        Change::Write(offset, data) => {
            let mut start = 0;
            while start < data.len() {
                let end = (start + SECTOR - (offset + start) % SECTOR).min(data.len());
                if keep(start) {
                    if bytes.len() < offset + end {
                        bytes.resize(offset + end, 0);
                    }
                    bytes[offset + start..offset + end].copy_from_slice(&data[start..end]);
                }
                start = end;
            }
        }
    }
}

unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: SQLite's arguments, passed on; the unix VFS finds its own data in the copied struct.
    let result = unsafe {
        let unix = ffi::sqlite3_vfs_find(c"unix".as_ptr());
        (*unix).xOpen.expect("every VFS opens")(vfs, name, file, flags, out_flags)
    };
    let kept = ffi::SQLITE_OPEN_MAIN_DB | ffi::SQLITE_OPEN_WAL | ffi::SQLITE_OPEN_MAIN_JOURNAL;
    if result != ffi::SQLITE_OK || flags & kept == 0 {
        return result;
    }
    // SAFETY: a file with a name was opened, and its functions are set.
    let (path, original) = unsafe { (path_of(name), (*file).pMethods) };
    with(|state| {
        let replaced = *state.replaced.entry(original as usize).or_insert_with(|| {
            // SAFETY: SQLite's functions for files, constant for the life of the process.
            let mut methods = unsafe { *original };
            methods.xClose = Some(close);
            methods.xWrite = Some(write);
            methods.xTruncate = Some(truncate);
            methods.xSync = Some(sync);
            Box::leak(Box::new(methods)) as *const ffi::sqlite3_io_methods as usize
        });
        state.disks.entry(path.clone()).or_default();
        state.open.insert(file as usize, (path, original as usize));
        // SAFETY: the file is SQLite's, and nobody else has it yet.
        unsafe { (*file).pMethods = replaced as *const ffi::sqlite3_io_methods };
    });
    result
}

unsafe fn path_of(name: *const c_char) -> PathBuf {
    // SAFETY: the caller's name ends with NUL.
    PathBuf::from(unsafe { CStr::from_ptr(name) }.to_str().expect("a path of a test"))
}

unsafe extern "C" fn delete(vfs: *mut ffi::sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    with(|state| {
        // SAFETY: SQLite's arguments, passed on.
        unsafe {
            state.disks.remove(&path_of(name));
            let unix = ffi::sqlite3_vfs_find(c"unix".as_ptr());
            (*unix).xDelete.expect("every VFS deletes")(vfs, name, sync)
        }
    })
}

impl State {
    fn original(&self, file: *mut ffi::sqlite3_file) -> (&'static ffi::sqlite3_io_methods, PathBuf) {
        let (path, methods) = &self.open[&(file as usize)];
        // SAFETY: SQLite's functions for files, constant for the life of the process.
        (unsafe { &*(*methods as *const ffi::sqlite3_io_methods) }, path.clone())
    }

    /// Whether this call is to fail.
    fn fails(&mut self, faults: &[Fault]) -> Option<Fault> {
        let (fault, after) = self.fault.as_mut().filter(|(fault, _)| faults.contains(fault))?;
        if *after > 0 {
            *after -= 1;
            return None;
        }
        self.failed += 1;
        Some(*fault)
    }

    fn change(&mut self, path: PathBuf, change: Change) {
        self.disks.entry(path).or_default().since.push(change);
    }
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    let original = with(|state| {
        let original = state.original(file).0;
        state.open.remove(&(file as usize));
        original
    });
    // SAFETY: SQLite's file, with the functions it was opened with.
    unsafe {
        (*file).pMethods = original;
        original.xClose.expect("every file closes")(file)
    }
}

unsafe extern "C" fn write(file: *mut ffi::sqlite3_file, data: *const c_void, count: c_int, offset: ffi::sqlite3_int64) -> c_int {
    with(|state| {
        if let Some(fault) = state.fails(&[Fault::DiskFull, Fault::Write]) {
            return if fault == Fault::DiskFull { ffi::SQLITE_FULL } else { ffi::SQLITE_IOERR_WRITE };
        }
        let (original, path) = state.original(file);
        // SAFETY: SQLite's arguments, passed on; `data` has `count` bytes.
        let (result, bytes) = unsafe {
            let result = original.xWrite.expect("every file is written")(file, data, count, offset);
            (result, std::slice::from_raw_parts(data.cast::<u8>(), count as usize).to_vec())
        };
        if result == ffi::SQLITE_OK {
            state.change(path, Change::Write(offset as usize, bytes));
        }
        result
    })
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: ffi::sqlite3_int64) -> c_int {
    with(|state| {
        let (original, path) = state.original(file);
        // SAFETY: SQLite's arguments, passed on.
        let result = unsafe { original.xTruncate.expect("every file is truncated")(file, size) };
        if result == ffi::SQLITE_OK {
            state.change(path, Change::Truncate(size as usize));
        }
        result
    })
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    with(|state| {
        if state.fails(&[Fault::Sync]).is_some() {
            return ffi::SQLITE_IOERR_FSYNC;
        }
        let (original, path) = state.original(file);
        // SAFETY: SQLite's arguments, passed on.
        let result = unsafe { original.xSync.expect("every file is synced")(file, flags) };
        if result == ffi::SQLITE_OK && !state.syncs_are_lies {
            let disk = state.disks.entry(path).or_default();
            let since = std::mem::take(&mut disk.since);
            since.iter().for_each(|change| apply(&mut disk.synced, change, |_| true));
        }
        result
    })
}
