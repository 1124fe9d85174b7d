//! The descriptors that SQLite and this store have open, and through which of them the locks of a file are set.

#![allow(unsafe_code, reason = "descriptors are locked and closed by number, as SQLite does")]

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A file, whatever the descriptor: device and inode.
type Inode = (libc::dev_t, libc::ino_t);

/// What is known of a descriptor.
#[derive(Clone, Copy)]
struct Open {
    inode: Inode,
    writable: bool,
    /// It was the parent's when this process was forked. Its number leads to nothing here: see [`Descriptors::shut_in_child`].
    inherited: bool,
}

/// The descriptors, and for each file those through which locks were set.
///
/// SQLite counts its locks per file and may set one through one descriptor and drop it through another, which is the
/// same to a POSIX lock but not to an open-file-description lock. So all locks of a file go through one descriptor, the
/// first writable one that sets any. SQLite keeps a descriptor open while its file has a lock, so the holder lives.
#[derive(Default)]
pub(super) struct Descriptors {
    open: HashMap<libc::c_int, Open>,
    holders: HashMap<Inode, Holders>,
    /// Descriptors that SQLite has closed and that are open still: see [`Descriptors::close`].
    kept: Vec<(libc::c_int, Inode)>,
}

#[derive(Default)]
struct Holders {
    writable: Option<libc::c_int>,
    read_only: Vec<libc::c_int>,
}

static DESCRIPTORS: Mutex<Option<Descriptors>> = Mutex::new(None);

/// Locks the table.
pub(super) fn lock() -> MutexGuard<'static, Option<Descriptors>> {
    DESCRIPTORS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `work` on the table. No fork happens meanwhile, and no lock of SQLite's is waited for.
pub(super) fn with<R>(work: impl FnOnce(&mut Descriptors) -> R) -> R {
    work(lock().get_or_insert_default())
}

impl Descriptors {
    /// Notes a descriptor that was just opened.
    pub(super) fn insert(&mut self, fd: libc::c_int, writable: bool) {
        // SAFETY: `stat` is plain data, for which zero is a value, and `fstat` fills it.
        let mut stat: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: `stat` is valid for the call.
        let known = unsafe { libc::fstat(fd, &mut stat) } == 0;
        let inode = if known { (stat.st_dev, stat.st_ino) } else { (0, 0) };
        self.open.insert(fd, Open { inode, writable, inherited: false });
    }

    /// Forgets a descriptor; false when it is not one of this process.
    pub(super) fn remove(&mut self, fd: libc::c_int) -> bool {
        if !self.contains(fd) {
            return false;
        }
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
        if self.open.get(&fd).is_some_and(|open| open.inherited) {
            return 0;
        }
        let inode = self.open.get(&fd).map(|open| open.inode);
        self.remove(fd);
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

    /// Whether the descriptor was opened by this process, after SQLite's calls were replaced.
    pub(super) fn contains(&self, fd: libc::c_int) -> bool {
        self.open.get(&fd).is_some_and(|open| !open.inherited)
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

    /// In a forked child: lets go of every file that the parent has open, so that no lock outlives the parent. Says whether there
    /// were any.
    ///
    /// The numbers stay taken, by a descriptor with which nothing can be read, written or locked: a connection that the child has
    /// inherited must not reach a file that the child opens later. Allocates nothing.
    pub(super) fn shut_in_child(&mut self) -> bool {
        // SAFETY: a path that ends with NUL. `O_PATH` gives no access to what is behind it.
        let nothing = unsafe { libc::open(c"/".as_ptr(), libc::O_PATH | libc::O_CLOEXEC) };
        let mut any = false;
        for (fd, open) in self.open.iter_mut().filter(|(_, open)| !open.inherited) {
            any = true;
            open.inherited = true;
            // SAFETY: the child's copy of a descriptor that SQLite or this store opened, which nothing else owns.
            unsafe {
                if nothing < 0 || libc::dup3(nothing, *fd, libc::O_CLOEXEC) < 0 {
                    libc::close(*fd);
                }
            }
        }
        for (fd, _) in self.kept.drain(..) {
            // SAFETY: as above; SQLite has closed it and knows its number no more.
            unsafe { libc::close(fd) };
        }
        self.holders.clear();
        if nothing >= 0 {
            // SAFETY: the descriptor that was just opened.
            unsafe { libc::close(nothing) };
        }
        any
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
