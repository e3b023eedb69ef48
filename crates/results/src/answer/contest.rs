//! Compares the results of one ranking with the best of them, and words the outcome.

use std::collections::{BTreeMap, BTreeSet};

use jsonathlon_schema::metric::{BetterDirection, MetricDef, SECONDS};
use jsonathlon_schema::record::{Cell, Verdict};
use jsonathlon_schema::severity::Severity;
use jsonathlon_schema::workload::WorkloadKind;
use jsonathlon_stats::statistics::{Estimate, SamplesByRound, bootstrap_mean_ratio};

use super::caveats::{Caveats, count_caveats};
use super::context::{Context, Ranking};
use super::draft::AnswerDraft;
use super::sentence::Wording;
use super::{Answer, AnswerCaveat, AnswerOutcome, AnswerSubject};
use crate::leader::{Lead, is_the_best, lead};
use crate::ratio_to_best::{CellRatio, ComparisonTarget, RankedCell, Significance};

/// Ratio of upper to lower limit above which an interval of a busy machine shows no leader.
const MAX_BUSY_SPAN: f64 = 10.0;

/// Number of rounds up to which more of them may well show a difference that was not shown.
const MAX_FEW_ROUNDS: usize = 4;

/// Results of one ranking, each compared with the best of them.
pub(super) struct Contest {
    results: Vec<CellRatio>,
    better: BetterDirection,
    /// Number of rounds in which the best one was measured.
    rounds: usize,
    /// Configurations whose answers are approximate.
    approximate: Vec<usize>,
}

/// Subject of a timed comparison, and its words.
pub(super) struct Topic<'t> {
    pub(super) workload: WorkloadKind,
    pub(super) ranking: &'t str,
    pub(super) subject: AnswerSubject,
    pub(super) conditions: String,
    pub(super) wording: Wording,
}

impl Topic<'_> {
    pub(super) fn answer(self, context: &Context<'_>, outcome: AnswerOutcome, caveats: Caveats) -> Answer {
        let is_own = |ranking: &&Ranking| ranking.name == self.ranking;
        let is_alone = context.rankings.iter().find(is_own).is_some_and(|own| own.members.len() == 1);
        let draft = AnswerDraft {
            workload: self.workload.into(),
            ranking: self.ranking.to_owned(),
            subject: self.subject,
            conditions: self.conditions,
            sentence: self.wording.sentence(&outcome, is_alone, |index| context.name(index)),
            outcome,
            severity: Severity::Good,
        };
        draft.with_caveats(context, &caveats)
    }
}

impl Contest {
    /// Compares cells of different configurations by their headline metric. `None` if none has a value.
    pub(super) fn of_cells(context: &Context<'_>, cells: &[&RankedCell<'_>]) -> Option<Self> {
        Self::by_metric(context, cells, cells.first()?.entry.headline())
    }

    /// Compares cells of different configurations by a metric. `None` if none has a value.
    pub(super) fn by_metric(
        context: &Context<'_>,
        cells: &[&RankedCell<'_>],
        metric: &MetricDef,
    ) -> Option<Self> {
        let is_higher_better = metric.better == BetterDirection::Higher;
        let best = smallest(cells, |cell| {
            cell.entry.value(metric).map(|value| if is_higher_better { -value } else { value })
        })?;
        let results = cells.iter().filter_map(|cell| compare(context, cell, best, metric)).collect();
        let approximate = approximate(context, cells.iter().copied());
        Some(Self::from_results(context, results, metric.better, approximate))
    }

    /// Compares the times of configurations over several questions. Each member has one cell per question, in
    /// the same order.
    ///
    /// The ratio is the geometric mean of the ratios of all questions, with its interval over rounds; see
    /// [`bootstrap_mean_ratio`].
    pub(super) fn over_several(context: &Context<'_>, members: &[Vec<&RankedCell<'_>>]) -> Option<Self> {
        if members.iter().all(|cells| cells.len() == 1) {
            let cells: Vec<&RankedCell<'_>> = members.iter().flatten().copied().collect();
            return Self::of_cells(context, &cells);
        }
        let times = Times::of_members(context, members);
        let best = smallest(&times, |times| Some(times.mean_logarithm))?;
        let results = times.iter().map(|times| times.compare(best, context.parts.alpha)).collect();
        let approximate = approximate(context, members.iter().flatten().copied());
        Some(Self::from_results(context, results, SECONDS.better, approximate))
    }

    /// Makes a contest of results that were compared with the best of them before.
    pub(super) fn from_results(
        context: &Context<'_>,
        results: Vec<CellRatio>,
        better: BetterDirection,
        approximate: Vec<usize>,
    ) -> Self {
        let best = results.iter().find(|result| is_the_best(result));
        let is_of_best = |cell: &Cell| best.is_some_and(|best| best.cell == *cell);
        let trials = context.run.trials().filter(|trial| is_of_best(&trial.cell));
        let rounds = trials.map(|trial| trial.round).collect::<BTreeSet<u32>>().len();
        Self { results, better, rounds, approximate }
    }

    /// Decides who leads. `None` if there are no results.
    pub(super) fn outcome(&self, context: &Context<'_>) -> Option<AnswerOutcome> {
        let index = |result: &CellRatio| context.index_of(&result.cell);
        let is_tied = |is_close: &dyn Fn(&CellRatio) -> bool| {
            let tied = self.results.iter().filter(|result| !is_the_best(result) && is_close(result));
            let best = self.results.iter().filter(|result| is_the_best(result));
            let tied = best.chain(tied).filter_map(index).collect();
            AnswerOutcome::NoDifferenceShown { tied, interval: None }
        };
        // The median over all rounds and the ratio over shared rounds may contradict each other.
        let is_better_than_best = |result: &CellRatio| result.difference == Significance::Faster;
        Some(match lead(&self.results)? {
            Lead::Alone(only) => AnswerOutcome::OnlyOne { only: index(only)? },
            Lead::Shown { .. } if self.results.iter().any(is_better_than_best) => {
                is_tied(&is_better_than_best)
            }
            Lead::Shown { runner_up, .. } if context.is_busy && span(runner_up) > MAX_BUSY_SPAN => {
                is_tied(&|result| span(result) > MAX_BUSY_SPAN)
            }
            Lead::Shown { first, runner_up } => {
                let [ratio, low, high] = self.times_better(runner_up)?;
                AnswerOutcome::Leader { first: index(first)?, runner_up: index(runner_up)?, ratio, low, high }
            }
            Lead::NotShown { first, tied } => {
                let has_too_few_rounds = tied.iter().any(|result| result.limits().is_none());
                let interval = tied
                    .iter()
                    .filter_map(|result| self.times_better(result))
                    .map(|[_, low, high]| [low, high])
                    .reduce(|[low, high], [other_low, other_high]| {
                        [low.min(other_low), high.max(other_high)]
                    });
                let all: Vec<usize> = std::iter::once(first).chain(tied).filter_map(index).collect();
                match has_too_few_rounds {
                    true => AnswerOutcome::TooFewRounds { candidates: all },
                    false => AnswerOutcome::NoDifferenceShown { tied: all, interval },
                }
            }
        })
    }

    /// How many times better the best one is than this configuration. `None` if that is not shown, or if it is the
    /// best one.
    pub(super) fn deficit(&self, context: &Context<'_>, configuration: usize) -> Option<f64> {
        let is_own = |result: &&CellRatio| context.index_of(&result.cell) == Some(configuration);
        let own = self.results.iter().find(is_own)?;
        if is_the_best(own) || own.difference != Significance::Slower {
            return None;
        }
        self.times_better(own).map(|[ratio, ..]| ratio)
    }

    /// How many times better the best one is than `result`, with its limits. `None` without an interval.
    fn times_better(&self, result: &CellRatio) -> Option<[f64; 3]> {
        let [low, high] = result.limits()?;
        Some(match self.better {
            BetterDirection::Higher => [1.0 / result.ratio, 1.0 / high, 1.0 / low],
            BetterDirection::Lower | BetterDirection::Neither => [result.ratio, low, high],
        })
    }

    /// Reasons to be careful with the outcome of this contest.
    pub(super) fn caveats(
        &self,
        context: &Context<'_>,
        outcome: &AnswerOutcome,
        is_part_of_questions: bool,
    ) -> Caveats {
        let named = outcome.configurations();
        let is_embedded =
            |index: &usize| context.configuration(*index).is_some_and(|configuration| configuration.embedded);
        let mut caveats = count_caveats(context, outcome);
        if let AnswerOutcome::Leader { first, runner_up, .. } = outcome
            && is_embedded(first)
            && !is_embedded(runner_up)
        {
            caveats.add(AnswerCaveat::Embedded, [*first, *runner_up]);
        }
        // Without a difference because of intervals, not because the machine was busy.
        let is_undecided = matches!(outcome, AnswerOutcome::NoDifferenceShown { .. })
            && matches!(lead(&self.results), Some(Lead::NotShown { .. }));
        let approximate = self.approximate.iter().copied().filter(|index| named.contains(index));
        let approximate: Vec<usize> = approximate.collect();
        let conditions = [
            (self.rounds == 1, AnswerCaveat::OneRound),
            (is_undecided && (2..=MAX_FEW_ROUNDS).contains(&self.rounds), AnswerCaveat::FewRounds),
            (context.is_busy, AnswerCaveat::BusyMachine),
            (is_part_of_questions, AnswerCaveat::Partial),
        ];
        for (_, caveat) in conditions.into_iter().filter(|(is_met, _)| *is_met) {
            caveats.add(caveat, []);
        }
        if !approximate.is_empty() {
            caveats.add(AnswerCaveat::Approximate, approximate);
        }
        caveats
    }
}

/// Configurations that gave approximate answers in one of these cells.
fn approximate<'c, 'a: 'c>(
    context: &Context<'_>,
    cells: impl Iterator<Item = &'c RankedCell<'a>>,
) -> Vec<usize> {
    let approximate = cells.filter(|cell| cell.entry.verdict == Verdict::Approximate);
    approximate.filter_map(|cell| context.index_of(&cell.entry.cell)).collect()
}

/// Ratio of the upper to the lower limit of a result; infinite without an interval.
fn span(result: &CellRatio) -> f64 {
    result.low.zip(result.high).map_or(f64::INFINITY, |(low, high)| high / low)
}

/// First item with the smallest value. `None` if no item has a value.
fn smallest<T>(items: &[T], value: impl Fn(&T) -> Option<f64>) -> Option<&T> {
    let valued = items.iter().filter_map(|item| Some((item, value(item)?)));
    valued.min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(item, _)| item)
}

/// Compares a cell with the best one, without an interval if they share no round. `None` without a value.
fn compare(
    context: &Context<'_>,
    cell: &RankedCell<'_>,
    best: &RankedCell<'_>,
    metric: &MetricDef,
) -> Option<CellRatio> {
    let ratio = cell.entry.value(metric)? / best.entry.value(metric)?;
    let compared = context.rounds.compare_by(metric, cell, best, ComparisonTarget::Best, context.parts.alpha);
    let without_interval = Estimate { median: ratio, low: None, high: None };
    Some(compared.unwrap_or_else(|| comparison(cell, best, metric, &without_interval)))
}

fn comparison(
    cell: &RankedCell<'_>,
    best: &RankedCell<'_>,
    metric: &MetricDef,
    ratio: &Estimate,
) -> CellRatio {
    CellRatio {
        cell: cell.entry.cell.clone(),
        compared_with: ComparisonTarget::Best,
        other: best.configuration.id.clone(),
        other_profile: best.configuration.profile,
        metric: metric.name.to_owned(),
        ratio: ratio.median,
        low: ratio.low,
        high: ratio.high,
        difference: Significance::from_ratio(ratio, metric.better),
    }
}

/// Times of one configuration for several questions.
struct Times<'m, 'a> {
    /// Cell of the first question, which stands for all.
    cell: &'m RankedCell<'a>,
    /// Mean of the logarithms of all medians.
    mean_logarithm: f64,
    /// Times by question and round. A round without times is empty.
    rounds: Vec<Vec<Vec<f64>>>,
}

impl<'m, 'a> Times<'m, 'a> {
    fn of_members(context: &Context<'_>, members: &[Vec<&'m RankedCell<'a>>]) -> Vec<Self> {
        let by_round = |cells: &Vec<&'m RankedCell<'a>>| -> Vec<BTreeMap<u32, Vec<f64>>> {
            cells.iter().map(|cell| context.rounds.values(cell.entry, &SECONDS)).collect()
        };
        let times: Vec<Vec<BTreeMap<u32, Vec<f64>>>> = members.iter().map(by_round).collect();
        let numbers: BTreeSet<u32> =
            times.iter().flatten().flat_map(|rounds| rounds.keys().copied()).collect();
        let align = |rounds: &BTreeMap<u32, Vec<f64>>| -> Vec<Vec<f64>> {
            numbers.iter().map(|number| rounds.get(number).cloned().unwrap_or_default()).collect()
        };
        let member = |(cells, times): (&Vec<&'m RankedCell<'a>>, &Vec<BTreeMap<u32, Vec<f64>>>)| {
            let logarithms = cells.iter().map(|cell| cell.entry.median_s.map(f64::ln));
            let sum = logarithms.sum::<Option<f64>>()?;
            Some(Self {
                cell: *cells.first()?,
                mean_logarithm: sum / cells.len() as f64,
                rounds: times.iter().map(align).collect(),
            })
        };
        members.iter().zip(&times).filter_map(member).collect()
    }

    fn compare(&self, best: &Self, alpha: f64) -> CellRatio {
        let pairs: Vec<(&SamplesByRound, &SamplesByRound)> =
            self.rounds.iter().zip(&best.rounds).map(|(a, b)| (a.as_slice(), b.as_slice())).collect();
        let median = (self.mean_logarithm - best.mean_logarithm).exp();
        let without_interval = Estimate { median, low: None, high: None };
        let ratio = bootstrap_mean_ratio(&pairs).map_or(without_interval, |ratio| ratio.interval_at(alpha));
        comparison(self.cell, best.cell, &SECONDS, &ratio)
    }
}
