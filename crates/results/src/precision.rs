//! How precise a run was to be, and which cells are not.

use jsonathlon_measure::looks::{Looks, PRECISION_ROUNDS};
use jsonathlon_measure::statistics::{ALPHA, reach};
use serde::{Deserialize, Serialize};

use crate::entry::Entry;
use crate::id::{Id, Step};
use crate::manifest::Manifest;
use crate::record::{Phase, Trial, Verdict};

/// What became of `--precision`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Precision {
    /// Half of an interval's width at most, as a share of the median.
    pub share: f64,
    /// Rounds that it took.
    pub rounds: u32,
    /// Two-sided error probability of the intervals at that look; see [`Looks`].
    pub alpha: f64,
    /// Ranked cells.
    pub cells: usize,
    /// Those that are wider, or have no interval.
    pub not_reached: Vec<NotReached>,
}

/// A ranked cell whose interval is wider than asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NotReached {
    /// The configuration.
    #[serde(flatten)]
    pub id: Id,
    /// Step.
    pub step: Step,
    /// Phase.
    pub phase: Phase,
    /// What was reached instead; none without an interval.
    pub share: Option<f64>,
}

/// What a run was asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    share: f64,
    least: u32,
}

impl Wanted {
    /// None of a run that was not to be precise.
    pub(crate) fn of(manifest: &Manifest) -> Option<Self> {
        let settings = &manifest.settings;
        let enough = settings.get("enough")?;
        if enough.get("by")?.as_str()? != "precision" {
            return None;
        }
        let least = settings.get("rounds")?.as_u64()?;
        Some(Self { share: enough.get("share")?.as_f64()?, least: u32::try_from(least).ok()? })
    }

    /// The error probability of the intervals of a run that ended after `rounds` rounds: its look's portion, or
    /// all that is left where the time was spent between two looks.
    fn alpha(self, rounds: u32) -> f64 {
        let looks = Looks::new(self.least, PRECISION_ROUNDS);
        if looks.rounds().contains(&rounds) { looks.alpha_at(rounds) } else { looks.alpha_at_end(rounds) }
    }
}

/// The error probability of a run's intervals.
pub(crate) fn alpha<'a>(manifest: &Manifest, trials: impl Iterator<Item = &'a Trial>) -> f64 {
    Wanted::of(manifest).map_or(ALPHA, |wanted| wanted.alpha(rounds(trials)))
}

/// Rounds in which questions were asked, or operations sent.
fn rounds<'a>(trials: impl Iterator<Item = &'a Trial>) -> u32 {
    let asked = trials.filter(|trial| matches!(trial.cell.phase.planned(), Phase::Hot | Phase::Measured));
    asked.map(|trial| trial.round).max().unwrap_or(0)
}

/// What became of it; none of a run that was not to be precise.
pub(crate) fn precision<'a>(
    manifest: &Manifest,
    trials: impl Iterator<Item = &'a Trial>,
    entries: &[Entry],
) -> Option<Precision> {
    let wanted = Wanted::of(manifest)?;
    let rounds = rounds(trials);
    let is_ranked = |entry: &&Entry| {
        let of = manifest.configurations.iter().find(|one| one.has(&entry.cell));
        let phase = matches!(entry.cell.phase, Phase::Load | Phase::Cold | Phase::Hot | Phase::Measured);
        phase
            && !entry.cell.is_of_one_operation()
            && of.is_some_and(|one| one.is_ranked())
            && matches!(entry.verdict, Verdict::Exact | Verdict::Approximate)
    };
    let ranked: Vec<&Entry> = entries.iter().filter(is_ranked).collect();
    let reached = |entry: &Entry| {
        let figure = entry.headline();
        let [_, high] = entry.limits(figure)?;
        reach(entry.value(figure)?, high)
    };
    let not_reached = ranked
        .iter()
        .filter(|entry| reached(entry).is_none_or(|share| share > wanted.share))
        .map(|entry| NotReached {
            id: entry.cell.id.clone(),
            step: entry.cell.step.clone(),
            phase: entry.cell.phase,
            share: reached(entry),
        })
        .collect();
    Some(Precision {
        share: wanted.share,
        rounds,
        alpha: wanted.alpha(rounds),
        cells: ranked.len(),
        not_reached,
    })
}
