//! Protocol versions and how two sides agree on one.

/// The protocol versions that this library speaks, most preferred first.
pub const SUPPORTED_VERSIONS: [&str; 1] = ["2026-07-01"];

/// The most preferred supported version that the other side offers, or `None` when there is none.
///
/// `offered` is what an `unsupported_protocol_version` refusal lists in `details.supportedVersions`, in any order.
pub fn negotiate_version<S: AsRef<str>>(offered: impl IntoIterator<Item = S>) -> Option<&'static str> {
    let mut best = SUPPORTED_VERSIONS.len();
    for version in offered {
        if let Some(rank) = SUPPORTED_VERSIONS.iter().position(|known| *known == version.as_ref()) {
            best = best.min(rank);
        }
    }
    SUPPORTED_VERSIONS.get(best).copied()
}

/// Whether this library speaks `version`.
pub(crate) fn is_supported(version: &str) -> bool {
    SUPPORTED_VERSIONS.contains(&version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negotiation_picks_a_version_that_both_sides_speak() {
        assert_eq!(negotiate_version(["2099-01-01", "2026-07-01"]), Some("2026-07-01"));
        assert_eq!(negotiate_version(["2099-01-01", ""]), None);
        assert_eq!(negotiate_version(Vec::<String>::new()), None);
    }
}
