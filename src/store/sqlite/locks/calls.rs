//! The system calls that SQLite makes in place of its own.

#![allow(unsafe_code, reason = "SQLite calls these functions through pointers of C")]

use std::ffi::{CStr, c_char, c_int, c_void};

use rusqlite::ffi;

use super::files;

/// Replaces SQLite's calls. The call names are those of SQLite's unix VFS.
pub(super) fn replace() -> Result<(), &'static str> {
    // SAFETY: a name that ends with NUL, and SQLite's own answer to it.
    let vfs = unsafe { ffi::sqlite3_vfs_find(c"unix".as_ptr()) };
    if vfs.is_null() {
        return Err("there is no unix VFS");
    }
    // SAFETY: each function has the signature by which SQLite's unix VFS calls the call of that name.
    let calls: [(&'static CStr, ffi::sqlite3_syscall_ptr); 4] = unsafe {
        [
            (c"open", std::mem::transmute::<*const c_void, ffi::sqlite3_syscall_ptr>(open as *const c_void)),
            (c"close", std::mem::transmute::<*const c_void, ffi::sqlite3_syscall_ptr>(close as *const c_void)),
            (c"fcntl", std::mem::transmute::<*const c_void, ffi::sqlite3_syscall_ptr>(fcntl as *const c_void)),
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
    files::with(|files| {
        // SAFETY: SQLite's arguments, passed on.
        let fd = unsafe { libc::open(path, flags, mode) };
        if fd >= 0 {
            files.insert(fd, flags & libc::O_ACCMODE == libc::O_RDWR);
        }
        fd
    })
}

unsafe extern "C" fn close(fd: c_int) -> c_int {
    files::with(|files| files.close(fd))
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
    let holder = files::with(|files| {
        if !files.contains(fd) {
            return None;
        }
        if command != libc::F_GETLK && c_int::from(lock.l_type) == libc::F_UNLCK {
            files.each_holder(fd, |holder| result = result.min(set(holder, &mut lock)));
            return Some(None);
        }
        let holder = files.holder(fd);
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

unsafe extern "C" fn mmap(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: libc::off_t,
) -> *mut c_void {
    // A fork between the two calls would inherit the mapping, and with it the open file: none happens inside `with`.
    files::with(|_| {
        // SAFETY: SQLite's arguments, passed on.
        let mapping = unsafe { libc::mmap(address, length, protection, flags, fd, offset) };
        if mapping != libc::MAP_FAILED && flags & libc::MAP_SHARED != 0 {
            // SAFETY: the mapping was just made. A child that touches it dies instead of disturbing the parent.
            unsafe { libc::madvise(mapping, length, libc::MADV_DONTFORK) };
        }
        mapping
    })
}
