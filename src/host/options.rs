//! The options of a host and of a dispatch.

use std::borrow::Cow;
use std::time::Duration;

use super::log::LogHook;
use crate::dispatch::Dispatcher;

/// The options of a host. The default is the contract's.
#[derive(Default)]
pub struct HostOptions {
    /// Limits, sensitive names, principals.
    pub dispatcher: Dispatcher,
    /// How long a synchronous dispatch waits for a deferred answer; for ever when there is none.
    pub default_timeout: Option<Duration>,
    /// Where the host logs what callers may not learn.
    pub log: Option<LogHook>,
}

/// What belongs to one dispatch, beside the message.
#[derive(Clone, Debug, Default)]
pub struct DispatchOptions<'a> {
    /// Whom the transport authenticated. Never empty, and without U+0000.
    pub principal: Option<Cow<'a, str>>,
    /// How long to wait for a deferred answer; the host's default when there is none. It bounds the wait after the slot and
    /// never cuts a slot short.
    pub timeout: Option<Duration>,
}

/// Why a host did not do what it was asked. Failures of the protocol are none: they are responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostMisuse {
    /// This process is a fork of the one that made the host: make a new one here.
    #[error("this process is a fork of the one that made the host: make a new host in this process")]
    Forked,
    /// An empty principal: say that there is none, or name it.
    #[error("an empty principal is not a principal: leave it out, or name who was authenticated")]
    EmptyPrincipal,
    /// A principal with U+0000 inside: whoever reads it as a C string would take it for another.
    #[error("a principal with U+0000 inside is refused, as a service may read it only up to there: name who was authenticated")]
    NulInPrincipal,
}
