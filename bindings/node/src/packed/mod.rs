//! Calls and answers as one string each, with numbers beside it: a crossing of the border costs more than taking those apart, and much
//! less than writing and reading JSON on both sides of it. `lib/packed.js` is the other end. What cannot be packed goes as JSON.

mod answer;
mod call;
mod parts;

pub(crate) use answer::answer;
pub(crate) use call::{Told, call};
pub(crate) use parts::{Bytes, Texts};

/// Numbers that go along with a string. They are at the beginning of the memory for numbers.
pub(crate) type Header = [u32; 16];

/// The header of the memory for numbers, and the numbers behind it.
pub(crate) fn split(memory: &[u8]) -> Option<(Header, &[Bytes])> {
    let (header, numbers) = memory.split_first_chunk::<{ size_of::<Header>() }>()?;
    let header: &[_; 16] = header.as_chunks().0.first_chunk()?;
    Some((header.map(u32::from_ne_bytes), numbers.as_chunks().0))
}
