//! Calls and answers as one string each, with numbers beside it: a crossing of the border costs more than taking those apart, and much
//! less than writing and reading JSON on both sides of it. `lib/packed` is the other end. What cannot be packed goes as JSON.

mod answer;
mod call;
mod reader;

pub(crate) use answer::unpack;
pub(crate) use call::{PackedCall, pack};
pub(crate) use reader::{NumberBytes, Texts};

/// Numbers that go along with a string. They are at the beginning of the memory for numbers.
pub(crate) type Header = [u32; 16];

/// The header of the memory for numbers, and the numbers behind it.
pub(crate) fn split(memory: &[u8]) -> Option<(Header, &[NumberBytes])> {
    let (header, numbers) = memory.split_first_chunk::<{ size_of::<Header>() }>()?;
    let header: &[_; 16] = header.as_chunks().0.first_chunk()?;
    Some((header.map(u32::from_ne_bytes), numbers.as_chunks().0))
}
