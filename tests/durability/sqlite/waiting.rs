//! Callers that wait for what they write: on whose thread it is written, and what that changes for nobody.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier};
use std::thread::{self, ThreadId};

use agenthost::store::{Store, StoreError, Stored, Transaction, WriteJob};
use libtest_mimic::Trial;

use crate::db::{self, Db};
use crate::roles::Scratch;
use crate::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_caller_that_waits_writes_for_itself_while_nobody_else_does", for_itself),
        trial("a_caller_that_waits_while_others_write_leaves_it_to_them", left_to_others),
        trial("jobs_of_one_thread_keep_their_order_whoever_runs_them", in_order),
        trial("no_caller_runs_the_callback_of_another", callbacks_of_their_own),
        trial("a_callback_may_write_and_wait_for_it_where_nobody_else_does", again_from_a_callback),
        trial("a_callback_that_panics_harms_no_caller", panicking_callback),
        trial("closing_waits_for_a_caller_that_writes_for_itself", closed_meanwhile),
        trial("a_caller_needs_no_large_stack", small_stack),
        trial("a_fork_while_a_caller_writes_for_itself_disturbs_neither", forked_meanwhile),
    ]
}

type Work = Box<dyn FnMut(&mut dyn Transaction) -> Stored<()> + Send>;
type Callback = Box<dyn FnOnce(Stored<()>) + Send>;

pub(crate) struct Job {
    work: Work,
    done: Callback,
}

impl WriteJob for Job {
    fn run(&mut self, transaction: &mut dyn Transaction) -> Stored<()> {
        (self.work)(transaction)
    }

    fn done(self: Box<Self>, committed: Stored<()>) {
        (self.done)(committed);
    }
}

pub(crate) fn job(
    work: impl FnMut(&mut dyn Transaction) -> Stored<()> + Send + 'static,
    done: impl FnOnce(Stored<()>) + Send + 'static,
) -> Box<Job> {
    Box::new(Job { work: Box::new(work), done: Box::new(done) })
}

fn append(transaction: &mut dyn Transaction) -> Stored<()> {
    db::append(transaction, "run", 1, "{}").map(drop)
}

/// Appends and waits; gives the thread that called back.
fn append_and_wait(db: &Db) -> ThreadId {
    let (sender, received) = channel();
    let job = db.0.write(job(append, move |committed| {
        assert_eq!(committed, Ok(()));
        sender.send(thread::current().id()).unwrap();
    }));
    db.0.wait_for(job);
    received.recv().unwrap()
}

fn is_the_stores_own() -> bool {
    thread::current().name() == Some("agenthost-write")
}

/// A job that has begun and pauses until it may go on.
struct PausedJob {
    on: ThreadId,
    go_on: Sender<()>,
}

impl PausedJob {
    fn begin(has_begun: Receiver<ThreadId>, go_on: Sender<()>) -> PausedJob {
        PausedJob { on: has_begun.recv().unwrap(), go_on }
    }
}

/// The work of a job that pauses, and the two ends of its pause.
fn paused_job() -> (impl FnMut(&mut dyn Transaction) -> Stored<()> + Send + 'static, Receiver<ThreadId>, Sender<()>) {
    let ((begun, has_begun), (go_on, going)) = (channel(), channel());
    let work = move |transaction: &mut dyn Transaction| {
        begun.send(thread::current().id()).unwrap();
        going.recv().unwrap();
        append(transaction)
    };
    (work, has_begun, go_on)
}

/// A thread that is in the middle of a job of its own, which it runs itself. Gives the committed result at its end.
fn in_the_middle(db: &Db) -> (thread::JoinHandle<Stored<()>>, PausedJob) {
    loop {
        let db = db.clone();
        let (work, has_begun, go_on) = paused_job();
        let caller = thread::spawn(move || {
            let (answer, answered) = channel();
            let job = db.0.write(job(work, move |committed| answer.send(committed).unwrap()));
            db.0.wait_for(job);
            answered.recv().unwrap()
        });
        let paused = PausedJob::begin(has_begun, go_on);
        if paused.on == caller.thread().id() {
            return (caller, paused);
        }
        // The store's own thread was faster.
        paused.go_on.send(()).unwrap();
        assert_eq!(caller.join().unwrap(), Ok(()));
    }
}

fn open(scratch: &Scratch) -> Db {
    let db = Db::open(&scratch.path("runs.db"));
    db.create("run").unwrap();
    db
}

fn for_itself() {
    let scratch = Scratch::new();
    let db = open(&scratch);
    let tries = (1..=10_000).find(|_| append_and_wait(&db) == thread::current().id());
    let tries = tries.expect("this thread never wrote for itself");
    assert_eq!(db.head("run"), Ok(Some(1 + tries)));
}

fn left_to_others() {
    let scratch = Scratch::new();
    let db = open(&scratch);
    let (work, has_begun, go_on) = paused_job();
    let _number = db.0.write(job(work, |committed| assert_eq!(committed, Ok(()))));
    let paused = PausedJob::begin(has_begun, go_on);
    let (answer, answered) = channel();
    let job = db.0.write(job(append, move |committed| answer.send((committed, is_the_stores_own())).unwrap()));
    // Returns: what is under way goes on only afterwards.
    db.0.wait_for(job);
    paused.go_on.send(()).unwrap();
    assert_eq!(answered.recv(), Ok((Ok(()), true)));
    assert_eq!(db.head("run"), Ok(Some(3)));
    // Neither a job that is done nor one that never was is run again.
    for number in [job, job + 1, 0, u64::MAX] {
        db.0.wait_for(number);
    }
    assert_eq!(db.head("run"), Ok(Some(3)));
}

fn in_order() {
    let scratch = Scratch::new();
    let db = open(&scratch);
    let (sender, received) = channel();
    for round in 0..500 {
        let mut number = 0;
        for place in 0..3 {
            let sender = sender.clone();
            number = db.0.write(job(append, move |committed| sender.send((committed, round, place)).unwrap()));
        }
        db.0.wait_for(number);
    }
    for round in 0..500 {
        for place in 0..3 {
            assert_eq!(received.recv(), Ok((Ok(()), round, place)));
        }
    }
}

fn callbacks_of_their_own() {
    const ROUNDS: u64 = 200;
    let scratch = Scratch::new();
    let db = open(&scratch);
    let together = Arc::new(Barrier::new(12));
    let callers: Vec<_> = (0..12)
        .map(|caller| {
            let (db, together) = (db.clone(), Arc::clone(&together));
            thread::spawn(move || {
                let own = thread::current().id();
                let (sender, received) = channel();
                together.wait();
                for _ in 0..ROUNDS {
                    let sender = sender.clone();
                    let waits = caller % 3 > 0;
                    let number = db.0.write(job(append, move |committed| {
                        let here = thread::current().id() == own;
                        sender.send(committed.is_ok() && (is_the_stores_own() || here && waits)).unwrap();
                    }));
                    if waits {
                        db.0.wait_for(number);
                        assert_eq!(received.recv(), Ok(true));
                    }
                }
                drop(sender);
                assert!(received.iter().all(|well| well));
            })
        })
        .collect();
    callers.into_iter().for_each(|caller| caller.join().unwrap());
    assert_eq!(db.head("run"), Ok(Some(1 + 12 * ROUNDS)));
}

fn again_from_a_callback() {
    let scratch = Scratch::new();
    let db = open(&scratch);
    let (sender, received) = channel();
    for _ in 0..100 {
        let (again, sender) = (db.clone(), sender.clone());
        let number = db.0.write(job(append, move |_| {
            if is_the_stores_own() {
                // Here more may be submitted, and not waited for.
                again.0.write(job(append, move |committed| sender.send(committed).unwrap()));
            } else {
                append_and_wait(&again);
                sender.send(Ok(())).unwrap();
            }
        }));
        db.0.wait_for(number);
        assert_eq!(received.recv(), Ok(Ok(())));
    }
    assert_eq!(db.head("run"), Ok(Some(201)));
}

fn panicking_callback() {
    let scratch = Scratch::new();
    let db = open(&scratch);
    for _ in 0..20 {
        let number = db.0.write(job(append, |_| panic!("a bug in a callback")));
        db.0.wait_for(number);
        append_and_wait(&db);
    }
    assert_eq!(db.head("run"), Ok(Some(41)));
}

fn closed_meanwhile() {
    let scratch = Scratch::new();
    let db = open(&scratch);
    let (caller, paused) = in_the_middle(&db);
    let (sender, received) = channel();
    let closing = db.clone();
    let closer = thread::spawn(move || {
        closing.0.close();
        sender.send(()).unwrap();
    });
    thread::sleep(std::time::Duration::from_millis(50));
    assert!(received.try_recv().is_err(), "closed in the middle of a job");
    paused.go_on.send(()).unwrap();
    assert_eq!(caller.join().unwrap(), Ok(()));
    closer.join().unwrap();
    assert_eq!(db.write(|_| Ok(())), Err(StoreError::Closed));
    assert!(!scratch.path("runs.db-wal").exists(), "the last to close moves the log");
}

fn small_stack() {
    let scratch = Scratch::new();
    let db = open(&scratch);
    let caller = thread::Builder::new().stack_size(128 << 10).spawn(move || {
        for number in 0..200 {
            db.create(&format!("run-{number}")).unwrap();
            append_and_wait(&db);
        }
    });
    caller.unwrap().join().unwrap();
}

fn forked_meanwhile() {
    let scratch = Scratch::new();
    let path = scratch.path("runs.db");
    let mut child = crate::roles::start("fork-while-writing", &[path.to_str().unwrap()]);
    assert!(child.wait().unwrap().success());
}

/// Forks while a caller is in the middle of a transaction of its own. The child is told and closes; the caller goes on.
pub(crate) fn fork(path: &Path) {
    let db = Db::open(path);
    db.create("run").unwrap();
    let (caller, paused) = in_the_middle(&db);
    let before = db.head("run").unwrap().unwrap();
    // SAFETY: glibc keeps its allocator usable in the child, which ends by `_exit`; the parent waits for it.
    #[allow(unsafe_code, reason = "there is no safe fork")]
    let status = unsafe {
        let child = libc::fork();
        if child == 0 {
            let closed = db.create("in-the-child") == Err(StoreError::Closed);
            db.0.wait_for(1);
            db.0.close();
            drop(db);
            libc::_exit(if closed { 0 } else { 1 });
        }
        let mut status = -1;
        libc::waitpid(child, &mut status, 0);
        status
    };
    assert_eq!(status, 0, "the child was told something else");
    paused.go_on.send(()).unwrap();
    assert_eq!(caller.join().unwrap(), Ok(()));
    assert_eq!(db.head("run"), Ok(Some(before + 1)));
    drop(db);
    crate::kill::check_whole(path);
}
