//! Where the inputs of the targets come from: the contract's vectors, and what fuzzing has left (`fuzz/corpus`, one input a line,
//! in base64).

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

/// The inputs for a target in the project that stands in `root`.
pub fn inputs(root: &Path, target: &str) -> Vec<Vec<u8>> {
    [vectors(root, target), corpus(root, target)].concat()
}

/// What the vectors have for a target: messages, responses, or results with the byte that says what they answer.
pub fn vectors(root: &Path, target: &str) -> Vec<Vec<u8>> {
    let text_of = |vector: &Value, text: &str, base64: &str| match (vector[text].as_str(), vector[base64].as_str()) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(text)) => BASE64_STANDARD.decode(text).expect("base64"),
        (None, None) => panic!("a vector without text"),
    };
    let file = if target == "client" { "client.jsonl" } else { "dispatch.jsonl" };
    let lines = lines(&root.join("tests/vectors").join(file));
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
pub fn corpus(root: &Path, target: &str) -> Vec<Vec<u8>> {
    lines(&file(root, target)).iter().map(|line| BASE64_STANDARD.decode(line).expect("base64")).collect()
}

/// The file of a target's corpus.
pub fn file(root: &Path, target: &str) -> PathBuf {
    root.join("fuzz/corpus").join(format!("{target}.base64"))
}

fn lines(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(str::to_owned).filter(|line| !line.is_empty()).collect()
}
