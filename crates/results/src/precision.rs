//! Reports whether a run reached the precision requested by `--precision`.

use jsonathlon_schema::id::{ConfigurationId, Step};
use jsonathlon_schema::manifest::Manifest;
use jsonathlon_schema::record::{Phase, Trial, Verdict};
use jsonathlon_schema::settings::StoppingRule;
use jsonathlon_stats::sequential::{PRECISION_ROUNDS, SequentialPlan};
use jsonathlon_stats::statistics::{ALPHA, relative_half_width};
use serde::{Deserialize, Serialize};

use crate::cell_summary::CellSummary;

/// Precision that a run reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrecisionResult {
    /// Requested half width of intervals, as a share of the median.
    pub share: f64,
    /// Number of rounds that the run made.
    pub rounds: u32,
    /// Two-sided error probability of the intervals at that look; see [`SequentialPlan`].
    pub alpha: f64,
    /// Number of ranked cells that were checked.
    pub cells: usize,
    /// Cells whose intervals are wider, or that have none.
    pub not_reached: Vec<ImpreciseCell>,
}

/// Ranked cell whose interval is wider than requested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImpreciseCell {
    /// Configuration of the cell, without its memory profile.
    #[serde(flatten)]
    pub id: ConfigurationId,
    /// Step of the cell.
    pub step: Step,
    /// Phase of the cell.
    pub phase: Phase,
    /// Half width that was reached, as a share of the median. `None` without an interval.
    pub share: Option<f64>,
}

/// Precision that the run's settings request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PrecisionGoal {
    share: f64,
    min_rounds: u32,
}

impl PrecisionGoal {
    /// Reads the request from the manifest. `None` if `--precision` was not requested.
    pub(crate) fn from_manifest(manifest: &Manifest) -> Option<Self> {
        let settings = &manifest.settings.run;
        match settings.stopping {
            StoppingRule::Precision { share, .. } => Some(Self { share, min_rounds: settings.rounds }),
            StoppingRule::Rounds | StoppingRule::Budget { .. } => None,
        }
    }

    /// Error probability of the intervals after `rounds` rounds: the portion of that look, or everything that
    /// is left if the run ended between two looks.
    fn alpha(self, rounds: u32) -> f64 {
        let plan = SequentialPlan::new(self.min_rounds, PRECISION_ROUNDS);
        if plan.rounds().contains(&rounds) { plan.alpha_at(rounds) } else { plan.alpha_at_end(rounds) }
    }
}

/// Two-sided error probability of a run's intervals: [`ALPHA`] unless `--precision` was requested.
pub(crate) fn alpha<'a>(manifest: &Manifest, trials: impl Iterator<Item = &'a Trial>) -> f64 {
    PrecisionGoal::from_manifest(manifest).map_or(ALPHA, |goal| goal.alpha(rounds(trials)))
}

/// Number of rounds in which questions were asked or operations sent.
fn rounds<'a>(trials: impl Iterator<Item = &'a Trial>) -> u32 {
    let measured = trials.filter(|trial| matches!(trial.cell.phase.planned(), Phase::Hot | Phase::Measured));
    measured.map(|trial| trial.round).max().unwrap_or(0)
}

/// Checks all ranked cells against the requested precision. `None` if `--precision` was not requested.
pub(crate) fn precision<'a>(
    manifest: &Manifest,
    trials: impl Iterator<Item = &'a Trial>,
    entries: &[CellSummary],
) -> Option<PrecisionResult> {
    let goal = PrecisionGoal::from_manifest(manifest)?;
    let rounds = rounds(trials);
    let is_ranked = |entry: &&CellSummary| {
        let mut configurations = manifest.configurations.iter();
        let configuration = configurations.find(|configuration| configuration.contains_cell(&entry.cell));
        let is_timed = matches!(entry.cell.phase, Phase::Load | Phase::Cold | Phase::Hot | Phase::Measured);
        is_timed
            && !entry.cell.is_single_operation()
            && configuration.is_some_and(|configuration| configuration.is_ranked())
            && matches!(entry.verdict, Verdict::Exact | Verdict::Approximate)
    };
    let ranked: Vec<&CellSummary> = entries.iter().filter(is_ranked).collect();
    let half_width = |entry: &CellSummary| {
        let metric = entry.headline();
        let [_, high] = entry.limits(metric)?;
        relative_half_width(entry.value(metric)?, high)
    };
    let not_reached = ranked
        .iter()
        .filter(|entry| half_width(entry).is_none_or(|share| share > goal.share))
        .map(|entry| ImpreciseCell {
            id: entry.cell.id.clone(),
            step: entry.cell.step.clone(),
            phase: entry.cell.phase,
            share: half_width(entry),
        })
        .collect();
    Some(PrecisionResult {
        share: goal.share,
        rounds,
        alpha: goal.alpha(rounds),
        cells: ranked.len(),
        not_reached,
    })
}
