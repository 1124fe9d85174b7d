//! The promises of durable runs, kept by every store alike. A store joins by a line in `support`.

#[macro_use]
mod support;

mod approvals;
mod clocks;
mod deadlines;
mod events;
mod fingerprints;
mod histories;
mod hosts;
mod idempotency;
mod many;
mod operators;
mod owners;
mod panics;
mod several;
mod waiting;
mod workers;
