//! The rate that is offered to all systems where the user states none.

use jsonathlon_results::summary::{CellSummary, Run};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric::THROUGHPUT_OPS_PER_S;
use jsonathlon_schema::record::{Phase, Verdict};

/// Share of the slowest system's capacity that is offered.
const SHARE: f64 = 0.5;

/// A rate, and the system that it was derived from.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DerivedRate {
    /// Operations per second, of two digits.
    pub(super) per_s: f64,
    /// Display name of the slowest system.
    pub(super) slowest: String,
    /// Operations per second that it reached.
    pub(super) capacity: f64,
    /// Whether there are others, which were not made for such loads and do not count.
    pub(super) leaves_out: bool,
}

/// Derives the rate from what clients reached without one: half of what the slowest system did. Systems that were
/// not made for such loads do not count, as long as there are others: at a rate of a few operations per second all
/// others would only be idle. `None` if no system reached anything that was verified.
pub(super) fn derive_rate(run: &Run) -> Option<DerivedRate> {
    let summary = run.summary();
    let capacities: Vec<(&Configuration, f64)> = summary
        .results
        .iter()
        .filter(|entry| is_capacity(entry))
        .filter_map(|entry| {
            let configurations = &run.manifest.configurations;
            let configuration = configurations.iter().find(|one| one.contains_cell(&entry.cell))?;
            Some((configuration, entry.value(&THROUGHPUT_OPS_PER_S)?))
        })
        .collect();
    let slowest = |made_for: bool| {
        let candidates = capacities.iter().filter(|(one, _)| !made_for || one.not_made_for.is_none());
        candidates.min_by(|(_, a), (_, b)| a.total_cmp(b))
    };
    let (configuration, capacity) = slowest(true).or_else(|| slowest(false))?;
    let per_s = two_digits(SHARE * capacity);
    let leaves_out =
        configuration.not_made_for.is_none() && capacities.iter().any(|(one, _)| one.not_made_for.is_some());
    Some(DerivedRate { per_s, slowest: configuration.title.clone(), capacity: *capacity, leaves_out })
}

fn is_capacity(entry: &CellSummary) -> bool {
    let cell = &entry.cell;
    cell.phase == Phase::Measured
        && !cell.is_open_loop()
        && !cell.is_single_operation()
        && entry.verdict == Verdict::Exact
}

/// Rounds to two significant digits, to at least one operation in ten seconds.
fn two_digits(number: f64) -> f64 {
    let number = number.max(0.1);
    let unit = 10_f64.powf(number.log10().floor() - 1.0);
    let rounded = (number / unit).round() * unit;
    // A unit below 1 is no exact number: without rounding, 0.35 would be shown with all its digits.
    (rounded * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_two_digits() {
        for (number, rate) in
            [(937.0, 940.0), (12_345.0, 12_000.0), (99.6, 100.0), (3.456, 3.5), (0.347, 0.35), (0.0, 0.1)]
        {
            assert_eq!(two_digits(number).to_string(), f64::to_string(&rate), "{number}");
        }
    }
}
