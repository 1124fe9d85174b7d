//! What every language's binding needs beside the types of the contract, written once: the C ABI, Python and Node are made of it. A
//! binding's own files are then about its language alone - its objects, its loop, its lock.
//!
//! Nothing here runs code of the application's with a lock held, and nothing waits but what says so.
//!
//! - [`begin`]: a dispatch that is answered at once or later; the answer is polled, waited for, or announced.
//! - [`DurableHost`]: runs and their host, opened and closed on threads of their own.
//! - [`OneShot`], [`NotifyQueue`]: how a thread gives a value to whoever waits, and to an event loop.
//! - [`LogQueue`]: log records for a thread that may write them.
//! - [`HostSettings`], [`DurableSettings`]: options in plain terms, checked.
//! - [`members!`](crate::members): the members of each type, for code that is the same for every one.

mod begin;
mod durable_host;
mod log_queue;
mod members;
mod notify_queue;
mod one_shot;
mod settings;

pub use begin::{Begun, PendingResponse, begin};
pub use durable_host::{DurableHost, in_background};
pub use log_queue::{LogQueue, LogRecord, MAX_QUEUED_RECORDS};
pub use members::{WireName, wire_name};
pub use notify_queue::{Notify, NotifyQueue};
pub use one_shot::OneShot;
pub use settings::{BadSetting, DurableSettings, HostSettings, milliseconds, seconds};
