//! Compares a system with itself, to find how often equal configurations are called different.

use std::collections::{BTreeMap, BTreeSet};

use jsonathlon_schema::id::Step;
use jsonathlon_schema::metric::MetricDef;
use jsonathlon_schema::record::Phase;
use jsonathlon_stats::statistics::{Estimate, binomial_tail, paired_ratio};

use crate::run::Run;

/// One comparison of a system with itself.
#[derive(Debug, Clone, PartialEq)]
pub struct SelfComparison {
    /// Question that was compared.
    pub step: Step,
    /// First round of the comparison.
    pub first_round: u32,
    /// Median of one side ÷ median of the other.
    pub ratio: Estimate,
}

impl SelfComparison {
    /// Returns `true` if the comparison calls equal configurations different.
    #[must_use]
    pub fn is_false_alarm(&self) -> bool {
        self.ratio.excludes_one()
    }
}

/// Share of false alarms that 95 % intervals allow.
const ALLOWED_SHARE: f64 = 0.05;
/// Probability of rejecting a sound instrument by chance.
const MIN_PROBABILITY: f64 = 0.01;

/// Returns `true` if there are more false alarms than chance explains: with a chance of 5 % each, as many or
/// more would occur in less than one of a hundred checks.
#[must_use]
pub fn exceeds_chance(comparisons: &[SelfComparison]) -> bool {
    let alarms = comparisons.iter().filter(|comparison| comparison.is_false_alarm()).count() as u64;
    binomial_tail(alarms, comparisons.len() as u64, ALLOWED_SHARE) < MIN_PROBABILITY
}

/// Compares a metric of the hot trials of a run's first two configurations, `rounds` rounds at a time.
/// Remaining rounds at the end are not used, nor are questions that failed on either side.
#[must_use]
pub fn self_comparisons(run: &Run, metric: &MetricDef, rounds: u32) -> Vec<SelfComparison> {
    let [first, second, ..] = run.manifest.configurations.as_slice() else { return Vec::new() };
    let mut sides: [BTreeMap<(Step, u32), Vec<f64>>; 2] = Default::default();
    for trial in run.trials().filter(|trial| trial.cell.phase == Phase::Hot) {
        let side = [first, second].iter().position(|configuration| configuration.id == trial.cell.id);
        let value = metric.value(trial);
        if let (Some(side), Some(value)) = (side.and_then(|side| sides.get_mut(side)), value) {
            side.entry((trial.cell.step.clone(), trial.round)).or_default().push(value);
        }
    }
    let [first, second] = sides;
    let steps: BTreeSet<&Step> = first.keys().map(|(step, _)| step).collect();
    let last_round = first.keys().map(|(_, round)| *round).max().unwrap_or(0);
    let failed: BTreeSet<&Step> = run
        .trials()
        .filter(|trial| trial.cell.phase == Phase::Hot && !trial.verdict.has_time())
        .map(|trial| &trial.cell.step)
        .collect();
    let mut comparisons = Vec::new();
    for step in steps.into_iter().filter(|step| !failed.contains(step)) {
        for first_round in (1..=last_round).step_by(rounds.max(1) as usize) {
            if first_round + rounds.max(1) - 1 > last_round {
                break;
            }
            let rounds_of = |side: &BTreeMap<(Step, u32), Vec<f64>>| -> Vec<Vec<f64>> {
                (first_round..first_round + rounds)
                    .map(|round| side.get(&(step.clone(), round)).cloned().unwrap_or_default())
                    .collect()
            };
            let ratio = paired_ratio(&rounds_of(&first), &rounds_of(&second));
            comparisons.extend(ratio.map(|ratio| SelfComparison { step: step.clone(), first_round, ratio }));
        }
    }
    comparisons
}
