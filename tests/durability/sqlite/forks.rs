//! Forks of a process that has stores open: the child has none of them, opens its own, and disturbs no parent.

#![allow(unsafe_code, reason = "there is no safe fork, and no safe way to end a child")]

use std::io::Write;
use std::path::Path;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use agenthost::runs::{ClaimRequest, Runs, RunsOptions};
use agenthost::store::{Store, StoreError, Transaction};
use libtest_mimic::Trial;

use crate::db::{self, Db};
use crate::locks::another_gets_the_lock;
use crate::roles::{self, Scratch};
use crate::trial;
use crate::waiting::job;

pub(crate) fn trials() -> Vec<Trial> {
    let in_a_process = |name: &'static str, role: &'static str| {
        Trial::test(name, move || {
            let scratch = Scratch::new();
            let mut process = roles::start(role, &[scratch.path("runs.db").to_str().unwrap()]);
            assert!(in_time(&mut process), "the process failed");
            Ok(())
        })
    };
    vec![
        in_a_process("a_forked_child_is_told_that_its_parents_store_is_closed_here", "fork-and-use"),
        in_a_process("a_forked_child_opens_the_same_file_while_the_parent_goes_on", "fork-and-open-the-same"),
        in_a_process("a_forked_child_opens_another_file_and_runs_in_memory", "fork-and-open-others"),
        in_a_process("a_child_of_a_child_opens_the_same_file", "fork-twice"),
        in_a_process("a_child_of_busy_threads_opens_the_same_file", "fork-beside-threads"),
        in_a_process("a_child_that_was_forked_in_a_transaction_opens_the_same_file", "fork-in-a-transaction"),
        in_a_process("a_child_that_goes_on_in_its_parents_transaction_writes_nothing", "fork-and-go-on"),
        in_a_process("a_child_that_was_forked_in_a_callback_answers_no_caller_of_its_parent", "fork-in-a-callback"),
        trial("the_locks_of_a_parent_outlive_a_child_that_closes_the_same_file", locks_stay),
        trial("a_forked_child_that_outlives_its_killed_parent_blocks_nobody", outlived),
    ]
}

/// How long a process may take that hangs: far more than any does.
const HANGS: Duration = Duration::from_secs(120);

/// Whether a process ends well, and ends at all.
fn in_time(process: &mut Child) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < HANGS {
        if let Some(status) = process.try_wait().unwrap() {
            return status.success();
        }
        thread::sleep(Duration::from_millis(5));
    }
    process.kill().unwrap();
    process.wait().unwrap();
    panic!("the process hangs");
}

/// Forks. The child runs `work` and ends with what it gives; gives the child.
fn fork(work: impl FnOnce() -> bool) -> libc::pid_t {
    // SAFETY: glibc keeps its allocator usable in the child, which ends by `_exit`.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or(false);
            libc::_exit(if worked { 0 } else { 1 });
        }
        assert!(child > 0, "there is no process to be had");
        child
    }
}

/// Waits until the child has ended, and says whether it ended well. One that hangs is killed.
fn ended_well(child: libc::pid_t) -> bool {
    let begun = Instant::now();
    let mut status = -1;
    loop {
        // SAFETY: a child of this process, and where its status goes.
        match unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) } {
            0 if begun.elapsed() > HANGS / 2 => {
                // SAFETY: a child of this process that has not been waited for.
                unsafe { libc::kill(child, libc::SIGKILL) };
                thread::sleep(Duration::from_millis(100));
            }
            0 => thread::sleep(Duration::from_millis(1)),
            _ => return libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0,
        }
    }
}

/// Everything that a process does with a file: opens it, reads what is there, writes, closes.
fn uses(path: &Path, expected: &str, created: &str) -> bool {
    let db = Db::open(path);
    let found = expected.is_empty() || db.head(expected) == Ok(Some(1));
    let wrote = db.create(created) == Ok(()) && db.append(created, 2, "{}") == Ok(3) && db.head(created) == Ok(Some(3));
    db.0.close();
    found && wrote
}

/// The numbers of this process's descriptors of files in a directory.
fn descriptors_below(directory: &Path) -> Vec<String> {
    let open = std::fs::read_dir("/proc/self/fd").unwrap().map(|entry| entry.unwrap());
    let below = open.filter(|entry| std::fs::read_link(entry.path()).is_ok_and(|target| target.starts_with(directory)));
    below.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

/// Plays one of the roles of these tests.
pub(crate) fn play(role: &str, path: &Path) {
    match role {
        "fork-and-use" => use_inherited(path),
        "fork-and-open-the-same" => open_the_same(path),
        "fork-and-open-others" => open_others(path),
        "fork-twice" => twice(path),
        "fork-beside-threads" => beside_threads(path),
        "fork-in-a-transaction" => in_a_transaction(path),
        "fork-and-go-on" => go_on(path),
        "fork-in-a-callback" => in_a_callback(path),
        "fork-with-a-lock" => with_a_lock(path),
        "fork-and-outlive" => outlive(path),
        _ => panic!("no role {role}"),
    }
}

fn use_inherited(path: &Path) {
    let db = Db::open(path);
    db.create("before").unwrap();
    let inherited = db.clone();
    let child = fork(move || {
        let closed =
            inherited.create("in-the-child") == Err(StoreError::Closed) && inherited.head("before") == Err(StoreError::Closed);
        inherited.0.wait_for(1);
        let copy = inherited.0.backup(&path.with_file_name("copy.db")) == Err(StoreError::Closed);
        inherited.0.close();
        drop(inherited);
        closed && copy
    });
    assert!(ended_well(child), "the child was told something else");
    db.create("after").unwrap();
    assert_eq!(db.head("in-the-child"), Ok(None));
    drop(db);
    crate::kill::check_whole(path);
}

fn open_the_same(path: &Path) {
    let db = Db::open(path);
    db.create("before").unwrap();
    let mut children = Vec::new();
    for number in 0..4 {
        let inherited = db.clone();
        children.push(fork(move || {
            // What the parent has may be dropped in the child: before, afterwards, or never.
            let inherited = if number == 1 { None } else { Some(inherited) };
            let worked = uses(path, "before", &format!("child-{number}"));
            if number > 1 {
                drop(inherited)
            } else {
                std::mem::forget(inherited)
            }
            worked && uses(path, "before", &format!("child-{number}-again"))
        }));
        db.create(&format!("parent-{number}")).unwrap();
    }
    let (stop, stopped) = (Arc::new(AtomicBool::new(false)), db.clone());
    let stops = stop.clone();
    let writer = thread::spawn(move || {
        let mut count = 0;
        while !stops.load(Ordering::Relaxed) {
            stopped.create(&format!("meanwhile-{count}")).unwrap();
            count += 1;
        }
    });
    for child in children {
        assert!(ended_well(child), "a child could not use the file");
    }
    stop.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    for number in 0..4 {
        assert_eq!(db.head(&format!("child-{number}-again")), Ok(Some(3)));
        assert_eq!(db.head(&format!("parent-{number}")), Ok(Some(1)));
    }
    drop(db);
    crate::kill::check_whole(path);
}

fn open_others(path: &Path) {
    let db = Db::open(path);
    db.create("before").unwrap();
    let inherited = descriptors_below(path.parent().unwrap());
    assert!(inherited.len() >= 6, "{inherited:?}");
    let child = fork(|| {
        let other = uses(&path.with_file_name("other.db"), "", "run");
        // What the child has inherited must reach nothing that it opens, by whatever number.
        let own = Db::open(&path.with_file_name("other.db"));
        let now = descriptors_below(path.parent().unwrap());
        assert!(now.iter().all(|number| !inherited.contains(number)), "{now:?} of {inherited:?}");
        drop(own);
        let runs = Runs::open("memory:", RunsOptions::default()).expect("runs in memory open");
        let nothing = runs.claim(&ClaimRequest { agent_ids: vec![String::new()], ..ClaimRequest::default() }).wait();
        drop(runs);
        other && nothing == Ok(None)
    });
    db.create("meanwhile").unwrap();
    assert!(ended_well(child), "the child could not use its own");
    db.create("after").unwrap();
    assert_eq!(Db::open(&path.with_file_name("other.db")).head("run"), Ok(Some(3)));
    drop(db);
    crate::kill::check_whole(path);
    crate::kill::check_whole(&path.with_file_name("other.db"));
}

fn twice(path: &Path) {
    let db = Db::open(path);
    db.create("before").unwrap();
    let child = fork(|| {
        let own = Db::open(path);
        own.create("child").expect("the child writes");
        let grandchild = fork(|| uses(path, "child", "grandchild"));
        let goes_on = own.create("child-meanwhile") == Ok(());
        ended_well(grandchild) && goes_on && own.head("grandchild") == Ok(Some(3))
    });
    assert!(ended_well(child), "the child or its child could not use the file");
    assert_eq!(db.head("grandchild"), Ok(Some(3)));
    drop(db);
    crate::kill::check_whole(path);
}

/// Threads write, read, open and close, so that a fork meets them anywhere: also inside SQLite.
fn beside_threads(path: &Path) {
    const CHILDREN: usize = 40;
    let db = Db::open(path);
    db.create("before").unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let threads: Vec<_> = (0..6)
        .map(|thread| {
            let (db, stop, own) = (db.clone(), stop.clone(), path.with_file_name(format!("own-{thread}.db")));
            thread::spawn(move || {
                for count in 0.. {
                    match thread % 3 {
                        _ if stop.load(Ordering::Relaxed) => return,
                        0 => db.create(&format!("{thread}-{count}")).unwrap(),
                        1 => assert_eq!(db.head("before"), Ok(Some(1))),
                        _ => assert!(uses(&own, "", &format!("run-{count}"))),
                    }
                }
            })
        })
        .collect();
    for number in 0..CHILDREN {
        let child = fork(|| uses(path, "before", &format!("child-{number}")));
        assert!(ended_well(child), "child {number} could not use the file");
    }
    stop.store(true, Ordering::Relaxed);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    for number in 0..CHILDREN {
        assert_eq!(db.head(&format!("child-{number}")), Ok(Some(3)));
    }
    drop(db);
    crate::kill::check_whole(path);
}

fn in_a_transaction(path: &Path) {
    let db = Db::open(path);
    db.create("before").unwrap();
    let place = path.to_owned();
    let child = db.write(move |transaction| {
        db::create(transaction, "held")?;
        let place = place.clone();
        // The parent goes on, and lets go of its lock.
        Ok(fork(move || uses(&place, "before", "child")))
    });
    assert!(ended_well(child.unwrap()), "the child could not use the file");
    assert_eq!(db.head("held"), Ok(Some(1)));
    assert_eq!(db.head("child"), Ok(Some(3)));
    drop(db);
    crate::kill::check_whole(path);
}

/// In the child the job returns, on a thread that waits for it. What it has written is the parent's.
fn go_on(path: &Path) {
    let db = Db::open(path);
    let other = path.with_file_name("other.db");
    let caller = thread::current().id();
    for attempt in 0.. {
        let place = other.clone();
        let result = db.write(move |transaction| {
            // The store's own thread may be faster; then there is nothing to go on with.
            if thread::current().id() != caller {
                return Ok(None);
            }
            db::create(transaction, "held")?;
            // SAFETY: as in `fork`; the child ends by `_exit` below.
            let child = unsafe { libc::fork() };
            if child == 0 {
                assert!(uses(&place, "", "in-the-middle"));
            }
            Ok(Some(child))
        });
        match result {
            Ok(None) => assert!(attempt < 10_000, "this thread never wrote for itself"),
            Ok(Some(child)) => {
                assert!(ended_well(child), "the child was told something else");
                break;
            }
            Err(error) => {
                let well = error == StoreError::Closed && uses(&other, "", "afterwards");
                // SAFETY: ends the child.
                unsafe { libc::_exit(if well { 0 } else { 1 }) };
            }
        }
    }
    assert_eq!(db.head("held"), Ok(Some(1)));
    drop(db);
    crate::kill::check_whole(path);
    crate::kill::check_whole(&other);
}

/// Several callers' jobs are committed together. The callback of one forks, and its child returns from it.
fn in_a_callback(path: &Path) {
    const CALLERS: u32 = 8;
    let db = Db::open(path);
    let other = path.with_file_name("other.db");
    let notes = path.with_file_name("answers");
    let answered = move |name: u32| {
        let mut notes = std::fs::File::options().append(true).create(true).open(&notes).unwrap();
        notes.write_all(format!("{} {name}\n", std::process::id()).as_bytes()).unwrap();
    };
    let ((begun, has_begun), (go_on, goes_on)) = (channel(), channel::<()>());
    let begin = move |_: &mut dyn Transaction| {
        begun.send(()).unwrap();
        goes_on.recv().unwrap();
        Ok(())
    };
    db.0.write(job(begin, |_| {}));
    has_begun.recv().unwrap();
    let (sender, received) = channel();
    for caller in 0..CALLERS {
        let (sender, answered, other) = (sender.clone(), answered.clone(), other.clone());
        db.0.write(job(
            move |transaction| db::create(transaction, &format!("run-{caller}")),
            move |committed| {
                assert_eq!(committed, Ok(()));
                answered(caller);
                // SAFETY: as in `fork`; the child ends when it has returned to the store.
                let child = if caller == 3 { unsafe { libc::fork() } } else { 1 };
                if child == 0 {
                    assert!(uses(&other, "", "run"));
                    return;
                }
                sender.send(child).unwrap();
            },
        ));
    }
    go_on.send(()).unwrap();
    let children: Vec<_> = (0..CALLERS).map(|_| received.recv().unwrap()).filter(|child| *child != 1).collect();
    assert!(ended_well(children[0]), "the child could not return");
    let notes = std::fs::read_to_string(path.with_file_name("answers")).unwrap();
    let own = format!("{} ", std::process::id());
    assert!(notes.lines().all(|line| line.starts_with(&own)), "the child answered: {notes}");
    assert_eq!(notes.lines().count(), CALLERS as usize);
    assert_eq!(Db::open(&other).head("run"), Ok(Some(3)), "the child did not use its own");
    drop(db);
    crate::kill::check_whole(path);
}

fn locks_stay() {
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    let mut process = roles::start("fork-with-a-lock", &[path.to_str().unwrap()]);
    roles::wait_for_signal(&mut process);
    assert!(!another_gets_the_lock(&path), "the lock was dropped");
    drop(process.stdin.take());
    assert!(in_time(&mut process), "the child met no lock, or the commit failed");
}

/// The child opens, reads and closes the file while its parent has the write lock.
fn with_a_lock(path: &Path) {
    let db = Db::open(path);
    db.create("before").unwrap();
    let place = path.to_owned();
    let result = db.write(move |transaction| {
        db::create(transaction, "held")?;
        let child = fork(|| {
            let connection = rusqlite::Connection::open(&place).expect("the file opens");
            connection.busy_timeout(Duration::ZERO).expect("it is set");
            let count = connection.query_row("SELECT count(*) FROM run", [], |row| row.get::<_, i64>(0));
            let meets = connection.execute_batch("BEGIN IMMEDIATE").is_err();
            connection.close().is_ok() && count == Ok(1) && meets
        });
        assert!(ended_well(child), "the child met no lock");
        roles::signal_parent();
        roles::wait_for_parent();
        Ok(())
    });
    result.expect("the transaction is committed");
}

/// Forks while a transaction has the write lock; the child sleeps on after the parent is killed.
fn outlive(path: &Path) {
    let db = Db::open(path);
    db.create("before").unwrap();
    let result = db.write(|transaction| {
        db::create(transaction, "held")?;
        let _sleeps = fork(|| {
            thread::sleep(Duration::from_secs(60));
            true
        });
        roles::signal_parent();
        roles::wait_for_parent();
        Ok(())
    });
    result.expect("never reached");
}

fn outlived() {
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    let mut parent = roles::start("fork-and-outlive", &[path.to_str().unwrap()]);
    roles::wait_for_signal(&mut parent);
    assert!(!another_gets_the_lock(&path), "the parent has the lock");
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", parent.id())).unwrap_or_default();
    let threads = std::fs::read_dir(format!("/proc/{}/task", parent.id())).unwrap();
    let child: Vec<u32> = threads
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("children")).ok())
        .flat_map(|pids| pids.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<_>>())
        .collect();
    assert_eq!(child.len(), 1, "{children}");
    parent.kill().unwrap();
    parent.wait().unwrap();
    let alive = || Path::new(&format!("/proc/{}/fd", child[0])).exists();
    assert!(alive(), "the child is gone, the test proves nothing");

    let begun = Instant::now();
    assert!(another_gets_the_lock(&path), "the child keeps the lock");
    let db = Db::open(&path);
    db.create("after").unwrap();
    assert_eq!(db.head("held"), Ok(None));
    assert_eq!(db.head("before"), Ok(Some(1)));
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(alive(), "the child is gone, the test proves nothing");
    // SAFETY: the process that this test started, which nobody else waits for.
    unsafe {
        libc::kill(child[0] as i32, libc::SIGKILL);
    }
}
