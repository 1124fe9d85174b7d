//! The C ABI. From these items `include/agenthost.h` is generated, with their documentation, in the order of the first list. No
//! rule of the protocol and none of a host's life stands here: values are carried across the border, and back.
//!
//! Every export checks its pointers, catches panics, and knows a forked child. Two borders are crossed: what C hands in is
//! read by `values_from_c`, what it is handed is laid out by `values_to_c`. No reference to what C holds lives while one of its
//! callbacks runs: the callback may free it.

// The header, in its order: rustfmt sorts what no empty line separates.
mod status;
mod text;

mod constants;

mod live;

mod request_structs;
mod result_structs;

mod approval_structs;
mod approvals;
mod callback;

mod reply;

mod service;

mod log;

mod host_options;

mod host;

mod dispatch;

mod client_request;
mod client_response;

mod runs_options;

mod runs;

mod outcome_structs;

mod outcome;

mod conflict;

mod worker;

mod operator;

mod library;

// What the exports share.
mod export;
mod failure;
mod handles;
mod pointed_to;
mod run_calls;
mod struct_size;
mod values_from_c;
mod values_to_c;

pub use approval_structs::*;
pub use approvals::*;
pub use callback::*;
pub use client_request::*;
pub use client_response::*;
pub use conflict::*;
pub use constants::*;
pub use dispatch::*;
pub use host::*;
pub use host_options::*;
pub use library::*;
pub use live::*;
pub use log::*;
pub use operator::*;
pub use outcome::*;
pub use outcome_structs::*;
pub use reply::*;
pub use request_structs::*;
pub use result_structs::*;
pub use runs::*;
pub use runs_options::*;
pub use service::*;
pub use status::*;
pub use text::*;
pub use worker::*;
