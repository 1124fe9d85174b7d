//! The native half of the npm package `agenthost`: it carries values between JavaScript and the core, as strings, bytes and
//! numbers. It knows no rule of the protocol and runs no service: `lib/host.js` does that between `open` and `complete`.
//!
//! Functions are free, not methods (a method call costs ten times as much), and catch panics (one that left a function would
//! end the process). Hosts and prepared requests are named by numbers; what a number means is known to its thread alone, so
//! worker threads share nothing. No function keeps a pointer into a JavaScript value.

// The exports that call everything else are not there in unit tests.
#![cfg_attr(test, allow(dead_code))]

mod client;
mod client_response;
mod durable;
mod environment;
mod host;
mod log;
mod misuse;
#[allow(unsafe_code, reason = "what Node-API gives a callback is read as it is")]
mod node_api;
mod packed;
mod protocol;
mod registry;
mod text;
