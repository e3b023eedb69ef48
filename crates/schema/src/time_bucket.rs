//! Buckets of time by which documents are counted: their length, and which numbers are times.

/// Length of the time for which documents are counted together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TimeUnit {
    /// A day of 24 hours.
    #[default]
    Day,
    /// An hour of 60 minutes.
    Hour,
}

impl TimeUnit {
    /// Returns the length in seconds.
    #[must_use]
    pub const fn seconds(self) -> u64 {
        match self {
            Self::Day => 86_400,
            Self::Hour => 3_600,
        }
    }
}

/// Times that are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeBucket {
    /// Length of a bucket.
    pub unit: TimeUnit,
    /// Resolution of numbers that are times: 1 for seconds, 1,000 for milliseconds, 1,000,000 for
    /// microseconds. Without meaning for times that are texts.
    pub ticks_per_second: u64,
}

impl Default for TimeBucket {
    fn default() -> Self {
        Self { unit: TimeUnit::Day, ticks_per_second: 1 }
    }
}

/// Seconds from 1970 to 1990, UTC: a smaller number is hardly a time.
const FROM_S: u64 = 631_152_000;
/// Seconds from 1970 to 2100, UTC: neither is this or a larger one.
const UNTIL_S: u64 = 4_102_444_800;

impl TimeBucket {
    /// Resolutions of numbers that are times, in ticks per second. Their plausible numbers do not overlap.
    pub const RESOLUTIONS: [u64; 3] = [1, 1_000, 1_000_000];

    /// Returns the numbers that are plausible times, from 1990 to 2099, in ticks since 1970.
    #[must_use]
    pub const fn plausible_ticks(self) -> std::ops::Range<u64> {
        FROM_S * self.ticks_per_second..UNTIL_S * self.ticks_per_second
    }

    /// Returns the length of a bucket in ticks.
    #[must_use]
    pub const fn ticks(self) -> u64 {
        self.unit.seconds() * self.ticks_per_second
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_a_time_in_one_resolution_at_most() {
        let bucket = |ticks_per_second| TimeBucket { ticks_per_second, ..TimeBucket::default() };
        let ranges = TimeBucket::RESOLUTIONS.map(|resolution| bucket(resolution).plausible_ticks());
        for pair in ranges.windows(2) {
            assert!(pair[0].end < pair[1].start, "{pair:?}");
        }
        // All of them are exact in a double.
        assert!(ranges[2].end < 1 << 53);
        let hour = TimeBucket { unit: TimeUnit::Hour, ticks_per_second: 1_000 };
        assert_eq!((hour.ticks(), bucket(1_000_000).ticks()), (3_600_000, 86_400_000_000));
    }
}
