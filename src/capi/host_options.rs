//! What a host can be told when it is made.

use std::ffi::c_void;
use std::time::Duration;

use super::callback::agenthost_destroy;
use super::failure::Failure;
use super::log::{self, agenthost_log};
use super::struct_size::{self, SizedStruct, Taken, UNKNOWN_TAIL, sized_structs};
use super::text::agenthost_str;
use super::values_from_c::{self, ReadError, array};
use crate::dispatch::{DEFAULT_MAX_MESSAGE_BYTES, Dispatcher};
use crate::host::HostOptions;
use crate::protocol::{Path, SensitiveNames, Violation};

/// What a host can be told when it is made. Zeros are the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_host_options {
    /// `sizeof(agenthost_host_options)`.
    pub struct_size: usize,
    /// The most bytes of a message and of a response; exactly as many are allowed. 0: 16 MiB. (A refusal that would be larger
    /// is written all the same: it has at most 16 KiB.)
    pub max_message_bytes: u64,
    /// How long synchronous dispatch waits for a deferred answer, in milliseconds. 0: for ever.
    pub default_timeout_ms: u64,
    /// Names that are sensitive beside the built-in ones, compared like them. Copied. May be NULL when there are none.
    pub sensitive_names: *const agenthost_str,
    /// The number of `sensitive_names`.
    pub sensitive_name_count: usize,
    /// NULL: nothing is logged.
    pub log: agenthost_log,
    /// Given to `log`.
    pub log_data: *mut c_void,
    /// Lets go of `log_data`: once, when the host is closed, or its last count is released, or its making failed.
    pub log_destroy: agenthost_destroy,
    /// 1: a dispatch without a principal answers `unauthorized`.
    pub require_principal: u32,
    /// 0.
    pub reserved: u32,
}

sized_structs!(agenthost_host_options);

/// Options that were taken over: their callbacks are ended whatever comes.
pub(super) struct TakenOptions<T> {
    pub(super) options: T,
    /// Asked for once the callbacks have an owner.
    pub(super) unknown_tail: Result<(), Failure>,
}

/// Takes a struct of options over; none for NULL.
///
/// # Safety
/// As [`struct_size::read`].
pub(super) unsafe fn take_options<T: SizedStruct>(options: *const T) -> Result<Option<TakenOptions<T>>, Failure> {
    if options.is_null() {
        return Ok(None);
    }
    // SAFETY: by this function's own contract.
    match unsafe { struct_size::take(options) } {
        Taken::Unreadable(status) => Err(Failure::new(status, "options: expected NULL or a struct with its size in struct_size")),
        Taken::Read(options, unknown_tail) => {
            let unknown_tail = unknown_tail.map_or(Ok(()), |status| Err(Failure::new(status, format!("options.{UNKNOWN_TAIL}"))));
            Ok(Some(TakenOptions { options, unknown_tail }))
        }
    }
}

/// A host's options; NULL: every default. Their log hook is taken over whatever comes of it.
///
/// # Safety
/// As [`struct_size::read`] and [`names`].
pub(super) unsafe fn host_options(options: *const agenthost_host_options) -> Result<HostOptions, Failure> {
    // SAFETY: by this function's own contract.
    let Some(TakenOptions { options, unknown_tail }) = unsafe { take_options(options) }? else {
        return Ok(HostOptions::default());
    };
    let log = log::hook(options.log, options.log_data, options.log_destroy);
    unknown_tail?;
    let max_message_bytes = match options.max_message_bytes {
        0 => DEFAULT_MAX_MESSAGE_BYTES,
        most => usize::try_from(most).unwrap_or(usize::MAX),
    };
    let path = Path::ROOT.member("options");
    let require_principal = values_from_c::flag(options.require_principal, path.member("require_principal"))?;
    values_from_c::reserved(options.reserved, path)?;
    // SAFETY: by this function's own contract.
    let sensitive_names =
        unsafe { names(options.sensitive_names, options.sensitive_name_count, path.member("sensitive_names")) }?;
    let dispatcher = Dispatcher { max_message_bytes, sensitive_names, require_principal };
    Ok(HostOptions { dispatcher, default_timeout: milliseconds(options.default_timeout_ms), log })
}

/// # Safety
/// `sensitive_names` leads to `count` texts.
pub(super) unsafe fn names(
    sensitive_names: *const agenthost_str,
    count: usize,
    path: Path<'_>,
) -> Result<SensitiveNames, ReadError> {
    // SAFETY: by this function's own contract.
    let texts = unsafe { array(sensitive_names, count) }?;
    if texts.is_empty() {
        return Ok(SensitiveNames::built_in());
    }
    let mut names = Vec::with_capacity(texts.len());
    for (index, text) in texts.iter().enumerate() {
        // SAFETY: as above.
        names.push(unsafe { values_from_c::text(*text, path.element(index)) }?);
    }
    SensitiveNames::with(names).map_err(|error| Violation::new(path, error.to_string()).into())
}

/// Milliseconds as C says them; 0 is none.
pub(super) fn milliseconds(milliseconds: u64) -> Option<Duration> {
    (milliseconds > 0).then(|| Duration::from_millis(milliseconds))
}
