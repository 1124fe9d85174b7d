//! What a fork does to SQLite and to the descriptors: the child lets go of the parent's files, and can open any of its own.
//!
//! SQLite keeps a list of the files that this process has open, with what is locked of each, and finds a file in it by device and
//! inode. The child inherits the list, which is true for the parent alone. So after a fork every file gets another device, as far as
//! SQLite is told: what is opened in the child is found in no entry of the parent's.

#![allow(unsafe_code, reason = "fork handlers are functions of C")]

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{MutexGuard, Once, OnceLock};

use rusqlite::ffi;

use super::descriptors::{self, Descriptors};

/// SQLite's static mutexes in the order in which it takes them one inside another: temporary names hold the first while they draw
/// random numbers, which hold the second while they look for a VFS.
const MUTEXES: [i32; 7] = [
    ffi::SQLITE_MUTEX_STATIC_VFS1,
    ffi::SQLITE_MUTEX_STATIC_PRNG,
    ffi::SQLITE_MUTEX_STATIC_MAIN,
    ffi::SQLITE_MUTEX_STATIC_OPEN,
    ffi::SQLITE_MUTEX_STATIC_LRU,
    ffi::SQLITE_MUTEX_STATIC_PMEM,
    ffi::SQLITE_MUTEX_STATIC_MEM,
];

struct Mutexes([*mut ffi::sqlite3_mutex; MUTEXES.len()]);

// SAFETY: SQLite's static mutexes live as long as the process, and are there to be used by all threads.
unsafe impl Send for Mutexes {}
// SAFETY: as above.
unsafe impl Sync for Mutexes {}

static STATIC_MUTEXES: OnceLock<Mutexes> = OnceLock::new();

/// How often, in this process's line of ancestors, one was forked while it had files open.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// The device as SQLite is to know it: another one than in the parent. The upper bits of a device are zero.
pub(super) fn device(device: libc::dev_t) -> libc::dev_t {
    device ^ FORKS.load(Ordering::Relaxed) << 48
}

/// Has forks handled from now on. SQLite is initialized.
pub(super) fn register() {
    static REGISTERED: Once = Once::new();
    STATIC_MUTEXES.get_or_init(|| {
        // SAFETY: each is the number of a static mutex, which is not allocated.
        Mutexes(MUTEXES.map(|number| unsafe { ffi::sqlite3_mutex_alloc(number) }))
    });
    REGISTERED.call_once(|| {
        // SAFETY: the three functions live as long as the code, and glibc drops handlers of an unloaded library.
        let status = unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
        assert_eq!(status, 0, "no memory for fork handlers");
    });
}

/// The lock on the table of descriptors while the process forks.
struct Held(UnsafeCell<Option<MutexGuard<'static, Option<Descriptors>>>>);

// SAFETY: only the thread that forks touches it: `before` fills it while it holds the table's lock, and the same thread
// empties it in `in_parent` or, as the only thread of the child, in `in_child`.
unsafe impl Sync for Held {}

static HELD: Held = Held(UnsafeCell::new(None));

/// While the process forks, no other thread is inside what SQLite and this module share between threads: the child finds it whole, and
/// its locks free. The table's lock comes last, as SQLite's calls take it inside of SQLite's mutexes.
unsafe extern "C" fn before() {
    for mutex in STATIC_MUTEXES.get().iter().flat_map(|mutexes| mutexes.0) {
        // SAFETY: a static mutex of SQLite's. This thread has none: it is not inside SQLite, or in a callback, outside of them.
        unsafe { ffi::sqlite3_mutex_enter(mutex) };
    }
    let guard = descriptors::lock();
    // SAFETY: the table's lock is held, see `Held`.
    unsafe { *HELD.0.get() = Some(guard) };
}

fn release() {
    // SAFETY: `before` ran on this thread, or on the thread of which this is the copy: see `Held`.
    drop(unsafe { (*HELD.0.get()).take() });
    for mutex in STATIC_MUTEXES.get().iter().flat_map(|mutexes| mutexes.0).rev() {
        // SAFETY: `before` took it on this thread.
        unsafe { ffi::sqlite3_mutex_leave(mutex) };
    }
}

unsafe extern "C" fn in_parent() {
    release();
}

unsafe extern "C" fn in_child() {
    // SAFETY: this is the copy of the thread that ran `before`, see `Held`.
    let held = unsafe { &mut *HELD.0.get() };
    if held.as_mut().and_then(|guard| guard.as_mut()).is_some_and(Descriptors::shut_in_child) {
        FORKS.fetch_add(1, Ordering::Relaxed);
    }
    release();
    // SAFETY: asks for nothing; SQLite seeds its random numbers anew, so that parent and child do not draw the same.
    unsafe { ffi::sqlite3_randomness(0, std::ptr::null_mut()) };
}
