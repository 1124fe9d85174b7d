//! The contract's vectors, played through the public Rust interface. `AGENTHOST_VECTORS` names another folder.
//! Ends with `rust: N passed, M failed`.

mod client;
mod compare;
mod dispatch;
mod script;

use std::path::{Path, PathBuf};

fn main() {
    // Some vectors make the service panic; that is not news.
    std::panic::set_hook(Box::new(|_| {}));
    let folder = std::env::var_os("AGENTHOST_VECTORS")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors"), PathBuf::from);
    let mut tally = Tally::default();
    for line in lines(&folder) {
        // A vector of a client has a response and no call.
        let play = if line.contains("\"expect\":") && !line.contains("\"call\":") { client::run } else { dispatch::run };
        play(&line, &mut tally);
    }
    if tally.passed == 0 {
        tally.fail("the vectors", &format!("none passed in {}", folder.display()));
    }
    println!("rust: {} passed, {} failed", tally.passed, tally.failed);
    std::process::exit(i32::from(tally.failed > 0));
}

/// The lines of every `.jsonl` file of a folder, file by file in the order of their names.
fn lines(folder: &Path) -> Vec<String> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    let texts = files.iter().map(|path| std::fs::read_to_string(path).expect("a readable file of vectors"));
    texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).filter(|line| !line.trim().is_empty()).collect()
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
