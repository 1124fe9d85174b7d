//! The promises of the SQLite store: nothing acknowledged is lost, nothing is half there, nobody is shut out. Killed
//! processes, foreign SQLites, lost power, full disks, forks.
//!
//! The same program plays the processes that are killed: `durability_sqlite role NAME ARGUMENTS`.
//! `durability_sqlite torture [KILLS]` kills more often than the tests do. `durability_sqlite make-files DIRECTORY` makes the
//! files that later versions have to open.

mod closing;
mod db;
mod files;
mod foreign_sqlite;
mod forgetful_vfs;
mod forks;
mod histories;
mod kill;
mod locks;
mod many;
mod old_schemas;
mod power;
mod processes;
mod random_calls;
mod roles;
mod waiting;
mod worker;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("make-files") => {
            return old_schemas::make_files(std::path::Path::new(arguments.get(1).expect("make-files DIRECTORY")));
        }
        Some("role") => return roles::play(&arguments[1], &arguments[2..]),
        Some("torture") => {
            return kill::torture(arguments.get(1).map_or(1000, |kills| kills.parse().expect("a number of kills")));
        }
        _ => {}
    }
    let mut trials = Vec::new();
    trials.extend(files::trials());
    trials.extend(closing::trials());
    trials.extend(locks::trials());
    trials.extend(forks::trials());
    trials.extend(waiting::trials());
    trials.extend(histories::trials());
    trials.extend(many::trials());
    trials.extend(old_schemas::trials());
    trials.extend(processes::trials());
    trials.extend(power::trials());
    trials.extend(kill::trials());
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// A test that is a function. It fails by panicking.
fn trial(name: &str, test: fn()) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}
