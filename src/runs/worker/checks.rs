//! The sizes of what workers send.

use super::types::MAX_JSON_BYTES;
use crate::protocol::{FreeJson, Path};
use crate::runs::fingerprint::{Fingerprint, Repeated};
use crate::runs::refuse::{self, Refusal};

pub(super) fn check_text(name: &str, text: &str) -> Result<(), Refusal> {
    match text {
        "" => Err(refuse::invalid_member(name, "expected a string that is not empty")),
        _ if text.len() > MAX_JSON_BYTES => Err(too_long(name, MAX_JSON_BYTES, text.len())),
        _ => Ok(()),
    }
}

pub(super) fn check_size(name: &str, value: &FreeJson<'_>, most: usize) -> Result<(), Refusal> {
    let found = value.as_str().len();
    if found > most { Err(too_long(name, most, found)) } else { Ok(()) }
}

fn too_long(name: &str, most: usize, found: usize) -> Refusal {
    refuse::invalid_member(name, format!("expected at most {most} bytes, found {found}"))
}

/// A worker's JSON: its size, and its part of the fingerprint.
pub(super) fn json(fingerprint: &mut Fingerprint, name: &str, value: &FreeJson<'_>) -> Result<(), Refusal> {
    check_size(name, value, MAX_JSON_BYTES)?;
    let path = Path::ROOT.member(name);
    fingerprint.json(value, path, Repeated::Kept).map(|_| ()).map_err(|violation| refuse::invalid(&violation))
}
