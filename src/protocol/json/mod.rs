//! JSON as strict as the boundary needs it: RFC 8259 text in UTF-8, no lone surrogate, no number that overflows a double,
//! bounded nesting, no recursion on what a message nests. `reader` takes messages apart, `writer` puts them together,
//! `slot` holds what a reader found for a member until it is known whether the member counts.

mod free;
mod reader;
mod scan;
pub(crate) mod slot;
mod writer;

pub use free::FreeJson;
pub(crate) use reader::{Malformed, Reader, read_all};
pub(crate) use slot::{Found, Slot};
pub(crate) use writer::Writer;
