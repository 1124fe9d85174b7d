//! A second SQLite in this process: the system's library, the one that Python's `sqlite3` uses, loaded beside ours.

#![allow(unsafe_code, reason = "a library of C is loaded and called")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;

type Open = unsafe extern "C" fn(*const c_char, *mut *mut c_void) -> c_int;
type Exec = unsafe extern "C" fn(*mut c_void, *const c_char, *mut c_void, *mut c_void, *mut c_void) -> c_int;
type Close = unsafe extern "C" fn(*mut c_void) -> c_int;

#[derive(Clone, Copy)]
struct Library {
    open: Open,
    exec: Exec,
    close: Close,
}

/// A connection of the foreign SQLite.
pub(crate) struct Foreign {
    library: Library,
    connection: *mut c_void,
}

const BUSY: c_int = 5;

fn library() -> Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    *LIBRARY.get_or_init(|| {
        // SAFETY: the library's own initialisers run, as in any program that links it.
        let handle = unsafe { libc::dlopen(c"libsqlite3.so.0".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!handle.is_null(), "the system's SQLite is missing: install libsqlite3-0");
        let symbol = |name: &CStr| {
            // SAFETY: a handle of a loaded library and a name that ends with NUL.
            let address = unsafe { libc::dlsym(handle, name.as_ptr()) };
            assert!(!address.is_null(), "{name:?} is missing");
            address
        };
        assert_ne!(symbol(c"sqlite3_open").cast_const(), rusqlite::ffi::sqlite3_open as *const c_void, "the same SQLite twice");
        // SAFETY: the signatures are those of SQLite's documentation.
        unsafe {
            Library {
                open: std::mem::transmute::<*mut c_void, Open>(symbol(c"sqlite3_open")),
                exec: std::mem::transmute::<*mut c_void, Exec>(symbol(c"sqlite3_exec")),
                close: std::mem::transmute::<*mut c_void, Close>(symbol(c"sqlite3_close")),
            }
        }
    })
}

impl Foreign {
    pub(crate) fn open(path: &Path) -> Foreign {
        let library = library();
        let path = CString::new(path.to_str().unwrap()).unwrap();
        let mut connection = ptr::null_mut();
        // SAFETY: a path that ends with NUL, and where to put the connection.
        assert_eq!(unsafe { (library.open)(path.as_ptr(), &mut connection) }, 0);
        Foreign { library, connection }
    }

    fn exec(&self, sql: &CStr) -> c_int {
        // SAFETY: an open connection and a statement that ends with NUL; there is no callback.
        unsafe { (self.library.exec)(self.connection, sql.as_ptr(), ptr::null_mut(), ptr::null_mut(), ptr::null_mut()) }
    }

    /// Reads the whole table.
    pub(crate) fn count_runs(&self) {
        assert_eq!(self.exec(c"SELECT count(*), sum(head) FROM run"), 0);
    }

    /// Whether it gets the write lock at once.
    pub(crate) fn begin_immediate(&self) -> bool {
        match self.exec(c"BEGIN IMMEDIATE") {
            0 => true,
            BUSY => false,
            other => panic!("BEGIN IMMEDIATE gave {other}"),
        }
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        // SAFETY: the connection is closed once, and has no statements.
        unsafe { (self.library.close)(self.connection) };
    }
}
