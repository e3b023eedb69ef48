//! Systems that another one equals or beats in everything that was measured.

use jsonathlon_results::ratio_to_best::Significance;
use jsonathlon_schema::metric::BetterDirection;

use super::Candidate;
use super::comparison::{difference, direction, measurement};
use crate::facts::SystemFacts;
use crate::needs::Criterion;

/// Names for each candidate the first one that dominates it. A dominated one dominates nobody in turn.
pub(super) fn find(candidates: &mut [Candidate], order: &[Criterion]) {
    let dominators: Vec<Option<usize>> = (0..candidates.len())
        .map(|index| {
            (0..candidates.len()).find(|other| {
                *other != index && dominates(&candidates[*other].facts, &candidates[index].facts, order)
            })
        })
        .collect();
    for index in 0..candidates.len() {
        // The last one of a chain is named, which nobody dominates.
        let mut last = dominators[index];
        for _ in 0..candidates.len() {
            match last.and_then(|dominator| dominators[dominator]) {
                Some(next) if Some(next) != last => last = Some(next),
                _ => break,
            }
        }
        candidates[index].dominated_by = last.map(|dominator| candidates[dominator].facts.name.clone());
    }
}

/// How one system compares with another one in one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It is shown to be better, or an exact count is.
    Better,
    /// No difference is shown, and its figure is not worse.
    Equal,
    /// Its figure is worse.
    Worse,
    /// Only one of the two was measured, so that neither equals the other.
    Incomparable,
    /// Neither of the two was measured.
    Unknown,
}

/// Whether `a` equals or beats `b` in every measured dimension, and is shown to beat it in one.
fn dominates(a: &SystemFacts, b: &SystemFacts, order: &[Criterion]) -> bool {
    let counts: [fn(&SystemFacts) -> Option<f64>; 4] =
        [losses, changed_share, rejected_share, failed_questions];
    let standings: Vec<Standing> = order
        .iter()
        .map(|criterion| by_criterion(*criterion, a, b))
        .chain(counts.iter().map(|count| by_count(count(a), count(b))))
        .collect();
    let is_no_equal = |standing: &Standing| matches!(standing, Standing::Worse | Standing::Incomparable);
    !standings.iter().any(is_no_equal) && standings.contains(&Standing::Better)
}

fn by_criterion(criterion: Criterion, a: &SystemFacts, b: &SystemFacts) -> Standing {
    let (a, b) = match (measurement(criterion, a), measurement(criterion, b)) {
        (Some(a), Some(b)) => (a, b),
        (None, None) => return Standing::Unknown,
        // What has no figure that counts is neither better nor worse nor equal.
        (None, Some(_)) | (Some(_), None) => return Standing::Incomparable,
    };
    let is_not_worse = match direction(criterion) {
        BetterDirection::Higher => a.value >= b.value,
        BetterDirection::Lower | BetterDirection::Neither => a.value <= b.value,
    };
    match difference(criterion, a, b) {
        Significance::Faster => Standing::Better,
        Significance::NotSignificant if is_not_worse => Standing::Equal,
        Significance::NotSignificant | Significance::Slower => Standing::Worse,
    }
}

/// Compares exact counts, of which fewer are better.
fn by_count(a: Option<f64>, b: Option<f64>) -> Standing {
    match (a, b) {
        (Some(a), Some(b)) if a < b => Standing::Better,
        (Some(a), Some(b)) if a > b => Standing::Worse,
        (Some(_), Some(_)) => Standing::Equal,
        (None, Some(_)) | (Some(_), None) => Standing::Incomparable,
        (None, None) => Standing::Unknown,
    }
}

/// Share of crashes that lost more than promised. `None` if no crash was made.
fn losses(facts: &SystemFacts) -> Option<f64> {
    let sum = |count: fn(&crate::facts::CrashEvidence) -> u64| {
        facts.durability.evidence.iter().map(count).sum::<u64>() as f64
    };
    let crashes = sum(|evidence| evidence.crashes);
    (crashes > 0.0).then(|| 1.0 - sum(|evidence| evidence.as_promised) / crashes)
}

fn changed_share(facts: &SystemFacts) -> Option<f64> {
    facts.round_trip.as_ref().map(|trip| trip.changed as f64 / trip.compared as f64)
}

fn rejected_share(facts: &SystemFacts) -> Option<f64> {
    let load = facts.documents.as_ref().filter(|load| load.failure.is_none() && load.offered > 0)?;
    Some(load.rejected as f64 / load.offered as f64)
}

/// Questions that the system failed at. `None` if it was asked none.
fn failed_questions(facts: &SystemFacts) -> Option<f64> {
    use crate::facts::Measured;
    let asked: Vec<&Measured> = facts.reports.iter().filter_map(|report| report.hot.as_ref()).collect();
    let failed = asked.iter().filter(|measured| matches!(measured, Measured::Failed(_))).count();
    (!asked.is_empty()).then_some(failed as f64)
}
