//! How processes tell each other that something was committed: a file beside the database that each writes to and watches.
//! It says that something changed, never what.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::super::StoreError;
use super::locks::OwnFile;
use super::shared::Shared;

/// How often a store looks without being told, for what no write tells: another program's, or a system that has no inotify.
pub(super) const LOOK: Duration = Duration::from_secs(5);

/// Rings at the other processes.
pub(super) struct Bell {
    path: PathBuf,
    file: OwnFile,
    /// Names this store among those that ring; random.
    name: [u8; 8],
}

impl Bell {
    pub(super) fn open(path: &Path) -> Result<Bell, StoreError> {
        // Marked before anything is read: what is committed before, and rung for nobody, is there to be seen.
        let file = OwnFile::open(path)
            .and_then(|file| file.mark().map(|()| file))
            .map_err(|error| StoreError::Unavailable(format!("{} cannot be opened: {error}", path.display())))?;
        let mut name = [0; 8];
        getrandom::fill(&mut name).map_err(|error| StoreError::Unavailable(format!("there is no randomness: {error}")))?;
        Ok(Bell { path: path.to_owned(), file, name })
    }

    /// Says who commits, when others are to be told and there are any; to be called in this store's turn. True when others rang since
    /// this store did. Whoever overwrites a name knows so, and the watcher can pass over its own name.
    pub(super) fn ring(&self, tell: bool) -> bool {
        if !tell || !self.file.is_marked_by_others() {
            return false;
        }
        let others = self.others_rang();
        // A full disk hides no commit: the others look every few seconds.
        let _ = self.file.write_at(&self.name, 0);
        others
    }

    /// Whether the last to ring was another store.
    fn others_rang(&self) -> bool {
        let mut last = [0; 8];
        match self.file.read_at(&mut last, 0) {
            Ok(8) => last != self.name,
            Ok(_) => false,
            Err(_) => true,
        }
    }
}

/// Ends the thread that watches.
#[cfg(target_os = "linux")]
pub(super) struct Stop(rustix::fd::OwnedFd);

#[cfg(target_os = "linux")]
impl Stop {
    pub(super) fn new() -> Result<Stop, StoreError> {
        use rustix::event::{EventfdFlags, eventfd};
        eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map(Stop)
            .map_err(|error| StoreError::Unavailable(format!("no descriptor is to be had: {error}")))
    }

    pub(super) fn now(&self) {
        // Fails only when it was said often already.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }
}

/// Calls the watcher whenever others have rung, until the store closes.
#[cfg(target_os = "linux")]
pub(super) fn watch(shared: &Arc<Shared>, stop: &Stop) {
    use std::mem::MaybeUninit;
    use std::thread;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

    let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok();
    let watched = inotify
        .as_ref()
        .and_then(|inotify| inotify::add_watch(inotify, &shared.bell.path, WatchFlags::MODIFY | WatchFlags::CLOSE_WRITE).ok());
    let look = Timespec { tv_sec: LOOK.as_secs() as i64, tv_nsec: 0 };
    let mut buffer = [MaybeUninit::uninit(); 4096];
    // What was committed before the watch began has been rung for already.
    shared.tell_watcher();
    loop {
        let mut polled = vec![PollFd::new(&stop.0, PollFlags::IN)];
        if let (Some(inotify), Some(_)) = (&inotify, watched) {
            polled.push(PollFd::new(inotify, PollFlags::IN));
        }
        let ready = poll(&mut polled, Some(&look));
        if !polled[0].revents().is_empty() {
            return;
        }
        let told = polled.get(1).is_some_and(|inotify| !inotify.revents().is_empty());
        match (ready, &inotify) {
            (Ok(0), _) => shared.tell_watcher(),
            (Ok(_), Some(inotify)) if told => {
                let mut closed = false;
                let mut reader = inotify::Reader::new(inotify, &mut buffer);
                while let Ok(event) = reader.next() {
                    closed |= event.events().contains(ReadFlags::CLOSE_WRITE);
                }
                if closed || shared.bell.others_rang() {
                    shared.tell_watcher();
                } else {
                    // This store is busy and rings for others: one look at each of its bursts is enough.
                    thread::sleep(Duration::from_millis(1));
                }
            }
            (Ok(_), _) => {}
            (Err(rustix::io::Errno::INTR), _) => {}
            // No memory to poll with, say: look as if nobody had rung.
            (Err(_), _) => {
                thread::sleep(LOOK);
                shared.tell_watcher();
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

    pub(super) fn now(&self) {
        *self.stopped.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = true;
        self.changed.notify_all();
    }
}

/// Calls the watcher from time to time, until the store closes: there is no inotify here.
#[cfg(not(target_os = "linux"))]
pub(super) fn watch(shared: &Arc<Shared>, stop: &Stop) {
    let mut stopped = stop.stopped.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    while !*stopped {
        stopped = stop.changed.wait_timeout(stopped, LOOK).unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        shared.tell_watcher();
    }
}
