//! What is opened and what is refused, what a copy holds, and what a read costs.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use agenthost::protocol::RunStatus;
use agenthost::store::sqlite::SqliteStore;
use agenthost::store::{BodyKind, Changes, RunChange, RunFilter, RunRow, Store, StoreError, system_clock};
use libtest_mimic::Trial;
use rusqlite::Connection;

use crate::db::{Db, create, creation};
use crate::roles::Scratch;
use crate::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("what_was_written_is_read_back_by_the_next_to_open_the_file", reopened),
        trial("a_new_database_has_our_mark_a_log_and_full_sync", marked),
        trial("a_newer_schema_is_refused", newer),
        trial("a_database_of_another_application_is_refused_and_left_as_it_was", of_another),
        trial("a_file_that_is_no_database_is_refused", no_database),
        trial("a_damaged_database_is_refused", damaged),
        trial("a_directory_and_a_missing_one_are_clear_errors", directories),
        trial("a_link_to_a_file_is_followed_also_before_there_is_one", linked),
        trial("processes_that_open_a_new_file_at_once_agree", opened_at_once),
        trial("a_job_that_fails_leaves_nothing_and_takes_no_other_with_it", failing_job),
        trial("a_job_that_panics_is_answered_and_the_store_goes_on", panicking_job),
        trial("a_read_sees_one_state_and_every_commit_answered_before", snapshots),
        trial("a_copy_is_whole_while_writers_go_on", copied),
        trial("a_copy_never_replaces_a_file", copy_over),
        trial("runs_are_found_by_every_filter", filtered),
        trial("the_log_does_not_grow_without_end", log_stays_small),
        trial("a_closed_store_says_so", closed),
        trial("a_deleted_run_leaves_nothing_and_its_key_is_not_used_again", deleted),
    ]
}

fn refused(path: &Path) -> String {
    match Db::try_open(path) {
        Err(StoreError::Unsupported(text)) => text,
        Err(other) => panic!("another error: {other:?}"),
        Ok(_) => panic!("it was opened"),
    }
}

fn reopened() {
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    let before = {
        let db = Db::open(&path);
        db.create("run-\u{e9}-1").unwrap();
        assert_eq!(db.append("run-\u{e9}-1", 3, "{\"n\":1}"), Ok(4));
        db.read(|reader| Ok((reader.run("run-\u{e9}-1")?, reader.events(1, 0, 10, 1 << 20)?))).unwrap()
    };
    assert!(!scratch.path("runs.db-wal").exists(), "the last to close moves the log");
    let db = Db::open(&path);
    let after = db.read(|reader| Ok((reader.run("run-\u{e9}-1")?, reader.events(1, 0, 10, 1 << 20)?))).unwrap();
    assert_eq!(before, after);
    assert_eq!(after.1.iter().map(|event| event.sequence).collect::<Vec<_>>(), [1, 2, 3, 4]);
    let texts = db.read(|reader| BodyKind::ALL.iter().map(|kind| reader.body(1, *kind)).collect::<Result<Vec<_>, _>>()).unwrap();
    assert_eq!(texts.iter().flatten().count(), 3);
}

fn marked() {
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    let db = Db::open(&path);
    db.create("a").unwrap();
    let foreign = Connection::open(&path).unwrap();
    let pragma = |name: &str| foreign.pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0)).unwrap();
    assert_eq!(pragma("application_id"), rusqlite::types::Value::Integer(0x6167_686f));
    assert_eq!(pragma("user_version"), rusqlite::types::Value::Integer(2));
    assert_eq!(pragma("journal_mode"), rusqlite::types::Value::Text("wal".to_owned()));
    assert!(rusqlite::version_number() >= 3_051_003, "{} loses commits", rusqlite::version());
}

fn newer() {
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    drop(Db::open(&path));
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let text = refused(&path);
    assert!(text.contains("newer") && text.contains("99"), "{text}");
}

fn of_another() {
    let scratch = Scratch::new();
    let path = scratch.path("bookmarks.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE bookmark (url)").unwrap();
    let bytes = fs::read(&path).unwrap();
    let text = refused(&path);
    assert!(text.contains("another application"), "{text}");
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing stands beside it");
}

fn no_database() {
    let scratch = Scratch::new();
    let path = scratch.path("notes.txt");
    fs::write(&path, "just some text, longer than the hundred bytes of a header. ".repeat(20)).unwrap();
    let text = refused(&path);
    assert!(text.contains("not a SQLite database"), "{text}");
}

fn damaged() {
    let scratch = Scratch::new();
    let whole = scratch.path("runs.db");
    let db = Db::open(&whole);
    for n in 0..50 {
        db.create(&format!("run-{n}")).unwrap();
    }
    drop(db);
    let bytes = fs::read(&whole).unwrap();

    // Cut off: a copy that did not end.
    let cut = scratch.path("cut.db");
    fs::write(&cut, &bytes[..bytes.len() / 3]).unwrap();
    let error = Db::try_open(&cut).err().expect("a cut file is refused").to_string();
    assert!(error.contains("damaged"), "{error}");

    // Every page after the first overwritten.
    let scrambled = scratch.path("scrambled.db");
    let mut scrambled_bytes = bytes;
    scrambled_bytes[4096..].fill(0xa5);
    fs::write(&scrambled, scrambled_bytes).unwrap();
    let error = Db::try_open(&scrambled).err().expect("a scrambled file is refused").to_string();
    assert!(error.contains("damaged"), "{error}");
}

fn directories() {
    let scratch = Scratch::new();
    let text = refused(&std::env::temp_dir());
    assert!(text.contains("is a directory"), "{text}");
    let text = refused(Path::new(""));
    assert!(text.contains("empty"), "{text}");
    let error = Db::try_open(&scratch.path("no/such/runs.db")).err().expect("there is no directory").to_string();
    assert!(error.contains("does not exist: make it first"), "{error}");
}

fn linked() {
    let scratch = Scratch::new();
    let (target, link) = (scratch.path("target.db"), scratch.path("link.db"));
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let first = Db::open(&link);
    first.create("a").unwrap();
    let second = Db::open(&target);
    assert_eq!(second.head("a"), Ok(Some(1)));
    let names = fs::read_dir(target.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    assert_eq!(names, ["link.db", "target.db", "target.db-queue", "target.db-shm", "target.db-wake", "target.db-wal"]);
}

/// Again and again: whoever looks while another makes the tables must not take the file for somebody else's.
fn opened_at_once() {
    for _ in 0..10 {
        open_at_once();
    }
}

fn open_at_once() {
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    let arguments: Vec<String> = (0..6).map(|n| format!("run-{n}")).collect();
    let children: Vec<_> =
        arguments.iter().map(|run| crate::roles::start("create-one", &[path.to_str().unwrap(), run])).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let runs = Db::open(&path).read(|reader| reader.runs(&RunFilter::default(), 0, 10)).unwrap();
    assert_eq!(runs.len(), 6);
}

fn failing_job() {
    let scratch = Scratch::new();
    let db = Db::open(&scratch.path("runs.db"));
    let together = Arc::new(Barrier::new(8));
    let threads: Vec<_> = (0..8)
        .map(|n| {
            let (db, together) = (db.clone(), Arc::clone(&together));
            thread::spawn(move || {
                together.wait();
                for round in 0..20 {
                    let run_id = format!("run-{n}-{round}");
                    let wrong = n == 3;
                    let result = db.write(move |transaction| {
                        create(transaction, &run_id)?;
                        if wrong { Err(StoreError::Broken("wrong".to_owned())) } else { Ok(()) }
                    });
                    assert_eq!(result.is_err(), wrong, "{result:?}");
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let runs = db.read(|reader| reader.runs(&RunFilter::default(), 0, 1000)).unwrap();
    assert_eq!(runs.len(), 140);
    assert!(runs.iter().all(|run| !run.run_id.starts_with("run-3-")));
}

fn panicking_job() {
    let scratch = Scratch::new();
    let db = Db::open(&scratch.path("runs.db"));
    let result: Result<(), StoreError> = db.write(|transaction| {
        create(transaction, "half")?;
        panic!("a bug in a job");
    });
    assert!(matches!(&result, Err(StoreError::Broken(text)) if text.contains("a bug in a job")), "{result:?}");
    db.create("whole").unwrap();
    assert_eq!(db.head("half"), Ok(None));
    assert_eq!(db.head("whole"), Ok(Some(1)));
}

fn snapshots() {
    let scratch = Scratch::new();
    let db = Db::open(&scratch.path("runs.db"));
    db.create("a").unwrap();
    for expected in 2..60 {
        assert_eq!(db.append("a", 1, "1"), Ok(expected));
        // Read on another thread than it was written on, with a writer in between.
        let writer = db.clone();
        let (first, second) = db
            .read(move |reader| {
                let first = reader.run("a")?.map(|run| run.head);
                if expected % 10 == 0 {
                    writer.create(&format!("meanwhile-{expected}"))?;
                    assert_eq!(reader.run(&format!("meanwhile-{expected}"))?, None, "a later commit shows in a snapshot");
                }
                Ok((first, reader.run("a")?.map(|run| run.head)))
            })
            .unwrap();
        assert_eq!((first, second), (Some(expected), Some(expected)));
    }
}

fn copied() {
    let scratch = Scratch::new();
    let db = Db::open(&scratch.path("runs.db"));
    for n in 0..200 {
        db.create(&format!("before-{n}")).unwrap();
    }
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..4)
        .map(|n| {
            let (db, stop) = (db.clone(), Arc::clone(&stop));
            thread::spawn(move || {
                let mut count = 0;
                while !stop.load(Ordering::Relaxed) {
                    db.create(&format!("meanwhile-{n}-{count}")).unwrap();
                    db.append(&format!("meanwhile-{n}-{count}"), 2, "{}").unwrap();
                    count += 1;
                }
                count
            })
        })
        .collect();
    let copies: Vec<_> = (0..5).map(|n| scratch.path(&format!("copy-{n}.db"))).collect();
    for copy in &copies {
        db.0.backup(copy).unwrap();
    }
    stop.store(true, Ordering::Relaxed);
    let written: usize = writers.into_iter().map(|writer| writer.join().unwrap()).sum();
    assert!(written > 0, "writers stood still");
    for copy in &copies {
        crate::kill::check_whole(copy);
        let copy = Db::open(copy);
        assert_eq!(copy.head("before-199"), Ok(Some(1)));
        copy.create("after").unwrap();
    }
}

fn copy_over() {
    let scratch = Scratch::new();
    let db = Db::open(&scratch.path("runs.db"));
    db.create("a").unwrap();
    let there = scratch.path("there.db");
    fs::write(&there, "precious").unwrap();
    assert!(matches!(db.0.backup(&there), Err(StoreError::Unsupported(text)) if text.contains("exists")));
    assert_eq!(fs::read(&there).unwrap(), b"precious");
    assert!(db.0.backup(&scratch.path("no/such/copy.db")).is_err());
    let names = fs::read_dir(there.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left: Vec<_> = names.filter(|name| name.contains("part")).collect();
    assert!(left.is_empty(), "{left:?}");
}

fn filtered() {
    let scratch = Scratch::new();
    let db = Db::open(&scratch.path("runs.db"));
    let create_all = |transaction: &mut dyn agenthost::store::Transaction| {
        for n in 0..60 {
            let owner = ["", "ann", "bob"][n % 3];
            let agent = ["one", "two"][n % 2];
            let mut changes = creation(&format!("run-{n}"), agent, owner, 1000);
            if let Some(RunChange::Insert(row)) = &mut changes.run {
                row.status = RunStatus::ALL[n % 7];
            }
            transaction.apply(&changes)?;
        }
        Ok(())
    };
    db.write(create_all).unwrap();
    let all = db.read(|reader| reader.runs(&RunFilter::default(), 0, 1000)).unwrap();
    assert_eq!(all.len(), 60);
    for status in [None, Some(RunStatus::ALL[2])] {
        for owner in [None, Some(String::new()), Some("bob".to_owned())] {
            for agent_id in [None, Some("two".to_owned()), Some("three".to_owned())] {
                let filter = RunFilter { status, owner: owner.clone(), agent_id };
                let expected: Vec<RunRow> = all.iter().filter(|row| row.id > 9 && filter.fits(row)).take(7).cloned().collect();
                let asked = filter.clone();
                assert_eq!(db.read(move |reader| reader.runs(&asked, 9, 7)).unwrap(), expected, "{filter:?}");
            }
        }
    }
}

fn log_stays_small() {
    let scratch = Scratch::new();
    let db = Db::open(&scratch.path("runs.db"));
    let data = format!("\"{}\"", "x".repeat(200_000));
    db.create("a").unwrap();
    let mut largest = 0;
    // 300 MB in all, which is 75,000 pages.
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (db, data) = (db.clone(), data.clone());
            thread::spawn(move || {
                for _ in 0..125 {
                    db.append("a", 3, &data).unwrap();
                }
            })
        })
        .collect();
    while threads.iter().any(|thread| !thread.is_finished()) {
        largest = largest.max(fs::metadata(scratch.path("runs.db-wal")).map_or(0, |file| file.len()));
        thread::sleep(std::time::Duration::from_millis(5));
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert!(largest < 150_000_000, "the log grew to {largest} bytes");
}

fn closed() {
    let scratch = Scratch::new();
    let db = Db::open(&scratch.path("runs.db"));
    db.create("a").unwrap();
    db.0.close();
    db.0.close();
    assert_eq!(db.create("b"), Err(StoreError::Closed));
    assert_eq!(db.head("a"), Err(StoreError::Closed));
}

fn deleted() {
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    let store = SqliteStore::open(&path, system_clock()).unwrap();
    let db = Db(Arc::new(store));
    for run in ["a", "b", "c"] {
        db.create(run).unwrap();
        db.append(run, 5, "{}").unwrap();
    }
    db.write(|transaction| {
        let run = transaction.run("c")?.expect("it is there").id;
        transaction.delete_events(run, 4)?;
        transaction.delete_run(run)
    })
    .unwrap();
    assert_eq!(db.head("c"), Ok(None));
    db.create("d").unwrap();
    assert_eq!(db.read(|reader| Ok(reader.run("d")?.map(|run| run.id))), Ok(Some(4)));
    let deleted = db.write(|transaction| transaction.delete_keys(i64::MAX, 3)).unwrap();
    assert_eq!(deleted, 3);
    assert_eq!(db.write(|transaction| transaction.delete_keys(i64::MAX, 3)), Ok(1));
    let count = db.write(|transaction| {
        let before = transaction.run("a")?.expect("it is there");
        let after = RunRow { status: RunStatus::Completed, completed_at: Some(50), ready_at: None, ..before.clone() };
        transaction.apply(&Changes { run: Some(RunChange::Update { before, after }), ..Changes::default() })?;
        assert_eq!(transaction.ended_before(50, 10)?.len(), 0);
        Ok(transaction.ended_before(51, 10)?.len())
    });
    assert_eq!(count, Ok(1));
}
