//! `corpus unpack TARGET FOLDER`: the vectors and the committed corpus as files, for cargo-fuzz.
//! `corpus pack TARGET FOLDER`: files, minimized by cargo-fuzz, as the committed corpus; what the vectors have is left out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use agenthost_fuzz::seeds;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// Larger inputs are left to the vectors: the corpus stays small.
const MAX_BYTES: usize = 4096;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [command, target, folder] = arguments.as_slice() else { panic!("corpus unpack|pack TARGET FOLDER") };
    let (root, folder) = (Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), PathBuf::from(folder));
    if command == "unpack" {
        std::fs::create_dir_all(&folder)?;
        for (index, input) in seeds::inputs(&root, target).into_iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{index:05}")), input)?;
        }
        return Ok(());
    }
    let known: BTreeSet<Vec<u8>> = seeds::vectors(&root, target).into_iter().collect();
    let mut lines = BTreeSet::new();
    for entry in std::fs::read_dir(folder)? {
        let input = std::fs::read(entry?.path())?;
        if input.len() <= MAX_BYTES && !known.contains(&input) {
            lines.insert(BASE64_STANDARD.encode(input));
        }
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(seeds::file(&root, target), text)
}
