//! The bodies of the fuzz targets on the stable compiler: over the vectors, over the corpus that fuzzing has left, and over
//! small changes of both.

#[path = "../../fuzz/src/lib.rs"]
mod bodies;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use bodies::seeds;

fn play(target: &str, body: fn(&[u8]), input: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| body(input))) {
        eprintln!("{target} on {:?}", String::from_utf8_lossy(input));
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn the_vectors_and_the_corpus_hold() {
    for (target, body) in bodies::TARGETS {
        let inputs = seeds::inputs(Path::new(env!("CARGO_MANIFEST_DIR")), target);
        assert!(inputs.len() > 100, "{target}");
        inputs.iter().for_each(|input| play(target, body, input));
    }
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
        let inputs = seeds::inputs(Path::new(env!("CARGO_MANIFEST_DIR")), target);
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
