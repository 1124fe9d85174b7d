//! JSON as strict as the boundary needs it: RFC 8259 text in UTF-8, no lone surrogate, no number that overflows a double,
//! bounded nesting, no recursion on what a message nests. `reader` takes messages apart, `skip` reads over what they only
//! carry, both token by token (`token`); `writer` puts messages together; `scan` is the loop under all of them. `slot` holds
//! what a reader found for a member until it is known whether the member counts.

mod free;
mod reader;
mod scan;
mod skip;
pub(crate) mod slot;
mod token;
mod writer;

pub use free::FreeJson;
pub(crate) use reader::{ReadResult, Reader, read_all};
pub(crate) use slot::Slot;
pub(crate) use token::Malformed;
pub(crate) use writer::Writer;
