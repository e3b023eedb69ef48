//! Sizes of numbers of documents that were not loaded: a straight line through those that were.

use jsonathlon_results::number_format::{bytes, integer};

use super::limits::Bound;
use super::{Figure, Finding};
use crate::facts::{Measurement, SizePoint, SystemFacts};

/// Estimated size of a number of documents that was not loaded.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeEstimate {
    /// Number of documents that the estimate is for.
    pub documents: u64,
    /// Estimated size in bytes, on the line through the two largest loads.
    pub bytes: f64,
    /// Smallest and largest estimate that the loads allow: over all lines through two of them, with the ends
    /// of their intervals. `None` if nothing shows how far the line may be wrong.
    pub range: Option<[f64; 2]>,
    /// Numbers of documents of the loads behind it, in ascending order, with their sizes in bytes.
    pub points: Vec<(u64, f64)>,
}

/// Estimates the size of `documents` documents from loads of fewer or more of them. `None` with fewer than two
/// loads.
#[must_use]
pub fn size_at(documents: u64, sizes: &[SizePoint]) -> Option<SizeEstimate> {
    let points: Vec<(u64, &Measurement)> =
        sizes.iter().filter_map(|point| Some((point.documents, point.bytes.value()?))).collect();
    let [.., before, last] = points.as_slice() else { return None };
    let at = |a: (u64, f64), b: (u64, f64)| line(a, b, documents);
    let central = at((before.0, before.1.value), (last.0, last.1.value))?;
    let ends = |(count, measurement): &(u64, &Measurement)| {
        let ends = measurement.interval.map_or_else(|| vec![measurement.value], |interval| interval.to_vec());
        ends.into_iter().map(|end| (*count, end)).collect::<Vec<_>>()
    };
    let pairs = points
        .iter()
        .enumerate()
        .flat_map(|(index, first)| points.iter().skip(index + 1).map(move |second| (first, second)));
    let estimates: Vec<f64> = pairs
        .flat_map(|(first, second)| {
            let seconds = ends(second);
            ends(first).into_iter().flat_map(move |a| seconds.clone().into_iter().map(move |b| (a, b)))
        })
        .filter_map(|(a, b)| at(a, b))
        .collect();
    // Two loads without intervals lie on one line, whatever the growth is.
    let is_bounded = points.len() > 2 || points.iter().all(|(_, measurement)| measurement.interval.is_some());
    let range = estimates
        .iter()
        .fold([central, central], |[low, high], estimate| [low.min(*estimate), high.max(*estimate)]);
    Some(SizeEstimate {
        documents,
        bytes: central,
        range: is_bounded.then_some(range),
        points: points.iter().map(|(count, measurement)| (*count, measurement.value)).collect(),
    })
}

/// Value at `documents` of the line through two points. `None` if they have the same number of documents, or
/// if the line is not above 0 there.
fn line(a: (u64, f64), b: (u64, f64), documents: u64) -> Option<f64> {
    if a.0 == b.0 {
        return None;
    }
    let slope = (b.1 - a.1) / (b.0 as f64 - a.0 as f64);
    Some(b.1 + slope * (documents as f64 - b.0 as f64)).filter(|value| *value > 0.0)
}

/// Judges the estimated size of a number of documents.
pub(super) fn estimated_size(documents: u64, below_bytes: f64, facts: &SystemFacts) -> Finding {
    let Some(estimate) = size_at(documents, &facts.sizes) else {
        return Finding::not_tested("its growth is not known: only one number of documents was loaded");
    };
    let doubt = facts.sizes.iter().filter_map(|point| point.bytes.value()?.doubt.clone()).next();
    let value = bytes(estimate.bytes);
    let range = match estimate.range {
        Some([low, high]) => format!(" ({} … {})", bytes(low), bytes(high)),
        None => String::new(),
    };
    let loads: Vec<String> = estimate
        .points
        .iter()
        .map(|(documents, size)| format!("{} at {}", bytes(*size), integer(*documents as f64)))
        .collect();
    let whole = facts.whole_size().and_then(|point| point.bytes.value());
    let doubtful = doubt.as_ref().map(|doubt| format!("; {doubt}")).unwrap_or_default();
    let figure = Figure {
        words: format!(
            "about {value}{range} for {} documents, estimated from {}{doubtful}",
            integer(documents as f64),
            loads.join(", ")
        ),
        short: format!("≈ {value}"),
        predicate: format!("is estimated to take {value} for {} documents", integer(documents as f64)),
        measurement: whole.cloned(),
        value: Some(estimate.bytes),
        interval: estimate.range,
        is_estimate: true,
        part: whole.map(|measurement| measurement.part),
    };
    let state = match (Bound::Below(below_bytes).state_of(estimate.range), doubt) {
        (super::NeedState::Met, Some(_)) => super::NeedState::NotShown,
        (state, _) => state,
    };
    Finding::new(state, figure, estimate.bytes / below_bytes)
}
