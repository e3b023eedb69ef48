//! What would change the decision: which need, moved how far, lets whom in or out.

use jsonathlon_results::number_format;

use super::Candidate;
use crate::figures;
use crate::judgement::{Judgement, NeedState, judge};
use crate::needs::{Need, RoundTripLevel, WantedKind};

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
    let interval = missed.figure.interval;
    let meets = |need: Need| judge(&need, &candidate.facts).state == NeedState::Met;
    let estimated = if missed.figure.is_estimate { ", by the estimate" } else { "" };
    let beyond = |limit: f64| Some(round_up(interval.filter(|[_, high]| *high >= limit)?[1]));
    let (proposed, words) = match missed.need {
        Need::RoundTrip(level) => {
            let weaker = [
                (RoundTripLevel::SameValues, "if the same values are enough"),
                (RoundTripLevel::Anything, "if documents may be changed"),
            ];
            let is_met =
                |(other, _): &(RoundTripLevel, &str)| *other > level && meets(Need::RoundTrip(*other));
            let (proposed, words) = weaker.into_iter().find(is_met)?;
            (Need::RoundTrip(proposed), words.to_owned())
        }
        Need::Rejected(_) => {
            let share = round_up(missed.figure.value?);
            let words = format!("if {} of the documents could be rejected", figures::percent(share));
            (Need::Rejected(share), words)
        }
        Need::Kind(_) => (Need::Kind(WantedKind::Any), "if its kind did not matter".to_owned()),
        // At another rate, the system would have to be measured again.
        Need::Rate(_) | Need::Durability(_) => return None,
        Need::Response { quantile, below_s } => {
            let below_s = beyond(below_s)?;
            let words = format!("at {} < {}", quantile.word(), figures::duration(below_s));
            (Need::Response { quantile, below_s }, words)
        }
        Need::Report(below_s) => {
            let below_s = beyond(below_s)?;
            (Need::Report(below_s), format!("if reports could take {}", figures::duration(below_s)))
        }
        Need::Size { at, below_bytes } => {
            let below_bytes = beyond(below_bytes)?;
            let size = number_format::bytes(below_bytes);
            (Need::Size { at, below_bytes }, format!("at a size of {size} {}{estimated}", at.word()))
        }
    };
    // The figure is that of the worst cell; another one may miss the proposed limit, or be doubtful.
    meets(proposed).then(|| format!("{name} would meet all needs {words}."))
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
