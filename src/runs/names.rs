//! What durable runs ask of ids, keys and metadata beyond the contract: they are keys of indexes, and nothing secret is stored.

use super::refuse::{self, Refusal};
use crate::protocol::{Metadata, Path, SensitiveNames, Violation, quoted};

/// The longest id, key, event type and principal, in bytes.
pub const MAX_NAME_BYTES: usize = 255;

/// Refuses an id, key or event type that is empty, over 255 bytes, or holds a control character.
pub(crate) fn check_name(path: Path<'_>, value: &str) -> Result<(), Refusal> {
    if value.is_empty() {
        return Err(refuse::invalid(&Violation::new(path, "expected a string that is not empty")));
    }
    check_optional_name(path, value)
}

/// The same; it may be empty.
pub(crate) fn check_optional_name(path: Path<'_>, value: &str) -> Result<(), Refusal> {
    let expected = if value.len() > MAX_NAME_BYTES {
        format!("expected at most {MAX_NAME_BYTES} bytes, found {}", value.len())
    } else if value.chars().any(char::is_control) {
        "expected no control characters".to_owned()
    } else {
        return Ok(());
    };
    Err(refuse::invalid(&Violation::new(path, expected)))
}

/// Refuses a list of agents to work for that is empty, or has one that cannot be.
pub(crate) fn check_agents(agent_ids: &[String]) -> Result<(), Refusal> {
    if agent_ids.is_empty() {
        return Err(refuse::invalid_member("agentIds", "expected at least one agent, the empty string for runs without"));
    }
    let list = Path::ROOT.member("agentIds");
    agent_ids.iter().enumerate().try_for_each(|(index, agent_id)| check_optional_name(list.element(index), agent_id))
}

/// The principal of a call, empty for a call without one. A principal that cannot be an owner is refused; above all the empty one,
/// which would see every run.
pub(crate) fn checked_principal(principal: Option<&str>) -> Result<&str, Refusal> {
    let Some(principal) = principal else { return Ok("") };
    if principal.is_empty() || principal.len() > MAX_NAME_BYTES || principal.chars().any(char::is_control) {
        return Err(refuse::unauthorized("a principal has 1 to 255 bytes and no control characters"));
    }
    Ok(principal)
}

/// Refuses metadata with a sensitive name.
pub(crate) fn check_metadata(path: Path<'_>, metadata: &Metadata<'_>, sensitive: &SensitiveNames) -> Result<(), Refusal> {
    match metadata.iter().find(|(name, _)| sensitive.contains(name)) {
        None => Ok(()),
        Some((name, _)) => {
            let expected = format!("expected no secrets, found the sensitive name {}: keep it in a secret store", quoted(name));
            Err(refuse::invalid(&Violation::new(path.member(name), expected)))
        }
    }
}

/// Metadata names that begin so are the library's: nobody can forge who decided.
const RESERVED: &str = "agenthost.";

/// Refuses metadata of an approval or a decision with a sensitive name or one of the library's.
pub(crate) fn check_approval_metadata(
    path: Path<'_>,
    metadata: &Metadata<'_>,
    sensitive: &SensitiveNames,
) -> Result<(), Refusal> {
    if let Some((name, _)) = metadata.iter().find(|(name, _)| name.starts_with(RESERVED)) {
        let expected = format!("expected no name that begins with \"{RESERVED}\": those are written by the library");
        return Err(refuse::invalid(&Violation::new(path.member(name), expected)));
    }
    check_metadata(path, metadata, sensitive)
}
