//! The life around dispatch, as Rust sees it: answered once, finished, deferred, cancelled, timed out, closed.

mod abandoned;
mod answered;
mod closed;
mod opened;
mod panicking;
mod stage;
mod synchronous;
