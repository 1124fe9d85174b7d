//! The thread that watches what other processes commit: it waits for their notifications, and polls from time to time.

use std::time::Duration;

use super::super::StoreError;
use super::notifier::Notifier;

/// How often a store polls, for what no notification says: another program's commit, or a system that has no inotify.
const POLL_EVERY: Duration = Duration::from_secs(5);

/// Ends the thread that watches.
#[cfg(target_os = "linux")]
pub(super) struct Stop(rustix::fd::OwnedFd);

#[cfg(target_os = "linux")]
impl Stop {
    pub(super) fn new() -> Result<Stop, StoreError> {
        use rustix::event::{EventfdFlags, eventfd};
        eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map(Stop)
            .map_err(|error| StoreError::Unavailable(format!("there is no descriptor: {error}")))
    }

    pub(super) fn stop(&self) {
        // Fails only when it was written often already.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }
}

/// Calls `changed` whenever others have notified, until the store closes.
#[cfg(target_os = "linux")]
pub(super) fn watch(notifier: &Notifier, stop: &Stop, changed: impl Fn()) {
    use std::mem::MaybeUninit;
    use std::thread;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

    let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok();
    let watched = inotify
        .as_ref()
        .and_then(|inotify| inotify::add_watch(inotify, notifier.path(), WatchFlags::MODIFY | WatchFlags::CLOSE_WRITE).ok());
    let timeout = Timespec { tv_sec: POLL_EVERY.as_secs() as i64, tv_nsec: 0 };
    let mut buffer = [MaybeUninit::uninit(); 4096];
    // Of what was committed before the watch began others have notified already.
    changed();
    loop {
        let mut polled = vec![PollFd::new(&stop.0, PollFlags::IN)];
        if let (Some(inotify), Some(_)) = (&inotify, watched) {
            polled.push(PollFd::new(inotify, PollFlags::IN));
        }
        let ready = poll(&mut polled, Some(&timeout));
        if !polled[0].revents().is_empty() {
            return;
        }
        let notified = polled.get(1).is_some_and(|inotify| !inotify.revents().is_empty());
        match (ready, &inotify) {
            (Ok(0), _) => changed(),
            (Ok(_), Some(inotify)) if notified => {
                let mut closed = false;
                let mut reader = inotify::Reader::new(inotify, &mut buffer);
                while let Ok(event) = reader.next() {
                    closed |= event.events().contains(ReadFlags::CLOSE_WRITE);
                }
                if closed || notifier.others_notified() {
                    changed();
                } else {
                    // This store is busy and notifies others: once for each of its bursts is enough.
                    thread::sleep(Duration::from_millis(1));
                }
            }
            (Ok(_), _) => {}
            (Err(rustix::io::Errno::INTR), _) => {}
            // No memory to poll with, say: go on as if nobody had notified.
            (Err(_), _) => {
                thread::sleep(POLL_EVERY);
                changed();
            }
        }
    }
}

/// Ends the thread that watches.
#[cfg(not(target_os = "linux"))]
#[derive(Default)]
pub(super) struct Stop {
    stopped: std::sync::Mutex<bool>,
    changed: std::sync::Condvar,
}

#[cfg(not(target_os = "linux"))]
impl Stop {
    pub(super) fn new() -> Result<Stop, StoreError> {
        Ok(Stop::default())
    }

    pub(super) fn stop(&self) {
        *self.stopped.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = true;
        self.changed.notify_all();
    }
}

/// Calls `changed` from time to time, until the store closes: there is no inotify here.
#[cfg(not(target_os = "linux"))]
pub(super) fn watch(notifier: &Notifier, stop: &Stop, changed: impl Fn()) {
    let mut stopped = stop.stopped.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    while !*stopped {
        stopped = stop.changed.wait_timeout(stopped, POLL_EVERY).unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        changed();
    }
}
