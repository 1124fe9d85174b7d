//! Misuse of the library, which JavaScript throws as a `TypeError`.

use napi::bindgen_prelude::{Error, Status};

/// An error that says what is wrong with an argument.
pub(crate) fn invalid(reason: impl ToString) -> Error {
    Error::new(Status::InvalidArg, reason.to_string())
}
