//! What would change the decision: which need, moved how far, lets whom in or out.

use jsonathlon_results::number_format;

use super::Candidate;
use crate::figures;
use crate::judgement::{Judgement, NeedState};
use crate::needs::{Need, RoundTripLevel};

/// Sentences on single needs: those that keep out a system that meets all others, and those by which a
/// system that meets all would be the first to drop out.
pub(super) fn changes(candidates: &[Candidate]) -> Vec<String> {
    let entering = candidates.iter().filter_map(|candidate| match candidate.missed().as_slice() {
        [only] => entering(candidate, only),
        _ => None,
    });
    entering.chain(leaving(candidates)).collect()
}

/// Which limit a system that misses one need would meet.
fn entering(candidate: &Candidate, missed: &Judgement) -> Option<String> {
    let name = &candidate.facts.name;
    if matches!(missed.state, NeedState::NotTested(_)) {
        return None;
    }
    // A doubtful figure would not meet any limit.
    let is_doubtful = missed.figure.measurement.as_ref().is_some_and(|figure| figure.doubt.is_some());
    let interval = missed.figure.interval.filter(|_| !is_doubtful);
    let estimated = if missed.figure.is_estimate { ", by the estimate" } else { "" };
    Some(match missed.need {
        Need::RoundTrip(level) => {
            let with = match level {
                RoundTripLevel::SameBytes if candidate.facts.round_trip.as_ref()?.changed == 0 => {
                    "if the same values are enough"
                }
                _ => "if documents may be changed",
            };
            format!("{name} would meet all needs {with}.")
        }
        Need::Rejected(_) => {
            let share = figures::percent(round_up(missed.figure.value?));
            format!("{name} would meet all needs if {share} of the documents could be rejected.")
        }
        Need::Kind(_) => format!("{name} would meet all needs if its kind did not matter."),
        // At another rate, the system would have to be measured again.
        Need::Rate(_) | Need::Durability(_) => return None,
        Need::Response { quantile, below_s } => {
            let [_, high] = interval.filter(|[_, high]| *high >= below_s)?;
            let limit = figures::duration(round_up(high));
            format!("{name} would meet all needs at {} < {limit}.", quantile.word())
        }
        Need::Report(below_s) => {
            let [_, high] = interval.filter(|[_, high]| *high >= below_s)?;
            let limit = figures::duration(round_up(high));
            format!("{name} would meet all needs if reports could take {limit}.")
        }
        Need::Size { at, below_bytes } => {
            let [_, high] = interval.filter(|[_, high]| *high >= below_bytes)?;
            let limit = number_format::bytes(round_up(high));
            format!("{name} would meet all needs at a size of {limit} {}{estimated}.", at.word())
        }
    })
}

/// For each need with a number, which of the systems that meet all would be shown to miss it first.
fn leaving(candidates: &[Candidate]) -> Vec<String> {
    let meeting: Vec<&Candidate> = candidates
        .iter()
        .filter(|candidate| candidate.meets_all && !candidate.judgements.is_empty())
        .collect();
    let Some(any) = meeting.first() else { return Vec::new() };
    let sentences = any.judgements.iter().filter_map(|judgement| {
        let dimension = judgement.need.dimension();
        let low = |candidate: &Candidate| Some(candidate.judgement(dimension)?.figure.interval?[0]);
        let first = meeting.iter().copied().filter(|candidate| low(candidate).is_some());
        let first = first.max_by(|a, b| low(a).unwrap_or(0.0).total_cmp(&low(b).unwrap_or(0.0)))?;
        let limit = round_down(low(first)?);
        let estimated = first.judgement(dimension).is_some_and(|one| one.figure.is_estimate);
        let estimated = if estimated { ", by the estimate" } else { "" };
        let words = match judgement.need {
            Need::Response { quantile, .. } => format!("{} < {}", quantile.word(), figures::duration(limit)),
            Need::Report(_) => format!("reports in less than {}", figures::duration(limit)),
            Need::Size { at, .. } => {
                format!("a size of less than {} {}", number_format::bytes(limit), at.word())
            }
            Need::Durability(_) | Need::RoundTrip(_) | Need::Rejected(_) | Need::Rate(_) | Need::Kind(_) => {
                return None;
            }
        };
        Some(format!("{} would miss {words}{estimated}.", first.facts.name))
    });
    sentences.collect()
}

/// The next number above with two significant digits.
fn round_up(value: f64) -> f64 {
    let step = step(value);
    ((value / step).floor() + 1.0) * step
}

/// The next number below or equal with two significant digits.
fn round_down(value: f64) -> f64 {
    let step = step(value);
    ((value / step).floor()).max(1.0) * step
}

/// Distance of numbers with two significant digits at a value.
fn step(value: f64) -> f64 {
    if value <= 0.0 { 1e-4 } else { 10_f64.powf(value.log10().floor() - 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_rounded_away_from_the_interval() {
        for (value, up, down) in [(0.00314, 0.0032, 0.0031), (99.9, 100.0, 99.0), (1.0, 1.1, 1.0)] {
            assert!((round_up(value) - up).abs() < 1e-9 * up, "{value}: {}", round_up(value));
            assert!((round_down(value) - down).abs() < 1e-9 * down, "{value}: {}", round_down(value));
        }
        assert!(round_up(0.0) > 0.0);
    }
}
