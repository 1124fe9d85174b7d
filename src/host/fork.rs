//! Notices that this process is a fork of the one that made a handle. The child has none of the threads that the handle
//! counts on, and its locks may be held by nobody, so it may only forget the handle.
//!
//! A page that the kernel wipes in the child shows it for the price of a load. Where there is no such page, the process id shows it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the processes of a line of forks: the first is 1, a child that asks is its parent's number plus one.
static LAST: AtomicU64 = AtomicU64::new(0);

/// The number of this process, the same as long as it lives, and another than its parent's. Never 0.
#[inline]
pub(crate) fn generation() -> u64 {
    static PAGE: OnceLock<Page> = OnceLock::new();
    match PAGE.get_or_init(Page::new) {
        Page::Wiped(cell) => match cell.load(Ordering::Relaxed) {
            0 => renew(cell),
            number => number,
        },
        Page::None => u64::from(std::process::id()),
    }
}

/// A process asks for the first time: a child finds the page wiped.
#[cold]
fn renew(cell: &AtomicU64) -> u64 {
    let next = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    match cell.compare_exchange(0, next, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => next,
        Err(other_thread) => other_thread,
    }
}

enum Page {
    /// The first word of a page that a fork wipes.
    #[cfg_attr(miri, allow(dead_code, reason = "Miri has no such page"))]
    Wiped(&'static AtomicU64),
    /// There is no such page here.
    None,
}

impl Page {
    #[cfg(all(target_os = "linux", not(miri)))]
    fn new() -> Page {
        const LENGTH: usize = 4096;
        // SAFETY: an anonymous private mapping at an address of the kernel's choice touches no other memory.
        let page = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                LENGTH,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if page == libc::MAP_FAILED {
            return Page::None;
        }
        // SAFETY: the range is the mapping that was just made, and nobody else knows it.
        if unsafe { libc::madvise(page, LENGTH, libc::MADV_WIPEONFORK) } != 0 {
            // SAFETY: as above; it is not used any more.
            unsafe { libc::munmap(page, LENGTH) };
            return Page::None;
        }
        // SAFETY: the mapping is never removed, is aligned to a page and zeroed, and is only used as this atomic. A fork
        // sets it to zero, which is a value of the atomic too.
        Page::Wiped(unsafe { &*page.cast::<AtomicU64>() })
    }

    // Miri neither forks nor knows such pages.
    #[cfg(any(not(target_os = "linux"), miri))]
    fn new() -> Page {
        Page::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_keeps_its_number() {
        let number = generation();
        assert_ne!(number, 0);
        assert!(std::thread::spawn(generation).join().is_ok_and(|other| other == number));
    }

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn a_fork_has_another_number() {
        let number = generation();
        // SAFETY: the child only loads an atomic and leaves without running any destructor.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let code = i32::from(generation() == number);
            // SAFETY: leaves the child at once.
            unsafe { libc::_exit(code) };
        }
        let mut status = 0;
        // SAFETY: waits for the child made above, with a valid pointer.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0);
        assert_eq!(generation(), number);
    }
}
