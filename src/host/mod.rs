//! The life around dispatch: one place for every language. A host takes calls from any number of threads, gives each to its
//! service, and delivers one answer each: the service's, at once or later, or its own when the wait times out, the caller
//! cancels, the service drops the reply, or the host closes. What a message means is not known here.
//!
//! ```
//! # use agenthost::{host::Host, protocol::*, service::*};
//! # struct Nothing;
//! # type Answered<T> = Result<T, HostError<'static>>;
//! impl HostService for Nothing {
//!     fn get_run(&self, _: &Call<'_>, request: GetRun<'_>) -> Answered<RunView<'static>> {
//!         Err(HostError::new(ErrorCode::NotFound, format!("there is no run {}", request.run_id)))
//!     }
//!     // and so on for the other five operations
//! #   fn create_run(&self, _: &Call<'_>, _: CreateRun<'_>) -> Answered<RunSubmission<'static>> { unimplemented() }
//! #   fn cancel_run(&self, _: &Call<'_>, _: CancelRun<'_>) -> Answered<RunSubmission<'static>> { unimplemented() }
//! #   fn resolve_approval(&self, _: &Call<'_>, _: ResolveApproval<'_>) -> Answered<RunSubmission<'static>> { unimplemented() }
//! #   fn resume_run(&self, _: &Call<'_>, _: ResumeRun<'_>) -> Answered<RunSubmission<'static>> { unimplemented() }
//! #   fn list_events(&self, _: &Call<'_>, _: ListEvents<'_>) -> Answered<EventPage<'static>> { unimplemented() }
//! }
//! # fn unimplemented<T>() -> Answered<T> { Err(HostError::new(ErrorCode::Unavailable, "not here")) }
//! let host = Host::new(Nothing);
//! let request = br#"{"protocolVersion":"2026-07-01","requestId":"r","operation":"get_run","body":{"runId":"a"}}"#;
//! let response = host.dispatch_json(request);
//! assert!(String::from_utf8(response)?.contains("\"code\":\"not_found\""));
//! # Ok::<(), std::string::FromUtf8Error>(())
//! ```

mod activity;
mod call;
mod callback_stack;
mod close;
mod deferring_service;
#[allow(unsafe_code, reason = "a page that a fork wipes is asked of the kernel")]
pub(crate) mod fork;
mod hosted;
mod inner;
mod lock;
mod log;
mod open_calls;
mod options;
pub(crate) mod panics;
mod pending;
mod reply;
mod shards;
mod split_dispatch;
mod state;
mod sync;
mod synchronous;

pub use close::CloseError;
pub use deferring_service::DeferringService;
pub(crate) use hosted::HostedService;
pub use log::{LogHook, LogLevel};
pub use open_calls::AbandonedHook;
pub use options::{DispatchOptions, HostMisuse, HostOptions};
pub use pending::Pending;
pub use reply::{AnswerError, DeferredReply, Reply};
#[cfg(feature = "capi")]
pub(crate) use reply::{DecidedAnswer, GivenAnswer};
#[cfg(feature = "capi")]
pub(crate) use shards::{SHARDS, shard_of_thread};
pub use split_dispatch::{OpenCall, Opened, ServiceGuard};

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use self::synchronous::Synchronous;
use crate::dispatch::UnavailableReason;
use crate::service::HostService;

/// A host: bytes in, bytes out, from any number of threads. Clones are handles of the same host; the last one that is dropped
/// closes it.
#[derive(Clone)]
pub struct Host {
    handle: Arc<Handle>,
}

/// What all handles of a host share; its end is the end of the host.
struct Handle {
    hosted: Arc<HostedService>,
}

impl Host {
    /// A host of a service that answers at once, with the contract's limits.
    pub fn new(service: impl HostService) -> Host {
        Host::with_options(service, HostOptions::default())
    }

    /// A host of a service that answers at once.
    pub fn with_options(service: impl HostService, options: HostOptions) -> Host {
        Host::deferring(Box::new(Synchronous::new(service)), options)
    }

    /// A host of a service that may answer later.
    pub fn deferring(service: Box<dyn DeferringService>, options: HostOptions) -> Host {
        Host { handle: Arc::new(Handle { hosted: Arc::new(HostedService::new(service, options)) }) }
    }

    /// The response to a message, with the host's defaults and no principal. In a forked child it is `unavailable`.
    pub fn dispatch_json(&self, message: &[u8]) -> Vec<u8> {
        match self.dispatch(message, DispatchOptions::default()) {
            Ok(response) => response,
            Err(_) => UnavailableReason::Closed.undecoded(),
        }
    }

    /// The response to a message. The slot runs on this thread; when it defers, this function waits.
    ///
    /// # Errors
    /// Misuse only: see [`HostMisuse`].
    pub fn dispatch(&self, message: &[u8], options: DispatchOptions<'_>) -> Result<Vec<u8>, HostMisuse> {
        self.hosted().dispatch(message, options)
    }

    /// Dispatches a message without waiting. `done` gets the response, exactly once: on this thread, perhaps before this
    /// function returns, or later on the thread that answers, cancels, drops the reply or closes; never while the slot runs, and
    /// with no lock of the library held. `started` gets the handle to cancel with, before the slot runs.
    ///
    /// [`Host::close`] waits for the `done` of every dispatch that began before it. A dispatch that begins when the host is closing
    /// answers `unavailable`, and runs `done` on this thread before this function returns, whether closing has ended or not.
    ///
    /// # Errors
    /// Misuse only: see [`HostMisuse`]. `done` does not run then.
    pub fn dispatch_async(
        &self,
        message: &[u8],
        principal: Option<Cow<'_, str>>,
        started: impl FnOnce(Pending),
        done: impl FnOnce(Vec<u8>) + Send + 'static,
    ) -> Result<(), HostMisuse> {
        self.hosted().dispatch_async(message, principal, started, done)
    }

    /// Whether `name` is kept out of metadata by this host.
    pub fn is_sensitive_name(&self, name: &str) -> bool {
        self.handle.hosted.inner.dispatcher.sensitive_names.contains(name)
    }

    /// Whether this process is a fork of the one that made the host.
    pub fn is_forked(&self) -> bool {
        self.handle.hosted.inner.is_forked()
    }

    /// Refuses new calls (they answer `unavailable`), waits for those in flight up to `timeout` (without one for as long as it
    /// takes), then answers every deferred one `unavailable`. On success no slot, callback, hook or log hook of this host runs
    /// or will run, and the service is destroyed. Closing twice is closing once. What may still come is what is asked for when
    /// the host is closing already: the `done` of [`Host::dispatch_async`], on the dispatching thread, and the hook given to
    /// `on_abandoned` of a call that closing has answered, before that function returns.
    ///
    /// # Errors
    /// See [`CloseError`]. The host is closing all the same.
    pub fn close(&self, timeout: Option<Duration>) -> Result<(), CloseError> {
        self.handle.hosted.close(timeout)
    }

    /// The first half of [`Host::close`], for callers that do other things while they wait: refuses new calls,
    /// and waits up to `timeout` for those in flight, but gives none of them up. True when there is none left.
    ///
    /// # Errors
    /// See [`CloseError`]; never [`CloseError::TimedOut`]. The host is closing all the same.
    pub fn drain(&self, timeout: Option<Duration>) -> Result<bool, CloseError> {
        close::drain(&self.handle.hosted.inner, timeout)
    }

    /// The host without this handle: what runs callbacks holds it, as one of them may drop the last handle.
    pub(crate) fn hosted(&self) -> Arc<HostedService> {
        self.handle.hosted.clone()
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("closing", &self.handle.hosted.inner.activity.is_closing()).finish_non_exhaustive()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        close::close_for_good(&self.hosted.inner);
    }
}
