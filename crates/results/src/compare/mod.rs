//! Compares two runs, or two sides of one run, cell by cell: slower, faster, now failing, or no difference
//! shown.
//!
//! The rounds of two runs are independent, so the interval of a ratio combines the scatter of both sides.
//! Differences between the runs, such as another neighbour on the machine, are in no round. The control
//! estimates them and is divided out ([`Control`]); the rest has a place in the error
//! ([`BETWEEN_RUNS_ERROR`]); known differences are listed ([`SetupDifference`]). Sides of one run are paired
//! by round instead. Which cells differ is decided for all cells together
//! (`jsonathlon_stats::multiple_testing`).

mod cell;
mod control;
mod differences;
mod gate;
mod matching;
mod outcome;
mod plans;
mod ratios;
mod references;
mod side_pair;
mod sizes;

use std::collections::BTreeMap;

use jsonathlon_schema::id::{ConfigurationId, DataState, Step};
use jsonathlon_schema::metric::{self, BetterDirection, MetricDef};
use jsonathlon_schema::record::{Parameters, Phase, Verdict};
use jsonathlon_schema::workload::WorkloadName;
use jsonathlon_stats::multiple_testing::benjamini_hochberg;
use jsonathlon_stats::statistics::{ALPHA, BootstrapEstimate, Estimate};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::ResultsError;
use crate::ratio_to_best::{Significance, TrialsByRound};
use crate::run::Run;

pub use control::Control;
pub use differences::{DifferenceKind, SetupDifference};
pub use gate::{Reason, ReasonKind, RegressionGate};
pub use matching::UnmatchedConfiguration;
pub use outcome::{Counts, Outcome, SizeChange};
pub use ratios::{BETWEEN_LOADS_ERROR, BETWEEN_RUNS_ERROR};
pub use references::References;
pub use side_pair::SidePair;
pub use sizes::SizeComparison;

use cell::MatchedMetric;
use control::Kernels;
use plans::PlanViolations;
use ratios::{SampleOrigin, SideRatio, SideValues, ValuesByRound, ratios};

/// Format version of the comparison's JSON.
pub const SCHEMA: u32 = 2;

/// Comparison of two runs, or of two sides of one run. A is the baseline; every ratio is B ÷ A.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunComparison {
    /// Format version of the comparison.
    pub schema: u32,
    /// Baseline: run or side with which B is compared.
    pub a: Side,
    /// Run or side that is compared with the baseline.
    pub b: Side,
    /// Whether both are sides of one run, which are paired by round.
    pub within_one_run: bool,
    /// Ratio of the control between the runs. `None` within one run, or if a run has no control.
    pub control: Option<Control>,
    /// Whether the runs have different documents, which the user must allow.
    pub different_data: bool,
    /// Differences in how the runs were made, except in what was measured.
    pub differences: Vec<SetupDifference>,
    /// Cells that both sides have.
    pub cells: Vec<CellComparison>,
    /// Sizes and memory of configurations that both sides have; sizes are among the cells too.
    pub sizes: Vec<SizeComparison>,
    /// Configurations and cells that only A has.
    pub only_in_a: Vec<UnmatchedConfiguration>,
    /// Configurations and cells that only B has.
    pub only_in_b: Vec<UnmatchedConfiguration>,
    /// Number of cells with each outcome.
    pub counts: Counts,
    /// What the reference rows say about the machine.
    pub references: References,
    /// Result of the regression gate. `None` if it was not requested.
    pub gate: Option<RegressionGate>,
}

/// One of the two sides of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    /// Path of the run folder.
    pub run: String,
    /// Part of the run that is compared. `None` for the whole run.
    pub part: Option<String>,
    /// Start of the run as an RFC 3339 time.
    pub started: String,
    /// Version of the program that made the run.
    pub program: String,
    /// Number of documents offered.
    pub documents: u64,
    /// Digest of the documents as newline-delimited JSON.
    pub digest: String,
    /// Number of planned trials without a record.
    pub open_trials: usize,
}

/// Comparison of one metric of a cell that both sides have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellComparison {
    /// Workload that the cell belongs to.
    pub workload: WorkloadName,
    /// Configuration in B. Its version is serialised with the values of B.
    #[serde(flatten, serialize_with = "without_version")]
    pub id: ConfigurationId,
    /// Ranking of the configuration in B: preparation class, memory profile and further rules.
    pub class: String,
    /// Whether the cell belongs to a reference row, which is not counted unless it now fails.
    pub reference: bool,
    /// Step of the cell.
    pub step: Step,
    /// Phase of the cell.
    pub phase: Phase,
    /// Data state of the cell. `None` for a load.
    pub state: Option<DataState>,
    /// Further dimensions of the cell, without those of the configuration and the number of documents.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: Parameters,
    /// Metric that is compared. It is `throughput_ops_per_s` and a p99 for a measurement window, and
    /// `seconds` for other times. Sizes use `total_bytes`, or `files_bytes` if the systems report no total.
    #[serde(serialize_with = "metric_name")]
    pub metric: &'static MetricDef,
    /// Values of the baseline.
    pub a: SideValue,
    /// Values of the other side.
    pub b: SideValue,
    /// Median of B ÷ median of A. `None` if the cells cannot be compared.
    pub ratio: Option<f64>,
    /// Lower limit of the ratio's 95 % interval. `None` with fewer than two rounds on either side.
    pub low: Option<f64>,
    /// Upper limit of the ratio's 95 % interval. `None` with fewer than two rounds on either side.
    pub high: Option<f64>,
    /// Ratio divided by the control's ratio. `None` if there is no control, or if the metric is not divided.
    pub divided_by_control: Option<RatioInterval>,
    /// Two-sided p-value of the divided ratio, or of the raw ratio without a control; the null hypothesis is
    /// a ratio of 1. `None` if it is not tested.
    pub p_differs: Option<f64>,
    /// The p-value adjusted for all cells of the comparison by the procedure of Benjamini and Hochberg.
    /// `None` if it is not tested.
    pub p_adjusted: Option<f64>,
    /// One-sided p-value of the null hypothesis "not slower" (for throughput "not less", for a size "not
    /// larger"). The gate adjusts those of the cells that it tests. `None` for a size that does not vary
    /// between loads or was counted once, because there is nothing to test.
    pub p_slower: Option<f64>,
    /// Difference that the raw ratios alone would show, if it is another one. `None` otherwise.
    pub raw_outcome: Option<Significance>,
    /// Outcome of the comparison, see [`Outcome`].
    pub outcome: Outcome,
    /// Explanation of the outcome, if the values do not show it. `None` otherwise.
    pub note: Option<String>,
    /// Whether the interval of the cell's own rounds, without other errors, excludes 1.
    #[serde(skip)]
    rounds_exclude_one: bool,
}

fn metric_name<S: Serializer>(metric: &&'static MetricDef, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(metric.name)
}

fn without_version<S: Serializer>(id: &ConfigurationId, serializer: S) -> Result<S::Ok, S::Error> {
    let ConfigurationId { system, variant, storage, .. } = id;
    let mut map = serializer.serialize_map(Some(3))?;
    for (name, value) in [("system", system), ("variant", variant), ("storage", storage)] {
        map.serialize_entry(name, value)?;
    }
    map.end()
}

/// Ratio with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RatioInterval {
    /// Estimate of the ratio.
    pub ratio: f64,
    /// Lower limit. `None` with fewer than two rounds on either side.
    pub low: Option<f64>,
    /// Upper limit. `None` with fewer than two rounds on either side.
    pub high: Option<f64>,
}

impl std::convert::From<Estimate> for RatioInterval {
    fn from(estimate: Estimate) -> Self {
        Self { ratio: estimate.median, low: estimate.low, high: estimate.high }
    }
}

/// Values of one side of a cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SideValue {
    /// Configuration on this side.
    #[serde(flatten)]
    pub id: ConfigurationId,
    /// Worst verdict among the cell's trials.
    pub verdict: Verdict,
    /// Median time in seconds. `None` unless every trial of the cell may have a time.
    pub median_s: Option<f64>,
    /// Value of the metric that is compared, in its own unit. `None` if the verdict allows no time, or if the
    /// value is missing.
    pub value: Option<f64>,
    /// Number of trials with a time or with the headline metric.
    pub trials: u64,
    /// Number of rounds with a value of the metric.
    pub rounds: usize,
}

impl RunComparison {
    /// Differences between the machines of both runs.
    pub fn machine_differences(&self) -> impl Iterator<Item = &SetupDifference> {
        self.differences.iter().filter(|changed| changed.kind == DifferenceKind::Machine)
    }
}

impl CellComparison {
    /// Returns `true` if the cell has a time with an interval, so that a difference could be shown.
    #[must_use]
    pub fn has_interval(&self) -> bool {
        matches!(self.outcome, Outcome::Timed(_)) && self.low.is_some()
    }

    /// Returns `true` if B is worse than A by more than `share`: slower or larger, or less if higher values
    /// are better.
    #[must_use]
    pub fn is_worse_by(&self, share: f64) -> bool {
        let most = 1.0 + share;
        self.tested_ratio().is_some_and(|ratio| match self.metric.better {
            BetterDirection::Lower => ratio > most,
            BetterDirection::Higher => ratio < 1.0 / most,
            BetterDirection::Neither => false,
        })
    }

    /// Returns `true` for sizes that are compared without a test, because they do not vary between loads or
    /// were counted once.
    #[must_use]
    pub fn is_counted(&self) -> bool {
        matches!(self.outcome, Outcome::Sized(_)) && self.p_differs.is_none()
    }

    /// Ratio that is tested: divided by the control's ratio if there is a control. `None` if there is no
    /// ratio.
    #[must_use]
    pub fn tested_ratio(&self) -> Option<f64> {
        self.divided_by_control.map(|divided| divided.ratio).or(self.ratio)
    }
}

/// Compares two runs. They must have the same documents unless `different_data` is set.
///
/// # Errors
/// [`ResultsError::Incomparable`] if the runs have no cell in common, another number of documents, or
/// different documents without `different_data`.
pub fn compare(a: &Run, b: &Run, different_data: bool) -> Result<RunComparison, ResultsError> {
    let (data_a, data_b) = (&a.manifest.data, &b.manifest.data);
    if data_a.documents != data_b.documents {
        return Err(ResultsError::Incomparable(format!(
            "{} is of {} documents and {} of {}: times over different numbers of documents are not compared; \
             `jsonathlon check growth` shows how metrics scale with them",
            a.path, data_a.documents, b.path, data_b.documents
        )));
    }
    let has_different_data = data_a.digest != data_b.digest;
    if has_different_data && !different_data {
        return Err(ResultsError::Incomparable(format!(
            "{} and {} are of different documents ({} from {}; {} from {}); a difference between them may be \
             the documents'. Run again over the same ones, or say --different-data",
            a.path, b.path, data_a.digest, data_a.source, data_b.digest, data_b.source
        )));
    }
    let (configurations_a, configurations_b) = (&a.manifest.configurations, &b.manifest.configurations);
    let (summary_a, summary_b) = (a.summary(), b.summary());
    let matched = matching::match_cells(
        (configurations_a.iter().collect(), &summary_a.results),
        (configurations_b.iter().collect(), &summary_b.results),
        matching::match_configurations(configurations_a, configurations_b),
    );
    if matched.cells.is_empty() {
        return Err(nothing_in_common(a, b));
    }
    let (rounds_a, rounds_b) = (TrialsByRound::new(a), TrialsByRound::new(b));
    let (kernels_a, kernels_b) = (Kernels::from_run(a), Kernels::from_run(b));
    let control = Control::from_kernels(&kernels_a, &kernels_b);
    let kernels = control.map(|_| [&kernels_a, &kernels_b]);
    let cells = cells((a, b), &matched, &SampleOrigin::TwoRuns(kernels), |pair, metric| {
        [rounds_a.values(pair.a, metric), rounds_b.values(pair.b, metric)]
    });
    Ok(RunComparison {
        schema: SCHEMA,
        a: side(a, None),
        b: side(b, None),
        within_one_run: false,
        control,
        different_data: has_different_data,
        differences: differences::differences(&a.manifest, &b.manifest, &matched.configurations),
        counts: Counts::new(&cells),
        references: References::new(&cells),
        sizes: sizes::sizes(&matched.configurations, &summary_a.results, &summary_b.results),
        cells,
        only_in_a: matched.only_in_a,
        only_in_b: matched.only_in_b,
        gate: None,
    })
}

/// Compares two sides of one run, paired by round.
///
/// # Errors
/// [`ResultsError::Incomparable`] if the run has no such sides, or they have no cell in common.
pub fn compare_sides(run: &Run, pair: &SidePair) -> Result<RunComparison, ResultsError> {
    let sides = pair.sides(&run.manifest.configurations)?;
    let summary = run.summary();
    let matched =
        matching::match_cells((sides.a, &summary.results), (sides.b, &summary.results), sides.pairs);
    if matched.cells.is_empty() {
        return Err(ResultsError::Incomparable(format!(
            "{} and {} have no cell in common in {}: nothing was measured of one of them",
            pair.a(),
            pair.b(),
            run.path
        )));
    }
    let rounds = TrialsByRound::new(run);
    let cells = cells((run, run), &matched, &SampleOrigin::OneRun, |pair, metric| {
        [rounds.values(pair.a, metric), rounds.values(pair.b, metric)]
    });
    Ok(RunComparison {
        schema: SCHEMA,
        a: side(run, Some(pair.a())),
        b: side(run, Some(pair.b())),
        within_one_run: true,
        control: None,
        different_data: false,
        differences: differences::configuration_differences(&matched.configurations),
        counts: Counts::new(&cells),
        references: References::new(&cells),
        sizes: sizes::sizes(&matched.configurations, &summary.results, &summary.results),
        cells,
        only_in_a: matched.only_in_a,
        only_in_b: matched.only_in_b,
        gate: None,
    })
}

fn nothing_in_common(a: &Run, b: &Run) -> ResultsError {
    ResultsError::Incomparable(format!(
        "{} and {} have no cell in common: the first is of {}, the second of {}",
        a.path,
        b.path,
        matching::describe_configurations(&a.manifest.configurations),
        matching::describe_configurations(&b.manifest.configurations)
    ))
}

fn side(run: &Run, part: Option<&str>) -> Side {
    Side {
        run: run.path.clone(),
        part: part.map(str::to_owned),
        started: run.manifest.started.clone(),
        program: run.manifest.program.clone(),
        documents: run.manifest.data.documents,
        digest: run.manifest.data.digest.clone(),
        open_trials: run.open_trials().len(),
    }
}

/// Compares all matched cells. A cell has a ratio if both sides are right and have the same phase.
fn cells(
    (a, b): (&Run, &Run),
    matched: &matching::MatchedSides<'_>,
    origin: &SampleOrigin<'_>,
    values: impl Fn(&matching::CellPair<'_>, &'static MetricDef) -> [ValuesByRound; 2],
) -> Vec<CellComparison> {
    let matched_metric = |pair, metric| MatchedMetric { pair, metric, values: values(pair, metric) };
    let pairs = matched
        .cells
        .iter()
        .flat_map(|pair| compared_metrics(pair).into_iter().map(move |metric| (pair, metric)));
    let compared: Vec<MatchedMetric<'_>> = pairs.map(|(pair, metric)| matched_metric(pair, metric)).collect();
    let sides: Vec<Option<SideValues>> = compared
        .iter()
        .map(|MatchedMetric { pair, metric, values: [a, b] }| {
            let (metric, phase) = (*metric, pair.b.cell.phase);
            let (a, b) = (a.clone(), b.clone());
            let is_number = metric != &metric::INDEX_USE;
            (is_comparable(pair) && is_number).then_some(SideValues {
                metric,
                phase,
                configuration: pair.configuration_index,
                a,
                b,
            })
        })
        .collect();
    let ratios = ratios(&sides, origin);
    let mut cells: Vec<CellComparison> = compared
        .iter()
        .zip(&ratios)
        .map(|(cell, ratio)| {
            cell.comparison(ratio.as_ref(), &PlanViolations::new((a, cell.pair.a), (b, cell.pair.b)))
        })
        .collect();
    judge(&mut cells, &ratios);
    cells
}

fn is_comparable(pair: &matching::CellPair<'_>) -> bool {
    is_correct(pair.verdict_a) && is_correct(pair.verdict_b) && pair.a.cell.phase == pair.b.cell.phase
}

/// Metrics that are compared for a matched cell.
///
/// Times are compared by seconds, sizes by the systems' own total if both report one, measurement windows by
/// throughput or by the highest rate that met an objective. Windows also compare the p99 if both sides have
/// an interval of it: of service time in a closed loop, of response time in an open loop. The throughput of a
/// single operation is a fixed share of the mix's and not compared again. The use of an index and findings
/// are words, which are compared only if they differ.
fn compared_metrics(pair: &matching::CellPair<'_>) -> Vec<&'static MetricDef> {
    let both_have = |metric: &MetricDef| [pair.a, pair.b].iter().all(|entry| entry.value(metric).is_some());
    let cell = &pair.b.cell;
    if both_have(&metric::INDEX_USE) {
        let [a, b] = [pair.a, pair.b].map(|entry| entry.value(&metric::INDEX_USE));
        return if a == b { Vec::new() } else { vec![&metric::INDEX_USE] };
    }
    let headline = metric::headline(cell, both_have);
    if !pair.a.findings.is_empty() || !pair.b.findings.is_empty() {
        let is_same = pair.a.differing_findings(pair.b).is_empty();
        return if is_same { Vec::new() } else { vec![headline] };
    }
    if cell.phase != Phase::Measured || [metric::SECONDS, metric::SLO_OPS_PER_S].contains(headline) {
        return vec![headline];
    }
    let p99 = if cell.is_open_loop() { &metric::RESPONSE_P99_US } else { &metric::SERVICE_P99_US };
    let has_limits = [pair.a, pair.b].iter().all(|entry| entry.limits(p99).is_some());
    let mut metrics = vec![&metric::THROUGHPUT_OPS_PER_S];
    if is_comparable(pair) && has_limits {
        if cell.is_single_operation() {
            metrics.clear();
        }
        metrics.push(p99);
    }
    metrics
}

/// Decides for all cells with a ratio together which of them differ: times, and sizes that vary between
/// loads. Reference rows are a family of their own. Sizes that do not vary differ as counted, without a test.
fn judge(cells: &mut [CellComparison], ratios: &[Option<SideRatio>]) {
    for (cell, ratio) in cells.iter_mut().zip(ratios) {
        if let (Outcome::Sized(change), Some(ratio)) = (&mut cell.outcome, ratio)
            && !ratio.varies()
        {
            *change = SizeChange::from_ratio(ratio.raw.value);
        }
    }
    for reference in [false, true] {
        let family: Vec<(usize, SideRatio)> = cells
            .iter()
            .zip(ratios)
            .enumerate()
            .filter(|(_, (cell, _))| cell.reference == reference)
            .filter_map(|(index, (cell, ratio))| {
                let ratio = (*ratio)?;
                let is_tested = match cell.outcome {
                    Outcome::Timed(_) => ratio.tested_estimate().spread.is_some(),
                    Outcome::Sized(_) => ratio.varies(),
                    _ => false,
                };
                is_tested.then_some((index, ratio))
            })
            .collect();
        let adjusted = |select: &dyn Fn(&SideRatio) -> BootstrapEstimate| {
            let p_values = family.iter().map(|(_, ratio)| select(ratio).p_differs().unwrap_or(1.0));
            benjamini_hochberg(&p_values.collect::<Vec<f64>>())
        };
        let (tested, raw) = (adjusted(&|ratio| *ratio.tested_estimate()), adjusted(&|ratio| ratio.raw));
        for (((index, ratio), adjusted), raw) in family.iter().zip(tested).zip(raw) {
            let Some(cell) = cells.get_mut(*index) else { continue };
            cell.p_differs = ratio.tested_estimate().p_differs();
            cell.p_slower = ratio.p_worse(cell.metric.better);
            cell.p_adjusted = Some(adjusted);
            match &mut cell.outcome {
                Outcome::Sized(change) => {
                    let counted = SizeChange::from_ratio(ratio.raw.value);
                    *change = if adjusted <= ALPHA { counted } else { SizeChange::NotSignificant };
                }
                outcome => {
                    let better = cell.metric.better;
                    let difference = significance(adjusted, ratio.tested_estimate(), better);
                    let raw_difference = significance(raw, &ratio.raw, better);
                    cell.raw_outcome = Some(raw_difference).filter(|raw| *raw != difference);
                    *outcome = Outcome::Timed(difference);
                }
            }
        }
    }
}

/// Difference that a ratio of times or throughput shows at its adjusted p-value.
fn significance(adjusted: f64, ratio: &BootstrapEstimate, better: BetterDirection) -> Significance {
    if adjusted <= ALPHA {
        Significance::from_significant_ratio(ratio.value, better)
    } else {
        Significance::NotSignificant
    }
}

/// Returns `true` if the verdict means a right answer over all documents that were offered.
fn is_correct(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Exact | Verdict::Approximate)
}
