//! The sizes of what workers send.

use super::types::MAX_JSON_BYTES;
use crate::protocol::{FreeJson, Path, Violation};
use crate::runs::fingerprint::{Fingerprint, Repeated};
use crate::runs::refuse::{self, Refusal};

pub(super) fn check_text(name: &str, text: &str) -> Result<(), Refusal> {
    match text {
        "" => Err(refuse::invalid_member(name, "expected a string that is not empty")),
        _ => check_bytes(Path::ROOT.member(name), text.len(), MAX_JSON_BYTES),
    }
}

pub(super) fn check_size(path: Path<'_>, value: &FreeJson<'_>, most: usize) -> Result<(), Refusal> {
    check_bytes(path, value.as_str().len(), most)
}

pub(super) fn check_bytes(path: Path<'_>, found: usize, most: usize) -> Result<(), Refusal> {
    if found <= most {
        return Ok(());
    }
    Err(refuse::invalid(&Violation::new(path, format!("expected at most {most} bytes, found {found}"))))
}

/// A worker's JSON: its size, and its part of the fingerprint.
pub(super) fn json(fingerprint: &mut Fingerprint, name: &str, value: &FreeJson<'_>) -> Result<(), Refusal> {
    let path = Path::ROOT.member(name);
    check_size(path, value, MAX_JSON_BYTES)?;
    fingerprint.json(value, path, Repeated::Kept).map(|_| ()).map_err(|violation| refuse::invalid(&violation))
}
