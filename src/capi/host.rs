//! Hosts: made, counted, closed.

use std::ffi::c_void;
use std::sync::Arc;
use std::time::Duration;

use super::callback::{self, agenthost_destroy};
use super::export::{Place, StatusResult, guarded};
use super::failure::{Failure, Why};
use super::handles::{CountedHandle, borrowed};
use super::host_options::{agenthost_host_options, host_options};
use super::live::{AGENTHOST_LIVE_HOSTS, Live};
use super::service::{Slots, agenthost_service};
use super::status::{AGENTHOST_FORKED, AGENTHOST_NULL_ARGUMENT, AGENTHOST_TIMED_OUT, AGENTHOST_WOULD_DEADLOCK, agenthost_status};
use super::struct_size::{self, Taken, UNKNOWN_TAIL};
use super::text::agenthost_buffer;
use crate::host::{CloseError, Host, HostedService};

/// A host. Counted: `agenthost_host_retain`, `agenthost_host_release`. Any number of threads may use it at once, each as long
/// as it, or somebody for it, holds a count.
pub struct agenthost_host {
    host: Host,
    _live: Live<AGENTHOST_LIVE_HOSTS>,
}

impl agenthost_host {
    pub(super) fn host(&self) -> &Host {
        &self.host
    }
}

impl CountedHandle for agenthost_host {
    fn check_process(&self) -> StatusResult {
        if self.host.is_forked() { Err(AGENTHOST_FORKED) } else { Ok(()) }
    }
}

/// Makes a host. `options` may be NULL: every default.
///
/// Takes `service->user_data` and `options->log_data` over whatever it returns: on failure both destroys have run before it
/// returns. (Except of a struct that is NULL or whose `struct_size` is below the first release's or over 4096: there is nothing to read.)
/// `why` may be NULL; on failure it gets a text that says which member, and what was expected. `*host` is yours: one count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_host_new(
    service: *const agenthost_service,
    options: *const agenthost_host_options,
    host: *mut *mut agenthost_host,
    why: *mut *mut agenthost_buffer,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules.
    guarded(|| unsafe {
        let why = Why::of(why);
        new(service, options, host).map_err(|failure| failure.explain(&why))
    })
}

/// # Safety
/// As [`struct_size::take`], [`host_options`] and [`Place::of`].
unsafe fn new(
    service: *const agenthost_service,
    options: *const agenthost_host_options,
    host: *mut *mut agenthost_host,
) -> Result<(), Failure> {
    // What can be read is taken over first, so that it is ended whatever comes.
    // SAFETY: by this function's own contract.
    let (taken, options) = unsafe { (struct_size::take(service), host_options(options)) };
    let service = ServiceData::of(&taken);
    // SAFETY: as above.
    let place =
        unsafe { Place::of(host) }.map_err(|status| Failure::new(status, "host: expected a place for the host, found NULL"))?;
    let slots = match taken {
        Taken::Unreadable(status) => {
            return Err(Failure::new(status, "service: expected a struct with its size in struct_size"));
        }
        Taken::Read(_, Some(status)) => return Err(Failure::new(status, format!("service.{UNKNOWN_TAIL}"))),
        Taken::Read(slots, None) => slots,
    };
    if let Some(slot) = slots.missing_slot() {
        let text = format!("service.{slot}: expected a function, found NULL: all six slots are required");
        return Err(Failure::new(AGENTHOST_NULL_ARGUMENT, text));
    }
    let options = options?;
    place.put(into_raw(Host::deferring(Box::new(service.into_slots(slots)), options)));
    Ok(())
}

/// The service's data until a host has it: whatever comes in between ends it.
struct ServiceData {
    destroy: agenthost_destroy,
    data: *mut c_void,
}

impl ServiceData {
    fn of(taken: &Taken<agenthost_service>) -> ServiceData {
        match taken {
            Taken::Read(service, _) => ServiceData { destroy: service.destroy, data: service.user_data },
            Taken::Unreadable(_) => ServiceData { destroy: None, data: std::ptr::null_mut() },
        }
    }

    /// The host's from now on.
    fn into_slots(mut self, service: agenthost_service) -> Slots {
        self.destroy = None;
        Slots(service)
    }
}

impl Drop for ServiceData {
    fn drop(&mut self) {
        // SAFETY: it was taken over, and no slot will use it.
        unsafe { callback::destroy(self.destroy, self.data) };
    }
}

/// A host made in Rust as a handle for C: one count, for its owner to release.
pub fn into_raw(host: Host) -> *mut agenthost_host {
    CountedHandle::into_raw(agenthost_host { host, _live: Live::new() })
}

/// What the host behind a pointer shares with its calls. Callbacks may run while it is held: one of them may release the last count.
///
/// # Safety
/// `host` is NULL, or a host that somebody holds a count of now.
pub(super) unsafe fn host(host: *const agenthost_host) -> StatusResult<Arc<HostedService>> {
    // SAFETY: by this function's own contract.
    Ok(unsafe { borrowed(host) }?.host.hosted())
}

/// Takes another count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_host_retain(host: *mut agenthost_host) -> agenthost_status {
    // SAFETY: the caller holds a count.
    guarded(|| unsafe { agenthost_host::retain(host) })
}

/// Refuses new calls (they answer `unavailable`), waits up to `timeout_ms` for those in flight, then answers every deferred
/// one `unavailable`. 0 does not wait; UINT64_MAX waits for ever.
/// - `AGENTHOST_OK`: no slot, `done`, `notify` or log callback runs or will run, and `destroy` has returned. Closing again is OK. Only
///   what is asked for from then on still comes, on the thread that asks: the `done` of a dispatch (`unavailable`), and the `notify` of
///   `agenthost_reply_on_abandoned`, each before its function returns.
/// - `AGENTHOST_TIMED_OUT`: a callback is still on some thread's stack; nothing was destroyed; call again.
/// - `AGENTHOST_WOULD_DEADLOCK`: called from a callback of this host; the host is now closing.
/// - `AGENTHOST_FORKED`: nothing happened.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_host_close(host: *mut agenthost_host, timeout_ms: u64) -> agenthost_status {
    guarded(|| {
        let timeout = (timeout_ms != u64::MAX).then(|| Duration::from_millis(timeout_ms));
        // SAFETY: the caller holds a count.
        match unsafe { self::host(host) }?.close(timeout) {
            Ok(()) => Ok(()),
            Err(CloseError::TimedOut) => Err(AGENTHOST_TIMED_OUT),
            Err(CloseError::WouldDeadlock) => Err(AGENTHOST_WOULD_DEADLOCK),
            Err(CloseError::Forked) => Err(AGENTHOST_FORKED),
        }
    })
}

/// Gives a count up. The last release closes with timeout 0, then waits for callbacks that are on other threads' stacks. `destroy` runs
/// on the thread that closes or releases, never on a thread of the service, so it may join them. (A last release from inside a
/// callback of this host does not wait: `destroy` then runs where the last callback returns.) In a forked child it only
/// forgets. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_host_release(host: *mut agenthost_host) {
    // SAFETY: the caller gives up a count.
    unsafe { agenthost_host::release(host) };
}
