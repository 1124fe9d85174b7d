//! What a program needs of a conflict: its reason and its numbers, so that C need not parse the error's details.

use super::constants::{Constant, agenthost_reason};
use super::export::guarded_silently;
use super::result_structs::agenthost_error;
use super::text::agenthost_str;
use super::values_from_c;
use crate::protocol::{HostError, Path};
use crate::runs::Reason;

/// The reason of a conflict of durable runs, `AGENTHOST_REASON_...`; 0 for any other error, and for NULL. `error` is an outcome's, a
/// response's, or one of your own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_error_reason(error: *const agenthost_error) -> agenthost_reason {
    let mut found = 0;
    guarded_silently(|| {
        // SAFETY: by this export's contract.
        let reason = unsafe { read(error) }.and_then(|error| Reason::of(&error));
        found = reason.map_or(0, Reason::to_number);
    });
    found
}

/// A number that a conflict brings: `name` is the member of the error's details, `currentRevision`, `retryAfterMs`, `firstSequence` or
/// `headSequence`, as the reason says. 1: `*number` is written. 0: there is none, and it is untouched. `error` as for
/// `agenthost_error_reason`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_error_number(error: *const agenthost_error, name: agenthost_str, number: *mut u64) -> u32 {
    let mut found = 0;
    guarded_silently(|| {
        // SAFETY: by this export's contract.
        let (error, name) = unsafe { (read(error), values_from_c::text(name, Path::ROOT.member("name"))) };
        // SAFETY: `number` is NULL, or writable and not used by anybody else until the export returns.
        let place = unsafe { number.as_mut() };
        if let (Some(error), Ok(name), Some(place)) = (error, name, place)
            && let Some(value) = Reason::number(&error, name)
        {
            (*place, found) = (value, 1);
        }
    });
    found
}

/// The error that C hands in, when it can be read.
///
/// # Safety
/// `error` is NULL or points to a whole `agenthost_error`, whose texts stay until the export returns.
unsafe fn read<'a>(error: *const agenthost_error) -> Option<HostError<'a>> {
    // SAFETY: by this function's own contract.
    unsafe { values_from_c::read(error, Path::ROOT.member("error")) }.ok()
}
