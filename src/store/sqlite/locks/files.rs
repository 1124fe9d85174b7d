//! Which descriptors SQLite has open here, who holds the locks of a file, and what a fork does to both.

#![allow(unsafe_code, reason = "descriptors are duplicated, locked and closed by number, as SQLite does")]

use std::cell::UnsafeCell;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once};

/// A file, whatever the descriptor: device and inode.
type Inode = (libc::dev_t, libc::ino_t);

/// What is known of a descriptor.
#[derive(Clone, Copy)]
struct Open {
    inode: Inode,
    writable: bool,
}

/// The descriptors, and per file those through which locks were taken.
///
/// SQLite counts its locks per file and may take one through one descriptor and drop it through another, which is the
/// same to a POSIX lock but not to an open-file-description lock. So all locks of a file go through one descriptor, the
/// first writable one that takes any. SQLite keeps a descriptor open while its file has a lock, so the holder lives.
#[derive(Default)]
pub(super) struct Files {
    open: HashMap<libc::c_int, Open>,
    holders: HashMap<Inode, Holders>,
    /// Descriptors that SQLite has closed and that are open still: see [`Files::close`].
    kept: Vec<(libc::c_int, Inode)>,
}

#[derive(Default)]
struct Holders {
    writable: Option<libc::c_int>,
    read_only: Vec<libc::c_int>,
}

static FILES: Mutex<Option<Files>> = Mutex::new(None);
static FORKED_WHILE_OPEN: AtomicBool = AtomicBool::new(false);
static FORK_HANDLERS: Once = Once::new();

/// Whether the parent had descriptors open when it forked this process.
pub(super) fn forked_while_open() -> bool {
    FORKED_WHILE_OPEN.load(Ordering::Acquire)
}

fn lock() -> MutexGuard<'static, Option<Files>> {
    FILES.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Runs `work` on the table; no fork happens meanwhile.
pub(super) fn with<R>(work: impl FnOnce(&mut Files) -> R) -> R {
    FORK_HANDLERS.call_once(register_fork_handlers);
    work(lock().get_or_insert_default())
}

/// Opens a file that is closed in forked children.
pub(super) fn opened(open: impl FnOnce() -> io::Result<File>) -> io::Result<File> {
    with(|files| {
        let file = open()?;
        files.insert(file.as_raw_fd(), true);
        Ok(file)
    })
}

/// Closes a file that `opened` opened. In a forked child it is closed already, and its number may be another file's.
pub(super) fn close(file: Option<File>) {
    let Some(file) = file else { return };
    with(|files| if files.remove(file.as_raw_fd()) { drop(file) } else { std::mem::forget(file) });
}

/// A mark is a shared lock of the open file on its first byte: any number may have one, and the lock of another is seen by asking
/// for an exclusive one.
pub(super) fn mark(file: &File) -> io::Result<()> {
    match lock_first_byte(file, libc::F_OFD_SETLK, libc::F_RDLCK) {
        Some(_) => Ok(()),
        None => Err(io::Error::last_os_error()),
    }
}

/// Whether the mark of another is on the file, or that cannot be told.
pub(super) fn is_marked_by_others(file: &File) -> bool {
    lock_first_byte(file, libc::F_OFD_GETLK, libc::F_WRLCK) != Some(libc::F_UNLCK)
}

/// Sets or asks; gives the kind of lock that is in the way, `F_UNLCK` for none.
fn lock_first_byte(file: &File, command: libc::c_int, kind: libc::c_int) -> Option<libc::c_int> {
    // SAFETY: `flock` is plain data, for which zero is a value.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_len = 1;
    // SAFETY: an open descriptor and a lock that is valid for the call.
    let done = unsafe { libc::fcntl(file.as_raw_fd(), command, &mut lock) };
    (done == 0).then_some(libc::c_int::from(lock.l_type))
}

impl Files {
    /// Notes a descriptor that was just opened.
    pub(super) fn insert(&mut self, fd: libc::c_int, writable: bool) {
        // SAFETY: `stat` is plain data, for which zero is a value, and `fstat` fills it.
        let mut stat: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: `stat` is valid for the call.
        let known = unsafe { libc::fstat(fd, &mut stat) } == 0;
        let inode = if known { (stat.st_dev, stat.st_ino) } else { (0, 0) };
        self.open.insert(fd, Open { inode, writable });
    }

    /// Forgets a descriptor; false when it is not one of these.
    pub(super) fn remove(&mut self, fd: libc::c_int) -> bool {
        let Some(open) = self.open.remove(&fd) else { return false };
        if let Some(holders) = self.holders.get_mut(&open.inode) {
            holders.read_only.retain(|held| *held != fd);
            if holders.writable == Some(fd) {
                holders.writable = None;
            }
            if holders.writable.is_none() && holders.read_only.is_empty() {
                self.holders.remove(&open.inode);
            }
        }
        true
    }

    /// Closes a descriptor of SQLite, unless that would do to a foreign SQLite in this process what this module keeps it from
    /// doing to us: drop its locks. Then the descriptor is kept, without locks of its own, until a later close finds them gone.
    pub(super) fn close(&mut self, fd: libc::c_int) -> libc::c_int {
        self.close_kept();
        let inode = self.open.get(&fd).map(|open| open.inode);
        let known = self.remove(fd);
        if !known && forked_while_open() {
            // The fork handler closed it; the number may be another file's by now.
            return 0;
        }
        if let Some(inode) = inode.filter(|inode| foreign_locks().contains(&inode.1)) {
            // SAFETY: `flock` is plain data; zero is the whole file.
            let mut unlock: libc::flock = unsafe { std::mem::zeroed() };
            unlock.l_type = libc::F_UNLCK as libc::c_short;
            // SAFETY: an open descriptor and a lock that is valid for the call.
            unsafe { libc::fcntl(fd, libc::F_OFD_SETLK, &mut unlock) };
            self.kept.push((fd, inode));
            return 0;
        }
        // SAFETY: SQLite's descriptor, to be closed once.
        unsafe { libc::close(fd) }
    }

    fn close_kept(&mut self) {
        if self.kept.is_empty() {
            return;
        }
        let locked = foreign_locks();
        self.kept.retain(|(fd, inode)| {
            let keep = locked.contains(&inode.1);
            if !keep {
                // SAFETY: a kept descriptor, closed once: it leaves the list.
                unsafe { libc::close(*fd) };
            }
            keep
        });
    }

    /// Whether SQLite opened the descriptor after its calls were replaced.
    pub(super) fn contains(&self, fd: libc::c_int) -> bool {
        self.open.contains_key(&fd)
    }

    /// The descriptor through which a lock is set or asked about in place of `fd`. A read-only one cannot hold write
    /// locks, so it stands in for itself alone, and only while no writable one holds locks.
    pub(super) fn holder(&mut self, fd: libc::c_int) -> libc::c_int {
        let Some(open) = self.open.get(&fd).copied() else { return fd };
        let holders = self.holders.entry(open.inode).or_default();
        match holders.writable {
            Some(holder) => holder,
            None if open.writable => *holders.writable.insert(fd),
            None => {
                if !holders.read_only.contains(&fd) {
                    holders.read_only.push(fd);
                }
                fd
            }
        }
    }

    /// Calls `unlock` with every descriptor that may hold a lock on the file of `fd`.
    pub(super) fn each_holder(&self, fd: libc::c_int, mut unlock: impl FnMut(libc::c_int)) {
        let Some(holders) = self.open.get(&fd).and_then(|open| self.holders.get(&open.inode)) else { return };
        holders.writable.iter().chain(&holders.read_only).for_each(|holder| unlock(*holder));
    }
}

/// The inodes on which this process has POSIX locks. Ours are none: a foreign SQLite's, or the program's own.
fn foreign_locks() -> HashSet<libc::ino_t> {
    // `1: POSIX  ADVISORY  WRITE 1234 fd:01:5678 120 127`: process, device and inode, first and last byte.
    let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    let own = std::process::id().to_string();
    let inode = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let at = fields.iter().position(|field| *field == "POSIX")?;
        let (process, file) = (fields.get(at + 3)?, fields.get(at + 4)?);
        if *process == own { file.rsplit(':').next()?.parse().ok() } else { None }
    };
    locks.lines().filter_map(inode).collect()
}

/// The lock on the table while the process forks.
struct Held(UnsafeCell<Option<MutexGuard<'static, Option<Files>>>>);

// SAFETY: only the thread that forks touches it: `before` fills it while it holds the table's lock, and the same thread
// empties it in `in_parent` or, as the only thread of the child, in `in_child`.
unsafe impl Sync for Held {}

static HELD: Held = Held(UnsafeCell::new(None));

fn register_fork_handlers() {
    // SAFETY: the three functions live as long as the code, and glibc drops handlers of an unloaded library.
    let status = unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    assert_eq!(status, 0, "no memory for fork handlers");
}

/// No descriptor is between being opened and being noted while the process forks.
unsafe extern "C" fn before() {
    let guard = lock();
    // SAFETY: the table's lock is held, see `Held`.
    unsafe { *HELD.0.get() = Some(guard) };
}

unsafe extern "C" fn in_parent() {
    // SAFETY: `before` ran on this thread, see `Held`.
    drop(unsafe { (*HELD.0.get()).take() });
}

/// Closes every descriptor in the child, so that no lock outlives the parent. Allocates and frees nothing.
unsafe extern "C" fn in_child() {
    // SAFETY: this is the copy of the thread that ran `before`, see `Held`.
    let mut guard = unsafe { (*HELD.0.get()).take() };
    if let Some(files) = guard.as_mut().and_then(|guard| guard.as_mut()) {
        if !files.open.is_empty() {
            FORKED_WHILE_OPEN.store(true, Ordering::Release);
        }
        for fd in files.open.keys().chain(files.kept.iter().map(|(fd, _)| fd)) {
            // SAFETY: the child's copy of a descriptor that SQLite or `OwnFile` opened. Nobody uses it here: stores are
            // shut by `forked_while_open`, and `calls::close` ignores numbers that it does not know.
            unsafe { libc::close(*fd) };
        }
        files.open.clear();
        files.kept.clear();
        files.holders.clear();
    }
}
