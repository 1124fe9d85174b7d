//! The bodies of the fuzz targets on the stable compiler: over the vectors, over the corpus that fuzzing has left, and over
//! small changes of both.

#[path = "../../fuzz/src/lib.rs"]
mod bodies;
mod seeds;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

fn play(target: &str, body: fn(&[u8]), input: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| body(input))) {
        eprintln!("{target} on {:?}", String::from_utf8_lossy(input));
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn the_vectors_and_the_corpus_hold() {
    for (target, body) in bodies::TARGETS {
        let inputs = seeds::inputs(target);
        assert!(inputs.len() > 100, "{target}");
        inputs.iter().for_each(|input| play(target, body, input));
    }
}

/// `AGENTHOST_FUZZ_UNPACK` names a folder into which all inputs go, `AGENTHOST_FUZZ_PACK` one whose files become the corpus: that is
/// how `fuzz/run.sh` gets and leaves them.
#[test]
fn the_committed_corpus_is_what_packing_leaves() {
    let folder = |variable| std::env::var_os(variable).map(PathBuf::from);
    let temporary = std::env::temp_dir().join(format!("agenthost-corpus-{}", std::process::id()));
    for (target, _) in bodies::TARGETS {
        if let Some(packed) = folder("AGENTHOST_FUZZ_PACK") {
            std::fs::write(seeds::file(target), seeds::pack(target, &packed.join(target))).expect("write the corpus");
        }
        if let Some(unpacked) = folder("AGENTHOST_FUZZ_UNPACK") {
            seeds::unpack(target, &unpacked.join(target));
        }
        let unpacked = temporary.join(target);
        seeds::unpack(target, &unpacked);
        let committed = std::fs::read_to_string(seeds::file(target)).expect("the corpus");
        assert!(seeds::pack(target, &unpacked) == committed, "fuzz/corpus/{target}.base64: fuzz/run.sh minimize writes it");
        assert!(committed.len() < 500_000, "fuzz/corpus/{target}.base64 is too large: {} bytes", committed.len());
    }
    std::fs::remove_dir_all(temporary).expect("remove the temporary folder");
}

/// Numbers that look random and are the same in each run (xorshift, Marsaglia 2003).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below.max(1) as u64) as usize
    }
}

/// Pieces that matter to a reader of JSON or of the contract.
const PIECES: [&[u8]; 24] = [
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"null",
    b"0",
    b"-",
    b"e9",
    b".0",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\\u0000",
    b"\\ud800",
    b"{}",
    b"[[]]",
    b"token",
    b"\"runId\":1,",
    b"9007199254740992",
    b" ",
];

#[test]
fn small_changes_of_them_hold() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for (target, body) in bodies::TARGETS {
        let inputs = seeds::inputs(target);
        for input in inputs.iter().filter(|input| input.len() < 2048) {
            let mut input = input.clone();
            for _ in 0..=numbers.next(3) {
                let place = numbers.next(input.len() + 1);
                match numbers.next(3) {
                    0 => drop(input.splice(place..place, PIECES[numbers.next(PIECES.len())].iter().copied())),
                    1 => drop(input.drain(place..(place + numbers.next(8)).min(input.len()))),
                    _ => {
                        let other = &inputs[numbers.next(inputs.len())];
                        let from = numbers.next(other.len());
                        let taken = &other[from..(from + numbers.next(24)).min(other.len())];
                        drop(input.splice(place..place, taken.iter().copied()));
                    }
                }
            }
            play(target, body, &input);
        }
    }
}
