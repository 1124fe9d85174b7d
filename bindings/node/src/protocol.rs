//! What JavaScript asks about the contract itself, so that it writes down none of it.

use agenthost::dispatch::DEFAULT_MAX_MESSAGE_BYTES;
use agenthost::members;
use agenthost::protocol::{ErrorCode, SUPPORTED_VERSIONS, SensitiveNames, negotiate_version};
use agenthost::runs::Reason;
use napi_derive::napi;

/// The most preferred supported version among those offered.
#[napi(catch_unwind)]
pub(crate) fn negotiate(offered: Vec<String>) -> Option<&'static str> {
    negotiate_version(offered)
}

/// Whether a name looks as if its value were a secret.
#[napi(catch_unwind)]
pub(crate) fn is_sensitive_name(name: String) -> bool {
    SensitiveNames::built_in().contains(&name)
}

/// The versions that the core speaks.
#[napi(catch_unwind)]
pub(crate) fn supported_versions() -> Vec<&'static str> {
    SUPPORTED_VERSIONS.to_vec()
}

/// The contract's error codes.
#[napi(catch_unwind)]
pub(crate) fn error_codes() -> Vec<&'static str> {
    ErrorCode::ALL.iter().map(|code| code.name()).collect()
}

/// The reasons of the conflicts of durable runs.
#[napi(catch_unwind)]
pub(crate) fn conflict_reasons() -> Vec<&'static str> {
    Reason::ALL.iter().map(|reason| reason.name()).collect()
}

/// The default of a host's `maxMessageBytes`.
#[napi(catch_unwind)]
pub(crate) fn default_max_message_bytes() -> f64 {
    DEFAULT_MAX_MESSAGE_BYTES as f64
}

/// The version of this library; the JavaScript half wants the same.
#[napi(catch_unwind)]
pub(crate) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The types of answers, each with the names of its members in the contract's order.
#[napi(catch_unwind)]
pub(crate) fn members() -> Vec<(&'static str, Vec<String>)> {
    macro_rules! names {
        ({} $type:ident { $($name:ident = $field:ident: $kind:ident,)* }) => {
            (stringify!($type), [$(stringify!($name)),*].map(camel_case).into())
        };
    }
    vec![
        members!(RunSubmission => names! {}),
        members!(RunView => names! {}),
        members!(ExecutionContext => names! {}),
        members!(ApprovalView => names! {}),
        members!(Event => names! {}),
    ]
}

fn camel_case(name: &str) -> String {
    let mut words = name.trim_start_matches("r#").split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &word[..1].to_ascii_uppercase() + &word[1..])
}
