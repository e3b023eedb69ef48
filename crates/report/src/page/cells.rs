//! Cells of a run and what is derived from them: peaks, crossovers, scores and failures.

use std::collections::{BTreeMap, HashMap};

use jsonathlon_results::ratio_to_best::{CellRatio, ComparisonTarget, Significance};
use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_schema::id::{ConfigurationId, DataState, Step};
use jsonathlon_schema::metric::SECONDS;
use jsonathlon_schema::ranking::MemoryProfile;
use jsonathlon_schema::record::{self, Bottleneck, FailureKind, Finding, Phase, Verdict};
use jsonathlon_schema::severity::Severity;
use jsonathlon_schema::workload::WorkloadName;
use serde::Serialize;

use super::cell_link::KNOWN_OTHERWISE;
use super::number::Number;
use crate::documents;

/// All trials with equal dimensions. Times are null if the verdict allows none.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Cell {
    /// Index of the configuration in the run.
    configuration: usize,
    /// Workload that the trials are part of.
    pub(super) workload: WorkloadName,
    /// `load`, `size`, `q1` … `q6`; for serving the mix; other workloads have their own steps.
    step: Step,
    /// Condition of the system when a trial began.
    phase: Phase,
    /// Data state at the trials. `None` for a load.
    state: Option<DataState>,
    /// Further dimensions, such as the number of clients.
    #[cfg_attr(test, ts(type = "Record<string, string | number | boolean>"))]
    parameters: BTreeMap<String, serde_json::Value>,
    /// Number of trials with a time, or with the headline metric of the cell.
    trials: u64,
    /// Median time of the trials in seconds.
    median_s: Option<Number>,
    /// Lower limit of the 95 % interval over rounds. `None` after too few rounds.
    low_s: Option<Number>,
    /// Upper limit of the 95 % interval over rounds. `None` after too few rounds.
    high_s: Option<Number>,
    /// Worst verdict among the trials.
    verdict: Verdict,
    /// How strongly the page marks the cell; absent if it is good.
    #[serde(skip_serializing_if = "Severity::is_good")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    severity: Severity,
    /// Most frequent bottleneck among the trials. `None` if unknown.
    bound_by: Option<Bottleneck>,
    /// Metrics by name; names end in their unit, such as `total_bytes` or `server_cpu_s`.
    metrics: BTreeMap<String, Number>,
    /// 95 % intervals over rounds, for metrics that have one, such as throughput and sizes.
    intervals: BTreeMap<String, [Number; 2]>,
    /// Metrics whose trials fall into two groups, lower group first: trials and median of each.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    groups: BTreeMap<String, [(u64, Number); 2]>,
    /// Ratio to the best comparable cell of the ranking, by headline metric (throughput, response time or
    /// time).
    ratio_to_best: Option<Ratio>,
    /// Ratio to the yardstick on one core.
    ratio_to_yardstick: Option<Ratio>,
    /// Quantiles of each histogram (`service`, `response`, `failed`), ascending: share and microseconds;
    /// absent if there are no histograms.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    distributions: BTreeMap<String, Vec<[Number; 2]>>,
    /// Observations on the cell that are not numbers; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    findings: Vec<Finding>,
}

/// Ratio of a cell's value to that of another configuration, over the rounds that both have.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Ratio {
    /// Median of the cell ÷ median of the other one.
    ratio: Number,
    /// Lower limit of the ratio's 95 % interval. `None` after too few rounds.
    low: Option<Number>,
    /// Upper limit of the ratio's 95 % interval. `None` after too few rounds.
    high: Option<Number>,
    /// Difference that the interval shows.
    difference: Significance,
    /// Index of the other configuration.
    other: usize,
}

/// Highest throughput of a configuration over all numbers of clients, compared with the highest of its
/// ranking.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Peak {
    /// Index of the cell in the run.
    cell: usize,
    /// Throughput in operations per second.
    throughput_ops_per_s: Number,
    /// Ratio to the highest of the ranking; to itself if this is the highest.
    ratio_to_best: Ratio,
    /// Number of clients of the highest. `None` if unknown.
    other_clients: Option<u64>,
    /// Whether the throughput is the highest of its ranking and shown to differ from all others.
    leads: bool,
}

/// A metric of a load beside reports ÷ the same load alone, paired by round.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct LoadLoss {
    /// Index of the cell of the load beside reports in the run.
    cell: usize,
    /// Name of the metric.
    metric: String,
    /// Median beside reports ÷ median alone.
    ratio: Number,
    /// Lower limit of the 95 % interval. `None` with fewer than two rounds.
    low: Option<Number>,
    /// Upper limit of the 95 % interval. `None` with fewer than two rounds.
    high: Option<Number>,
    /// Difference that the interval shows.
    difference: Significance,
}

/// A size of documents at which the faster of two configurations changes.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Crossover {
    /// Test whose times cross, which is the step of its cells.
    test: &'static str,
    /// Name of the data set in which they cross.
    data: String,
    /// Index of the configuration that is faster below the size.
    faster_below: usize,
    /// Index of the configuration that is faster above the size.
    faster_above: usize,
    /// Size of a document in bytes.
    bytes: Number,
    /// Lower limit of the 95 % interval of the size. `None` if it is beyond all measured sizes.
    low: Option<Number>,
    /// Upper limit of the 95 % interval of the size. `None` if it is beyond all measured sizes.
    high: Option<Number>,
}

/// Score by the published formula among the configurations of one ranking; see `docs/published.md`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Score {
    /// Index of the configuration in the run.
    configuration: usize,
    /// Data state in which it was measured.
    state: DataState,
    /// Score of the cold times. `None` without any such time.
    cold: Option<Number>,
    /// Score of the hot times. `None` without any such time.
    hot: Option<Number>,
    /// Size as a multiple of the smallest. `None` if the size is unknown.
    size: Option<Number>,
}

/// Failed trial, or a plan that breaks the promise of its configuration.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Failure {
    /// Index of the configuration in the run.
    configuration: usize,
    /// Step of the failed trial.
    step: Step,
    /// Phase that the failed trial had reached.
    phase: Phase,
    /// Round of the trial; 0 for a plan, which is read once for all rounds.
    round: u32,
    /// Kind of failure, for filters and tables.
    kind: FailureKind,
    /// Message of the failure, including that of its cause.
    error: String,
}

/// Entries of a run's configurations, each with the index of its configuration. Plain files are no
/// configuration; their sizes are among the data's.
pub(super) fn entries<'a>(
    run: &'a Run,
    summary: &'a Summary,
) -> impl Iterator<Item = (usize, &'a CellSummary)> {
    let configurations = ConfigurationIndex::new(run);
    summary.results.iter().filter_map(move |entry| Some((configurations.find(&entry.cell)?, entry)))
}

impl Cell {
    pub(super) fn new(
        configuration: usize,
        entry: &CellSummary,
        ratios: &Ratios,
        distributions: Option<&BTreeMap<String, Vec<[f64; 2]>>>,
    ) -> Self {
        let key = entry.cell.key();
        let record::Cell { workload, step, phase, state, mut parameters, .. } = entry.cell.clone();
        // The configuration and the data hold these.
        for name in KNOWN_OTHERWISE {
            parameters.remove(name);
        }
        Self {
            configuration,
            workload,
            step,
            phase,
            state,
            parameters,
            trials: entry.trials,
            median_s: entry.median_s.map(Number),
            low_s: entry.limits(&SECONDS).map(|[low, _]| Number(low)),
            high_s: entry.limits(&SECONDS).map(|[_, high]| Number(high)),
            verdict: entry.verdict,
            severity: entry.severity(),
            bound_by: entry.bound_by,
            metrics: entry.metrics.iter().map(|(name, value)| (name.clone(), Number(*value))).collect(),
            intervals: entry
                .intervals
                .keys()
                .filter_map(|name| Some((name.clone(), entry.limits_of(name)?.map(Number))))
                .collect(),
            groups: entry
                .groups
                .iter()
                .map(|(name, groups)| {
                    (name.clone(), groups.map(|group| (group.trials, Number(group.median))))
                })
                .collect(),
            ratio_to_best: ratios.find(&key, ComparisonTarget::Best),
            ratio_to_yardstick: ratios.find(&key, ComparisonTarget::Reference),
            // A cell without a time has no distribution of times either.
            distributions: distributions
                .filter(|_| entry.verdict.has_time())
                .into_iter()
                .flatten()
                .map(|(name, points)| (name.clone(), points.iter().map(|point| point.map(Number)).collect()))
                .collect(),
            findings: entry.findings.clone(),
        }
    }
}

pub(super) fn peaks(run: &Run, summary: &Summary, configurations: &ConfigurationIndex<'_>) -> Vec<Peak> {
    let indices: HashMap<String, usize> =
        entries(run, summary).enumerate().map(|(index, (_, entry))| (entry.cell.key(), index)).collect();
    let convert = |peak: &jsonathlon_results::peaks::PeakThroughput| {
        let comparison = &peak.comparison;
        Some(Peak {
            cell: *indices.get(&comparison.cell.key())?,
            throughput_ops_per_s: Number(peak.throughput_ops_per_s),
            ratio_to_best: configurations.ratio(comparison)?,
            other_clients: peak.other_clients,
            leads: peak.leads,
        })
    };
    summary.peak_throughputs.iter().filter_map(convert).collect()
}

pub(super) fn load_losses(run: &Run, summary: &Summary) -> Vec<LoadLoss> {
    let indices: HashMap<String, usize> =
        entries(run, summary).enumerate().map(|(index, (_, entry))| (entry.cell.key(), index)).collect();
    let convert = |loss: &jsonathlon_results::load_loss::LoadLoss| {
        let [low, high] = loss.limits().map_or([None; 2], |limits| limits.map(Some));
        Some(LoadLoss {
            cell: *indices.get(&loss.cell.key())?,
            metric: loss.metric.clone(),
            ratio: Number(loss.ratio),
            low: low.map(Number),
            high: high.map(Number),
            difference: loss.difference,
        })
    };
    summary.load_losses.iter().filter_map(convert).collect()
}

pub(super) fn crossovers(
    run: &Run,
    summary: &Summary,
    configurations: &ConfigurationIndex<'_>,
) -> Vec<Crossover> {
    let convert = |crossover: documents::crossover::TestCrossover<'_>| {
        Some(Crossover {
            test: crossover.test,
            data: crossover.data,
            faster_below: configurations
                .index_of(&crossover.faster_below.id, crossover.faster_below.profile)?,
            faster_above: configurations
                .index_of(&crossover.faster_above.id, crossover.faster_above.profile)?,
            bytes: Number(crossover.crossing.size),
            low: crossover.crossing.low.map(Number),
            high: crossover.crossing.high.map(Number),
        })
    };
    documents::crossover::find_crossovers(run, summary).into_iter().filter_map(convert).collect()
}

pub(super) fn scores(summary: &Summary, configurations: &ConfigurationIndex<'_>) -> Vec<Score> {
    let convert = |published: &jsonathlon_results::challenge::PublishedScore| {
        Some(Score {
            configuration: configurations.index_of(&published.id, published.profile)?,
            state: published.state,
            cold: published.score.cold.map(Number),
            hot: published.score.hot.map(Number),
            size: published.score.size.map(Number),
        })
    };
    summary.published_scores.iter().filter_map(convert).collect()
}

pub(super) fn failures(summary: &Summary, configurations: &ConfigurationIndex<'_>) -> Vec<Failure> {
    let convert = |failure: &jsonathlon_results::summary::FailureSummary| {
        Some(Failure {
            configuration: configurations.find(&failure.cell)?,
            step: failure.cell.step.clone(),
            phase: failure.cell.phase,
            round: failure.round,
            kind: failure.kind,
            error: failure.error.clone(),
        })
    };
    summary.failures.iter().filter_map(convert).collect()
}

/// Indexes of configurations by their identity and memory profile.
pub(super) struct ConfigurationIndex<'a>(HashMap<(&'a ConfigurationId, Option<MemoryProfile>), usize>);

impl<'a> ConfigurationIndex<'a> {
    pub(super) fn new(run: &'a Run) -> Self {
        let configurations = run.manifest.configurations.iter().enumerate();
        Self(
            configurations
                .map(|(index, configuration)| ((&configuration.id, configuration.profile), index))
                .collect(),
        )
    }

    fn index_of(&self, id: &ConfigurationId, profile: Option<MemoryProfile>) -> Option<usize> {
        self.0.get(&(id, profile)).copied()
    }

    /// Converts a comparison for the page; `None` if the other configuration is unknown.
    fn ratio(&self, comparison: &CellRatio) -> Option<Ratio> {
        Some(Ratio {
            ratio: Number(comparison.ratio),
            low: comparison.limits().map(|[low, _]| Number(low)),
            high: comparison.limits().map(|[_, high]| Number(high)),
            difference: comparison.difference,
            other: self.index_of(&comparison.other, comparison.other_profile)?,
        })
    }

    /// Index of a cell's configuration; `None` for plain files and the control.
    fn find(&self, cell: &record::Cell) -> Option<usize> {
        self.index_of(&cell.id, cell.profile)
    }
}

/// Comparisons with the best and with the yardstick, by the key of their cell.
pub(super) struct Ratios<'a> {
    configurations: &'a ConfigurationIndex<'a>,
    best: HashMap<String, &'a CellRatio>,
    reference: HashMap<String, &'a CellRatio>,
}

impl<'a> Ratios<'a> {
    pub(super) fn new(summary: &'a Summary, configurations: &'a ConfigurationIndex<'a>) -> Self {
        let select = |other: ComparisonTarget| {
            let comparisons = summary.comparisons.iter().filter(|ratio| ratio.compared_with == other);
            comparisons.map(|comparison| (comparison.cell.key(), comparison)).collect()
        };
        Self {
            configurations,
            best: select(ComparisonTarget::Best),
            reference: select(ComparisonTarget::Reference),
        }
    }

    fn find(&self, key: &str, other: ComparisonTarget) -> Option<Ratio> {
        let comparison = match other {
            ComparisonTarget::Best => self.best.get(key),
            ComparisonTarget::Reference => self.reference.get(key),
        }?;
        self.configurations.ratio(comparison)
    }
}
