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
mod core;
#[allow(unsafe_code, reason = "a page that a fork wipes is asked of the kernel")]
pub(crate) mod fork;
mod frames;
mod lock;
mod log;
mod open;
mod opened;
mod reply;
mod state;
mod synchronous;

/// The atomics of `state`; its model test brings its own.
mod sync {
    pub(super) use std::sync::atomic::{AtomicU32, Ordering};
}

pub(crate) use self::core::Core;
#[cfg(feature = "capi")]
pub(crate) use activity::{SHARDS, shard_of_thread};
pub use call::AbandonedHook;
pub use log::{LogHook, LogLevel};
pub use open::{OpenCall, Opened, Serving};
pub use reply::{AnswerError, DeferredReply, Reply};
#[cfg(feature = "capi")]
pub(crate) use reply::{Given, Settled};

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use self::call::CallShared;
use self::core::Callback;
use self::reply::Left;
use crate::dispatch::{Decoded, DecodedCall, Dispatcher, Unanswered};
use crate::service::{Call, HostService, Request};

/// A service that may answer later. [`HostService`] is the simpler one, for services that answer at once.
pub trait DeferringService: Send + Sync + 'static {
    /// Serves a call: answers through `reply`, or defers it. Runs on the thread that dispatches, on any number of threads at
    /// once. Returning without either, and a panic, answer `internal`.
    fn serve(&self, call: &Call<'_>, request: Request<'_>, reply: &mut Reply<'_>);

    /// Lets go of everything. Runs once, when the host is closed or its last handle is gone, after the last call of `serve`,
    /// never on a thread of the service unless the last handle is let go of there.
    fn destroy(&self) {}
}

/// What a host can be told when it is made. The default is the contract's.
#[derive(Default)]
pub struct HostOptions {
    /// Limits, sensitive names, principals.
    pub dispatcher: Dispatcher,
    /// How long a synchronous dispatch waits for a deferred answer; for ever when there is none.
    pub default_timeout: Option<Duration>,
    /// Where the host tells what it may not tell callers.
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

/// Why a host is not closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CloseError {
    /// A callback is still on some thread's stack. Nothing was destroyed; the host is closing: close it again.
    #[error("a callback of the host is still running: close it again")]
    TimedOut,
    /// Called from a callback of the same host: it could only wait for itself. The host is closing now.
    #[error("called from a callback of the same host: it could only wait for itself")]
    WouldDeadlock,
    /// This process is a fork of the one that made the host.
    #[error("this process is a fork of the one that made the host")]
    Forked,
}

/// A host: bytes in, bytes out, from any number of threads. Clones are handles of the same host; the last one that is dropped
/// closes it.
#[derive(Clone)]
pub struct Host {
    handle: Arc<Handle>,
}

/// What all handles of a host share; its end is the end of the host.
struct Handle {
    core: Arc<Core>,
}

/// A call that is under way. Dropping it does not cancel the call.
#[derive(Clone)]
pub struct Pending {
    call: Option<Arc<CallShared>>,
}

impl Host {
    /// A host of a service that answers at once, with the contract's limits.
    pub fn new(service: impl HostService) -> Host {
        Host::with_options(service, HostOptions::default())
    }

    /// A host of a service that answers at once.
    pub fn with_options(service: impl HostService, options: HostOptions) -> Host {
        Host::deferring(Box::new(synchronous::Synchronous::new(service)), options)
    }

    /// A host of a service that may answer later.
    pub fn deferring(service: Box<dyn DeferringService>, options: HostOptions) -> Host {
        let HostOptions { dispatcher, default_timeout, log } = options;
        let core = Arc::new(Core::new(dispatcher, default_timeout, service, log));
        Host { handle: Arc::new(Handle { core }) }
    }

    /// The response to a message, with the host's defaults and no principal. In a forked child it is `unavailable`.
    pub fn dispatch_json(&self, message: &[u8]) -> Vec<u8> {
        match self.dispatch(message, DispatchOptions::default()) {
            Ok(response) => response,
            Err(_) => Unanswered::Closed.undecoded(),
        }
    }

    /// The response to a message. The slot runs on this thread; when it defers, this function waits.
    ///
    /// # Errors
    /// Misuse only: see [`HostMisuse`].
    pub fn dispatch(&self, message: &[u8], options: DispatchOptions<'_>) -> Result<Vec<u8>, HostMisuse> {
        self.core().dispatch(message, options)
    }

    /// Dispatches a message without waiting. `done` gets the response, exactly once: on this thread, perhaps before this
    /// function returns, or later on the thread that answers, cancels, drops the reply or closes; never while the slot runs, and
    /// with no lock of the library held. `started` gets the handle to cancel with, before the slot runs.
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
        self.core().dispatch_async(message, principal, started, done)
    }

    /// Whether `name` is kept out of metadata by this host.
    pub fn is_sensitive_name(&self, name: &str) -> bool {
        self.handle.core.dispatcher.sensitive_names.contains(name)
    }

    /// Whether this process is a fork of the one that made the host.
    pub fn is_forked(&self) -> bool {
        self.handle.core.is_forked()
    }

    /// Refuses new calls (they answer `unavailable`), waits for those in flight up to `timeout` (without one for as long as it
    /// takes), then answers every deferred one `unavailable`. On success no slot, callback, hook or log hook of this host runs
    /// or will run, and the service is destroyed. Closing twice is closing once.
    ///
    /// # Errors
    /// See [`CloseError`]. The host is closing all the same.
    pub fn close(&self, timeout: Option<Duration>) -> Result<(), CloseError> {
        self.core().close(timeout)
    }

    /// The first half of [`Host::close`], for callers that have other things to look after while they wait: refuses new calls,
    /// and waits up to `timeout` for those in flight, but gives none of them up. True when there is none left.
    ///
    /// # Errors
    /// See [`CloseError`]; never [`CloseError::TimedOut`]. The host is closing all the same.
    pub fn drain(&self, timeout: Option<Duration>) -> Result<bool, CloseError> {
        self.core().drain(timeout)
    }

    /// The host without this handle: what runs callbacks holds it, as one of them may let go of the last handle.
    pub(crate) fn core(&self) -> Arc<Core> {
        self.handle.core.clone()
    }
}

impl Core {
    pub(crate) fn dispatch(self: Arc<Self>, message: &[u8], options: DispatchOptions<'_>) -> Result<Vec<u8>, HostMisuse> {
        self.refuse_misuse(options.principal.as_deref())?;
        let decoded = match self.dispatcher.decode(message, options.principal) {
            Decoded::Refused(response) => return Ok(response),
            Decoded::Call(decoded) => decoded,
        };
        let timeout = options.timeout.or(self.default_timeout);
        let Some(callback) = self.enter() else { return Ok(decoded.expected.unanswered(Unanswered::Closed)) };
        let served = run_slot(&self, None, decoded, &callback);
        drop(callback);
        Ok(match served {
            Served::Response(response) => response,
            Served::Later(call) => call.wait(timeout),
        })
    }

    pub(crate) fn dispatch_async(
        self: Arc<Self>,
        message: &[u8],
        principal: Option<Cow<'_, str>>,
        started: impl FnOnce(Pending),
        done: impl FnOnce(Vec<u8>) + Send + 'static,
    ) -> Result<(), HostMisuse> {
        self.refuse_misuse(principal.as_deref())?;
        let (decoded, callback) = match self.dispatcher.decode(message, principal) {
            Decoded::Refused(response) => {
                done_at_once(&self, response, started, done);
                return Ok(());
            }
            Decoded::Call(decoded) => match self.enter() {
                Some(callback) => (decoded, callback),
                None => {
                    done_at_once(&self, decoded.expected.unanswered(Unanswered::Closed), started, done);
                    return Ok(());
                }
            },
        };
        let call = CallShared::new(self.clone(), Some(Box::new(done)));
        // Another thread may cancel while the slot runs, and then has to echo the request.
        call.keep(decoded.expected.clone().into_owned());
        started(Pending { call: Some(call.clone()) });
        run_slot(&self, Some(call), decoded, &callback);
        Ok(())
    }

    pub(crate) fn close(&self, timeout: Option<Duration>) -> Result<(), CloseError> {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        self.drain(timeout)?;
        self.abandon_calls();
        match self.activity.destroy(deadline, || self.is_idle(), || self.destroy()) {
            true => Ok(()),
            false => Err(CloseError::TimedOut),
        }
    }

    fn drain(&self, timeout: Option<Duration>) -> Result<bool, CloseError> {
        if self.is_forked() {
            return Err(CloseError::Forked);
        }
        self.activity.begin_closing();
        if self.activity.is_on_this_thread() {
            return Err(CloseError::WouldDeadlock);
        }
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Ok(self.activity.wait_idle(deadline, || self.is_idle()))
    }

    fn refuse_misuse(&self, principal: Option<&str>) -> Result<(), HostMisuse> {
        if self.is_forked() {
            return Err(HostMisuse::Forked);
        }
        match principal {
            Some("") => Err(HostMisuse::EmptyPrincipal),
            Some(principal) if principal.contains('\0') => Err(HostMisuse::NulInPrincipal),
            _ => Ok(()),
        }
    }
}

/// Delivers a response that needed no service.
fn done_at_once(core: &Core, response: Vec<u8>, started: impl FnOnce(Pending), done: impl FnOnce(Vec<u8>)) {
    let callback = core.enter_late();
    started(Pending { call: None });
    done(response);
    drop(callback);
}

/// What is there when a slot has returned.
enum Served {
    /// The response, for the caller of a synchronous dispatch.
    Response(Vec<u8>),
    /// Whoever answers the call delivers it, or has done so.
    Later(Arc<CallShared>),
}

/// Runs the slot of a call on this thread. `shared` is there when others know the call from the start.
fn run_slot(core: &Arc<Core>, shared: Option<Arc<CallShared>>, decoded: DecodedCall<'_>, callback: &Callback<'_>) -> Served {
    let DecodedCall { call: about, request, expected } = decoded;
    let mut reply = Reply::in_slot(core, shared, expected);
    let served = std::panic::AssertUnwindSafe(|| core.service(callback).serve(&about, request, &mut reply));
    if let Err(panic) = std::panic::catch_unwind(served) {
        core.log(LogLevel::Error, "the service panicked", &[("panic", panic_message(&*panic))]);
    }
    match reply.into_left() {
        Left::Alone(Some(response), _) => Served::Response(response),
        Left::Alone(None, expected) => {
            core.log_unanswered();
            Served::Response(expected.map_or_else(|| Unanswered::Dropped.undecoded(), |expected| expected.internal(false)))
        }
        Left::Shared(call, expected) => match call.slot_returned(expected, callback) {
            Some(response) => Served::Response(response),
            None => Served::Later(call),
        },
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (None, Some(text)) => text,
        (None, None) => "a panic without a message",
    }
}

impl Pending {
    /// Gives the call up: its response is `unavailable`. Says nothing about the run. True when this decided the answer.
    ///
    /// # Errors
    /// [`HostMisuse::Forked`].
    pub fn cancel(&self) -> Result<bool, HostMisuse> {
        self.give_up(Unanswered::Cancelled)
    }

    /// Like [`Pending::cancel`], for another reason: a wait that took too long.
    ///
    /// # Errors
    /// [`HostMisuse::Forked`].
    pub fn give_up(&self, why: Unanswered) -> Result<bool, HostMisuse> {
        match &self.call {
            Some(call) if call.core.is_forked() => Err(HostMisuse::Forked),
            Some(call) => Ok(call.abandon(why)),
            None => Ok(false),
        }
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("closing", &self.handle.core.activity.is_closing()).finish_non_exhaustive()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let core = &self.core;
        if core.is_forked() {
            return;
        }
        core.activity.begin_closing();
        core.abandon_calls();
        if core.activity.is_on_this_thread() {
            core.activity.orphan();
        } else {
            core.activity.destroy(None, || core.is_idle(), || core.destroy());
        }
    }
}
