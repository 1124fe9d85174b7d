//! The processes that the tests start: this program again, in one of these roles.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::{db::Db, forks, locks, power, processes, random_calls, waiting, worker};

/// Plays a role until it is done or killed.
pub(crate) fn play(role: &str, arguments: &[String]) {
    let path = Path::new(&arguments[0]);
    match role {
        "work" => worker::work(path, &arguments[1], std::io::stdout()),
        "hold-a-lock" => locks::hold(path, &arguments[1]),
        "fork-while-writing" => waiting::fork(path),
        fork if fork.starts_with("fork-") => forks::play(fork, path),
        "close-beside-a-foreign-one" => locks::close_beside_a_foreign_one(path),
        "close-beside-a-foreign-one-without" => {
            agenthost::store::sqlite::locks::switch_off_for_a_test();
            locks::close_beside_a_foreign_one(path);
        }
        "log-deleted-without" => locks::log_deleted_without(path),
        "write-for-a-while" => processes::write_for_a_while(path),
        "power-lost" => power::lose_power(path, false),
        "power-lost-on-a-liar" => power::lose_power(path, true),
        "faults" => power::fail(path),
        "full" => power::fill_up(path),
        "make-calls" => random_calls::make(path, &arguments[1], arguments[2].parse().expect("a seed")),
        "create-an-hour-ahead" => processes::create_an_hour_ahead(path, &arguments[1]),
        "create-one" => {
            let db = Db::open(path);
            db.create(&arguments[1]).expect("a run is created");
        }
        _ => panic!("no role {role}"),
    }
}

/// This program in a role. Its standard output and input are pipes.
pub(crate) fn start(role: &str, arguments: &[&str]) -> Child {
    command(role, arguments).spawn().expect("the test's own program starts")
}

pub(crate) fn command(role: &str, arguments: &[&str]) -> Command {
    // This very program, also when it has been built anew meanwhile.
    let mut command = Command::new("/proc/self/exe");
    command.arg("role").arg(role).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// A new directory that nobody else uses, and is gone afterwards.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// In memory where there is enough: killed processes lose nothing there either, and the disk's other users do not matter.
    pub(crate) fn new() -> Scratch {
        let memory = Path::new("/dev/shm");
        match rustix::fs::statvfs(memory) {
            Ok(status) if status.f_bavail.saturating_mul(status.f_frsize) > 2 << 30 => Scratch::below(memory),
            _ => Scratch::on_disk(),
        }
    }

    pub(crate) fn on_disk() -> Scratch {
        Scratch::below(&std::env::temp_dir())
    }

    fn below(parent: &Path) -> Scratch {
        let path = parent.join(format!("agenthost-{}", uuid::Uuid::now_v7().simple()));
        std::fs::create_dir(&path).expect("a directory of its own");
        Scratch(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Reads one byte that a child writes when it has come so far.
pub(crate) fn wait_for_signal(child: &mut Child) {
    let mut byte = [0];
    child.stdout.as_mut().expect("a pipe").read_exact(&mut byte).expect("the child signals");
}

/// Signals what `wait_for_signal` waits for.
pub(crate) fn signal_parent() {
    let mut out = std::io::stdout();
    out.write_all(b".").and_then(|()| out.flush()).expect("the parent reads");
}

/// Waits until the parent closes the pipe or writes to it.
pub(crate) fn wait_for_parent() {
    let _ = std::io::stdin().read(&mut [0]);
}

/// Opens and closes the database and its index, as every foreign SQLite does.
pub(crate) fn touch(path: &Path) {
    for suffix in ["", "-shm"] {
        let file = path.with_file_name(format!("{}{suffix}", path.file_name().unwrap().to_str().unwrap()));
        drop(File::open(file).expect("the file is there"));
    }
}
