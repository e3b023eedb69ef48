//! Compares systems by one criterion, as other reports compare cells: by the interval of the ratio of their
//! medians, paired by round.

use jsonathlon_results::leader::{Lead, lead};
use jsonathlon_results::ratio_to_best::{CellRatio, ComparisonTarget, Significance};
use jsonathlon_schema::metric::BetterDirection;
use jsonathlon_schema::record::RATE_PER_S;
use jsonathlon_stats::batch_schedule::KEPT_LIMIT;
use jsonathlon_stats::statistics::{Estimate, paired_ratio, unpaired_ratio};

use crate::facts::{Measured, Measurement, SystemFacts};
use crate::figures;
use crate::judgement::ANSWERED;
use crate::needs::Criterion;

/// Direction in which a criterion improves.
pub(super) fn direction(criterion: Criterion) -> BetterDirection {
    match criterion {
        Criterion::Capacity => BetterDirection::Higher,
        Criterion::Response(_) | Criterion::Report | Criterion::Size => BetterDirection::Lower,
    }
}

/// Figure of a system by which it is compared. `None` if it has none that counts: estimates, doubtful figures,
/// and those under a load of the system's own never do.
pub(super) fn measurement(criterion: Criterion, facts: &SystemFacts) -> Option<&Measurement> {
    let found = match criterion {
        Criterion::Response(quantile) => {
            let at_rate = facts.at_rate.as_ref()?;
            at_rate.kept_share.value().filter(|kept| kept.value >= KEPT_LIMIT)?;
            let responses = at_rate.response.iter();
            let counting = responses.filter(|response| ANSWERED.contains(&response.operation.as_str()));
            slowest(counting.filter_map(|response| response.quantiles.get(&quantile)))?
        }
        Criterion::Report => slowest(facts.reports.iter().filter_map(|report| {
            let is_at_rate = |measured: &&Measured| {
                measured.value().is_none_or(|figure| figure.cell.parameters.contains_key(RATE_PER_S))
            };
            report.under_load.as_ref().filter(is_at_rate).or(report.hot.as_ref())
        }))?,
        Criterion::Size => facts.whole_size()?.bytes.value()?,
        Criterion::Capacity => facts.capacity.as_ref()?.value()?,
    };
    (counts(found) && found.value > 0.0).then_some(found)
}

/// Whether a figure may be compared: doubtful ones and those over fewer documents than others have may not.
fn counts(figure: &Measurement) -> bool {
    figure.doubt.is_none() && !figure.lacks_documents
}

/// The largest of several figures, all of which must be there and count.
fn slowest<'m>(figures: impl Iterator<Item = &'m Measured>) -> Option<&'m Measurement> {
    let figures: Vec<&Measurement> =
        figures.map(|measured| measured.value().filter(|figure| counts(figure))).collect::<Option<_>>()?;
    figures.into_iter().max_by(|a, b| a.value.total_cmp(&b.value))
}

/// Ratio of two figures, paired by round where both come from one run. `None` without rounds.
pub(super) fn ratio(a: &Measurement, b: &Measurement) -> Option<Estimate> {
    if a.part != b.part {
        let values = |figure: &Measurement| figure.by_round.values().cloned().collect::<Vec<_>>();
        return unpaired_ratio(&values(a), &values(b));
    }
    let (a, b): (Vec<_>, Vec<_>) = a
        .by_round
        .iter()
        .filter_map(|(round, values)| Some((values.clone(), b.by_round.get(round)?.clone())))
        .unzip();
    paired_ratio(&a, &b)
}

/// Difference of `a` from `b` that their rounds show.
pub(super) fn difference(criterion: Criterion, a: &Measurement, b: &Measurement) -> Significance {
    ratio(a, b)
        .map_or(Significance::NotSignificant, |ratio| Significance::from_ratio(&ratio, direction(criterion)))
}

/// Order of some systems by a criterion.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standing {
    /// Index of the best one, by its median.
    pub(super) first: usize,
    /// Indexes of those that are not shown to be worse, the closest first.
    pub(super) tied: Vec<usize>,
    /// Indexes of those that are shown to be worse, the closest first.
    pub(super) worse: Vec<usize>,
    /// Indexes of those without a figure that counts, which may be better or worse.
    pub(super) unknown: Vec<usize>,
}

impl Standing {
    /// Compares the systems with these indexes. `None` if none has a figure that counts.
    pub(super) fn new(criterion: Criterion, systems: &[(usize, &SystemFacts)]) -> Option<Self> {
        let mut measured: Vec<(usize, &Measurement)> = systems
            .iter()
            .filter_map(|(index, facts)| Some((*index, measurement(criterion, facts)?)))
            .collect();
        let sign = if direction(criterion) == BetterDirection::Higher { -1.0 } else { 1.0 };
        measured.sort_by(|(_, a), (_, b)| (sign * a.value).total_cmp(&(sign * b.value)));
        let (_, best) = *measured.first()?;
        let ratios: Vec<(usize, CellRatio)> =
            measured.iter().map(|(index, figure)| (*index, cell_ratio(criterion, figure, best))).collect();
        let index_of = |wanted: &CellRatio| {
            ratios.iter().find(|(_, ratio)| std::ptr::eq(ratio, wanted)).map(|(index, _)| *index)
        };
        let (first, tied) = match lead(ratios.iter().map(|(_, ratio)| ratio))? {
            Lead::Alone(first) | Lead::Shown { first, .. } => (first, Vec::new()),
            Lead::NotShown { first, tied } => (first, tied),
        };
        let first = index_of(first)?;
        let mut tied: Vec<usize> = tied.into_iter().filter_map(index_of).collect();
        // Two systems that share a figure, because a run has only one configuration of both, do not differ.
        let shares_figure = |index: &usize, figure: &Measurement| *index != first && figure.cell == best.cell;
        let sharing = measured.iter().filter(|(index, figure)| shares_figure(index, figure));
        tied.extend(sharing.map(|(index, _)| *index));
        let others = measured.iter().map(|(index, _)| *index);
        let worse = others.filter(|index| *index != first && !tied.contains(index)).collect();
        let is_measured = |index: &usize| measured.iter().any(|(other, _)| other == index);
        let unknown = systems.iter().map(|(index, _)| *index).filter(|index| !is_measured(index)).collect();
        Some(Self { first, tied, worse, unknown })
    }
}

/// Comparison of a figure with the best one, as tables and pages of single runs have it.
fn cell_ratio(criterion: Criterion, figure: &Measurement, best: &Measurement) -> CellRatio {
    let ratio = ratio(figure, best);
    CellRatio {
        cell: figure.cell.clone(),
        compared_with: ComparisonTarget::Best,
        other: best.cell.id.clone(),
        other_profile: best.cell.profile,
        metric: criterion.words(),
        ratio: figure.value / best.value,
        low: ratio.and_then(|ratio| ratio.low),
        high: ratio.and_then(|ratio| ratio.high),
        difference: difference(criterion, figure, best),
    }
}

/// Value of a system by a criterion, for readers: `p99 0.8 ms`, `1.2 GB`, `2,000/s`.
pub(super) fn value_words(criterion: Criterion, figure: &Measurement) -> String {
    match criterion {
        Criterion::Response(quantile) => format!("{} {}", quantile.word(), figures::duration(figure.value)),
        Criterion::Report => figures::duration(figure.value),
        Criterion::Size => jsonathlon_results::number_format::bytes(figure.value),
        Criterion::Capacity => format!("{}/s", jsonathlon_results::number_format::integer(figure.value)),
    }
}

/// Value of a runner-up behind that of the best one, without repeating what it is.
pub(super) fn plain_words(criterion: Criterion, figure: &Measurement) -> String {
    match criterion {
        Criterion::Response(_) => figures::duration(figure.value),
        other => value_words(other, figure),
    }
}
