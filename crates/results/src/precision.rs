//! Reports whether a run reached the precision requested by `--precision`.

use jsonathlon_schema::id::{ConfigurationId, Step};
use jsonathlon_schema::manifest::Manifest;
use jsonathlon_schema::record::{Phase, Trial, Verdict};
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
    least: u32,
}

impl PrecisionGoal {
    /// Reads the request from the manifest. `None` if `--precision` was not requested.
    pub(crate) fn of(manifest: &Manifest) -> Option<Self> {
        let settings = &manifest.settings;
        let enough = settings.get("enough")?;
        if enough.get("by")?.as_str()? != "precision" {
            return None;
        }
        let least = settings.get("rounds")?.as_u64()?;
        Some(Self { share: enough.get("share")?.as_f64()?, least: u32::try_from(least).ok()? })
    }

    /// Error probability of the intervals after `rounds` rounds: the portion of that look, or everything that
    /// is left if the run ended between two looks.
    fn alpha(self, rounds: u32) -> f64 {
        let looks = SequentialPlan::new(self.least, PRECISION_ROUNDS);
        if looks.rounds().contains(&rounds) { looks.alpha_at(rounds) } else { looks.alpha_at_end(rounds) }
    }
}

/// Two-sided error probability of a run's intervals: [`ALPHA`] unless `--precision` was requested.
pub(crate) fn alpha<'a>(manifest: &Manifest, trials: impl Iterator<Item = &'a Trial>) -> f64 {
    PrecisionGoal::of(manifest).map_or(ALPHA, |wanted| wanted.alpha(rounds(trials)))
}

/// Number of rounds in which questions were asked or operations sent.
fn rounds<'a>(trials: impl Iterator<Item = &'a Trial>) -> u32 {
    let asked = trials.filter(|trial| matches!(trial.cell.phase.planned(), Phase::Hot | Phase::Measured));
    asked.map(|trial| trial.round).max().unwrap_or(0)
}

/// Checks all ranked cells against the requested precision. `None` if `--precision` was not requested.
pub(crate) fn precision<'a>(
    manifest: &Manifest,
    trials: impl Iterator<Item = &'a Trial>,
    entries: &[CellSummary],
) -> Option<PrecisionResult> {
    let wanted = PrecisionGoal::of(manifest)?;
    let rounds = rounds(trials);
    let is_ranked = |entry: &&CellSummary| {
        let of = manifest.configurations.iter().find(|one| one.has(&entry.cell));
        let phase = matches!(entry.cell.phase, Phase::Load | Phase::Cold | Phase::Hot | Phase::Measured);
        phase
            && !entry.cell.is_of_one_operation()
            && of.is_some_and(|one| one.is_ranked())
            && matches!(entry.verdict, Verdict::Exact | Verdict::Approximate)
    };
    let ranked: Vec<&CellSummary> = entries.iter().filter(is_ranked).collect();
    let reached = |entry: &CellSummary| {
        let figure = entry.headline();
        let [_, high] = entry.limits(figure)?;
        relative_half_width(entry.value(figure)?, high)
    };
    let not_reached = ranked
        .iter()
        .filter(|entry| reached(entry).is_none_or(|share| share > wanted.share))
        .map(|entry| ImpreciseCell {
            id: entry.cell.id.clone(),
            step: entry.cell.step.clone(),
            phase: entry.cell.phase,
            share: reached(entry),
        })
        .collect();
    Some(PrecisionResult {
        share: wanted.share,
        rounds,
        alpha: wanted.alpha(rounds),
        cells: ranked.len(),
        not_reached,
    })
}
