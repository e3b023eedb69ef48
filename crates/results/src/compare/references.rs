//! Rows to read others by: the same program on the same data in every run.

use jsonathlon_measure::statistics::at_least;
use serde::Serialize;

use super::CellComparison;

/// Share of equal cells that 95 % intervals are expected to call different.
const BY_CHANCE: f64 = 0.05;

/// So improbable by chance alone that it is none.
const NO_CHANCE: f64 = 0.05;

/// What the reference rows tell of the machine. One cell that differs tells nothing: among twenty of them one is
/// expected to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct References {
    /// Their cells with an interval.
    pub with_interval: usize,
    /// How many of these have an interval, of their own rounds and nothing else, that excludes 1.
    pub differ: usize,
    /// How many chance alone is expected to call so.
    pub expected_by_chance: f64,
    /// Whether it is more than chance explains: with a probability below 5 % so many or more would differ.
    pub beyond_chance: bool,
}

impl References {
    pub(super) fn of(cells: &[CellComparison]) -> Self {
        let tested = || cells.iter().filter(|cell| cell.reference && cell.has_interval());
        let with_interval = tested().count();
        let differ = tested().filter(|cell| cell.beyond_rounds).count();
        Self {
            with_interval,
            differ,
            expected_by_chance: with_interval as f64 * BY_CHANCE,
            beyond_chance: at_least(differ as u64, with_interval as u64, BY_CHANCE) < NO_CHANCE,
        }
    }
}
