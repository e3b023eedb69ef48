//! Compares cells of one run: ratio of two medians, its interval over rounds, and whether it shows a
//! difference.

use std::collections::BTreeMap;

use jsonathlon_schema::id::{ConfigurationId, DataState, Step};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric::{self, BetterDirection, MetricDef};
use jsonathlon_schema::ranking::MemoryProfile;
use jsonathlon_schema::record::{Cell, FULL_SPEED, INGEST, MIX, Phase, RATE, RATE_SHARE, Trial, Verdict};
use jsonathlon_stats::batch_schedule::KEPT_LIMIT;
use jsonathlon_stats::statistics::{Estimate, paired_ratio_at};
use serde::{Deserialize, Serialize};

use crate::cell_summary::CellSummary;
use crate::percentile::Histograms;
use crate::run::Run;

/// Parameters of a cell that belong to its configuration and are ignored when cells are matched.
pub(crate) const CONFIGURATION_PARAMETERS: [&str; 2] = ["preparation", "memory"];

/// Dimensions that distinguish cells of equal step and phase independently of the configuration: the data
/// state and the further parameters.
pub(crate) fn dimensions(cell: &Cell) -> (Option<DataState>, String) {
    let mut parameters = cell.parameters.clone();
    parameters.retain(|name, _| !CONFIGURATION_PARAMETERS.contains(&name.as_str()));
    (cell.state, serde_json::to_string(&parameters).unwrap_or_default())
}

/// What a cell is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ComparisonTarget {
    /// Best comparable cell of the same ranking.
    Best,
    /// Cell of the run's first reference row, such as the yardstick on one core.
    Reference,
}

/// Difference of two cells that an interval of their ratio shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Significance {
    /// Better: the interval excludes 1 on the side of lower times or higher throughput.
    #[serde(rename = "faster")]
    Faster,
    /// Worse: the interval excludes 1 on the side of higher times or lower throughput.
    #[serde(rename = "slower")]
    Slower,
    /// The interval contains 1, or there is none because of too few rounds.
    #[serde(rename = "no difference shown")]
    NotSignificant,
}

impl Significance {
    /// Difference that the interval of `ratio` (this value ÷ the other one) shows.
    #[must_use]
    pub fn from_ratio(ratio: &Estimate, better: BetterDirection) -> Self {
        if ratio.excludes_one() {
            Self::from_significant_ratio(ratio.median, better)
        } else {
            Self::NotSignificant
        }
    }

    /// Meaning of a ratio that is shown to differ from 1.
    pub(crate) fn from_significant_ratio(ratio: f64, better: BetterDirection) -> Self {
        if (ratio < 1.0) == (better != BetterDirection::Higher) { Self::Faster } else { Self::Slower }
    }

    /// Wording of the difference in files and tables.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::NotSignificant => "no difference shown",
        }
    }
}

/// Comparison of two cells of equal step, phase and data state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellRatio {
    /// Cell that is compared with the other one.
    #[serde(flatten, with = "step_first")]
    pub cell: Cell,
    /// Role of the other cell: best or reference row.
    pub compared_with: ComparisonTarget,
    /// Configuration of the other cell.
    #[serde(flatten, with = "other")]
    pub other: ConfigurationId,
    /// Memory profile of the other configuration. `None` for remote servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_profile: Option<MemoryProfile>,
    /// Name of the metric that is compared; `seconds` is omitted in files.
    #[serde(default = "time", skip_serializing_if = "is_time")]
    pub metric: String,
    /// Median of the cell ÷ median of the other one, both over the rounds that they share.
    pub ratio: f64,
    /// Lower limit of the ratio's 95 % interval. `None` with fewer than two shared rounds.
    pub low: Option<f64>,
    /// Upper limit of the ratio's 95 % interval. `None` with fewer than two shared rounds.
    pub high: Option<f64>,
    /// Difference that the interval shows.
    pub difference: Significance,
}

impl CellRatio {
    /// 95 % interval of the ratio for readers. `None` if it only shows that there were too few rounds.
    #[must_use]
    pub fn limits(&self) -> Option<[f64; 2]> {
        let estimate = Estimate { median: self.ratio, low: self.low, high: self.high }.if_meaningful_ratio();
        Some([estimate.low?, estimate.high?])
    }
}

fn time() -> String {
    metric::SECONDS.name.to_owned()
}

fn is_time(name: &str) -> bool {
    name == metric::SECONDS.name
}

/// Serialises a cell with its step before its names.
mod step_first {
    use jsonathlon_schema::id::Step;
    use jsonathlon_schema::record::{Cell, Parameters, Phase};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize)]
    struct SerializedCell<'a> {
        workload: &'a str,
        step: &'a Step,
        phase: Phase,
        parameters: Parameters,
        system: &'a str,
        version: &'a str,
        variant: &'a str,
    }

    pub(super) fn serialize<S: Serializer>(cell: &Cell, serializer: S) -> Result<S::Ok, S::Error> {
        let serialized = SerializedCell {
            workload: cell.workload.as_str(),
            step: &cell.step,
            phase: cell.phase,
            parameters: cell.dimensions(),
            system: &cell.id.system,
            version: &cell.id.version,
            variant: &cell.id.variant,
        };
        serialized.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cell, D::Error> {
        Cell::deserialize(deserializer)
    }
}

/// Serialises an identity with the prefix `other_` before each name.
mod other {
    use jsonathlon_schema::id::ConfigurationId;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct SerializedConfiguration {
        other_system: String,
        other_version: String,
        other_variant: String,
        other_storage: String,
    }

    pub(super) fn serialize<S: Serializer>(id: &ConfigurationId, serializer: S) -> Result<S::Ok, S::Error> {
        let ConfigurationId { system, version, variant, storage } = id.clone();
        let serialized = SerializedConfiguration {
            other_system: system,
            other_version: version,
            other_variant: variant,
            other_storage: storage,
        };
        serialized.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<ConfigurationId, D::Error> {
        let SerializedConfiguration { other_system, other_version, other_variant, other_storage } =
            SerializedConfiguration::deserialize(deserializer)?;
        Ok(ConfigurationId::new(&other_system, &other_version, &other_variant, &other_storage))
    }
}

/// Cell of one configuration, and whether it may be compared.
pub(crate) struct RankedCell<'a> {
    pub(crate) configuration: &'a Configuration,
    pub(crate) entry: &'a CellSummary,
    pub(crate) comparable: bool,
    /// Whether other cells may be compared with this one as the best. It must be ranked and verified, its
    /// plan must be the promised one, and a cold cell must have only verified cold trials.
    pub(crate) can_be_best: bool,
}

/// Collects the cells of all configurations whose time, throughput or response time may be compared.
pub(crate) fn standings<'a>(run: &'a Run, entries: &'a [CellSummary]) -> Vec<RankedCell<'a>> {
    let is_timed =
        |phase: Phase| matches!(phase, Phase::Load | Phase::Cold | Phase::Hot) || phase.is_window();
    let standing = |entry: &'a CellSummary| {
        let cell = &entry.cell;
        let configuration =
            run.manifest.configurations.iter().find(|configuration| configuration.contains_cell(cell))?;
        let mut loads = entries
            .iter()
            .filter(|load| load.cell.step == Step::Load && cell.belongs_to_load(&load.cell))
            .peekable();
        let is_loaded = loads.peek().is_some() && loads.all(|load| load.verdict == Verdict::Exact);
        // If a part of the operations in a measurement window failed or was not verified, the rest is not
        // ranked.
        let is_measured = cell.phase.is_window();
        let is_verified = !is_measured || matches!(entry.verdict, Verdict::Exact | Verdict::Approximate);
        // Questions beside writers that fell behind were asked under a smaller load.
        let is_kept = entry.metric(&metric::KEPT_SHARE).is_none_or(|share| share >= KEPT_LIMIT);
        // What was too short, or measured beside less than what others had beside them.
        let is_whole = entry.unranked_findings().next().is_none();
        let comparable = is_loaded && is_verified && is_kept && is_whole && !is_under_own_load(cell);
        let is_partly_cold = cell.phase == Phase::Cold
            && entries.iter().any(|entry| {
                entry.cell.phase == Phase::ColdUnverified && entry.cell.equals_except_phase(cell)
            });
        let breaks_plan =
            run.plans().any(|plan| !plan.violations.is_empty() && plan.cell.equals_except_phase(cell));
        let can_be_best =
            configuration.is_ranked() && !entry.verdict.is_unverified() && !is_partly_cold && !breaks_plan;
        Some(RankedCell { configuration, entry, comparable, can_be_best })
    };
    entries.iter().filter(|entry| is_timed(entry.cell.phase)).filter_map(standing).collect()
}

/// Whether a cell was measured under a load that depends on the system, and so differs from that of all others: at
/// a share of its own capacity, or beside writers or clients that work as fast as it lets them.
fn is_under_own_load(cell: &Cell) -> bool {
    let has_fast_writers = cell.parameters.get(RATE).is_some_and(|rate| rate == FULL_SPEED);
    let has_fast_clients = cell.parameters.contains_key(MIX) && !cell.is_open_loop();
    let is_asked_beside = cell.phase == Phase::Both && cell.step.word() != INGEST;
    cell.parameters.contains_key(RATE_SHARE) || (is_asked_beside && (has_fast_writers || has_fast_clients))
}

/// Compares every cell with the best of its ranking and with the first reference row, by the headline metric.
/// Cells without this metric, and those of systems that hold fewer documents, are left out. Cells that differ
/// in another dimension, such as durability tier or number of clients, are not compared.
pub(crate) fn cell_ratios(run: &Run, entries: &[CellSummary], alpha: f64) -> Vec<CellRatio> {
    let mut groups: BTreeMap<(&str, &str, Phase, _), Vec<RankedCell<'_>>> = BTreeMap::new();
    for standing in standings(run, entries) {
        let cell = &standing.entry.cell;
        // The key identifies the question. Dimensions of the configuration decide about rankings instead.
        let key = (cell.workload.as_str(), cell.step.word(), cell.phase, dimensions(cell));
        groups.entry(key).or_default().push(standing);
    }
    let rounds = TrialsByRound::new(run);
    let mut ratios = Vec::new();
    for standings in groups.values() {
        let reference = run
            .manifest
            .configurations
            .iter()
            .filter(|configuration| configuration.reference)
            .find_map(|reference| standings.iter().find(|standing| standing.configuration == reference))
            .filter(|standing| standing.comparable);
        for standing in standings.iter().filter(|standing| standing.comparable) {
            if standing.configuration.is_ranked()
                && let Some(best) = best_of(standings, &standing.configuration.ranking())
            {
                ratios.extend(rounds.compare(standing, best, ComparisonTarget::Best, alpha));
            }
            if let Some(reference) = reference {
                ratios.extend(rounds.compare(standing, reference, ComparisonTarget::Reference, alpha));
            }
        }
    }
    ratios
}

fn best_of<'a, 'b>(standings: &'b [RankedCell<'a>], ranking: &str) -> Option<&'b RankedCell<'a>> {
    standings
        .iter()
        .filter(|standing| standing.comparable && standing.configuration.ranking() == ranking)
        .filter(|standing| standing.can_be_best)
        .filter_map(|standing| {
            let metric = standing.entry.headline();
            let value = standing.entry.value(metric)?;
            Some((standing, if metric.better == BetterDirection::Higher { -value } else { value }))
        })
        .min_by(|(_, a), (_, b)| a.total_cmp(b))
        .map(|(standing, _)| standing)
}

/// Trials of a run by cell key and round.
#[derive(Debug)]
pub struct TrialsByRound<'a>(BTreeMap<String, BTreeMap<u32, Vec<&'a Trial>>>);

impl<'a> TrialsByRound<'a> {
    /// Sorts all trials of a run.
    #[must_use]
    pub fn new(run: &'a Run) -> Self {
        let mut rounds: BTreeMap<String, BTreeMap<u32, Vec<&Trial>>> = BTreeMap::new();
        for trial in run.trials() {
            rounds.entry(trial.cell.key()).or_default().entry(trial.round).or_default().push(trial);
        }
        Self(rounds)
    }

    /// Values of a metric in an entry's trials by round, without rounds that have none. Those of a quantile
    /// are read from each round's histogram.
    #[must_use]
    pub fn values(&self, entry: &CellSummary, metric: &MetricDef) -> BTreeMap<u32, Vec<f64>> {
        let rounds = self.0.get(&entry.cell.key()).into_iter().flatten();
        if metric.quantile().is_some() {
            let trials: Vec<&Trial> = rounds.flat_map(|(_, trials)| trials).copied().collect();
            return Histograms::from_trials(&trials).percentile_by_round(metric);
        }
        rounds
            .map(|(round, trials)| {
                (*round, trials.iter().filter_map(|trial| metric.value(trial)).collect::<Vec<f64>>())
            })
            .filter(|(_, values)| !values.is_empty())
            .collect()
    }

    pub(crate) fn compare(
        &self,
        cell: &RankedCell<'_>,
        other: &RankedCell<'_>,
        compared_with: ComparisonTarget,
        alpha: f64,
    ) -> Option<CellRatio> {
        self.compare_by(other.entry.headline(), cell, other, compared_with, alpha)
    }

    /// Compares two cells by a metric, which need not be their headline metric. `None` if they share no round.
    pub(crate) fn compare_by(
        &self,
        metric: &MetricDef,
        cell: &RankedCell<'_>,
        other: &RankedCell<'_>,
        compared_with: ComparisonTarget,
        alpha: f64,
    ) -> Option<CellRatio> {
        cell.entry.value(metric)?;
        other.entry.value(metric)?;
        let [values, others] = [cell, other].map(|standing| self.values(standing.entry, metric));
        let (a, b): (Vec<_>, Vec<_>) =
            values.iter().filter_map(|(round, a)| Some((a.clone(), others.get(round)?.clone()))).unzip();
        let ratio = paired_ratio_at(&a, &b, alpha)?;
        Some(CellRatio {
            cell: cell.entry.cell.clone(),
            compared_with,
            other: other.configuration.id.clone(),
            other_profile: other.configuration.profile,
            metric: metric.name.to_owned(),
            ratio: ratio.median,
            low: ratio.low,
            high: ratio.high,
            difference: Significance::from_ratio(&ratio, metric.better),
        })
    }
}

#[cfg(test)]
mod tests {
    use jsonathlon_schema::record::ALL_QUESTIONS;
    use jsonathlon_schema::workload::WorkloadKind;

    use super::*;

    #[test]
    fn questions_beside_writers_at_full_speed_are_not_compared() {
        let cell = |phase, step: &str, parameter: (&str, serde_json::Value)| Cell {
            workload: WorkloadKind::Mixed.into(),
            id: ConfigurationId::new("a", "1", "json", ""),
            profile: None,
            step: step.to_owned().into(),
            phase,
            state: None,
            parameters: [(parameter.0.to_owned(), parameter.1)].into_iter().collect(),
        };
        let max = || (RATE, FULL_SPEED.into());
        assert!(is_under_own_load(&cell(Phase::Both, ALL_QUESTIONS, max())));
        assert!(is_under_own_load(&cell(Phase::Both, "q4", max())));
        assert!(!is_under_own_load(&cell(Phase::Both, INGEST, max())));
        assert!(!is_under_own_load(&cell(Phase::Alone, INGEST, max())));
        assert!(!is_under_own_load(&cell(Phase::Still, ALL_QUESTIONS, max())));
        assert!(!is_under_own_load(&cell(Phase::Both, ALL_QUESTIONS, (RATE, 2_000.into()))));
        assert!(is_under_own_load(&cell(Phase::Measured, ALL_QUESTIONS, (RATE_SHARE, 0.5.into()))));
    }

    #[test]
    fn words_follow_the_interval_and_not_the_median() {
        let ratio = |low, median, high| Estimate { median, low: Some(low), high: Some(high) };
        let lower = |ratio: Estimate| Significance::from_ratio(&ratio, BetterDirection::Lower);
        assert_eq!(lower(ratio(1.01, 1.2, 1.4)), Significance::Slower);
        assert_eq!(lower(ratio(0.7, 0.8, 0.99)), Significance::Faster);
        assert_eq!(lower(ratio(0.9, 1.9, 4.0)), Significance::NotSignificant);
        assert_eq!(lower(Estimate { median: 9.0, low: None, high: None }), Significance::NotSignificant);
        assert_eq!(
            Significance::from_ratio(&ratio(0.7, 0.8, 0.99), BetterDirection::Higher),
            Significance::Slower
        );
        assert_eq!(
            Significance::from_ratio(&ratio(1.01, 1.2, 1.4), BetterDirection::Higher),
            Significance::Faster
        );
    }
}
