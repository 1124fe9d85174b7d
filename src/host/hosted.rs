//! A host without its handles: dispatches to its service.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use super::call::{CallShared, run_done};
use super::close::{CloseError, close};
use super::deferring_service::DeferringService;
use super::inner::{CallbackGuard, HostInner};
use super::options::{DispatchOptions, HostMisuse, HostOptions};
use super::panics::catch;
use super::pending::Pending;
use super::reply::{Reply, SlotRemains};
use crate::dispatch::{Decoded, DecodedCall, UnavailableReason};

/// A service and its host. Whoever runs callbacks holds it, as one of them may drop the last handle.
pub(crate) struct HostedService {
    service: Arc<OwnedService>,
    pub(super) inner: Arc<HostInner>,
    default_timeout: Option<Duration>,
}

/// The application's service. Nobody hears of a panic when it is dropped: the host's log has ended before.
struct OwnedService(Option<Box<dyn DeferringService>>);

impl OwnedService {
    #[inline]
    fn get(&self) -> Option<&dyn DeferringService> {
        self.0.as_deref()
    }
}

impl Drop for OwnedService {
    fn drop(&mut self) {
        let service = self.0.take();
        let _ = catch(|| drop(service));
    }
}

/// What is there when a slot has returned.
enum SlotResult {
    /// The response, for the caller of a synchronous dispatch.
    Response(Vec<u8>),
    /// Whoever answers the call delivers it, or has done so.
    Deferred(Arc<CallShared>),
}

impl HostedService {
    pub(super) fn new(service: Box<dyn DeferringService>, options: HostOptions) -> HostedService {
        let HostOptions { dispatcher, default_timeout, log } = options;
        let service = Arc::new(OwnedService(Some(service)));
        let ended = service.clone();
        let end_service = move || ended.get().map_or((), DeferringService::destroy);
        let inner = Arc::new(HostInner::new(dispatcher, Box::new(end_service), log));
        HostedService { service, inner, default_timeout }
    }

    /// See [`Host::dispatch`](super::Host::dispatch).
    pub(crate) fn dispatch(self: Arc<Self>, message: &[u8], options: DispatchOptions<'_>) -> Result<Vec<u8>, HostMisuse> {
        self.refuse_misuse(options.principal.as_deref())?;
        let decoded = match self.inner.dispatcher.decode(message, options.principal) {
            Decoded::Refused(response) => return Ok(response),
            Decoded::Call(decoded) => decoded,
        };
        // Counted after decoding: when the host is closing by now, no callback runs at all.
        let Some(callback) = self.inner.enter() else { return Ok(decoded.expected.unanswered(UnavailableReason::Closed)) };
        let result = self.run_slot(None, decoded, &callback);
        drop(callback);
        Ok(match result {
            SlotResult::Response(response) => response,
            SlotResult::Deferred(call) => call.wait(options.timeout.or(self.default_timeout)),
        })
    }

    /// See [`Host::dispatch_async`](super::Host::dispatch_async).
    pub(crate) fn dispatch_async(
        self: Arc<Self>,
        message: &[u8],
        principal: Option<Cow<'_, str>>,
        started: impl FnOnce(Pending),
        done: impl FnOnce(Vec<u8>) + Send + 'static,
    ) -> Result<(), HostMisuse> {
        self.refuse_misuse(principal.as_deref())?;
        // Counted before decoding, which may take long: closing waits for `done`.
        let counted = self.inner.enter();
        let is_closing = counted.is_none();
        let callback = counted.unwrap_or_else(|| self.inner.enter_uncounted());
        let started = |pending| callback.run("the callback for a call that has started panicked", move || started(pending));
        let response = match self.inner.dispatcher.decode(message, principal) {
            Decoded::Refused(response) => response,
            Decoded::Call(decoded) if is_closing => decoded.expected.unanswered(UnavailableReason::Closed),
            Decoded::Call(decoded) => {
                let call = CallShared::new(self.inner.clone(), Some(Box::new(done)));
                // Another thread may cancel while the slot runs, and then has to echo the request.
                call.keep_expected(decoded.expected.clone().into_owned());
                started(Pending { call: Some(call.clone()) });
                self.run_slot(Some(call), decoded, &callback);
                return Ok(());
            }
        };
        started(Pending { call: None });
        run_done(done, response, &callback);
        Ok(())
    }

    /// See [`Host::close`](super::Host::close).
    pub(crate) fn close(&self, timeout: Option<Duration>) -> Result<(), CloseError> {
        close(&self.inner, timeout)
    }

    /// What no dispatch is begun with.
    pub(super) fn refuse_misuse(&self, principal: Option<&str>) -> Result<(), HostMisuse> {
        if self.inner.is_forked() {
            return Err(HostMisuse::Forked);
        }
        match principal {
            Some("") => Err(HostMisuse::EmptyPrincipal),
            Some(principal) if principal.contains('\0') => Err(HostMisuse::NulInPrincipal),
            _ => Ok(()),
        }
    }

    /// Runs the slot of a call on this thread. `shared` is there when others know the call from the start.
    fn run_slot(&self, shared: Option<Arc<CallShared>>, decoded: DecodedCall<'_>, callback: &CallbackGuard<'_>) -> SlotResult {
        let DecodedCall { call: about, request, expected } = decoded;
        let mut reply = Reply::in_slot(callback, shared, expected);
        if let Err(panic) = catch(|| self.service.get().map(|service| service.serve(&about, request, &mut reply))) {
            // It may have answered before: then this is only logged.
            let _ = reply.fail("the service panicked", &[("panic", &panic)]);
        }
        match reply.into_remains() {
            SlotRemains::Unshared(Some(response), _) => SlotResult::Response(response),
            SlotRemains::Unshared(None, expected) => {
                callback.log_unanswered();
                let response =
                    expected.map_or_else(|| UnavailableReason::Dropped.undecoded(), |expected| expected.internal(false));
                SlotResult::Response(response)
            }
            SlotRemains::Shared(call, expected) => match call.slot_returned(expected, callback) {
                Some(response) => SlotResult::Response(response),
                None => SlotResult::Deferred(call),
            },
        }
    }
}
