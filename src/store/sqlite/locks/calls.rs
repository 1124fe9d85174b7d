//! The system calls that SQLite makes in place of its own.

#![allow(unsafe_code, reason = "SQLite calls these functions through pointers of C")]

use std::ffi::{CStr, c_char, c_int, c_void};

use rusqlite::ffi;

use super::{descriptors, fork};

/// Replaces SQLite's calls. The call names are those of SQLite's unix VFS.
pub(super) fn replace() -> Result<(), &'static str> {
    // SAFETY: a name that ends with NUL, and SQLite's own answer to it.
    let vfs = unsafe { ffi::sqlite3_vfs_find(c"unix".as_ptr()) };
    if vfs.is_null() {
        return Err("there is no unix VFS");
    }
    // SAFETY: each function has the signature by which SQLite's unix VFS calls the call of that name.
    let calls: [(&'static CStr, ffi::sqlite3_syscall_ptr); 6] = unsafe {
        [
            (c"open", std::mem::transmute::<*const c_void, ffi::sqlite3_syscall_ptr>(open as *const c_void)),
            (c"close", std::mem::transmute::<*const c_void, ffi::sqlite3_syscall_ptr>(close as *const c_void)),
            (c"fcntl", std::mem::transmute::<*const c_void, ffi::sqlite3_syscall_ptr>(fcntl as *const c_void)),
            (c"stat", std::mem::transmute::<*const c_void, ffi::sqlite3_syscall_ptr>(stat as *const c_void)),
            (c"fstat", std::mem::transmute::<*const c_void, ffi::sqlite3_syscall_ptr>(fstat as *const c_void)),
            (c"mmap", std::mem::transmute::<*const c_void, ffi::sqlite3_syscall_ptr>(mmap as *const c_void)),
        ]
    };
    // SAFETY: the VFS is registered for the life of the process.
    let set = unsafe { (*vfs).xSetSystemCall }.ok_or("it has no xSetSystemCall")?;
    for (name, call) in calls {
        // SAFETY: the VFS and the name are valid, the function is as above.
        if unsafe { set(vfs, name.as_ptr(), call) } != ffi::SQLITE_OK {
            return Err("a system call is unknown to it");
        }
    }
    Ok(())
}

unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: c_int) -> c_int {
    descriptors::with(|descriptors| {
        // SAFETY: SQLite's arguments, passed on.
        let fd = unsafe { libc::open(path, flags, mode) };
        if fd >= 0 {
            descriptors.insert(fd, flags & libc::O_ACCMODE == libc::O_RDWR);
        }
        fd
    })
}

unsafe extern "C" fn close(fd: c_int) -> c_int {
    descriptors::with(|descriptors| descriptors.close(fd))
}

/// `fcntl` with the locks of the open file in place of the process's. SQLite calls it with a pointer or an int.
unsafe extern "C" fn fcntl(fd: c_int, command: c_int, argument: *mut libc::flock) -> c_int {
    let command_of_the_file = match command {
        libc::F_SETLK => libc::F_OFD_SETLK,
        libc::F_SETLKW => libc::F_OFD_SETLKW,
        libc::F_GETLK => libc::F_OFD_GETLK,
        // SAFETY: SQLite's arguments, passed on.
        _ => return unsafe { libc::fcntl(fd, command, argument) },
    };
    // SAFETY: a lock command comes with a lock.
    let mut lock = unsafe { *argument };
    lock.l_pid = 0;
    let set = |through: c_int, lock: &mut libc::flock| {
        // SAFETY: the lock is valid for the call.
        unsafe { libc::fcntl(through, command_of_the_file, lock as *mut libc::flock) }
    };
    let mut result = 0;
    let holder = descriptors::with(|descriptors| {
        if !descriptors.contains(fd) {
            return None;
        }
        if command != libc::F_GETLK && c_int::from(lock.l_type) == libc::F_UNLCK {
            descriptors.each_holder(fd, |holder| result = result.min(set(holder, &mut lock)));
            return Some(None);
        }
        let holder = descriptors.holder(fd);
        if command != libc::F_SETLKW {
            result = set(holder, &mut lock);
            return Some(None);
        }
        Some(Some(holder))
    });
    match holder {
        // Opened before the calls were replaced: its locks stay the process's.
        // SAFETY: SQLite's arguments, passed on.
        None => return unsafe { libc::fcntl(fd, command, argument) },
        // Waits outside the table's lock.
        Some(Some(holder)) => result = set(holder, &mut lock),
        Some(None) => {}
    }
    if command == libc::F_GETLK {
        // SAFETY: SQLite's lock, to be filled.
        unsafe { *argument = lock };
    }
    result
}

unsafe extern "C" fn stat(path: *const c_char, stat: *mut libc::stat) -> c_int {
    // SAFETY: SQLite's arguments, passed on, and what the call has filled.
    unsafe { with_device(libc::stat(path, stat), stat) }
}

unsafe extern "C" fn fstat(fd: c_int, stat: *mut libc::stat) -> c_int {
    // SAFETY: SQLite's arguments, passed on, and what the call has filled.
    unsafe { with_device(libc::fstat(fd, stat), stat) }
}

/// Gives the file the device by which SQLite is to know it.
///
/// # Safety
/// `stat` is valid when `result` is 0.
unsafe fn with_device(result: c_int, stat: *mut libc::stat) -> c_int {
    if result == 0 {
        // SAFETY: the caller's.
        unsafe { (*stat).st_dev = fork::device((*stat).st_dev) };
    }
    result
}

unsafe extern "C" fn mmap(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: libc::off_t,
) -> *mut c_void {
    // A fork between the two calls would inherit the mapping, and with it the open file: none happens inside `with`.
    descriptors::with(|_| {
        // SAFETY: SQLite's arguments, passed on.
        let mapping = unsafe { libc::mmap(address, length, protection, flags, fd, offset) };
        if mapping != libc::MAP_FAILED && flags & libc::MAP_SHARED != 0 {
            // SAFETY: the mapping was just made. A child that touches it dies instead of disturbing the parent.
            unsafe { libc::madvise(mapping, length, libc::MADV_DONTFORK) };
        }
        mapping
    })
}
