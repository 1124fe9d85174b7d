//! What a refusal says: a code of the contract, a message, and what belongs to it.

use std::borrow::Cow;
use std::fmt;

use super::{FreeJson, Metadata};
#[cfg(feature = "schema")]
use crate::protocol::schema;

/// The codes of the contract. Nothing else is ever written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// The request breaks a rule of the contract or of the service.
    InvalidRequest,
    /// The host does not speak the request's protocol version; `details.supportedVersions` says which it speaks.
    UnsupportedProtocolVersion,
    /// Nobody was authenticated.
    Unauthorized,
    /// The principal may not do that.
    Forbidden,
    /// There is no such run for this principal.
    NotFound,
    /// The run is in another state or revision than the request expects.
    Conflict,
    /// Not now. After a mutation the outcome is not known: retry with the same idempotency key.
    Unavailable,
    /// A fault of the host. After a mutation the outcome is not known: retry with the same idempotency key.
    Internal,
}

impl ErrorCode {
    /// All eight, in the order of the contract.
    pub const ALL: [ErrorCode; 8] = [
        ErrorCode::InvalidRequest,
        ErrorCode::UnsupportedProtocolVersion,
        ErrorCode::Unauthorized,
        ErrorCode::Forbidden,
        ErrorCode::NotFound,
        ErrorCode::Conflict,
        ErrorCode::Unavailable,
        ErrorCode::Internal,
    ];

    /// The name on the wire, for example `not_found`.
    pub const fn name(self) -> &'static str {
        match self {
            ErrorCode::InvalidRequest => "invalid_request",
            ErrorCode::UnsupportedProtocolVersion => "unsupported_protocol_version",
            ErrorCode::Unauthorized => "unauthorized",
            ErrorCode::Forbidden => "forbidden",
            ErrorCode::NotFound => "not_found",
            ErrorCode::Conflict => "conflict",
            ErrorCode::Unavailable => "unavailable",
            ErrorCode::Internal => "internal",
        }
    }

    /// The code of that name on the wire.
    pub fn from_name(name: &str) -> Option<ErrorCode> {
        ErrorCode::ALL.into_iter().find(|code| code.name() == name)
    }
}

/// A failure of the protocol: what a service answers with, and what a client reads.
///
/// Of an [`ErrorCode::Internal`] error only `retryable` leaves the host. `Debug` shows neither details nor the values of
/// metadata.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", code.name())]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct HostError<'a> {
    /// What kind of failure it is.
    pub code: ErrorCode,
    /// For people. It leaves the host as it is: no secrets.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub message: Cow<'a, str>,
    /// Whether the same request may succeed later.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub retryable: bool,
    /// For programs, any JSON, `{}` where there is nothing to say. It leaves the host as it is: no secrets.
    #[cfg_attr(feature = "schema", schemars(default = "schema::empty_object"))]
    pub details: FreeJson<'a>,
    /// Strings for programs; sensitive names are dropped before they leave.
    #[cfg_attr(feature = "schema", schemars(default = "schema::empty_object", with = "schema::SafeMetadata"))]
    pub metadata: Metadata<'a>,
    /// Client: the code that was received when it is none of the contract's, and `code` reads as internal. A service
    /// leaves it empty.
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub original_code: Cow<'a, str>,
}

impl<'a> HostError<'a> {
    /// An error that is not retryable, with details `{}` and no metadata.
    pub fn new(code: ErrorCode, message: impl Into<Cow<'a, str>>) -> HostError<'a> {
        HostError {
            code,
            message: message.into(),
            retryable: false,
            details: FreeJson::EMPTY_OBJECT,
            metadata: Metadata::new(),
            original_code: Cow::Borrowed(""),
        }
    }

    /// The same error, with these details.
    pub fn with_details(self, details: FreeJson<'a>) -> HostError<'a> {
        HostError { details, ..self }
    }

    /// The same error, with this metadata.
    pub fn with_metadata(self, metadata: Metadata<'a>) -> HostError<'a> {
        HostError { metadata, ..self }
    }

    /// The same error; `retryable` says whether the same request may succeed later.
    pub fn with_retryable(self, retryable: bool) -> HostError<'a> {
        HostError { retryable, ..self }
    }

    /// The same error, owned.
    pub fn into_owned(self) -> HostError<'static> {
        HostError {
            code: self.code,
            message: Cow::Owned(self.message.into_owned()),
            retryable: self.retryable,
            details: self.details.into_owned(),
            metadata: self.metadata.into_owned(),
            original_code: Cow::Owned(self.original_code.into_owned()),
        }
    }
}

impl fmt::Debug for HostError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostError")
            .field("code", &self.code)
            .field("message", &self.message)
            .field("retryable", &self.retryable)
            .field("details", &self.details)
            .field("metadata", &self.metadata)
            .field("original_code", &self.original_code)
            .finish()
    }
}

#[cfg(feature = "schema")]
schema::schema!(ErrorCode, named "ErrorCode", |_generator| {
    schema::one_of("What kind of failure it is.", ErrorCode::ALL.map(ErrorCode::name))
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_nothing_else_is_a_name() {
        let names = ErrorCode::ALL.map(ErrorCode::name);
        assert_eq!(
            names,
            [
                "invalid_request",
                "unsupported_protocol_version",
                "unauthorized",
                "forbidden",
                "not_found",
                "conflict",
                "unavailable",
                "internal"
            ]
        );
        assert_eq!(ErrorCode::ALL.map(|code| ErrorCode::from_name(code.name())), ErrorCode::ALL.map(Some));
        assert_eq!(ErrorCode::from_name("Internal"), None);
        assert_eq!(ErrorCode::from_name(""), None);
    }

    #[test]
    fn an_error_is_built_step_by_step_and_shows_no_secret() {
        let plain = HostError::new(ErrorCode::Conflict, "revision 3");
        assert_eq!((plain.retryable, plain.details.as_str(), plain.metadata.len(), &*plain.original_code), (false, "{}", 0, ""));
        let error = plain
            .with_retryable(true)
            .with_details(FreeJson::new("{\"key\":\"in details\"}").unwrap())
            .with_metadata([("name", "in metadata")].into_iter().collect());
        assert_eq!((error.retryable, error.metadata.get("name")), (true, Some("in metadata")));
        assert_eq!(error.details.as_str(), "{\"key\":\"in details\"}");
        assert_eq!(error.to_string(), "conflict: revision 3");
        let shown = format!("{error:?}");
        assert!(shown.contains("Conflict") && shown.contains("revision 3") && shown.contains("name"), "{shown}");
        assert!(!shown.contains("in details") && !shown.contains("in metadata"), "{shown}");
        assert_eq!(error.clone().into_owned(), error);
    }
}
