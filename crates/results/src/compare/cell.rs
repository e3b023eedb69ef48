//! Compares one metric of a matched cell, before all cells are tested together.

use std::collections::BTreeMap;

use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric::{MetricDef, Unit};
use jsonathlon_schema::record::Verdict;
use jsonathlon_stats::statistics::ALPHA;

use super::matching::CellPair;
use super::plans::PlanViolations;
use super::ratios::{SideRatio, ValuesByRound};
use super::{CellComparison, Outcome, SideValue, SizeChange, is_correct};
use crate::cell_summary::CellSummary;
use crate::promise::BrokenPromise;
use crate::ratio_to_best::{CONFIGURATION_PARAMETERS, Significance};

/// One metric of a matched cell with its values on both sides.
pub(super) struct MatchedMetric<'a> {
    pub(super) pair: &'a CellPair<'a>,
    pub(super) metric: &'static MetricDef,
    pub(super) values: [ValuesByRound; 2],
}

impl MatchedMetric<'_> {
    /// Makes the comparison of the cell before cells are tested, so that a ratio does not show a difference
    /// yet.
    pub(super) fn comparison(&self, ratio: Option<&SideRatio>, plans: &PlanViolations<'_>) -> CellComparison {
        let Self { pair, metric, values } = self;
        let [rounds_a, rounds_b] = values.each_ref().map(BTreeMap::len);
        let (outcome, note) = self.outcome(ratio, plans);
        let notes: Vec<String> = [note, plans.note()].into_iter().flatten().collect();
        let [configuration_a, configuration_b] = pair.configurations;
        let side =
            |entry: &CellSummary, configuration: &Configuration, verdict: Verdict, rounds: usize| SideValue {
                id: configuration.id.clone(),
                verdict,
                median_s: entry.median_s.filter(|_| verdict.has_time()),
                value: entry.value(metric).filter(|_| verdict.has_time()),
                trials: entry.trials,
                rounds,
            };
        let raw = ratio.map(|ratio| ratio.raw.interval_at(ALPHA));
        let mut parameters = pair.b.cell.parameters.clone();
        parameters.retain(|name, _| name != "scale" && !CONFIGURATION_PARAMETERS.contains(&name.as_str()));
        CellComparison {
            workload: pair.b.cell.workload.clone(),
            id: configuration_b.id.clone(),
            class: configuration_b.ranking(),
            reference: configuration_b.reference,
            step: pair.b.cell.step.clone(),
            phase: pair.b.cell.phase,
            state: pair.b.cell.state,
            parameters,
            metric,
            a: side(pair.a, configuration_a, pair.verdict_a, rounds_a),
            b: side(pair.b, configuration_b, pair.verdict_b, rounds_b),
            ratio: raw.map(|raw| raw.median),
            low: raw.and_then(|raw| raw.low),
            high: raw.and_then(|raw| raw.high),
            divided_by_control: ratio
                .and_then(|ratio| ratio.divided_by_control)
                .map(|divided| divided.interval_at(ALPHA).into()),
            p_differs: None,
            p_adjusted: None,
            p_slower: None,
            raw_outcome: None,
            outcome,
            note: (!notes.is_empty()).then(|| notes.join("; ")),
            rounds_exclude_one: ratio.is_some_and(|ratio| ratio.rounds_exclude_one),
        }
    }

    /// Outcome before cells are tested, with a note if the values do not explain it.
    fn outcome(&self, ratio: Option<&SideRatio>, plans: &PlanViolations<'_>) -> (Outcome, Option<String>) {
        let Self { pair, metric, .. } = self;
        let (right_a, right_b) = (is_correct(pair.verdict_a), is_correct(pair.verdict_b));
        let breaks_promise = [pair.a, pair.b].map(|entry| BrokenPromise::from_entry(entry).is_some());
        match (right_a, right_b, ratio) {
            (true, false, _) => (Outcome::NowFails, None),
            (true, true, _) if plans.is_new_violation() => (Outcome::NowFails, None),
            (false, true, _) => (Outcome::NowAnswers, None),
            (true, true, _) if breaks_promise == [false, true] => (
                Outcome::NowFails,
                Some("the durability promise was kept in A, and is broken in B".to_owned()),
            ),
            (true, true, _) if breaks_promise == [true, false] => (Outcome::NowAnswers, None),
            (true, true, Some(_)) if metric.unit == Unit::Bytes => {
                (Outcome::Sized(SizeChange::NotSignificant), None)
            }
            (true, true, Some(_)) => (Outcome::Timed(Significance::NotSignificant), None),
            (true, true, None) if pair.a.cell.phase != pair.b.cell.phase => {
                let note =
                    format!("{} in A; {} in B", pair.a.cell.phase.phrase(), pair.b.cell.phase.phrase());
                (Outcome::NotCompared, Some(note))
            }
            (true, true, None) if !pair.a.findings.is_empty() => {
                (Outcome::NotCompared, Some(pair.a.differing_findings(pair.b).join("; ")))
            }
            (true, true, None) => {
                let note = match metric.unit {
                    Unit::Number => "the plan does something else with the index",
                    Unit::Bytes => "no size that both count in the same way",
                    unit if unit.is_rate() => "no throughput that a ratio could be made of",
                    _ => "no time that a ratio could be made of",
                };
                (Outcome::NotCompared, Some(note.to_owned()))
            }
            (false, false, _) if !pair.verdict_a.has_time() && !pair.verdict_b.has_time() => {
                (Outcome::NoTime, None)
            }
            (false, false, _) => {
                let note = format!("{} in A, {} in B", pair.verdict_a.word(), pair.verdict_b.word());
                (Outcome::NotCompared, Some(note))
            }
        }
    }
}
