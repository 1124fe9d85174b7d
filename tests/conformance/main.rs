//! The contract's vectors, played through the public Rust interface. `AGENTHOST_VECTORS` names another folder.
//! Ends with `rust: N passed, M failed`.

mod client;
mod compare;
mod dispatch;
mod script;

use std::path::PathBuf;

fn main() {
    // Some vectors make the service panic; that is not news.
    std::panic::set_hook(Box::new(|_| {}));
    let folder = std::env::var_os("AGENTHOST_VECTORS")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors"), PathBuf::from);
    let mut tally = Tally::default();
    let mut files = 0;
    for (name, run) in [("dispatch.jsonl", dispatch::run as fn(&str, &mut Tally)), ("client.jsonl", client::run)] {
        if let Ok(text) = std::fs::read_to_string(folder.join(name)) {
            files += 1;
            for line in text.lines().filter(|line| !line.trim().is_empty()) {
                run(line, &mut tally);
            }
        }
    }
    if files == 0 || tally.passed == 0 {
        tally.fail("the vectors", &format!("none found in {}", folder.display()));
    }
    println!("rust: {} passed, {} failed", tally.passed, tally.failed);
    std::process::exit(i32::from(tally.failed > 0));
}

/// What was played, and what went wrong.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
}

impl Tally {
    fn note(&mut self, name: &str, outcome: Result<(), String>) {
        match outcome {
            Ok(()) => self.passed += 1,
            Err(why) => self.fail(name, &why),
        }
    }

    fn fail(&mut self, name: &str, why: &str) {
        self.failed += 1;
        println!("rust: FAILED {name}: {why}");
    }
}
