//! Evaluates the reference rows, which run the same program on the same data in every run.

use jsonathlon_stats::statistics::binomial_tail;
use serde::Serialize;

use super::CellComparison;

/// Expected share of equal cells that 95 % intervals call different.
const CHANCE_SHARE: f64 = 0.05;

/// Probability below which the number of different cells is not attributed to chance.
const MIN_PROBABILITY: f64 = 0.05;

/// What the reference rows say about the machine. A single differing cell says nothing, because one of twenty
/// is expected to differ by chance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct References {
    /// Number of reference cells with an interval.
    pub with_interval: usize,
    /// Number of these whose interval, from their own rounds alone, excludes 1.
    pub differ: usize,
    /// Number of these that chance alone is expected to call different.
    pub expected_by_chance: f64,
    /// Whether more cells differ than chance explains: as many or more would differ with a probability below
    /// 5 %.
    pub beyond_chance: bool,
}

impl References {
    pub(super) fn new(cells: &[CellComparison]) -> Self {
        let tested = || cells.iter().filter(|cell| cell.reference && cell.has_interval());
        let with_interval = tested().count();
        let differ = tested().filter(|cell| cell.rounds_exclude_one).count();
        Self {
            with_interval,
            differ,
            expected_by_chance: with_interval as f64 * CHANCE_SHARE,
            beyond_chance: binomial_tail(differ as u64, with_interval as u64, CHANCE_SHARE) < MIN_PROBABILITY,
        }
    }
}
