//! **agenthost**: the Agent Host protocol, a versioned JSON contract between an agent runtime and the application that hosts
//! it. Bytes in, bytes out: the transport, its routes and its authentication are the application's own.
//!
//! The modules, in reading order; an arrow of imports only runs up this list:
//!
//! 1. [`protocol`] - the words of the contract: operations, versions, identities, metadata, sensitive names, errors, and JSON as
//!    strict as the contract wants it.
//! 2. [`service`] - what a service is asked and answers: six typed requests, three typed results, [`service::HostService`].
//! 3. [`dispatch`] - decode a message, check and encode its answer. No I/O, no state.
//! 4. [`host`] - the life around dispatch: calls in flight, answered once, deferred, cancelled, timed out, closed.
//! 5. [`client`] - the other side: builds requests, checks responses.
//! 6. [`store`] - what durable runs need of a store: rows and transactions; a store in memory and one in a SQLite file.
//! 7. [`runs`] - durable runs, for who has no service yet: their rules, workers, waiting, deadlines.
//! 8. `schema` - JSON Schemas of every message, made from the types (feature `schema`).
//! 9. [`binding`] - what every language's binding needs beside the types: begins and waits, queues, log records, settings.
//! 10. `capi` - the C ABI (feature `capi`), from which `include/agenthost.h` is generated.

pub mod binding;
#[cfg(feature = "capi")]
#[allow(unsafe_code, non_camel_case_types, reason = "the C ABI, in C's names")]
#[allow(clippy::missing_safety_doc, reason = "the exports' contracts are the header's")]
pub mod capi;
pub mod client;
pub mod dispatch;
pub mod host;
pub mod protocol;
pub mod runs;
#[cfg(feature = "schema")]
pub mod schema;
pub mod service;
pub mod store;
