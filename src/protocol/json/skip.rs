//! Reads over a value of any kind and depth: what the contract does not look into, but has to be JSON.

use super::token::{Parsed, literal_end, malformed, number_end, space_end, string_end};

/// Where the value that starts at `at`, or behind white space there, ends, and how many levels it nests (0 for a scalar). No
/// recursion.
pub(super) fn value_end(bytes: &[u8], mut at: usize) -> Parsed<(usize, usize)> {
    let (mut open, mut levels) = (Open::default(), 0);
    loop {
        at = space_end(bytes, at);
        let Some(&byte) = bytes.get(at) else { return malformed(at, "a value") };
        match byte {
            b'"' => at = string_end(bytes, at + 1)?,
            b'{' | b'[' => {
                let object = byte == b'{';
                levels = levels.max(open.depth + 1);
                at = space_end(bytes, at + 1);
                if bytes.get(at) == Some(if object { &b'}' } else { &b']' }) {
                    at += 1;
                } else {
                    open.push(object);
                    if object {
                        at = name_end(bytes, at)?;
                    }
                    continue;
                }
            }
            b'-' | b'0'..=b'9' => at = number_end(bytes, at)?,
            b't' => at = literal_end(bytes, at, "true")?,
            b'f' => at = literal_end(bytes, at, "false")?,
            b'n' => at = literal_end(bytes, at, "null")?,
            _ => return malformed(at, "a value"),
        }
        // A value has ended: on to the next one, out of every container that ends here.
        loop {
            let Some(in_object) = open.innermost() else { return Ok((at, levels)) };
            at = space_end(bytes, at);
            match (bytes.get(at), in_object) {
                (Some(b','), true) => {
                    at = name_end(bytes, space_end(bytes, at + 1))?;
                    break;
                }
                (Some(b','), false) => {
                    at += 1;
                    break;
                }
                (Some(b'}'), true) | (Some(b']'), false) => {
                    at += 1;
                    open.pop();
                }
                (_, true) => return malformed(at, "\",\" or \"}\""),
                (_, false) => return malformed(at, "\",\" or \"]\""),
            }
        }
    }
}

/// Behind the member's name that starts at `at`, and its colon.
#[inline(always)]
fn name_end(bytes: &[u8], at: usize) -> Parsed<usize> {
    if bytes.get(at) != Some(&b'"') {
        return malformed(at, "a member's name");
    }
    let colon = space_end(bytes, string_end(bytes, at + 1)?);
    if bytes.get(colon) == Some(&b':') { Ok(colon + 1) } else { malformed(colon, "\":\"") }
}

/// Which containers are open, as one bit each: set for an object. Any depth, without a cost for the usual one.
#[derive(Default)]
struct Open {
    depth: usize,
    bits: u64,
    outer: Vec<u64>,
}

impl Open {
    #[inline]
    fn push(&mut self, object: bool) {
        if self.depth.is_multiple_of(64) && self.depth > 0 {
            self.outer.push(self.bits);
        }
        self.bits = self.bits << 1 | u64::from(object);
        self.depth += 1;
    }

    #[inline]
    fn pop(&mut self) {
        self.bits >>= 1;
        self.depth -= 1;
        if self.depth.is_multiple_of(64)
            && let Some(bits) = self.outer.pop()
        {
            self.bits = bits;
        }
    }

    #[inline]
    fn innermost(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.bits & 1 == 1)
    }
}
