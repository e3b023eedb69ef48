//! Data of the page's charts and tables, in the shapes of `web/src/model.ts`.

use std::collections::{BTreeMap, HashMap};

use jsonathlon_results::challenge::published::Published;
use jsonathlon_results::published_documents::PublishedDocuments;
use jsonathlon_results::ratio_to_best::{CellRatio, RatioTo, Significance};
use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_schema::id::{ConfigurationId, DataState, Step};
use jsonathlon_schema::machine::Machine;
use jsonathlon_schema::manifest::{self, DataSetInfo};
use jsonathlon_schema::metric::SECONDS;
use jsonathlon_schema::ranking::{MemoryProfile, MemorySetting, PreparationClass};
use jsonathlon_schema::record::{self, Agreement, Phase, RecordBody, Verdict};
use jsonathlon_schema::severity::Severity;
use jsonathlon_schema::workload::{WorkloadKind, WorkloadName};
use serde::Serialize;

use super::distributions;
use super::number::Number;
use crate::documents;
use crate::fidelity::{self, Case};
use crate::headline::{self, Sentence};
use crate::questions::{self, QuestionHeading};

/// All data of a page but for the evidence.
#[derive(Debug, Serialize)]
pub(super) struct PageData {
    pub(super) format: u32,
    pub(super) program: String,
    pub(super) made: String,
    pub(super) runs: Vec<RunData>,
    pub(super) published: Vec<Published>,
    pub(super) published_documents: Vec<PublishedDocuments>,
}

/// Data of one run. Its command line and the path of its folder are left out. Pages are passed on, and both
/// reveal details of the user's machine that no chart needs.
#[derive(Debug, Serialize)]
pub(super) struct RunData {
    name: String,
    /// Sentences that are shown first, about broken durability promises.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    headline: Vec<Sentence>,
    complete: bool,
    open: usize,
    started: String,
    program: String,
    machine: Machine,
    disk_bytes_per_s: Option<Number>,
    rounds: Option<u64>,
    data: PageDataSet,
    configurations: Vec<Configuration>,
    cells: Vec<Cell>,
    peaks: Vec<Peak>,
    crossovers: Vec<Crossover>,
    scores: Vec<Score>,
    failures: Vec<Failure>,
    /// The user's own questions; empty for other workloads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    questions: Vec<QuestionHeading>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    agreements: Vec<Agreement>,
    /// Documents of a fidelity run, which cells refer to by their steps; empty for other workloads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cases: Vec<Case>,
    /// Whether each configuration of a fidelity run is I-JSON-safe; empty for other workloads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    i_json: Vec<ConfigurationGrade>,
}

#[derive(Debug, Serialize)]
struct PageDataSet {
    documents: u64,
    bytes: u64,
    digest: String,
    source: String,
    malformed: u64,
    staging_s: Option<Number>,
    reference_sizes: BTreeMap<String, u64>,
}

#[derive(Debug, Serialize)]
struct Configuration {
    system: String,
    title: String,
    version: String,
    variant: String,
    variant_title: String,
    storage: String,
    embedded: bool,
    transport: Option<String>,
    end_of_life: bool,
    outdated: Option<String>,
    preparation: Option<PreparationClass>,
    profile: Option<MemoryProfile>,
    memory_bytes: Option<u64>,
    ranks_with: String,
    ranking: String,
    ranked: bool,
    reference: bool,
    configuration_digest: String,
    artifact_digest: Option<String>,
    exceptions: Vec<manifest::SettingDeviation>,
    settings: Vec<MemorySetting>,
    parallel_unit: Option<u64>,
    durability: Option<manifest::Durability>,
    not_made_for: Option<String>,
    other_questions: BTreeMap<String, String>,
    structure: Option<Structure>,
    rejects: Vec<Reject>,
}

#[derive(Debug, Serialize)]
struct Structure {
    retains: String,
    compared: u64,
    equal_bytes: u64,
    equal_value: u64,
    changes: BTreeMap<String, u64>,
}

#[derive(Debug, Serialize)]
struct ConfigurationGrade {
    configuration: usize,
    #[serde(flatten)]
    grade: fidelity::IJsonGrade,
}

#[derive(Debug, Serialize)]
struct Reject {
    reason: String,
    documents: u64,
}

#[derive(Debug, Serialize)]
struct Cell {
    configuration: usize,
    workload: WorkloadName,
    step: Step,
    phase: Phase,
    state: Option<DataState>,
    parameters: BTreeMap<String, serde_json::Value>,
    trials: u64,
    median_s: Option<Number>,
    low_s: Option<Number>,
    high_s: Option<Number>,
    verdict: Verdict,
    /// How strongly the page marks the cell.
    #[serde(skip_serializing_if = "Severity::is_good")]
    severity: Severity,
    bound_by: Option<String>,
    metrics: BTreeMap<String, Number>,
    intervals: BTreeMap<String, [Number; 2]>,
    /// Metrics whose trials fall into two groups, with trials and median of each group.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    groups: BTreeMap<String, [(u64, Number); 2]>,
    of_best: Option<Ratio>,
    of_yardstick: Option<Ratio>,
    /// Quantiles of the cell's histograms by name: share and microseconds.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    distributions: BTreeMap<String, Vec<[Number; 2]>>,
    /// Observations on the cell that are not numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<record::Finding>,
}

/// Highest throughput of a configuration over all numbers of clients.
#[derive(Debug, Serialize)]
struct Peak {
    cell: usize,
    value: Number,
    of_best: Ratio,
    other_clients: Option<u64>,
    /// Whether the throughput is the highest of its ranking and shown to differ from all others.
    leads: bool,
}

/// A size of documents at which the faster of two configurations changes.
#[derive(Debug, Serialize)]
struct Crossover {
    test: &'static str,
    data: String,
    below: usize,
    above: usize,
    bytes: Number,
    low: Option<Number>,
    high: Option<Number>,
}

#[derive(Debug, Serialize)]
struct Ratio {
    ratio: Number,
    low: Option<Number>,
    high: Option<Number>,
    difference: Significance,
    other: usize,
}

#[derive(Debug, Serialize)]
struct Score {
    configuration: usize,
    state: DataState,
    cold: Option<Number>,
    hot: Option<Number>,
    size: Option<Number>,
}

#[derive(Debug, Serialize)]
struct Failure {
    configuration: usize,
    step: Step,
    phase: Phase,
    round: u32,
    kind: String,
    error: String,
}

/// Entries of a run's configurations, each with the index of its configuration. Plain files are no
/// configuration; their sizes are among the data's.
pub(super) fn cells<'a>(
    run: &'a Run,
    summary: &'a Summary,
) -> impl Iterator<Item = (usize, &'a CellSummary)> {
    let configurations = ConfigurationIndex::new(run);
    summary.results.iter().filter_map(move |entry| Some((configurations.find(&entry.cell)?, entry)))
}

impl RunData {
    /// Returns `true` if the run has cells of a workload.
    pub(super) fn has(&self, workload: WorkloadKind) -> bool {
        self.cells.iter().any(|cell| cell.workload == workload)
    }

    pub(super) fn of(run: &Run, summary: &Summary, name: &str) -> Self {
        let manifest = &run.manifest;
        let configurations = ConfigurationIndex::new(run);
        let ratios = Ratios::new(summary, &configurations);
        let distributions = distributions::of(run);
        let DataSetInfo {
            documents, bytes, digest, source, no_documents, staging_s, reference_sizes, ..
        } = manifest.data.clone();
        Self {
            name: name.to_owned(),
            headline: headline::sentences(run, summary),
            complete: summary.complete,
            open: run.open_trials().len(),
            started: manifest.started.clone(),
            program: manifest.program.clone(),
            machine: manifest.machine.clone(),
            disk_bytes_per_s: manifest.disk_bytes_per_s.map(Number),
            rounds: manifest.settings.get("rounds").and_then(serde_json::Value::as_u64),
            data: PageDataSet {
                documents,
                bytes,
                digest,
                source,
                malformed: no_documents,
                staging_s: staging_s.map(Number),
                reference_sizes,
            },
            configurations: manifest
                .configurations
                .iter()
                .map(|configuration| Configuration::new(run, configuration))
                .collect(),
            cells: cells(run, summary)
                .map(|(index, entry)| Cell::new(index, entry, &ratios, distributions.get(&entry.cell.key())))
                .collect(),
            peaks: peaks(run, summary, &configurations),
            crossovers: crossovers(run, summary, &configurations),
            scores: scores(summary, &configurations),
            failures: failures(summary, &configurations),
            questions: questions::own(manifest).map(|settings| settings.questions).unwrap_or_default(),
            agreements: summary.agreements.clone(),
            cases: fidelity::cases(run),
            i_json: fidelity::i_json_grades(run, summary)
                .into_iter()
                .map(|(configuration, grade)| ConfigurationGrade { configuration, grade })
                .collect(),
        }
    }
}

impl Configuration {
    fn new(run: &Run, configuration: &manifest::Configuration) -> Self {
        let (structure, rejects) = Self::structure_and_rejects(run, configuration);
        let ranking = configuration.ranking();
        let manifest::Configuration {
            id: ConfigurationId { system, version, variant, storage },
            title,
            variant_title,
            embedded,
            transport,
            end_of_life,
            outdated,
            preparation,
            profile,
            memory_bytes,
            memory_settings: settings,
            parallel_unit,
            durability,
            not_made_for,
            other_questions,
            ranks_with,
            ranked,
            reference,
            configuration_digest,
            artifact_digest,
            machine_libraries: _,
            exceptions,
        } = configuration.clone();
        Self {
            system,
            title,
            version,
            variant,
            variant_title,
            storage,
            embedded,
            transport,
            end_of_life,
            outdated,
            preparation,
            profile,
            memory_bytes,
            ranks_with,
            ranking,
            ranked,
            reference,
            configuration_digest,
            artifact_digest,
            exceptions,
            settings,
            parallel_unit,
            durability,
            not_made_for,
            other_questions,
            structure,
            rejects,
        }
    }

    /// Structure that the configuration retains of documents, and the documents that it rejects.
    fn structure_and_rejects(
        run: &Run,
        configuration: &manifest::Configuration,
    ) -> (Option<Structure>, Vec<Reject>) {
        let mut structure = None;
        let mut rejects = Vec::new();
        for record in &run.records {
            match &record.body {
                RecordBody::Structure(report) if configuration.has(&report.cell) => {
                    structure = Some(Structure {
                        retains: report.retains.clone(),
                        compared: report.compared,
                        equal_bytes: report.equal_bytes,
                        equal_value: report.equal_value,
                        changes: report.changes.clone(),
                    });
                }
                RecordBody::Rejects(report) if configuration.has(&report.cell) => {
                    let reasons = report.reasons.iter();
                    rejects.extend(reasons.map(|(message, reason)| Reject {
                        reason: reason.in_words(message),
                        documents: reason.documents,
                    }));
                }
                _ => {}
            }
        }
        (structure, rejects)
    }
}

impl Cell {
    fn new(
        configuration: usize,
        entry: &CellSummary,
        ratios: &Ratios,
        distributions: Option<&BTreeMap<String, Vec<[f64; 2]>>>,
    ) -> Self {
        let key = entry.cell.key();
        let record::Cell { workload, step, phase, state, mut parameters, .. } = entry.cell.clone();
        // The configuration and the data hold these.
        for name in ["preparation", "memory", "scale"] {
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
            bound_by: entry.bound_by.clone(),
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
            of_best: ratios.find(&key, RatioTo::Best),
            of_yardstick: ratios.find(&key, RatioTo::Reference),
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

fn peaks(run: &Run, summary: &Summary, configurations: &ConfigurationIndex<'_>) -> Vec<Peak> {
    let indices: HashMap<String, usize> =
        cells(run, summary).enumerate().map(|(index, (_, entry))| (entry.cell.key(), index)).collect();
    let convert = |peak: &jsonathlon_results::peaks::PeakThroughput| {
        let comparison = &peak.comparison;
        Some(Peak {
            cell: *indices.get(&comparison.cell.key())?,
            value: Number(peak.value),
            of_best: configurations.ratio(comparison)?,
            other_clients: peak.other_clients,
            leads: peak.leads,
        })
    };
    summary.peaks.iter().filter_map(convert).collect()
}

fn crossovers(run: &Run, summary: &Summary, configurations: &ConfigurationIndex<'_>) -> Vec<Crossover> {
    let convert = |crossover: documents::crossover::TestCrossover<'_>| {
        Some(Crossover {
            test: crossover.test,
            data: crossover.data,
            below: configurations.index_of(&crossover.below.id, crossover.below.profile)?,
            above: configurations.index_of(&crossover.above.id, crossover.above.profile)?,
            bytes: Number(crossover.at.size),
            low: crossover.at.low.map(Number),
            high: crossover.at.high.map(Number),
        })
    };
    documents::crossover::all(run, summary).into_iter().filter_map(convert).collect()
}

fn scores(summary: &Summary, configurations: &ConfigurationIndex<'_>) -> Vec<Score> {
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

fn failures(summary: &Summary, configurations: &ConfigurationIndex<'_>) -> Vec<Failure> {
    let convert = |failure: &jsonathlon_results::summary::FailureSummary| {
        Some(Failure {
            configuration: configurations.find(&failure.cell)?,
            step: failure.cell.step.clone(),
            phase: failure.cell.phase,
            round: failure.round,
            kind: failure.kind.clone(),
            error: failure.error.clone(),
        })
    };
    summary.failures.iter().filter_map(convert).collect()
}

/// Indexes of configurations by their identity and memory profile.
struct ConfigurationIndex<'a>(HashMap<(&'a ConfigurationId, Option<MemoryProfile>), usize>);

impl<'a> ConfigurationIndex<'a> {
    fn new(run: &'a Run) -> Self {
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
struct Ratios<'a> {
    configurations: &'a ConfigurationIndex<'a>,
    best: HashMap<String, &'a CellRatio>,
    reference: HashMap<String, &'a CellRatio>,
}

impl<'a> Ratios<'a> {
    fn new(summary: &'a Summary, configurations: &'a ConfigurationIndex<'a>) -> Self {
        let select = |against: RatioTo| {
            let comparisons = summary.comparisons.iter().filter(|comparison| comparison.against == against);
            comparisons.map(|comparison| (comparison.cell.key(), comparison)).collect()
        };
        Self { configurations, best: select(RatioTo::Best), reference: select(RatioTo::Reference) }
    }

    fn find(&self, key: &str, against: RatioTo) -> Option<Ratio> {
        let comparison = match against {
            RatioTo::Best => self.best.get(key),
            RatioTo::Reference => self.reference.get(key),
        }?;
        self.configurations.ratio(comparison)
    }
}
