//! Where the inputs of the targets come from: the contract's vectors, and what fuzzing has left (`fuzz/corpus`, one input a line,
//! in base64); and the way between that file and the folder that cargo-fuzz wants.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

/// The inputs for a target.
pub(crate) fn inputs(target: &str) -> Vec<Vec<u8>> {
    [vectors(target), corpus(target)].concat()
}

/// What the vectors have for a target: messages, responses, or results with the byte that says what they answer.
pub(crate) fn vectors(target: &str) -> Vec<Vec<u8>> {
    let text_of = |vector: &Value, text: &str, base64: &str| match (vector[text].as_str(), vector[base64].as_str()) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(text)) => BASE64_STANDARD.decode(text).expect("base64"),
        (None, None) => panic!("a vector without text"),
    };
    let file = if target == "client" { "client.jsonl" } else { "dispatch.jsonl" };
    let lines = lines(&root().join("tests/vectors").join(file));
    let vectors = lines.iter().map(|line| serde_json::from_str::<Value>(line).expect("a vector"));
    match target {
        "client" => vectors.map(|vector| text_of(&vector, "response_text", "response_base64")).collect(),
        "replies" => vectors
            .filter_map(|vector| {
                let reply = &vector["reply"];
                let answer = [&reply["ok"], &reply["error"]["details"]].into_iter().find(|answer| !answer.is_null())?;
                let operation = vector["call"]["operation"].as_str()?;
                let choice = agenthost::protocol::Operation::ALL.iter().position(|known| known.name() == operation)?;
                Some([vec![choice as u8], answer.to_string().into_bytes()].concat())
            })
            .collect(),
        _ => vectors.map(|vector| text_of(&vector, "request", "request_base64")).collect(),
    }
}

/// What fuzzing has left, minimized.
pub(crate) fn corpus(target: &str) -> Vec<Vec<u8>> {
    lines(&file(target)).iter().map(|line| BASE64_STANDARD.decode(line).expect("base64")).collect()
}

/// The file of a target's corpus.
pub(crate) fn file(target: &str) -> PathBuf {
    root().join("fuzz/corpus").join(format!("{target}.base64"))
}

/// Larger inputs are left to the vectors: the corpus stays small.
const MAX_BYTES: usize = 512;

/// Puts all inputs of a target into a folder, one file each.
pub(crate) fn unpack(target: &str, folder: &Path) {
    std::fs::create_dir_all(folder).expect("a folder");
    for (index, input) in inputs(target).into_iter().enumerate() {
        std::fs::write(folder.join(format!("seed-{index:05}")), input).expect("write an input");
    }
}

/// The inputs in a folder as the text of a corpus: sorted, each once, without those that are vectors.
pub(crate) fn pack(target: &str, folder: &Path) -> String {
    let known: BTreeSet<Vec<u8>> = vectors(target).into_iter().collect();
    let files = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let inputs = files.map(|file| std::fs::read(file).expect("read an input"));
    let new: BTreeSet<String> = inputs
        .filter(|input| input.len() <= MAX_BYTES && !known.contains(input))
        .map(|input| BASE64_STANDARD.encode(input))
        .collect();
    new.into_iter().map(|line| line + "\n").collect()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn lines(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(str::to_owned).filter(|line| !line.is_empty()).collect()
}
