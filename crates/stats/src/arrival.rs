//! Arrival schedules: the intended start times of operations in open-loop workloads.

use serde::{Deserialize, Serialize};

/// How operations arrive: in a closed loop, or by a schedule that does not depend on the system's answers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "loop", rename_all = "snake_case")]
pub enum Arrival {
    /// Closed loop: each client starts its next operation when its previous one has ended.
    Closed,
    /// Open loop with a constant distance between two arrivals.
    Fixed {
        /// Operations per second of all clients together; above 0, at most 1e8.
        per_s: f64,
    },
    /// Open loop with a Poisson process: exponentially distributed, independent distances between arrivals.
    Poisson {
        /// Mean operations per second of all clients together; above 0, at most 1e8.
        per_s: f64,
    },
}

/// Highest accepted rate, operations per second. At higher rates several arrivals would share one nanosecond.
const FASTEST_PER_S: f64 = 1e8;

impl Arrival {
    /// Scheduled operations per second of all clients; `None` in a closed loop.
    #[must_use]
    pub fn per_s(self) -> Option<f64> {
        match self {
            Self::Closed => None,
            Self::Fixed { per_s } | Self::Poisson { per_s } => Some(per_s),
        }
    }

    /// Checks that the rate can be scheduled; a closed loop always passes.
    ///
    /// # Errors
    /// If the rate is not a number, not above 0, or higher than 1e8 operations per second.
    pub fn check(self) -> Result<(), String> {
        match self.per_s() {
            Some(per_s) if !(per_s > 0.0 && per_s <= FASTEST_PER_S) => Err(format!(
                "{per_s} operations per second cannot be planned: use a rate above 0, up to {FASTEST_PER_S}"
            )),
            _ => Ok(()),
        }
    }

    /// Plans all arrivals within the first `until_ns` nanoseconds; `None` in a closed loop. Equal seeds give
    /// equal times.
    #[must_use]
    pub fn schedule(self, seed: u64, until_ns: u64) -> Option<Schedule> {
        match self {
            Self::Closed => None,
            Self::Fixed { per_s } => Some(Schedule::fixed(per_s, until_ns)),
            Self::Poisson { per_s } => Some(Schedule::poisson(per_s, seed, until_ns)),
        }
    }
}

/// Arrivals per block. Only the start of each Poisson block is stored; its arrivals are computed when they
/// are read.
const BLOCK: usize = 64;

/// Intended start times in nanoseconds from the start of the schedule, all fixed before the first operation.
#[derive(Debug, Clone)]
pub struct Schedule {
    /// Mean distance between two arrivals, nanoseconds.
    distance_ns: f64,
    planned: u64,
    random: Option<Random>,
}

#[derive(Debug, Clone)]
struct Random {
    seed: u64,
    /// Time in nanoseconds from which the first distance of each block is counted: the last arrival of the
    /// block before.
    starts: Vec<f64>,
}

impl Schedule {
    fn fixed(per_s: f64, until_ns: u64) -> Self {
        let distance_ns = 1e9 / per_s;
        let mut schedule = Self { distance_ns, planned: u64::MAX, random: None };
        schedule.planned = schedule.arrivals_before(until_ns);
        schedule
    }

    fn poisson(per_s: f64, seed: u64, until_ns: u64) -> Self {
        let distance_ns = 1e9 / per_s;
        let mut random = Random { seed, starts: Vec::new() };
        let (mut planned, mut block_start, mut times) = (0, 0.0, [0; BLOCK]);
        loop {
            let block = random.starts.len();
            random.starts.push(block_start);
            block_start = random.block(block, distance_ns, &mut times);
            let within = times.partition_point(|time| *time < until_ns);
            planned += within as u64;
            if within < BLOCK {
                return Self { distance_ns, planned, random: Some(random) };
            }
        }
    }

    /// Number of arrivals in the whole schedule.
    #[must_use]
    pub fn planned(&self) -> u64 {
        self.planned
    }

    /// Number of arrivals that are intended strictly before `ns` nanoseconds.
    #[must_use]
    pub fn arrivals_before(&self, ns: u64) -> u64 {
        let Some(random) = &self.random else {
            let mut count = (ns as f64 / self.distance_ns) as u64;
            // Corrects the estimate where rounding has put an arrival on the wrong side of `ns`.
            while count > 0 && self.fixed_time(count - 1) >= ns {
                count -= 1;
            }
            while count < self.planned && self.fixed_time(count) < ns {
                count += 1;
            }
            return count.min(self.planned);
        };
        let block = random.starts.partition_point(|start| *start < ns as f64).saturating_sub(1);
        let mut times = [0; BLOCK];
        random.block(block, self.distance_ns, &mut times);
        let within = times.partition_point(|time| *time < ns);
        ((block * BLOCK + within) as u64).min(self.planned)
    }

    /// Returns a cursor over the schedule. Each thread must use its own, because a reader caches one block.
    #[must_use]
    pub fn reader(&self) -> ScheduleReader<'_> {
        ScheduleReader { schedule: self, block: usize::MAX, times: [0; BLOCK] }
    }

    fn fixed_time(&self, index: u64) -> u64 {
        (index as f64 * self.distance_ns).round() as u64
    }
}

impl Random {
    /// Writes the arrival times of one block to `times` and returns the time from which the next block
    /// counts.
    fn block(&self, block: usize, distance_ns: f64, times: &mut [u64; BLOCK]) -> f64 {
        let mut time = self.starts.get(block).copied().unwrap_or(f64::MAX);
        let mut state = mix(self.seed ^ mix(block as u64));
        for slot in times {
            state = state.wrapping_add(GOLDEN);
            // Above 0 and at most 1, so that the logarithm is finite.
            let uniform = ((mix(state) >> 11) + 1) as f64 / (1_u64 << 53) as f64;
            time -= uniform.ln() * distance_ns;
            *slot = time.round() as u64;
        }
        time
    }
}

/// Increment of SplitMix64 (Steele, Lea & Flood 2014); `mix` is the output function of that generator.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Cursor over a [`Schedule`] that caches the block read last.
#[derive(Debug, Clone)]
pub struct ScheduleReader<'a> {
    schedule: &'a Schedule,
    block: usize,
    times: [u64; BLOCK],
}

impl ScheduleReader<'_> {
    /// Intended start of arrival number `index` in nanoseconds; `None` behind the last arrival.
    #[inline]
    pub fn arrival_ns(&mut self, index: u64) -> Option<u64> {
        if index >= self.schedule.planned {
            return None;
        }
        let Some(random) = &self.schedule.random else { return Some(self.schedule.fixed_time(index)) };
        let index = usize::try_from(index).ok()?;
        if self.block != index / BLOCK {
            self.block = index / BLOCK;
            random.block(self.block, self.schedule.distance_ns, &mut self.times);
        }
        Some(self.times[index % BLOCK])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn times(schedule: &Schedule) -> Vec<u64> {
        let mut reader = schedule.reader();
        (0..schedule.planned()).map_while(|index| reader.arrival_ns(index)).collect()
    }

    #[test]
    fn a_fixed_rate_is_even_and_does_not_drift() {
        let schedule = Arrival::Fixed { per_s: 3.0 }.schedule(1, 1000 * SECOND).unwrap();
        let times = times(&schedule);
        assert_eq!((times.len(), times[0], times[1]), (3000, 0, 333_333_333));
        assert_eq!((times[3], times[2997]), (SECOND, 999 * SECOND));
        assert_eq!(schedule.reader().arrival_ns(3000), None);
        assert!(Arrival::Closed.schedule(1, SECOND).is_none());
    }

    #[test]
    fn what_has_begun_is_counted_as_by_hand() {
        for arrival in [Arrival::Fixed { per_s: 777.0 }, Arrival::Poisson { per_s: 777.0 }] {
            let schedule = arrival.schedule(7, 3 * SECOND).unwrap();
            let times = times(&schedule);
            for until_ns in
                [0, 1, 2, times[5], times[5] + 1, times[200], SECOND, 2 * SECOND, 3 * SECOND, 9 * SECOND]
            {
                let by_hand = times.iter().filter(|time| **time < until_ns).count() as u64;
                assert_eq!(schedule.arrivals_before(until_ns), by_hand, "{arrival:?} {until_ns}");
            }
        }
    }

    #[test]
    fn poisson_distances_follow_their_law_and_their_seed() {
        let arrival = Arrival::Poisson { per_s: 10_000.0 };
        let first = times(&arrival.schedule(42, 20 * SECOND).unwrap());
        assert_eq!(first, times(&arrival.schedule(42, 20 * SECOND).unwrap()));
        assert_ne!(first[..10], times(&arrival.schedule(43, SECOND).unwrap())[..10]);
        // The arrivals of a longer schedule begin with those of a shorter one.
        let longer = times(&arrival.schedule(42, 21 * SECOND).unwrap());
        assert_eq!(first[..], longer[..first.len()]);
        assert!(first.is_sorted() && *first.last().unwrap() < 20 * SECOND);
        // 200,000 ± 4.5 standard deviations.
        assert!((first.len() as f64 - 200_000.0).abs() < 4.5 * 200_000_f64.sqrt(), "{}", first.len());
        // Kolmogorov–Smirnov test at 0.1 %: largest difference between the share of distances up to x and 1 −
        // e^(−x).
        let mut distances: Vec<f64> =
            first.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 100_000.0).collect();
        distances.sort_by(f64::total_cmp);
        let count = distances.len() as f64;
        let differences =
            (0..).zip(&distances).map(|(index, x)| (1.0 - (-x).exp() - f64::from(index) / count).abs());
        let largest = differences.fold(0.0, f64::max);
        assert!(largest < 1.95 / count.sqrt(), "{largest}");
    }

    #[test]
    fn rates_without_a_schedule_are_refused() {
        for per_s in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e12] {
            assert!(Arrival::Fixed { per_s }.check().is_err() && Arrival::Poisson { per_s }.check().is_err());
        }
        assert!(Arrival::Closed.check().is_ok() && Arrival::Fixed { per_s: 0.5 }.check().is_ok());
    }
}
