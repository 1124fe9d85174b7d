//! Processes killed at random instants, with Python's `sqlite3` opening, reading, writing and closing the same file in them.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use rusqlite::Connection;

use crate::roles::{self, Scratch};
use crate::trial;

/// After how many kills a new database is begun, so that looking through it stays quick.
const KILLS_OF_ONE_FILE: usize = 24;

/// A file with so many acknowledgements is looked through too.
const MANY_ACKNOWLEDGED: usize = 60_000;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("nothing_acknowledged_is_lost_and_nothing_is_half_there_in_fifty_kills", || {
            let total = campaign(50, true, Scratch::new, &mut Dice(1)).unwrap_or_else(|damage| panic!("{damage}"));
            assert!(total.acknowledged > 500 && total.foreign > 20, "{total:?}: the test proves little");
        }),
        trial("without_the_override_the_same_kills_do_damage", || {
            let result = campaign(200, false, Scratch::new, &mut Dice(2));
            assert!(result.is_err(), "{result:?}: the test proves nothing");
        }),
    ]
}

/// The same as the tests, oftener. Ends the program with a status.
pub(crate) fn torture(kills: usize) {
    let seed = u64::from(std::process::id());
    let begun = Instant::now();
    match campaign(kills, true, Scratch::on_disk, &mut Dice(seed)) {
        Ok(total) => println!(
            "torture: {kills} kills in {:.0?}: {} acknowledged commits and {} of a foreign SQLite, none lost, none half, {} files whole",
            begun.elapsed(),
            total.acknowledged,
            total.foreign,
            total.files
        ),
        Err(damage) => {
            eprintln!("torture: {damage} (seed {seed})");
            std::process::exit(1);
        }
    }
    match campaign(kills.max(200), false, Scratch::on_disk, &mut Dice(seed)) {
        Ok(total) => {
            eprintln!("torture: no damage without the lock override, so the kills prove nothing: {total:?}");
            std::process::exit(1);
        }
        Err(damage) => println!("torture: without the lock override there is damage, as there has to be: {damage}"),
    }
}

#[derive(Debug, Default)]
struct Total {
    /// Commits that our store acknowledged.
    acknowledged: usize,
    /// Commits of the foreign SQLite.
    foreign: usize,
    files: usize,
}

/// Kills so many processes; gives the first damage.
fn campaign(kills: usize, with_override: bool, place: fn() -> Scratch, dice: &mut Dice) -> Result<Total, String> {
    let mut total = Total::default();
    let mut killed = 0;
    while killed < kills {
        let scratch = place();
        let mut era =
            Era { path: scratch.path("runs.db"), with_override, running: Vec::new(), started: 0, reports: Reports::default() };
        let end = (killed + KILLS_OF_ONE_FILE).min(kills);
        while killed < end && era.reports.count() < MANY_ACKNOWLEDGED {
            while era.running.len() < 3 {
                era.start();
            }
            era.wait_for_acknowledgements()?;
            thread::sleep(Duration::from_millis(dice.below(80)));
            if dice.below(5) == 0 {
                killed += era.running.len();
                while !era.running.is_empty() {
                    era.kill(0);
                }
                era.check()?;
            } else {
                let victim = dice.below(era.running.len() as u64) as usize;
                era.kill(victim);
                killed += 1;
            }
        }
        while !era.running.is_empty() {
            era.kill(0);
        }
        era.check()?;
        let reports = era.reports.0.lock().unwrap();
        total.acknowledged += reports.acknowledged;
        total.foreign += reports.notes.len();
        total.files += 1;
    }
    Ok(total)
}

/// The processes that share one file.
struct Era {
    path: PathBuf,
    with_override: bool,
    running: Vec<Process>,
    started: usize,
    reports: Reports,
}

struct Process {
    child: Child,
    listener: JoinHandle<()>,
    acknowledged: Arc<Mutex<usize>>,
}

/// What the processes reported on their pipes.
#[derive(Clone, Default)]
struct Reports(Arc<Mutex<Acknowledged>>);

#[derive(Default)]
struct Acknowledged {
    heads: HashMap<String, i64>,
    notes: Vec<String>,
    acknowledged: usize,
    errors: Vec<String>,
}

impl Reports {
    fn count(&self) -> usize {
        self.0.lock().unwrap().acknowledged
    }

    fn add(&self, line: &str) {
        let mut reports = self.0.lock().unwrap();
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["head", run_id, head] => {
                reports.acknowledged += 1;
                reports.heads.insert(run_id.to_owned(), head.parse().expect("a head is a number"));
            }
            ["note", name] => reports.notes.push(name.to_owned()),
            _ => reports.errors.push(line.to_owned()),
        }
    }
}

impl Era {
    /// Two of three have a foreign SQLite in them.
    fn start(&mut self) {
        self.started += 1;
        let name = format!("process-{}", self.started);
        let path = self.path.to_str().unwrap();
        let mut command = if self.started.is_multiple_of(3) && self.with_override {
            roles::command("work", &[path, &name])
        } else {
            let mut command = Command::new("python3");
            let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/durability/sqlite/host.py");
            command.arg(host).arg(agent()).args([path, &name, if self.with_override { "on" } else { "off" }]);
            command
        };
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("a process starts");
        let lines = BufReader::new(child.stdout.take().unwrap()).split(b'\n');
        let reports = self.reports.clone();
        let acknowledged = Arc::new(Mutex::new(0));
        let counter = Arc::clone(&acknowledged);
        let listener = thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                reports.add(&String::from_utf8_lossy(&line));
                *counter.lock().unwrap() += 1;
            }
        });
        self.running.push(Process { child, listener, acknowledged });
    }

    /// Waits until each has said something, so that no kill hits a process that has not begun.
    fn wait_for_acknowledgements(&mut self) -> Result<(), String> {
        let until = Instant::now() + Duration::from_secs(20);
        for process in &mut self.running {
            while *process.acknowledged.lock().unwrap() == 0 {
                if let Some(error) = self.reports.0.lock().unwrap().errors.first() {
                    return Err(error.clone());
                }
                if Instant::now() > until {
                    return Err("a process wrote nothing for 20 s".to_owned());
                }
                thread::sleep(Duration::from_millis(1));
            }
        }
        Ok(())
    }

    fn kill(&mut self, index: usize) {
        let mut process = self.running.swap_remove(index);
        process.child.kill().expect("the child is ours");
        process.child.wait().expect("the child is ours");
        process.listener.join().expect("the listener reads to the end");
    }

    /// Checks the file, with nobody writing.
    fn check(&self) -> Result<(), String> {
        let reports = self.reports.0.lock().unwrap();
        if let Some(error) = reports.errors.first() {
            return Err(format!("a process reported: {error}"));
        }
        whole(&self.path)?;
        let connection = Connection::open(&self.path).map_err(|error| error.to_string())?;
        let mut head = connection.prepare("SELECT head FROM run WHERE run_id = ?1").map_err(|error| error.to_string())?;
        for (run_id, acknowledged) in &reports.heads {
            match head.query_row([run_id], |row| row.get::<_, i64>(0)) {
                Ok(head) if head >= *acknowledged => {}
                Ok(head) => return Err(format!("{run_id} has {head} events, {acknowledged} were acknowledged")),
                Err(error) => return Err(format!("{run_id} was acknowledged: {error}")),
            }
        }
        if !reports.notes.is_empty() {
            let mut note = connection.prepare("SELECT 1 FROM note WHERE name = ?1").map_err(|error| error.to_string())?;
            for name in &reports.notes {
                if !note.exists([name]).map_err(|error| error.to_string())? {
                    return Err(format!("the foreign SQLite's {name} is lost"));
                }
            }
        }
        Ok(())
    }
}

impl Drop for Era {
    fn drop(&mut self) {
        while !self.running.is_empty() {
            self.kill(0);
        }
    }
}

/// Fails when the database is not sound, or a part of a command is there without the rest.
pub(crate) fn check_whole(path: &Path) {
    whole(path).unwrap_or_else(|damage| panic!("{}: {damage}", path.display()));
}

/// What is wrong with the database.
pub(crate) fn whole(path: &Path) -> Result<(), String> {
    let inner = || -> rusqlite::Result<Vec<String>> {
        let connection = Connection::open(path)?;
        let mut damages = Vec::new();
        let integrity: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
        if integrity != "ok" {
            damages.push(integrity);
        }
        for (what, sql) in [
            (
                "runs without all their events",
                "SELECT count(*) FROM run r WHERE head != (SELECT count(*) FROM event e WHERE e.id > r.id << 32 AND e.id < (r.id + 1) << 32)",
            ),
            (
                "runs with a gap in their events",
                "SELECT count(*) FROM run r WHERE head != (SELECT max(seq) FROM event e WHERE e.id > r.id << 32 AND e.id < (r.id + 1) << 32)",
            ),
            (
                "runs without all their texts",
                "SELECT count(*) FROM run r WHERE 3 != (SELECT count(*) FROM body b WHERE b.id > r.id << 4 AND b.id < (r.id + 1) << 4)",
            ),
            (
                "runs without their key",
                "SELECT count(*) FROM run WHERE NOT EXISTS (SELECT 1 FROM request WHERE key = run_id AND request.owner = run.owner AND op = 'create_run')",
            ),
            ("keys without their run", "SELECT count(*) FROM request WHERE NOT EXISTS (SELECT 1 FROM run WHERE run_id = key)"),
            ("events without their run", "SELECT count(*) FROM event WHERE run NOT IN (SELECT id FROM run)"),
        ] {
            let count: i64 = connection.query_row(sql, [], |row| row.get(0))?;
            if count != 0 {
                damages.push(format!("{count} {what}"));
            }
        }
        Ok(damages)
    };
    match inner() {
        Ok(damages) if damages.is_empty() => Ok(()),
        Ok(damages) => Err(damages.join("; ")),
        Err(error) => Err(error.to_string()),
    }
}

/// The worker as a library that Python loads; built when it is first needed.
fn agent() -> PathBuf {
    static AGENT: OnceLock<PathBuf> = OnceLock::new();
    let build = || {
        let program = std::env::current_exe().expect("the program has a path");
        // target/PROFILE/deps/durability_sqlite-...
        let profile = program.parent().and_then(Path::parent).expect("cargo's layout");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--locked", "--example", "durability_agent", "--target-dir"]);
        cargo.arg(profile.parent().expect("cargo's layout")).current_dir(env!("CARGO_MANIFEST_DIR"));
        if profile.ends_with("release") {
            cargo.arg("--release");
        }
        assert!(cargo.status().expect("cargo is there").success(), "the agent is built");
        profile.join("examples").join("libdurability_agent.so")
    };
    AGENT.get_or_init(build).clone()
}

/// Numbers that look random, the same for the same seed.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// 0 to `limit` - 1.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}
