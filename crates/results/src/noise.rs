//! A system compared with itself: how often are two equal things called different?

use std::collections::BTreeMap;

use jsonathlon_measure::statistics::{Estimate, paired_ratio};

use crate::record::Phase;
use crate::summary::Run;

/// One comparison of a system with itself.
#[derive(Debug, Clone, PartialEq)]
pub struct SelfComparison {
    /// Question.
    pub step: String,
    /// First of the rounds that it is over.
    pub first_round: u32,
    /// One side's median ÷ the other's.
    pub ratio: Estimate,
}

impl SelfComparison {
    /// Whether it calls equal things different.
    #[must_use]
    pub fn is_false_alarm(&self) -> bool {
        self.ratio.excludes_one()
    }
}

/// Compares the hot trials of a run's first two configurations, `rounds` rounds at a time. Rounds left
/// over at the end are in no comparison, and neither are questions that failed on either side.
#[must_use]
pub fn self_comparisons(run: &Run, rounds: u32) -> Vec<SelfComparison> {
    let [one, other, ..] = run.manifest.configurations.as_slice() else { return Vec::new() };
    let mut sides: [BTreeMap<(String, u32), Vec<f64>>; 2] = Default::default();
    for trial in run.trials().filter(|trial| trial.cell.phase == Phase::Hot) {
        let side = [one, other].iter().position(|configuration| configuration.variant == trial.cell.variant);
        if let (Some(side), Some(seconds)) = (side.and_then(|side| sides.get_mut(side)), trial.seconds) {
            side.entry((trial.cell.step.clone(), trial.round)).or_default().push(seconds);
        }
    }
    let [one, other] = sides;
    let steps: std::collections::BTreeSet<&String> = one.keys().map(|(step, _)| step).collect();
    let last = one.keys().map(|(_, round)| *round).max().unwrap_or(0);
    let mut found = Vec::new();
    for step in steps {
        for first_round in (1..=last).step_by(rounds.max(1) as usize) {
            if first_round + rounds.max(1) - 1 > last {
                break;
            }
            let of = |side: &BTreeMap<(String, u32), Vec<f64>>| -> Vec<Vec<f64>> {
                (first_round..first_round + rounds)
                    .map(|round| side.get(&(step.clone(), round)).cloned().unwrap_or_default())
                    .collect()
            };
            let ratio = paired_ratio(&of(&one), &of(&other));
            found.extend(ratio.map(|ratio| SelfComparison { step: step.clone(), first_round, ratio }));
        }
    }
    found
}
