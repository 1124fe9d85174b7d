//! The client's side: requests.

use super::export::{Place, guarded};
use super::failure::{Failure, Why};
use super::handles::{OwnedHandle, read_or};
use super::live::{AGENTHOST_LIVE_REQUESTS, Live};
use super::request_structs::{
    agenthost_cancel_run, agenthost_create_run, agenthost_get_run, agenthost_list_events, agenthost_resolve_approval,
    agenthost_resume_run,
};
use super::status::agenthost_status;
use super::struct_size::{self, sized_structs};
use super::text::{agenthost_buffer, agenthost_pairs, agenthost_str};
use super::values_from_c::{self, FromC, ReadError};
use super::values_to_c;
use crate::client::{PreparedRequest, RequestOptions};
use crate::protocol::Path;
use crate::service::Request;

/// What goes around a request. Zeros are the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_request_options {
    /// `sizeof(agenthost_request_options)`.
    pub struct_size: usize,
    /// Names the request. Empty: a new UUIDv7.
    pub request_id: agenthost_str,
    /// Names the mutation. Empty: a new UUIDv7 for mutations, none for reads.
    pub idempotency_key: agenthost_str,
    /// Empty: the preferred one. Any other is written as it is.
    pub protocol_version: agenthost_str,
    /// The envelope's metadata.
    pub metadata: agenthost_pairs,
}

sized_structs!(agenthost_request_options);

/// A request, frozen. One owner; any number of threads may read it; ends with `agenthost_request_free`.
pub struct agenthost_request {
    pub(super) prepared: PreparedRequest,
    _live: Live<AGENTHOST_LIVE_REQUESTS>,
}

impl OwnedHandle for agenthost_request {}

/// # Safety
/// `options` is NULL or as [`struct_size::read`] wants it, and what it leads to is readable.
unsafe fn options<'a>(options: *const agenthost_request_options) -> Result<RequestOptions<'a>, ReadError> {
    if options.is_null() {
        return Ok(RequestOptions::default());
    }
    // SAFETY: by this function's own contract.
    let options = unsafe { struct_size::read(options) }?;
    let given = |text, name| -> Result<_, ReadError> {
        // SAFETY: as above.
        let text = unsafe { values_from_c::text(text, Path::ROOT.member(name)) }?;
        Ok((!text.is_empty()).then(|| text.into()))
    };
    Ok(RequestOptions {
        request_id: given(options.request_id, "requestId")?,
        idempotency_key: given(options.idempotency_key, "idempotencyKey")?,
        protocol_version: given(options.protocol_version, "protocolVersion")?,
        // SAFETY: as above.
        metadata: unsafe { values_from_c::pairs(options.metadata, Path::ROOT.member("metadata")) }?,
    })
}

/// Reads a body and its options, and freezes them as a request.
///
/// # Safety
/// As [`values_from_c::read`], [`options`] and [`Place::of`].
unsafe fn prepare<'a, T: FromC<Value<'a>: Into<Request<'a>>>>(
    body: *const T,
    around: *const agenthost_request_options,
    request: *mut *mut agenthost_request,
    why: *mut *mut agenthost_buffer,
) -> agenthost_status {
    // SAFETY: by this function's own contract.
    guarded(|| unsafe {
        let why = Why::of(why);
        let place = Place::of(request)?;
        let prepared = || -> Result<PreparedRequest, ReadError> {
            let body = values_from_c::read(body, Path::ROOT.member("body"))?.into();
            let around = options(around)?;
            PreparedRequest::new(&body, &around).map_err(|violation| ReadError::Violation(Box::new(violation)))
        };
        let prepared = prepared().map_err(|error| Failure::from(error).explain(&why))?;
        place.put(agenthost_request { prepared, _live: Live::new() }.into_raw());
        Ok(())
    })
}

/// Builds a request that submits a run. The dispatcher's rules are checked here: `AGENTHOST_INVALID_ARGUMENT` and a text in `*why` (which
/// may be NULL) that names the member. `options` may be NULL. `*request` is yours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_request_create_run(
    body: *const agenthost_create_run,
    options: *const agenthost_request_options,
    request: *mut *mut agenthost_request,
    why: *mut *mut agenthost_buffer,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules.
    unsafe { prepare(body, options, request, why) }
}

/// Builds a request that reads a run. See `agenthost_request_create_run`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_request_get_run(
    body: *const agenthost_get_run,
    options: *const agenthost_request_options,
    request: *mut *mut agenthost_request,
    why: *mut *mut agenthost_buffer,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules.
    unsafe { prepare(body, options, request, why) }
}

/// Builds a request that cancels a run. See `agenthost_request_create_run`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_request_cancel_run(
    body: *const agenthost_cancel_run,
    options: *const agenthost_request_options,
    request: *mut *mut agenthost_request,
    why: *mut *mut agenthost_buffer,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules.
    unsafe { prepare(body, options, request, why) }
}

/// Builds a request that approves or denies what a run waits for. See `agenthost_request_create_run`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_request_resolve_approval(
    body: *const agenthost_resolve_approval,
    options: *const agenthost_request_options,
    request: *mut *mut agenthost_request,
    why: *mut *mut agenthost_buffer,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules.
    unsafe { prepare(body, options, request, why) }
}

/// Builds a request that lets an approved run go on. See `agenthost_request_create_run`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_request_resume_run(
    body: *const agenthost_resume_run,
    options: *const agenthost_request_options,
    request: *mut *mut agenthost_request,
    why: *mut *mut agenthost_buffer,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules.
    unsafe { prepare(body, options, request, why) }
}

/// Builds a request that reads events after a cursor. See `agenthost_request_create_run`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_request_list_events(
    body: *const agenthost_list_events,
    options: *const agenthost_request_options,
    request: *mut *mut agenthost_request,
    why: *mut *mut agenthost_buffer,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules.
    unsafe { prepare(body, options, request, why) }
}

/// A text of a request; empty for NULL.
///
/// # Safety
/// As [`read_or`].
unsafe fn text_of(request: *const agenthost_request, text: impl FnOnce(&PreparedRequest) -> agenthost_str) -> agenthost_str {
    // SAFETY: by this function's own contract.
    unsafe { read_or(request, values_to_c::text(""), |request: &agenthost_request| text(&request.prepared)) }
}

/// The envelope: the same bytes each time, send them again to retry. Borrowed from the request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_request_bytes(request: *const agenthost_request) -> agenthost_str {
    // SAFETY: the caller keeps the header's rules.
    unsafe { text_of(request, |request| agenthost_str { data: request.bytes().as_ptr().cast(), len: request.bytes().len() }) }
}

/// What names the request. Borrowed from the request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_request_id(request: *const agenthost_request) -> agenthost_str {
    // SAFETY: the caller keeps the header's rules.
    unsafe { text_of(request, |request| values_to_c::text(request.request_id())) }
}

/// What names the mutation; empty for a read without a key. Borrowed from the request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_request_idempotency_key(request: *const agenthost_request) -> agenthost_str {
    // SAFETY: the caller keeps the header's rules.
    unsafe { text_of(request, |request| values_to_c::text(request.idempotency_key())) }
}

/// Frees a request. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_request_free(request: *mut agenthost_request) {
    // SAFETY: the owner gives the request up.
    unsafe { agenthost_request::free(request) };
}
