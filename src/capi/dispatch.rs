//! Bytes in, bytes out.

use std::borrow::Cow;
use std::ffi::c_void;

use super::export::{Place, StatusResult, guarded};
use super::handles::{OwnedHandle, borrowed};
use super::host::{agenthost_host, host};
use super::host_options::milliseconds;
use super::live::{AGENTHOST_LIVE_PENDINGS, Live};
use super::status::{
    AGENTHOST_ALREADY_DONE, AGENTHOST_FORKED, AGENTHOST_INVALID_ARGUMENT, AGENTHOST_NULL_ARGUMENT, agenthost_status,
};
use super::struct_size::{self, sized_structs};
use super::text::{agenthost_buffer, agenthost_str};
use super::values_from_c;
use crate::host::{DispatchOptions, HostMisuse, Pending};
use crate::protocol::Path;

/// What belongs to one dispatch, beside the message. Zeros are the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_dispatch_options {
    /// `sizeof(agenthost_dispatch_options)`.
    pub struct_size: usize,
    /// 1: `principal` is what the transport authenticated, UTF-8, not empty, without U+0000. 0: there is none, and `principal` is empty.
    pub has_principal: u32,
    /// 0.
    pub reserved: u32,
    /// Whom the transport authenticated. Never take it from the message.
    pub principal: agenthost_str,
    /// How long to wait for a deferred answer, in milliseconds. 0: the host's default. It never cuts a slot short.
    /// Asynchronous dispatch refuses any other value.
    pub timeout_ms: u64,
}

sized_structs!(agenthost_dispatch_options);

/// What the options say: the principal, and the wait in milliseconds.
///
/// # Safety
/// `options` is NULL or as [`struct_size::read`] wants it, and its principal is readable.
unsafe fn read<'a>(options: *const agenthost_dispatch_options) -> StatusResult<(Option<Cow<'a, str>>, u64)> {
    if options.is_null() {
        return Ok((None, 0));
    }
    // SAFETY: by this function's own contract.
    let options = unsafe { struct_size::read(options) }?;
    if options.reserved != 0 {
        return Err(AGENTHOST_INVALID_ARGUMENT);
    }
    let principal = match options.has_principal {
        // A principal beside 0 is a mistake: the call would run with the rights of no principal.
        0 if options.principal.len == 0 => None,
        1 => {
            // SAFETY: by this function's own contract.
            let text = unsafe { values_from_c::text(options.principal, Path::ROOT) };
            let text = text.map_err(|unread| match unread {
                values_from_c::ReadError::Status(status) => status,
                values_from_c::ReadError::Violation(_) => AGENTHOST_INVALID_ARGUMENT,
            })?;
            Some(Cow::Borrowed(text))
        }
        _ => return Err(AGENTHOST_INVALID_ARGUMENT),
    };
    Ok((principal, options.timeout_ms))
}

fn status_of(misuse: HostMisuse) -> agenthost_status {
    match misuse {
        HostMisuse::Forked => AGENTHOST_FORKED,
        HostMisuse::EmptyPrincipal | HostMisuse::NulInPrincipal => AGENTHOST_INVALID_ARGUMENT,
    }
}

/// Any bytes in, one response envelope out, with the host's defaults and no principal. See `agenthost_dispatch_json_with`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_dispatch_json(
    host: *mut agenthost_host,
    message: agenthost_str,
    response: *mut *mut agenthost_buffer,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules.
    unsafe { agenthost_dispatch_json_with(host, message, std::ptr::null(), response) }
}

/// Any bytes in, one response envelope out. `message` is borrowed until the function returns. The slot runs on this thread; when
/// it defers, the function waits. A timeout never cuts a slot short: it bounds the wait that follows, and answers `unavailable`.
/// `options` may be NULL. `*response` is yours. A host that is closing or closed answers `unavailable`: that is OK.
///
/// Not OK: `*response` is NULL. `AGENTHOST_NULL_ARGUMENT`; `AGENTHOST_INVALID_SIZE`; `AGENTHOST_INVALID_ARGUMENT`: a principal that
/// is empty, not UTF-8 or holds U+0000, or one beside `has_principal` 0, or a flag that is not 0 or 1; `AGENTHOST_FORKED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_dispatch_json_with(
    host: *mut agenthost_host,
    message: agenthost_str,
    options: *const agenthost_dispatch_options,
    response: *mut *mut agenthost_buffer,
) -> agenthost_status {
    guarded(|| {
        // SAFETY: the caller keeps the header's rules.
        let place = unsafe { Place::of(response) }?;
        // SAFETY: as above.
        let host = unsafe { self::host(host) }?;
        // SAFETY: as above.
        let message = unsafe { values_from_c::bytes(message) }?;
        // SAFETY: as above.
        let (principal, timeout) = unsafe { read(options) }?;
        let options = DispatchOptions { principal, timeout: milliseconds(timeout) };
        let bytes = host.dispatch(message, options).map_err(status_of)?;
        place.put(agenthost_buffer::new(bytes).into_raw());
        Ok(())
    })
}

/// An asynchronous dispatch. One owner; ends with `agenthost_pending_free`, which does not cancel.
pub struct agenthost_pending {
    pending: Pending,
    _live: Live<AGENTHOST_LIVE_PENDINGS>,
}

impl OwnedHandle for agenthost_pending {}

/// The end of an asynchronous dispatch. `response` is yours. No lock of the library is held.
pub type agenthost_done = Option<unsafe extern "C-unwind" fn(data: *mut c_void, response: *mut agenthost_buffer)>;

/// A `done` and its data, on their way to the thread that delivers.
struct Delivery {
    done: unsafe extern "C-unwind" fn(data: *mut c_void, response: *mut agenthost_buffer),
    data: *mut c_void,
}

// SAFETY: the header says that `done` runs on whatever thread answers, cancels, closes or drops the reply.
unsafe impl Send for Delivery {}

impl Delivery {
    fn run(self, response: Vec<u8>) {
        // SAFETY: it runs once, as the header says.
        unsafe { (self.done)(self.data, agenthost_buffer::new(response).into_raw()) };
    }
}

/// Dispatches without waiting.
///
/// OK: `done` runs exactly once. It may run before this function returns. It never runs while the slot runs: it runs on this
/// thread after the slot has returned, or later on the thread that answers, cancels, closes or drops the reply. Not OK: `done`
/// never runs. `message` is borrowed until this function returns, not until `done`. `options` may be NULL; a `timeout_ms` other
/// than 0 is `AGENTHOST_INVALID_ARGUMENT` (the library has no timer: use yours, and cancel). `pending` may be NULL. It is written
/// before the slot runs, so that another thread may cancel meanwhile. A dispatch that begins when the host is closing answers
/// `unavailable`; its `done` runs before this function returns, also when `agenthost_host_close` has returned OK meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_dispatch_json_async(
    host: *mut agenthost_host,
    message: agenthost_str,
    options: *const agenthost_dispatch_options,
    done: agenthost_done,
    done_data: *mut c_void,
    pending: *mut *mut agenthost_pending,
) -> agenthost_status {
    guarded(|| {
        // SAFETY: the caller keeps the header's rules; the handle is optional.
        let place = unsafe { Place::of(pending) }.ok();
        // SAFETY: as above.
        let host = unsafe { self::host(host) }?;
        let delivery = Delivery { done: done.ok_or(AGENTHOST_NULL_ARGUMENT)?, data: done_data };
        // SAFETY: as above.
        let message = unsafe { values_from_c::bytes(message) }?;
        // SAFETY: as above.
        let (principal, timeout) = unsafe { read(options) }?;
        if timeout != 0 {
            return Err(AGENTHOST_INVALID_ARGUMENT);
        }
        let started = |pending: Pending| {
            if let Some(place) = place {
                place.put(agenthost_pending { pending, _live: Live::new() }.into_raw());
            }
        };
        host.dispatch_async(message, principal, started, move |response| delivery.run(response)).map_err(status_of)
    })
}

/// Gives the call up. OK: this cancel decided the answer, `unavailable`. `AGENTHOST_ALREADY_DONE`: something else did. Says
/// nothing about the run. Any thread, also inside `done`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_pending_cancel(pending: *mut agenthost_pending) -> agenthost_status {
    guarded(|| {
        // SAFETY: the caller keeps the header's rules. A clone, as `done` may free the handle.
        let pending = unsafe { borrowed(pending.cast_const()) }?.pending.clone();
        match pending.cancel() {
            Ok(true) => Ok(()),
            Ok(false) => Err(AGENTHOST_ALREADY_DONE),
            Err(misuse) => Err(status_of(misuse)),
        }
    })
}

/// Forgets the handle. Does not cancel. Allowed inside `done`, and before it. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_pending_free(pending: *mut agenthost_pending) {
    // SAFETY: the owner gives the handle up.
    unsafe { agenthost_pending::free(pending) };
}
