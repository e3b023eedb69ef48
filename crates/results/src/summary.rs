//! Summary of a run, computed from its manifest and journal alone.

use std::collections::{BTreeMap, HashMap};

use jsonathlon_schema::id::{ConfigurationId, Step};
use jsonathlon_schema::machine::Machine;
use jsonathlon_schema::manifest::{Manifest, SCHEMA};
use jsonathlon_schema::metric::{
    self, BetterDirection, FILES_BYTES, LEAST_TOTAL_BYTES, MOST_TOTAL_BYTES, MetricDef, Reduction,
    TOTAL_BYTES,
};
use jsonathlon_schema::record::{
    Agreement, Bottleneck, Cell, Failure, FailureKind, Finding, JournalRecord, Metrics, Phase, PlanCheck,
    RecordBody, Trial, Verdict,
};
use jsonathlon_stats::statistics::{Group, estimate_at, two_groups};
use jsonathlon_telemetry::foreign_load::ForeignLoad;
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, SummaryParts, answers};
use crate::challenge::{PublishedScore, published_scores};
use crate::load_loss::{LoadLoss, load_losses};
use crate::peaks::{PeakThroughput, peaks};
use crate::percentile::Histograms;
use crate::precision::{self, PrecisionResult};
use crate::promise::BrokenPromise;
use crate::ratio_to_best::{CellRatio, cell_ratios};
use crate::reduction::reduce;

pub use crate::cell_summary::{CellSummary, FailureSummary};
pub use crate::run::Run;

/// Everything that a run measured, as tables, page and exports show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Format version of the summary.
    pub schema: u32,
    /// Path of the run folder.
    pub run: String,
    /// Whether every planned trial has a final record.
    pub complete: bool,
    /// Version of the program that made the run.
    pub program: String,
    /// Start of the run as an RFC 3339 time.
    pub started: String,
    /// Hardware and operating system of the machine.
    pub machine: Machine,
    /// Documents that the run loaded.
    pub data: DataSummary,
    /// Answers of the run, the most important ones first: what went wrong, then who leads in what.
    #[serde(default)]
    pub answers: Vec<Answer>,
    /// One entry per cell, and one per reference file format.
    pub results: Vec<CellSummary>,
    /// Comparisons of cells with the best of their ranking and with the reference row.
    pub comparisons: Vec<CellRatio>,
    /// Highest throughput over the numbers of clients, for ranked configurations in closed loops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peak_throughputs: Vec<PeakThroughput>,
    /// What each load loses to reports that are asked beside it. Empty without such.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load_losses: Vec<LoadLoss>,
    /// Precision that was reached. `None` if the run was not started with `--precision`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<PrecisionResult>,
    /// Trials with more than 2 % CPU steal, out of all for which it was recorded.
    pub cpu_steal: CpuStealSummary,
    /// Scores by the formula of the published benchmark, among this run's configurations. Empty for an
    /// incomplete run.
    pub published_scores: Vec<PublishedScore>,
    /// Comparisons of all answers to a question, for workloads whose expected answers are not known
    /// beforehand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agreements: Vec<Agreement>,
    /// Durability tiers that lost more than they allow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken_promises: Vec<BrokenPromise>,
    /// One entry per failed trial, and one per plan that broke its configuration's promise.
    pub failures: Vec<FailureSummary>,
}

/// Number of trials with considerable CPU steal, which is time that the hypervisor gave to other machines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuStealSummary {
    /// Number of trials that lost more than 2 % of all cores' time to the hypervisor.
    pub affected_trials: u64,
    /// Number of trials for which CPU steal was recorded.
    pub recorded_trials: u64,
}

impl CpuStealSummary {
    /// Share of all cores' time above which the CPU steal of a trial is counted.
    pub const THRESHOLD_SHARE: f64 = ForeignLoad::MAX_STEAL_SHARE;

    fn from_trials<'a>(trials: impl Iterator<Item = &'a Trial>) -> Self {
        let shares = trials.filter_map(|trial| metric::MACHINE_STEAL_SHARE.value(trial));
        shares.fold(Self::default(), |sum, share| Self {
            affected_trials: sum.affected_trials + u64::from(share > Self::THRESHOLD_SHARE),
            recorded_trials: sum.recorded_trials + 1,
        })
    }
}

/// Short description of the documents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataSummary {
    /// Number of documents offered to each system.
    pub documents: u64,
    /// Size in bytes as newline-delimited JSON.
    pub bytes: u64,
    /// Digest of the documents as newline-delimited JSON.
    pub digest: String,
    /// Description of the documents' source for readers.
    pub source: String,
    /// Seconds of staging: writing or reading, digest and reference answers.
    pub staging_s: f64,
}

impl Run {
    /// Computes the summary of the run.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut cells: BTreeMap<String, Vec<&Trial>> = BTreeMap::new();
        let mut order: Vec<String> = Vec::new();
        for trial in self.trials() {
            let key = trial.cell.key();
            let trials = cells.entry(key.clone()).or_default();
            if trials.is_empty() {
                order.push(key);
            }
            trials.push(trial);
        }
        let mut results = file_rows(&self.manifest);
        let alpha = precision::alpha(&self.manifest, self.trials());
        results.extend(order.iter().filter_map(|key| summarize_cell(cells.get(key)?, alpha)));
        mark_partial(&self.manifest, &mut results);
        let comparisons = cell_ratios(self, &results, alpha);
        let peak_throughputs = peaks(self, &results, alpha);
        let load_losses = load_losses(self, &results, alpha);
        let precision = precision::precision(&self.manifest, self.trials(), &results);
        let complete = self.open_trials().is_empty();
        let parts =
            SummaryParts { entries: &results, peaks: &peak_throughputs, alpha, is_complete: complete };
        let answers = answers(self, &parts);
        let broken_promises = results.iter().filter_map(BrokenPromise::from_entry).collect();
        Summary {
            schema: SCHEMA,
            run: self.path.clone(),
            complete,
            program: self.manifest.program.clone(),
            started: self.manifest.started.clone(),
            machine: self.manifest.machine.clone(),
            data: DataSummary {
                documents: self.manifest.data.documents,
                bytes: self.manifest.data.bytes,
                digest: self.manifest.data.digest.clone(),
                source: self.manifest.data.source.clone(),
                staging_s: self.manifest.data.staging_s,
            },
            answers,
            results,
            comparisons,
            peak_throughputs,
            load_losses,
            precision,
            cpu_steal: CpuStealSummary::from_trials(self.trials()),
            // Trials that are still missing would count as missing times.
            published_scores: if complete { published_scores(self) } else { Vec::new() },
            agreements: self.agreements().cloned().collect(),
            broken_promises,
            failures: failures(&self.records),
        }
    }
}

/// Marks cells measured on a partial load as [`Verdict::Partial`], unless their verdict is worse. Their
/// answers are right for fewer documents, but do not answer the question, which each entry must show by
/// itself.
fn mark_partial(manifest: &Manifest, results: &mut [CellSummary]) {
    let is_partial =
        |entry: &&CellSummary| entry.cell.step == Step::Load && entry.verdict == Verdict::Partial;
    let partial: Vec<Cell> = results.iter().filter(is_partial).map(|entry| entry.cell.clone()).collect();
    let has_configuration =
        |cell: &Cell| manifest.configurations.iter().any(|configuration| configuration.contains_cell(cell));
    for entry in results.iter_mut().filter(|entry| has_configuration(&entry.cell)) {
        if partial.iter().any(|load| entry.cell.belongs_to_load(load)) {
            entry.verdict = entry.verdict.max(Verdict::Partial);
        }
    }
}

/// Sizes of the same documents in formats that are not databases, as reference entries.
fn file_rows(manifest: &Manifest) -> Vec<CellSummary> {
    manifest
        .data
        .reference_sizes
        .iter()
        .map(|(format, bytes)| CellSummary {
            trials: 1,
            metrics: [FILES_BYTES, TOTAL_BYTES].map(|metric| (metric.name.to_owned(), *bytes as f64)).into(),
            ..CellSummary::blank(Cell {
                workload: "analytics".into(),
                id: ConfigurationId::new("files", &manifest.program, format, ""),
                profile: None,
                step: Step::Size,
                phase: Phase::Steady,
                state: None,
                parameters: [("scale".to_owned(), manifest.data.documents.into())].into(),
            })
        })
        .collect()
}

fn summarize_cell(trials: &[&Trial], alpha: f64) -> Option<CellSummary> {
    let cell = trials.first()?.cell.clone();
    let verdict = trials.iter().map(|trial| trial.verdict).max()?;
    let headline = metric::headline(&cell, |metric| trials.iter().any(|trial| metric.value(trial).is_some()));
    let is_timed = |trial: &&&Trial| match cell.phase {
        phase if phase.is_window() => headline.value(trial).is_some(),
        _ => trial.seconds.is_some(),
    };
    let timed: Vec<&&Trial> = trials.iter().filter(is_timed).collect();
    // One wrong or failed trial removes the time of the whole cell, because a configuration that is right
    // four times out of five has no speed.
    let estimate =
        verdict.has_time().then(|| estimate_at(&rounds_of(&metric::SECONDS, trials), alpha)).flatten();
    let seconds: Vec<f64> = trials.iter().filter_map(|trial| metric::SECONDS.value(trial)).collect();
    let (mean, deviation) = mean_and_deviation(&seconds);
    let histograms = Histograms::from_trials(trials);
    let mut metrics = metrics(trials, &histograms, cell.phase);
    if !verdict.has_time() {
        metrics.retain(|name, _| MetricDef::find(name).is_none_or(|metric| !metric.is_speed));
    }
    let intervals =
        if verdict.has_time() { intervals(trials, &histograms, &metrics, alpha) } else { BTreeMap::new() };
    Some(CellSummary {
        trials: timed.len() as u64,
        median_s: estimate.map(|e| e.median),
        low_s: estimate.and_then(|e| e.low),
        high_s: estimate.and_then(|e| e.high),
        mean_s: estimate.map(|_| mean),
        sd_s: estimate.and(deviation),
        verdict,
        bound_by: typical_bound(&timed),
        cell,
        metrics,
        intervals,
        groups: groups(trials),
        findings: findings(trials),
    })
}

/// Collects the findings of the trials; for each subject the last one counts.
fn findings(trials: &[&Trial]) -> Vec<Finding> {
    let mut latest: Vec<Finding> = Vec::new();
    for finding in trials.iter().flat_map(|trial| &trial.findings) {
        match latest.iter_mut().find(|earlier| earlier.subject == finding.subject) {
            Some(earlier) => earlier.clone_from(finding),
            None => latest.push(finding.clone()),
        }
    }
    latest
}

/// Mean, and standard deviation of the sample. The deviation is `None` for a single value.
fn mean_and_deviation(samples: &[f64]) -> (f64, Option<f64>) {
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count;
    let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
    (mean, (samples.len() > 1).then(|| (squares / (count - 1.0)).sqrt()))
}

/// Most frequent bottleneck of the trials; the first one seen if several are equally frequent.
fn typical_bound(trials: &[&&Trial]) -> Option<Bottleneck> {
    let mut counts: Vec<(Bottleneck, usize)> = Vec::new();
    for bound in trials.iter().filter_map(|trial| trial.bound_by) {
        match counts.iter_mut().find(|(known, _)| *known == bound) {
            Some((_, count)) => *count += 1,
            None => counts.push((bound, 1)),
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max()?;
    counts.iter().find(|(_, count)| *count == most).map(|(bound, _)| *bound)
}

fn metrics(trials: &[&Trial], histograms: &Histograms, phase: Phase) -> Metrics {
    let mut values: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for trial in trials {
        for (name, value) in &trial.metrics {
            values.entry(name).or_default().push(*value);
        }
        if let Some(seconds) = trial.server_seconds {
            values.entry(metric::SERVER_S.name).or_default().push(seconds);
        }
    }
    // A size was taken after each load, so it has a range.
    let sizes =
        values.get(metric::TOTAL_BYTES.name).filter(|sizes| phase == Phase::Steady && sizes.len() > 1);
    let limits = sizes.map(|sizes| {
        let (least, most) =
            sizes.iter().fold((f64::MAX, 0.0_f64), |(a, b), size| (a.min(*size), b.max(*size)));
        [(LEAST_TOTAL_BYTES, least), (MOST_TOTAL_BYTES, most)]
            .map(|(metric, size)| (metric.name.to_owned(), size))
    });
    values
        .into_iter()
        .filter_map(|(name, values)| Some((name.to_owned(), reduce(name, &values)?)))
        .chain(limits.into_iter().flatten())
        .chain(histograms.percentiles().into_iter().map(|(name, value)| (name.to_owned(), value)))
        .collect()
}

/// Intervals of the registered metrics that have one, except the time, which has its own fields.
fn intervals(
    trials: &[&Trial],
    histograms: &Histograms,
    metrics: &Metrics,
    alpha: f64,
) -> BTreeMap<String, [f64; 2]> {
    let interval = |metric: &MetricDef| {
        let limits = match metric.quantile() {
            Some(_) => histograms.interval(metric, *metrics.get(metric.name)?, alpha)?,
            None => {
                let estimate = estimate_at(&rounds_of(metric, trials), alpha)?;
                [estimate.low?, estimate.high?]
            }
        };
        Some((metric.name.to_owned(), limits))
    };
    let candidates = metric::ALL.iter().filter(|metric| metric.interval && **metric != metric::SECONDS);
    candidates.filter_map(interval).collect()
}

/// Metrics that are reduced to a median, and whose trials fall into two groups.
fn groups(trials: &[&Trial]) -> BTreeMap<String, [Group; 2]> {
    let mut values: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for trial in trials {
        let seconds = trial.seconds.map(|seconds| (metric::SECONDS.name, seconds));
        let metrics = trial.metrics.iter().map(|(name, value)| (name.as_str(), *value));
        for (name, value) in metrics.chain(seconds) {
            values.entry(name).or_default().push(value);
        }
    }
    let is_median = |name: &str| {
        MetricDef::find(name).is_none_or(|metric| {
            metric.reduction == Reduction::Median && metric.better != BetterDirection::Neither
        })
    };
    values
        .into_iter()
        .filter(|(name, _)| is_median(name))
        .filter_map(|(name, values)| Some((name.to_owned(), two_groups(&values)?)))
        .collect()
}

/// Values of a metric by round, without rounds that have none.
fn rounds_of(metric: &MetricDef, trials: &[&Trial]) -> Vec<Vec<f64>> {
    let mut rounds: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for trial in trials {
        if let Some(value) = metric.value(trial) {
            rounds.entry(trial.round).or_default().push(value);
        }
    }
    rounds.into_values().collect()
}

/// Failed trials, followed by plans that broke their configurations' promises.
fn failures(records: &[JournalRecord]) -> Vec<FailureSummary> {
    let causes: HashMap<&str, &Failure> = records
        .iter()
        .filter_map(|record| match &record.body {
            RecordBody::Trial(trial) => Some((record.key.as_str(), trial.failure.as_ref()?)),
            _ => None,
        })
        .collect();
    // A record caused by another one does not repeat its message, which is therefore added to the entry.
    let with_cause = |entry: FailureSummary| match entry.cause_key.as_deref().and_then(|key| causes.get(key))
    {
        Some(cause) => FailureSummary { error: format!("{}: {}", entry.error, cause.error), ..entry },
        None => entry,
    };
    let trials = records.iter().filter_map(|record| match &record.body {
        RecordBody::Trial(trial) => failure(&record.key, trial).map(with_cause),
        _ => None,
    });
    let plans = records.iter().filter_map(|record| match &record.body {
        RecordBody::Plan(plan) => broken_plan(&record.key, plan),
        _ => None,
    });
    trials.chain(plans).collect()
}

/// Makes a failure of a plan that breaks its configuration's promise, although its answers are valid.
fn broken_plan(key: &str, plan: &PlanCheck) -> Option<FailureSummary> {
    (!plan.violations.is_empty()).then(|| FailureSummary {
        key: key.to_owned(),
        cause_key: None,
        cell: plan.cell.clone(),
        round: 0,
        kind: FailureKind::Plan,
        error: format!("{} ({})", plan.violations.join("; "), plan.file),
    })
}

fn failure(key: &str, trial: &Trial) -> Option<FailureSummary> {
    // A missing feature is not a failure of the system; its reason is in the message.
    let failure = trial.failure.as_ref().filter(|_| trial.verdict != Verdict::NotApplicable)?;
    Some(FailureSummary {
        key: key.to_owned(),
        cause_key: failure.cause_key.clone(),
        cell: trial.cell.clone(),
        round: trial.round,
        kind: failure.kind,
        error: failure.error.clone(),
    })
}
