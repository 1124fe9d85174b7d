//! The C ABI. From these items `include/agenthost.h` is generated, with their documentation, in the order of this list. No
//! rule of the protocol and none of a host's life stands here: values are carried across the border, and back.
//!
//! Every export checks its pointers, catches panics, and knows a forked child. Two borders are crossed: what C hands in is
//! read by `from_c`, what it is handed is laid out by `to_c`.

mod status;
mod text;
mod words;

mod live;

mod requests;
mod results;

mod service;

mod reply;

mod host;

mod dispatch;

mod request;
mod response;

mod runs;

mod outcome;
mod worker;

mod operator;

mod conflict;

mod library;

mod call;
mod entry;
mod from_c;
mod sized;
mod to_c;

pub use conflict::*;
pub use dispatch::*;
pub use host::*;
pub use library::*;
pub use live::*;
pub use operator::*;
pub use outcome::*;
pub use reply::*;
pub use request::*;
pub use requests::*;
pub use response::*;
pub use results::*;
pub use runs::*;
pub use service::*;
pub use status::*;
pub use text::*;
pub use words::*;
pub use worker::*;
