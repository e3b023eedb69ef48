//! Cells beside each other: the ratio of two medians, its interval over rounds, and whether a difference
//! has been shown at all.

use std::collections::BTreeMap;

use jsonathlon_measure::statistics::{Estimate, paired_ratio_at};
use serde::{Deserialize, Serialize};

use crate::manifest::Configuration;
use crate::ranking::Profile;
use crate::record::{Cell, Parameters, Phase, Trial, Verdict};
use crate::summary::{Entry, Run};

/// Dimensions of a cell that are its configuration's own.
pub(crate) const OF_CONFIGURATION: [&str; 4] = ["storage", "preparation", "profile", "memory"];

/// What a cell is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Against {
    /// The fastest comparable cell of the same ranking.
    Best,
    /// The run's first reference row, such as the yardstick on one core.
    Reference,
}

/// What a ratio's interval allows to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Difference {
    /// The whole interval lies below one.
    #[serde(rename = "faster")]
    Faster,
    /// The whole interval lies above one.
    #[serde(rename = "slower")]
    Slower,
    /// The interval holds one, or there are too few rounds for one.
    #[serde(rename = "no difference shown")]
    NoneShown,
}

impl Difference {
    /// What `ratio` (this time ÷ the other one) allows to say.
    #[must_use]
    pub fn of(ratio: &Estimate) -> Self {
        match ratio.excludes_one() {
            false => Self::NoneShown,
            true if ratio.median < 1.0 => Self::Faster,
            true => Self::Slower,
        }
    }

    /// The words used in files and tables.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::NoneShown => "no difference shown",
        }
    }
}

/// One cell beside another of the same step, phase and state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Workload.
    pub workload: String,
    /// Step.
    pub step: String,
    /// Phase.
    pub phase: Phase,
    /// Further dimensions of the cell.
    pub parameters: Parameters,
    /// System of the cell.
    pub system: String,
    /// Its version.
    pub version: String,
    /// Its variant.
    pub variant: String,
    /// What the other cell is to it.
    pub against: Against,
    /// System of the other cell.
    pub other_system: String,
    /// Its version.
    pub other_version: String,
    /// Its variant.
    pub other_variant: String,
    /// Its storage setting.
    pub other_storage: String,
    /// Its memory profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_profile: Option<Profile>,
    /// Median seconds of the cell ÷ median seconds of the other, both over the rounds that they share.
    pub ratio: f64,
    /// Lower limit of its 95 % interval; none with fewer than two shared rounds.
    pub low: Option<f64>,
    /// Upper limit.
    pub high: Option<f64>,
    /// What that allows to say.
    pub difference: Difference,
}

impl Comparison {
    /// The cell that is compared.
    #[must_use]
    pub fn cell(&self) -> Cell {
        Cell {
            workload: self.workload.clone(),
            system: self.system.clone(),
            version: self.version.clone(),
            variant: self.variant.clone(),
            step: self.step.clone(),
            phase: self.phase,
            parameters: self.parameters.clone(),
        }
    }
}

/// One configuration's cell of a question.
struct Standing<'a> {
    configuration: &'a Configuration,
    entry: &'a Entry,
    comparable: bool,
    /// Others may be held against it: it is ranked, its answers are verified, its plan is the promised one, and where it is
    /// cold, all of it is.
    is_mark: bool,
}

/// Every question's cell beside the best of its ranking, and beside the first reference row. Cells without
/// a time, and those of systems that hold fewer documents, are in no comparison.
pub(crate) fn comparisons(run: &Run, entries: &[Entry], alpha: f64) -> Vec<Comparison> {
    let mut groups: BTreeMap<(&str, Phase, String), Vec<Standing<'_>>> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| matches!(entry.phase, Phase::Load | Phase::Cold | Phase::Hot))
    {
        let Some(configuration) = run.manifest.configurations.iter().find(|one| one.is_of(entry)) else {
            continue;
        };
        let loaded = entries.iter().find(|other| other.step == "load" && configuration.is_of(other));
        let comparable = loaded.is_some_and(|load| load.verdict == Verdict::Exact);
        // All that is the same is the question: what belongs to the configuration decides about rankings.
        let mut dimensions = entry.parameters.clone();
        for own in OF_CONFIGURATION {
            dimensions.remove(own);
        }
        let dimensions = serde_json::to_string(&dimensions).unwrap_or_default();
        let group = groups.entry((&entry.step, entry.phase, dimensions)).or_default();
        let partly_cold = entry.phase == Phase::Cold
            && entries.iter().any(|other| {
                other.phase == Phase::ColdUnverified
                    && other.step == entry.step
                    && other.parameters == entry.parameters
                    && configuration.is_of(other)
            });
        let broken = run.plans().any(|plan| {
            !plan.violations.is_empty()
                && plan.cell.step == entry.step
                && plan.cell.parameters == entry.parameters
                && configuration.has(&plan.cell)
        });
        let is_mark =
            configuration.is_ranked() && entry.verdict != Verdict::Unverified && !partly_cold && !broken;
        group.push(Standing { configuration, entry, comparable, is_mark });
    }
    let rounds = Rounds::of(run);
    let mut found = Vec::new();
    for standings in groups.values() {
        let reference = run
            .manifest
            .configurations
            .iter()
            .filter(|configuration| configuration.reference)
            .find_map(|first| standings.iter().find(|standing| standing.configuration == first))
            .filter(|standing| standing.comparable);
        for standing in standings.iter().filter(|standing| standing.comparable) {
            if standing.configuration.is_ranked()
                && let Some(best) = best_of(standings, &standing.configuration.ranking())
            {
                found.extend(rounds.compare(standing, best, Against::Best, alpha));
            }
            if let Some(reference) = reference {
                found.extend(rounds.compare(standing, reference, Against::Reference, alpha));
            }
        }
    }
    found
}

fn best_of<'a, 'b>(standings: &'b [Standing<'a>], ranking: &str) -> Option<&'b Standing<'a>> {
    standings
        .iter()
        .filter(|standing| standing.comparable && standing.configuration.ranking() == ranking)
        .filter(|standing| standing.entry.median_s.is_some())
        .filter(|standing| standing.is_mark)
        .min_by(|a, b| {
            let time = |standing: &Standing<'_>| standing.entry.median_s.unwrap_or(f64::INFINITY);
            time(a).total_cmp(&time(b))
        })
}

/// Seconds by cell and round.
pub(crate) struct Rounds<'a>(BTreeMap<String, BTreeMap<u32, Vec<&'a Trial>>>);

impl<'a> Rounds<'a> {
    pub(crate) fn of(run: &'a Run) -> Self {
        let mut rounds: BTreeMap<String, BTreeMap<u32, Vec<&Trial>>> = BTreeMap::new();
        for trial in run.trials().filter(|trial| trial.seconds.is_some()) {
            rounds.entry(trial.cell.key()).or_default().entry(trial.round).or_default().push(trial);
        }
        Self(rounds)
    }

    /// Seconds of an entry's trials by round, of rounds in which there are any.
    pub(crate) fn seconds(&self, entry: &Entry) -> BTreeMap<u32, Vec<f64>> {
        let rounds = self.0.get(&entry.key()).into_iter().flatten();
        rounds
            .map(|(round, trials)| (*round, trials.iter().filter_map(|trial| trial.seconds).collect()))
            .collect()
    }

    /// The same of two entries, over the rounds that both have.
    pub(crate) fn shared(&self, one: &Entry, other: &Entry) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let (Some(a), Some(b)) = (self.0.get(&one.key()), self.0.get(&other.key())) else {
            return (Vec::new(), Vec::new());
        };
        let seconds = |trials: &Vec<&Trial>| trials.iter().filter_map(|trial| trial.seconds).collect();
        a.iter().filter_map(|(round, mine)| Some((seconds(mine), seconds(b.get(round)?)))).unzip()
    }

    fn compare(
        &self,
        one: &Standing<'_>,
        other: &Standing<'_>,
        against: Against,
        alpha: f64,
    ) -> Option<Comparison> {
        if one.entry.median_s.is_none() || other.entry.median_s.is_none() {
            return None;
        }
        let (a, b) = self.shared(one.entry, other.entry);
        let ratio = paired_ratio_at(&a, &b, alpha)?;
        Some(Comparison {
            workload: one.entry.workload.clone(),
            step: one.entry.step.clone(),
            phase: one.entry.phase,
            parameters: one.entry.parameters.clone(),
            system: one.entry.system.clone(),
            version: one.entry.version.clone(),
            variant: one.entry.variant.clone(),
            against,
            other_system: other.entry.system.clone(),
            other_version: other.entry.version.clone(),
            other_variant: other.entry.variant.clone(),
            other_storage: other.configuration.storage.clone(),
            other_profile: other.configuration.profile,
            ratio: ratio.median,
            low: ratio.low,
            high: ratio.high,
            difference: Difference::of(&ratio),
        })
    }
}

impl Configuration {
    /// Whether a cell of a summary is of this configuration.
    #[must_use]
    pub fn is_of(&self, entry: &Entry) -> bool {
        self.is([&entry.system, &entry.version, &entry.variant], &entry.parameters)
    }

    /// Whether a journal's cell is of this configuration.
    #[must_use]
    pub fn has(&self, cell: &Cell) -> bool {
        self.is([&cell.system, &cell.version, &cell.variant], &cell.parameters)
    }

    fn is(&self, names: [&str; 3], parameters: &Parameters) -> bool {
        let text = |name: &str| parameters.get(name).and_then(|value| value.as_str());
        names == [&self.system, &self.version, &self.variant].map(String::as_str)
            && text("storage") == Some(&self.storage)
            && text("profile") == self.profile.map(Profile::word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_follow_the_interval_and_not_the_median() {
        let ratio = |low, median, high| Estimate { median, low: Some(low), high: Some(high) };
        assert_eq!(Difference::of(&ratio(1.01, 1.2, 1.4)), Difference::Slower);
        assert_eq!(Difference::of(&ratio(0.7, 0.8, 0.99)), Difference::Faster);
        assert_eq!(Difference::of(&ratio(0.9, 1.9, 4.0)), Difference::NoneShown);
        assert_eq!(Difference::of(&Estimate { median: 9.0, low: None, high: None }), Difference::NoneShown);
    }
}
