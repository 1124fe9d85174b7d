//! Why a function failed: a status, and a text for the place `why` that some functions offer.

use super::export::Place;
use super::handles::OwnedHandle;
use super::status::{AGENTHOST_INVALID_ARGUMENT, AGENTHOST_NULL_ARGUMENT, agenthost_status};
use super::text::agenthost_buffer;
use super::values_from_c::ReadError;
use crate::binding::BadSetting;

/// A failure that can be explained.
pub(super) struct Failure {
    pub(super) status: agenthost_status,
    pub(super) text: String,
}

impl Failure {
    pub(super) fn new(status: agenthost_status, text: impl Into<String>) -> Failure {
        Failure { status, text: text.into() }
    }

    /// Writes the text to its place and gives the status.
    pub(super) fn explain(self, why: &Why) -> agenthost_status {
        why.write(&self.text);
        self.status
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Failure {
        match error {
            ReadError::Violation(violation) => Failure::new(AGENTHOST_INVALID_ARGUMENT, violation.to_string()),
            ReadError::Status(AGENTHOST_NULL_ARGUMENT) => Failure::new(AGENTHOST_NULL_ARGUMENT, "a required pointer is NULL"),
            ReadError::Status(AGENTHOST_INVALID_ARGUMENT) => {
                Failure::new(AGENTHOST_INVALID_ARGUMENT, "a length or a count is larger than memory")
            }
            ReadError::Status(status) => {
                Failure::new(status, "a struct_size is too small or over 4096, or an unknown tail is not 0")
            }
        }
    }
}

impl From<BadSetting> for Failure {
    fn from(bad: BadSetting) -> Failure {
        Failure::new(AGENTHOST_INVALID_ARGUMENT, format!("options.{bad}"))
    }
}

/// The place for a text; it may be NULL.
pub(super) struct Why(Option<Place<agenthost_buffer>>);

impl Why {
    /// The place, set to NULL: only a failure writes a text.
    ///
    /// # Safety
    /// `why` is NULL, or writable until the export returns.
    pub(super) unsafe fn of(why: *mut *mut agenthost_buffer) -> Why {
        // SAFETY: by this function's own contract.
        Why(unsafe { Place::of(why) }.ok())
    }

    pub(super) fn write(&self, text: &str) {
        if let Some(place) = &self.0 {
            place.put(agenthost_buffer::new(text.as_bytes().to_vec()).into_raw());
        }
    }
}
