//! Identities: the names of a request, a key, a run and an approval. A host in C may read them as C strings, so none
//! holds a U+0000, or it would see another run.

use super::MAX_IDENTITY_BYTES;
use super::violation::{Path, Violation};

/// Refuses an identity that is empty, too long, or holds U+0000.
pub(crate) fn check_identity(path: Path<'_>, value: &str) -> Result<(), Box<Violation>> {
    if value.is_empty() || value.len() > MAX_IDENTITY_BYTES || value.as_bytes().contains(&0) {
        return Err(refused(path, value));
    }
    Ok(())
}

/// Refuses an empty string where the contract wants one that is not.
pub(crate) fn check_not_empty(path: Path<'_>, value: &str) -> Result<(), Box<Violation>> {
    if value.is_empty() {
        return Err(Violation::new(path, "expected a string that is not empty"));
    }
    Ok(())
}

#[cold]
fn refused(path: Path<'_>, value: &str) -> Box<Violation> {
    let expected = if value.is_empty() {
        "expected a string that is not empty".to_owned()
    } else if value.len() > MAX_IDENTITY_BYTES {
        format!("expected at most {MAX_IDENTITY_BYTES} bytes, found {}", value.len())
    } else {
        "expected a string without U+0000".to_owned()
    };
    Violation::new(path, expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_not_empty_has_no_nul_and_at_most_1024_bytes() {
        let check = |value: &str| check_identity(Path::ROOT.member("runId"), value).map_err(|violation| violation.to_string());
        assert_eq!(check("run-1"), Ok(()));
        assert_eq!(check(&"é".repeat(512)), Ok(()));
        assert!(check(&("é".repeat(512) + "x")).unwrap_err().contains("1024 bytes, found 1025"));
        assert!(check("a\0b").unwrap_err().contains("U+0000"));
        assert!(check(&("\0".repeat(1024))).unwrap_err().contains("U+0000"));
        assert!(check("").unwrap_err().contains("not empty"));
    }
}
