//! Which hosts have a callback on this thread's stack. Closing a host from inside one of its own callbacks could only wait
//! for itself.

use std::cell::RefCell;
use std::mem::ManuallyDrop;

use smallvec::SmallVec;

thread_local! {
    /// The hosts by number, innermost last. No destructor runs at the end of a thread: what does not fit inline is given back as
    /// soon as it is not needed, so nothing is lost.
    static HOSTS: ManuallyDrop<RefCell<SmallVec<[u64; 8]>>> = const { ManuallyDrop::new(RefCell::new(SmallVec::new_const())) };
}

/// A callback of `host` begins on this thread.
pub(super) fn push(host: u64) {
    HOSTS.with(|hosts| hosts.borrow_mut().push(host));
}

/// The innermost callback ends.
pub(super) fn pop() {
    HOSTS.with(|hosts| {
        let mut hosts = hosts.borrow_mut();
        hosts.pop();
        if hosts.spilled() {
            hosts.shrink_to_fit();
        }
    });
}

/// Whether a callback of `host` is on this thread's stack.
pub(super) fn contains(host: u64) -> bool {
    HOSTS.with(|hosts| hosts.borrow().contains(&host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_callbacks_of_many_hosts_are_known_and_forgotten() {
        for host in 1..=20 {
            push(host);
        }
        assert!(contains(1) && contains(20) && !contains(21));
        for _ in 1..=20 {
            pop();
        }
        assert!(!contains(1));
        HOSTS.with(|hosts| assert!(!hosts.borrow().spilled()));
    }
}
