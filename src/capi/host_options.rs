//! The options of a host.

use std::ffi::c_void;
use std::time::Duration;

use super::callback::agenthost_destroy;
use super::failure::Failure;
use super::log::{self, agenthost_log};
use super::struct_size::{self, SizedStruct, Taken, UNKNOWN_TAIL, sized_structs};
use super::text::agenthost_str;
use super::values_from_c::{self, ReadError, array};
use crate::binding::HostSettings;
use crate::host::HostOptions;
use crate::protocol::Path;

/// The options of a host. Zeros are the defaults.
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
/// As [`struct_size::read`] and [`texts`].
pub(super) unsafe fn host_options(options: *const agenthost_host_options) -> Result<HostOptions, Failure> {
    // SAFETY: by this function's own contract.
    let Some(TakenOptions { options, unknown_tail }) = unsafe { take_options(options) }? else {
        return Ok(HostOptions::default());
    };
    let log = log::hook(options.log, options.log_data, options.log_destroy);
    unknown_tail?;
    let path = Path::ROOT.member("options");
    let require_principal = values_from_c::flag(options.require_principal, path.member("require_principal"))?;
    values_from_c::reserved(options.reserved, path)?;
    let settings = HostSettings {
        max_message_bytes: nonzero(options.max_message_bytes).map(|most| usize::try_from(most).unwrap_or(usize::MAX)),
        // SAFETY: by this function's own contract.
        sensitive_names: unsafe { texts(options.sensitive_names, options.sensitive_name_count, path.member("sensitive_names")) }?,
        require_principal,
        default_timeout: milliseconds(options.default_timeout_ms),
    };
    Ok(settings.options(log)?)
}

/// # Safety
/// `pointer` leads to `count` texts.
pub(super) unsafe fn texts(pointer: *const agenthost_str, count: usize, path: Path<'_>) -> Result<Vec<String>, ReadError> {
    // SAFETY: by this function's own contract.
    let texts = unsafe { array(pointer, count) }?.iter().enumerate();
    // SAFETY: as above.
    texts.map(|(index, text)| unsafe { values_from_c::text(*text, path.element(index)) }.map(str::to_owned)).collect()
}

/// A number whose 0 asks for the default.
pub(super) fn nonzero(number: u64) -> Option<u64> {
    (number > 0).then_some(number)
}

/// Milliseconds; 0 asks for the default.
pub(super) fn milliseconds(milliseconds: u64) -> Option<Duration> {
    nonzero(milliseconds).map(Duration::from_millis)
}
