//! Data of the page's charts and tables. `web/src/model.ts` is generated from these types.

use std::collections::BTreeMap;

use jsonathlon_results::answer::Answer;
use jsonathlon_results::challenge::published::PublishedResult;
use jsonathlon_results::i_json::IJsonGrade;
use jsonathlon_results::published_documents::PublishedDocumentsResult;
use jsonathlon_results::summary::{Run, Summary};
use jsonathlon_schema::machine::Machine;
use jsonathlon_schema::manifest::DataSetInfo;
use jsonathlon_schema::record::Agreement;
use jsonathlon_schema::settings::fidelity::KnownCase;
use jsonathlon_schema::workload::WorkloadKind;
use serde::Serialize;

use super::cells::{self, Cell, ConfigurationIndex, Crossover, Failure, LoadLoss, Peak, Ratios, Score};
use super::configurations::Configuration;
use super::distributions;
use super::number::Number;
use crate::fidelity;
use crate::headline::{self, Sentence};
use crate::questions::{self, QuestionHeading};

/// All data of a page but for the evidence: that of charts and tables.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct PageData {
    /// Version of the shapes of the page's data.
    pub(super) format: u32,
    /// Version of the program that made the page.
    pub(super) program: String,
    /// Creation time of the page, RFC 3339.
    pub(super) created: String,
    /// The runs, at least one, in command-line order.
    pub(super) runs: Vec<RunData>,
    /// Results published by others; see `docs/published.md`.
    pub(super) published: Vec<PublishedResult>,
    /// Published results on large documents; empty if no run has the documents workload.
    pub(super) published_documents: Vec<PublishedDocumentsResult>,
}

/// Data of one run. Its command line and the path of its folder are left out. Pages are passed on, and both
/// reveal details of the user's machine that no chart needs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Run"))]
pub(super) struct RunData {
    /// Identifies the run on this page: the name of its folder, with a number if two are equal.
    name: String,
    /// Sentences that are shown first, about broken durability promises; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    headline: Vec<Sentence>,
    /// Answers of the run, the most important ones first: what went wrong, then who leads in what.
    answers: Vec<Answer>,
    /// Whether every planned trial has a final record.
    complete: bool,
    /// Number of planned trials without a final record.
    open_trials: usize,
    /// Start time of the run, RFC 3339.
    started: String,
    /// Version of the program that executed the run.
    program: String,
    /// Machine that executed the run.
    machine: Machine,
    /// Sequential read rate of the run folder's disk. `None` if unknown.
    disk_bytes_per_s: Option<Number>,
    /// Number of planned rounds.
    rounds: u32,
    /// Documents that the run loads.
    data: DataSet,
    /// Configurations under test, in the order of the plan.
    configurations: Vec<Configuration>,
    /// Cells of all configurations.
    cells: Vec<Cell>,
    /// Highest throughput over the numbers of clients, for ranked configurations.
    peaks: Vec<Peak>,
    /// What loads lose to reports beside them; absent for other runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    load_losses: Vec<LoadLoss>,
    /// Document sizes at which two ranked configurations change places.
    crossovers: Vec<Crossover>,
    /// Published scores; empty if the run has none.
    scores: Vec<Score>,
    /// Failed trials, and plans that break the promise of their configuration.
    failures: Vec<Failure>,
    /// The user's own questions; absent for other workloads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    questions: Vec<QuestionHeading>,
    /// How the answers to each of the user's questions compare; absent for other workloads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    agreements: Vec<Agreement>,
    /// Documents of a fidelity run, which cells refer to by their steps; absent for other workloads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    cases: Vec<KnownCase>,
    /// Whether each configuration of a fidelity run is I-JSON-safe; absent for other workloads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    i_json: Vec<ConfigurationGrade>,
}

/// Documents that a run loads.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct DataSet {
    /// Number of documents offered: input lines that are valid JSON.
    documents: u64,
    /// Size of the documents in bytes as newline-delimited JSON.
    bytes: u64,
    /// Digest of the documents as newline-delimited JSON.
    digest: String,
    /// Description of the source for readers.
    source: String,
    /// Number of input lines that are neither blank nor JSON.
    malformed: u64,
    /// Seconds that staging the documents took.
    staging_s: Number,
    /// Bytes of the same documents as plain files, by format: raw, gzip-6, lz4, zstd-1.
    reference_sizes: BTreeMap<String, u64>,
}

/// Whether a configuration is I-JSON-safe, by the documents that decide it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct ConfigurationGrade {
    /// Index of the configuration in the run.
    configuration: usize,
    #[serde(flatten)]
    grade: IJsonGrade,
}

impl RunData {
    /// Returns `true` if the run has cells of a workload.
    pub(super) fn has_workload(&self, workload: WorkloadKind) -> bool {
        self.cells.iter().any(|cell| cell.workload == workload)
    }

    pub(super) fn new(run: &Run, summary: &Summary, name: &str) -> Self {
        let manifest = &run.manifest;
        let configurations = ConfigurationIndex::new(run);
        let ratios = Ratios::new(summary, &configurations);
        let distributions = distributions::by_cell(run);
        let DataSetInfo {
            documents, bytes, digest, source, no_documents, staging_s, reference_sizes, ..
        } = manifest.data.clone();
        Self {
            name: name.to_owned(),
            headline: headline::sentences(run, summary),
            answers: summary.answers.clone(),
            complete: summary.complete,
            open_trials: run.open_trials().len(),
            started: manifest.started.clone(),
            program: manifest.program.clone(),
            machine: manifest.machine.clone(),
            disk_bytes_per_s: manifest.disk_bytes_per_s.map(Number),
            rounds: manifest.settings.run.rounds,
            data: DataSet {
                documents,
                bytes,
                digest,
                source,
                malformed: no_documents,
                staging_s: Number(staging_s),
                reference_sizes,
            },
            configurations: manifest
                .configurations
                .iter()
                .map(|configuration| Configuration::new(run, configuration))
                .collect(),
            cells: cells::entries(run, summary)
                .map(|(index, entry)| Cell::new(index, entry, &ratios, distributions.get(&entry.cell.key())))
                .collect(),
            peaks: cells::peaks(run, summary, &configurations),
            load_losses: cells::load_losses(run, summary),
            crossovers: cells::crossovers(run, summary, &configurations),
            scores: cells::scores(summary, &configurations),
            failures: cells::failures(summary, &configurations),
            questions: questions::headings(manifest),
            agreements: summary.agreements.clone(),
            cases: manifest.fidelity_cases().to_vec(),
            i_json: fidelity::i_json_grades(run, summary)
                .into_iter()
                .map(|(configuration, grade)| ConfigurationGrade { configuration, grade })
                .collect(),
        }
    }
}
