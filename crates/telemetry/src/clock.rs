//! Time source of all measurements, and a fake one that tests timing logic without waiting.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jsonathlon_schema::machine::ClockProperties;

/// Monotonic time source that can be replaced in tests.
pub trait Clock: Send + Sync {
    /// Time since an arbitrary fixed start; never decreases.
    fn now(&self) -> Duration;
    /// Blocks the calling thread for `duration`; a [`FakeClock`] advances at once instead.
    fn sleep(&self, duration: Duration);
}

/// `CLOCK_MONOTONIC`, which [`Instant`] reads on Linux through the vDSO, without a system call.
#[derive(Debug)]
pub struct MonotonicClock {
    start: Instant,
}

impl MonotonicClock {
    /// Starts a clock whose zero is now.
    #[must_use]
    pub fn new() -> Self {
        Self { start: Instant::now() }
    }

    /// Measures the smallest non-zero step and the mean cost of a reading, over `readings` consecutive
    /// readings (at least 2). Recorded with every run, so that a reader sees what the clock can resolve.
    #[must_use]
    pub fn properties(&self, readings: usize) -> ClockProperties {
        let mut steps: Vec<u64> = Vec::with_capacity(readings);
        let start = self.now();
        let mut previous = start;
        for _ in 0..readings.max(2) {
            let now = self.now();
            let step = (now - previous).as_nanos();
            if step > 0 {
                steps.push(u64::try_from(step).unwrap_or(u64::MAX));
            }
            previous = now;
        }
        let total = u64::try_from((previous - start).as_nanos()).unwrap_or(u64::MAX);
        ClockProperties {
            min_step_ns: steps.iter().copied().min().unwrap_or(0),
            mean_read_ns: total as f64 / readings.max(2) as f64,
        }
    }
}

impl Default for MonotonicClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for MonotonicClock {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn sleep(&self, duration: Duration) {
        std::thread::sleep(duration);
    }
}

/// Clock for tests that moves only by [`FakeClock::advance`] and [`Clock::sleep`].
#[derive(Debug, Default)]
pub struct FakeClock {
    now: Mutex<Duration>,
}

impl FakeClock {
    /// Makes a fake clock that reads zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the clock forward by `duration`.
    pub fn advance(&self, duration: Duration) {
        *self.lock() += duration;
    }

    fn lock(&self) -> MutexGuard<'_, Duration> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Duration {
        *self.lock()
    }

    fn sleep(&self, duration: Duration) {
        self.advance(duration);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fake_clock_moves_only_by_sleep_and_advance() {
        let clock = FakeClock::new();
        assert_eq!(clock.now(), Duration::ZERO);
        clock.sleep(Duration::from_millis(3));
        clock.advance(Duration::from_micros(5));
        assert_eq!(clock.now(), Duration::from_micros(3005));
    }

    #[test]
    fn the_real_clock_never_goes_back_and_resolves_microseconds() {
        let clock = MonotonicClock::new();
        let properties = clock.properties(10_000);
        assert!(properties.min_step_ns > 0 && properties.min_step_ns < 1_000_000, "{properties:?}");
        let first = clock.now();
        clock.sleep(Duration::from_millis(1));
        assert!(clock.now() - first >= Duration::from_millis(1));
    }
}
