//! Times of options and calls in the store's milliseconds, and their ranges.

use std::time::Duration;

/// The longest lease.
pub const MAX_LEASE: Duration = Duration::from_secs(24 * 3600);
/// The longest delay of a release.
pub const MAX_DELAY: Duration = Duration::from_secs(366 * 24 * 3600);

pub(crate) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// A lease, unless it is shorter than a millisecond or longer than [`MAX_LEASE`].
pub(crate) fn lease_ms(lease: Duration) -> Option<i64> {
    Some(millis(lease)).filter(|ms| *ms > 0 && lease <= MAX_LEASE)
}

/// How long a key is remembered, unless that is no time.
pub(crate) fn key_ttl_ms(key_ttl: Duration) -> Option<i64> {
    Some(millis(key_ttl)).filter(|ms| *ms > 0)
}
