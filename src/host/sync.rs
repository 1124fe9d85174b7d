//! The atomics of `state` and `activity`; their model test brings its own.

pub(super) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
