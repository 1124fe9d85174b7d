//! `libagenthost.so` and `libagenthost.a`: the exports of the core's module `capi`, under the name that C programs link with.

pub use agenthost::capi::*;
