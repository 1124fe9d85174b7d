//! Locks that a foreign SQLite in the same process cannot drop, and that no forked child keeps.

use std::path::Path;
use std::process::Command;

use agenthost::store::sqlite::locks::switch_off_for_a_test;
use libtest_mimic::Trial;

use crate::db::Db;
use crate::foreign_sqlite::Foreign;
use crate::roles::{self, Scratch};
use crate::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("another_process_meets_our_lock_after_the_file_was_opened_and_closed_here", touched),
        trial("another_process_meets_our_lock_after_a_foreign_sqlite_here_closed_the_file", closed_by_a_foreign_one),
        trial("a_foreign_sqlite_here_meets_our_lock_and_leaves_our_log", met_here),
        trial("without_the_override_our_lock_is_dropped", dropped_without),
        trial("without_the_override_our_log_is_deleted", deleted_without),
        trial("a_foreign_sqlite_here_keeps_its_locks_when_our_store_closes", foreign_keeps),
    ]
}

/// A process that has the write lock in an open transaction, has met what `disturb` says, and waits.
pub(crate) fn hold(path: &Path, disturb: &str) {
    if disturb.ends_with("-without") {
        switch_off_for_a_test();
    }
    let db = Db::open(path);
    let place = path.to_owned();
    let disturb = disturb.to_owned();
    let result = db.write(move |transaction| {
        crate::db::create(transaction, "held")?;
        match disturb.trim_end_matches("-without") {
            "touch" => roles::touch(&place),
            "foreign" => Foreign::open(&place).count_runs(),
            other => panic!("no disturbance {other}"),
        }
        roles::signal_parent();
        roles::wait_for_parent();
        Ok(())
    });
    result.expect("the transaction is committed");
}

/// Whether another process can get the write lock at once.
pub(crate) fn another_gets_the_lock(path: &Path) -> bool {
    let script = "import sqlite3, sys\n\
                  connection = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)\n\
                  try:\n    connection.execute('BEGIN IMMEDIATE')\n\
                  except sqlite3.OperationalError as error:\n    print(error)\n    sys.exit(1 if 'locked' in str(error) else 2)\n";
    let status = Command::new("python3").args(["-c", script]).arg(path).stdout(std::process::Stdio::null()).status();
    match status.expect("Python is there").code() {
        Some(0) => true,
        Some(1) => false,
        other => panic!("Python ended with {other:?}"),
    }
}

fn lock_after(disturb: &str) -> bool {
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    drop(Db::open(&path));
    let mut child = roles::start("hold-a-lock", &[path.to_str().unwrap(), disturb]);
    roles::wait_for_signal(&mut child);
    let got = another_gets_the_lock(&path);
    drop(child.stdin.take());
    let status = child.wait().unwrap();
    if !disturb.ends_with("-without") {
        assert!(status.success(), "the commit failed: {status}");
    }
    got
}

fn touched() {
    assert!(!lock_after("touch"), "the lock was dropped");
}

fn closed_by_a_foreign_one() {
    assert!(!lock_after("foreign"), "the lock was dropped");
}

fn dropped_without() {
    assert!(lock_after("touch-without"), "the test proves nothing: the lock held without the override");
    assert!(lock_after("foreign-without"), "the test proves nothing: the lock held without the override");
}

fn met_here() {
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    let db = Db::open(&path);
    db.create("a").unwrap();
    let place = path.clone();
    db.write(move |transaction| {
        crate::db::create(transaction, "b")?;
        assert!(!Foreign::open(&place).begin_immediate(), "two writers at once");
        Ok(())
    })
    .unwrap();
    let foreign = Foreign::open(&path);
    assert!(foreign.begin_immediate(), "nobody writes, and it cannot");
    drop(foreign);
    assert!(scratch.path("runs.db-wal").exists(), "a foreign SQLite deleted our log");
    db.create("c").unwrap();
    drop(db);
    crate::kill::check_whole(&path);
    assert_eq!(Db::open(&path).head("c"), Ok(Some(1)));
}

fn foreign_keeps() {
    // Without the override its lock is dropped, so what the test sees is what it means to see.
    for (role, expected) in [("close-beside-a-foreign-one", false), ("close-beside-a-foreign-one-without", true)] {
        let scratch = Scratch::new();
        let path = scratch.path("runs.db");
        let mut child = roles::start(role, &[path.to_str().unwrap()]);
        roles::wait_for_signal(&mut child);
        assert_eq!(another_gets_the_lock(&path), expected, "{role}");
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
    }
}

/// Our store closes while a foreign SQLite in this process has the write lock.
pub(crate) fn close_beside_a_foreign_one(path: &Path) {
    let db = Db::open(path);
    db.create("a").unwrap();
    let foreign = Foreign::open(path);
    assert!(foreign.begin_immediate());
    drop(db);
    roles::signal_parent();
    roles::wait_for_parent();
    drop(foreign);
    // What was kept open for it is closed with the next store.
    drop(Db::open(path));
    let open = std::fs::read_dir("/proc/self/fd").unwrap();
    let ours = open
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .filter(|target| target.starts_with(path.parent().unwrap()));
    assert_eq!(ours.count(), 0, "descriptors are left");
}

/// What happens without the override, in a process of its own, as it is for the whole process.
fn deleted_without() {
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    let mut child = roles::start("log-deleted-without", &[path.to_str().unwrap()]);
    assert!(child.wait().unwrap().success(), "the test proves nothing: the log stayed without the override");
}

pub(crate) fn log_deleted_without(path: &Path) {
    switch_off_for_a_test();
    let db = Db::open(path);
    db.create("a").unwrap();
    Foreign::open(path).count_runs();
    let log = path.with_file_name("runs.db-wal");
    // Killed here, every later commit would be in a log that has no name any more.
    std::process::exit(if log.exists() { 1 } else { 0 });
}
