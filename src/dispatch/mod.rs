//! Any bytes in, one valid response out (protocol, "What the dispatcher promises"). It does no I/O and keeps no state:
//! [`Dispatcher::decode`] gives a finished refusal or a call, and what the call's answer is checked against;
//! [`ExpectedAnswer::complete`] checks the answer and encodes it. Who serves the call between the two, and on which thread, is
//! not known here.

mod complete;
mod decode;
mod expected;
mod page;
mod response;
#[cfg(feature = "schema")]
pub(crate) mod schema;

pub(crate) use complete::answers;
pub use decode::{Decoded, DecodedCall};
pub use expected::ExpectedAnswer;
pub use page::PageBuilder;
pub use response::{Completed, UnavailableReason};

use crate::protocol::SensitiveNames;

/// The default of [`Dispatcher::max_message_bytes`]: 16 MiB.
pub const DEFAULT_MAX_MESSAGE_BYTES: usize = 16 << 20;

/// The rules that a host can tighten. Everything else is the contract's.
#[derive(Clone, Debug)]
pub struct Dispatcher {
    /// The most bytes that a message, and a response, may have; exactly as many are allowed. A refusal that would be larger
    /// is written all the same: it has at most 16 KiB.
    pub max_message_bytes: usize,
    /// Names that are kept out of metadata.
    pub sensitive_names: SensitiveNames,
    /// Whether a call without a principal is answered `unauthorized`.
    pub require_principal: bool,
}

impl Default for Dispatcher {
    fn default() -> Dispatcher {
        Dispatcher {
            max_message_bytes: DEFAULT_MAX_MESSAGE_BYTES,
            sensitive_names: SensitiveNames::built_in(),
            require_principal: false,
        }
    }
}

#[cfg(test)]
mod tests;
