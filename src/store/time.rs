//! The time of a store. It follows the clock, but it never goes back: rows are compared with times that were written before.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{Clock, StoreError, Stored};
use crate::host::panics::catch;

/// Makes a time that never goes back out of a clock that may be set back.
///
/// While the clock is behind, time goes on from where it was, at half its pace: leases still end and delays still pass, and the
/// clock catches up. Then the two are the same again.
pub(crate) struct StoreTime {
    clock: Clock,
    last: Mutex<Last>,
}

/// The last reading.
struct Last {
    time: i64,
    at: Instant,
    /// The clock was behind. Then `time` is where the slow time began, at the instant `at`.
    behind: bool,
}

impl StoreTime {
    pub(crate) fn new(clock: Clock) -> StoreTime {
        StoreTime { clock, last: Mutex::new(Last { time: i64::MIN, at: Instant::now(), behind: false }) }
    }

    /// The time now: never less than any that this gave before, nor than `written`, the highest that the store holds.
    ///
    /// # Errors
    /// The clock, which is the application's, panicked.
    pub(crate) fn now(&self, written: i64) -> Stored<i64> {
        // Read under the lock: of two readings the earlier must not be taken for a clock that was set back.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let clock = catch(|| (self.clock)()).map_err(|panic| StoreError::Unavailable(format!("the clock panicked: {panic}")))?;
        Ok(last.advance(clock, written, Instant::now()))
    }
}

impl Last {
    fn advance(&mut self, clock: i64, written: i64, at: Instant) -> i64 {
        if !self.behind && clock >= self.time.max(written) {
            (self.time, self.at) = (clock, at);
            return clock;
        }
        let slow = self.time.saturating_add(half(at.saturating_duration_since(self.at)));
        if clock >= slow.max(written) {
            *self = Last { time: clock, at, behind: false };
            return clock;
        }
        self.behind = true;
        if written > slow {
            (self.time, self.at) = (written, at);
            return written;
        }
        slow
    }
}

fn half(duration: Duration) -> i64 {
    i64::try_from((duration / 2).as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last() -> (Last, impl Fn(u64) -> Instant) {
        let begin = Instant::now();
        (Last { time: i64::MIN, at: begin, behind: false }, move |ms| begin + Duration::from_millis(ms))
    }

    #[test]
    fn time_is_the_clocks_as_long_as_the_clock_goes_forward() {
        let (mut last, at) = last();
        for (clock, ms) in [(1000, 0), (1000, 500), (1001, 600), (9_000_000, 700), (9_000_000, 5000)] {
            assert_eq!(last.advance(clock, 0, at(ms)), clock);
        }
    }

    #[test]
    fn time_goes_on_at_half_its_pace_until_a_clock_that_was_set_back_has_caught_up() {
        let (mut last, at) = last();
        assert_eq!(last.advance(100_000, 0, at(0)), 100_000);
        // Set back by ten seconds after two, and read often.
        for ms in 2_000..20_000 {
            assert_eq!(last.advance(90_000 + ms, 0, at(ms as u64)), 100_000 + ms / 2);
        }
        for ms in 20_000..20_010 {
            assert_eq!(last.advance(90_000 + ms, 0, at(ms as u64)), 90_000 + ms);
        }
    }

    #[test]
    fn what_another_process_wrote_is_never_ahead_of_time() {
        let (mut last, at) = last();
        assert_eq!(last.advance(100_000, 500_000, at(0)), 500_000);
        assert_eq!(last.advance(101_000, 500_000, at(1_000)), 500_500);
        assert_eq!(last.advance(102_000, 600_000, at(2_000)), 600_000);
        assert_eq!(last.advance(103_000, 600_200, at(3_000)), 600_500);
        assert_eq!(last.advance(700_000, 600_500, at(4_000)), 700_000);
        assert_eq!(last.advance(700_000, 700_000, at(9_000)), 700_000);
    }

    #[test]
    fn time_never_goes_back_whatever_the_clock_does() {
        let (mut last, at) = last();
        let (mut before, mut clock) = (i64::MIN, 1_000_000_i64);
        for (step, jump) in
            [3, -500_000, 2_000, 0, 700_000, -1, -1, 900, -2_000_000, 5_000_000, i64::MIN, i64::MAX].iter().enumerate()
        {
            clock = clock.saturating_add(*jump);
            for ms in 0..50 {
                let now = last.advance(clock, before, at(step as u64 * 1_000 + ms));
                assert!(now >= before && now >= clock, "{now} after {before} at {clock}");
                before = now;
            }
        }
    }
}
