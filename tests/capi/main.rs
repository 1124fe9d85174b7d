//! The exports as C calls them, from Rust: what a C compiler cannot show. Miri, which knows Rust's rules of aliasing, runs these tests in
//! `torture`.
#![allow(unsafe_code, reason = "the exports are called as C calls them")]

mod freed_by_callbacks;
mod panicking_callbacks;
mod panics;
mod structs_lead_on;
mod support;
