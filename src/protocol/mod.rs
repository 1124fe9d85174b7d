//! The words of the contract: JSON as strict as the protocol wants it, the envelope's vocabulary, identities, metadata,
//! sensitive names, the execution context, errors. It knows no service, no store, no thread, no clock.

pub(crate) mod context;
mod error;
mod identity;
pub(crate) mod json;
mod metadata;
mod operation;
#[cfg(feature = "schema")]
pub(crate) mod schema;
mod sensitive;
mod status;
mod version;
mod violation;

pub use context::ExecutionContext;
pub use error::{ErrorCode, HostError};
pub use json::FreeJson;
pub use metadata::Metadata;
pub use operation::Operation;
pub use sensitive::{InvalidSensitiveName, SensitiveNames};
pub use status::{Resolution, RunStatus};
pub use version::{SUPPORTED_VERSIONS, negotiate_version};
pub use violation::Violation;

pub(crate) use identity::{check_identity, check_not_empty};
pub(crate) use version::is_supported;
pub(crate) use violation::{Path, quoted};

/// The largest unsigned number of the contract, 2^53 - 1: every host language can hold it exactly.
pub const MAX_UNSIGNED: u64 = (1 << 53) - 1;
/// The largest distance of a time from the epoch, in milliseconds, in both directions (ECMAScript's time range).
pub const MAX_UNIX_MS: i64 = 8_640_000_000_000_000;
/// The longest identity, in bytes of UTF-8.
pub const MAX_IDENTITY_BYTES: usize = 1024;
/// The deepest nesting of a message; its outermost object is level 1.
pub const MAX_MESSAGE_DEPTH: usize = 128;
/// The deepest nesting of one piece of free JSON (`input`, `result`, `data`, `details`) on its own.
pub const MAX_FREE_JSON_DEPTH: usize = 100;
/// The largest `limit` of `list_events`, and so the largest page.
pub const MAX_PAGE_EVENTS: u64 = 1000;
/// The `limit` of `list_events` when the request names none.
pub const DEFAULT_PAGE_EVENTS: u64 = 256;
/// The `reason` of `cancel_run` when the request names none.
pub const DEFAULT_CANCEL_REASON: &str = "agent run cancelled";
