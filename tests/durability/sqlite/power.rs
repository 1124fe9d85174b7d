//! The power goes, the disk is full, the disk fails.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Mutex, RwLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use agenthost::store::StoreError;
use libtest_mimic::Trial;

use crate::db::Db;
use crate::forgetful_vfs::{self, Fault};
use crate::kill::{self, Dice};
use crate::roles::{self, Scratch};
use crate::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("nothing_acknowledged_is_lost_when_the_power_goes", || {
            let lost = in_a_process("power-lost");
            assert!(lost.is_empty(), "{lost}");
        }),
        trial("a_disk_that_lies_about_syncs_does_lose_commits", || {
            let lost = in_a_process("power-lost-on-a-liar");
            assert!(!lost.is_empty(), "the test proves nothing: nothing was lost");
        }),
        trial("a_full_disk_and_failing_writes_and_syncs_answer_unavailable_and_lose_nothing", || {
            let wrong = in_a_process("faults");
            assert!(wrong.is_empty(), "{wrong}");
        }),
        trial("files_that_may_not_grow_answer_unavailable_and_lose_nothing", || {
            let wrong = in_a_process("full");
            assert!(wrong.is_empty(), "{wrong}");
        }),
    ]
}

/// The shim's state is the process's, so each of these tests has a process of its own. Gives what it says.
fn in_a_process(role: &str) -> String {
    let scratch = Scratch::new();
    let child = roles::start(role, &[scratch.path("runs.db").to_str().unwrap()]);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{role} ended with {}", output.status);
    String::from_utf8(output.stdout).expect("it says text")
}

/// The heads that were acknowledged, run by run.
type Acknowledged = Arc<Mutex<HashMap<String, u64>>>;

/// Threads that create runs and append to them, and note what was acknowledged, until they are stopped.
struct Load {
    stop: Arc<AtomicBool>,
    /// Held while nothing new is to be begun.
    pause: Arc<RwLock<()>>,
    acknowledged: Acknowledged,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    fn start(db: &Db) -> Load {
        let (stop, acknowledged) = (Arc::new(AtomicBool::new(false)), Acknowledged::default());
        let pause = Arc::new(RwLock::new(()));
        let threads = (0..4)
            .map(|thread| {
                let (db, stop, acknowledged) = (db.clone(), Arc::clone(&stop), Arc::clone(&acknowledged));
                let pause = Arc::clone(&pause);
                thread::spawn(move || {
                    let data = format!("\"{}\"", "x".repeat(20_000));
                    for number in 0.. {
                        let _going = pause.read().unwrap();
                        let run_id = format!("run-{thread}-{number}");
                        let mut note = |head| acknowledged.lock().unwrap().insert(run_id.clone(), head);
                        if db.create(&run_id).map(|()| note(1)).is_ok() {
                            let _ = db.append(&run_id, 2, &data).map(&mut note);
                            let _ = db.append(&run_id, 1, "{}").map(&mut note);
                        }
                        if stop.load(Ordering::Relaxed) {
                            return;
                        }
                    }
                })
            })
            .collect();
        Load { stop, pause, acknowledged, threads }
    }

    fn acknowledged(&self) -> HashMap<String, u64> {
        self.acknowledged.lock().unwrap().clone()
    }

    fn end(self) -> HashMap<String, u64> {
        self.stop.store(true, Ordering::Relaxed);
        self.threads.into_iter().for_each(|thread| thread.join().unwrap());
        Arc::into_inner(self.acknowledged).unwrap().into_inner().unwrap()
    }
}

/// What of it is not in the database; empty when all is.
fn missing(path: &Path, acknowledged: &HashMap<String, u64>) -> Result<(), String> {
    kill::whole(path)?;
    let connection = rusqlite::Connection::open(path).map_err(|error| error.to_string())?;
    let mut head = connection.prepare("SELECT head FROM run WHERE run_id = ?1").map_err(|error| error.to_string())?;
    for (run_id, acknowledged) in acknowledged {
        let stored = head.query_row([run_id], |row| row.get::<_, i64>(0)).unwrap_or(0);
        if stored < *acknowledged as i64 {
            return Err(format!("{run_id}: {acknowledged} events acknowledged, {stored} there"));
        }
    }
    Ok(())
}

/// Cuts the power again and again while threads write, and says what is lost.
pub(crate) fn lose_power(path: &Path, lie: bool) {
    forgetful_vfs::register();
    forgetful_vfs::lie_about_syncs(lie);
    let db = Db::open_through(path, forgetful_vfs::NAME).expect("the database opens");
    let load = Load::start(&db);
    let mut dice = Dice(3);
    for cut in 0..40 {
        thread::sleep(Duration::from_millis(dice.below(40)));
        // Acknowledged before the power goes.
        let acknowledged = load.acknowledged();
        let scratch = Scratch::new();
        let after = scratch.path("runs.db");
        forgetful_vfs::cut_power(path, &after, &mut dice);
        let _paused = load.pause.write().unwrap();
        if !after.exists() {
            println!("cut {cut}: there is no file");
        } else if let Err(lost) = missing(&after, &acknowledged) {
            println!("cut {cut}: {lost}");
        } else {
            let again = Db::open(&after);
            again.create("after-the-cut").expect("the next process goes on");
        }
    }
    let acknowledged = load.end();
    if !lie {
        assert!(acknowledged.len() > 100, "only {} runs: the test proves little", acknowledged.len());
        let moved = std::fs::metadata(path).unwrap().len();
        assert!(moved > 1 << 20, "only {moved} bytes were moved from the log: the test proves little");
    }
    drop(db);
}

/// Lets each kind of call fail at every instant for a while, and says what is wrong.
pub(crate) fn fail(path: &Path) {
    forgetful_vfs::register();
    let db = Db::open_through(path, forgetful_vfs::NAME).expect("the database opens");
    let load = Load::start(&db);
    for fault in [Fault::DiskFull, Fault::Write, Fault::Sync] {
        for after in 0..25 {
            forgetful_vfs::fail(Some((fault, after)));
            while forgetful_vfs::failures() == 0 {
                thread::sleep(Duration::from_millis(1));
            }
            thread::sleep(Duration::from_millis(2));
            forgetful_vfs::fail(None);
            // It goes on by itself once the disk does.
            if let Err(error) = db.create(&format!("after-{fault:?}-{after}")) {
                println!("after {fault:?}: {error}");
            }
        }
    }
    let mut acknowledged = load.end();

    // Every caller of a batch is answered.
    forgetful_vfs::fail(Some((Fault::Sync, 0)));
    let together = Arc::new(Barrier::new(8));
    let callers: Vec<_> = (0..8)
        .map(|caller| {
            let (db, together) = (db.clone(), Arc::clone(&together));
            thread::spawn(move || {
                together.wait();
                db.create(&format!("refused-{caller}"))
            })
        })
        .collect();
    for caller in callers {
        let result = caller.join().unwrap();
        if !matches!(result, Err(StoreError::Unavailable(_))) {
            println!("a caller of a failed commit got {result:?}");
        }
    }
    forgetful_vfs::fail(None);
    acknowledged.insert("after-Sync-24".to_owned(), 1);
    assert!(acknowledged.len() > 50, "only {} runs: the test proves little", acknowledged.len());
    drop(db);
    if let Err(lost) = missing(path, &acknowledged) {
        println!("{lost}");
    }
}

/// Lets the system itself refuse to write, in the middle of a write too: no file of this process may grow over a limit. Says what
/// is wrong.
pub(crate) fn fill_up(path: &Path) {
    limit::survive();
    let db = Db::open(path);
    let load = Load::start(&db);
    let mut dice = Dice(5);
    let log = PathBuf::from(format!("{}-wal", path.display()));
    let mut refused = 0;
    for round in 0..40 {
        thread::sleep(Duration::from_millis(dice.below(20)));
        let size = std::fs::metadata(&log).map_or(0, |log| log.len());
        limit::file_size(Some(size / 2 + dice.below(size.max(1))));
        for number in 0..4 {
            match db.create(&format!("full-{round}-{number}")) {
                Ok(()) => {}
                Err(StoreError::Unavailable(_)) => refused += 1,
                Err(other) => println!("round {round}: got {other:?}"),
            }
        }
        if let Err(error) = db.head("full-0-0") {
            println!("round {round}: a read got {error:?}");
        }
        limit::file_size(None);
        if let Err(error) = db.create(&format!("after-{round}")) {
            println!("after round {round}: {error}");
        }
    }
    let mut acknowledged = load.end();
    acknowledged.insert("after-39".to_owned(), 1);
    assert!(refused > 5 && acknowledged.len() > 50, "{refused} refused of {}: the test proves little", acknowledged.len());
    drop(db);
    if let Err(lost) = missing(path, &acknowledged) {
        println!("{lost}");
    }
}

/// The system's own limit of how large a file may get.
mod limit {
    #![allow(unsafe_code, reason = "limits are set by system calls")]

    /// A process that writes over its limit gets an error, and no signal.
    pub(super) fn survive() {
        // SAFETY: ignoring a signal runs no code of ours.
        assert_ne!(unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) }, libc::SIG_ERR);
    }

    /// No file may get larger than that. None: as before.
    pub(super) fn file_size(bytes: Option<u64>) {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: both calls get a struct that lives while they run.
        unsafe {
            assert_eq!(libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit), 0);
            limit.rlim_cur = bytes.unwrap_or(limit.rlim_max);
            assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit), 0);
        }
    }
}
