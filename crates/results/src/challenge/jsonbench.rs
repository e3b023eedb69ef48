//! Reads and writes the result files of the published benchmark JSONBench.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use jsonathlon_schema::id::{ConfigurationId, DataState, Step};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric::{self, MetricDef};
use jsonathlon_schema::record::{Cell, Phase, RecordBody, RoundTripOutcome, Trial, Verdict};
use jsonathlon_schema::workload::WorkloadKind;
use serde::{Deserialize, Serialize};

use crate::ResultsError;
use crate::challenge::score::{QUESTIONS, ScoreInput, Suspects, hot_time, step_word};
use crate::run::Run;

/// Runs of each question: the first is cold, the others are hot.
pub const RUNS: usize = 3;

/// Result file of one system. Unknown fields are ignored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultFile {
    /// Display name of the system.
    pub system: String,
    /// Version of the system.
    pub version: String,
    /// Operating system of the machine.
    pub os: String,
    /// Day of the run, `YYYY-MM-DD`.
    pub date: String,
    /// Description of the machine.
    pub machine: String,
    /// `yes` if documents were read back with the same bytes or values, otherwise `no`.
    pub retains_structure: String,
    /// Free keywords, such as variant and storage setting.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Number of documents offered, including lines that are not JSON.
    pub dataset_size: u64,
    /// Number of documents loaded.
    pub num_loaded_documents: u64,
    /// Total size of the data in bytes.
    pub total_size: u64,
    /// Size of the data in bytes. `None` if the system does not separate them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_size: Option<u64>,
    /// Size of the indexes in bytes. `None` if the system does not separate them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_size: Option<u64>,
    /// Seconds of Q1 to Q5: the cold trial of round 1 and its first two hot ones. `None` for a missing time.
    pub result: [[Option<f64>; RUNS]; QUESTIONS],
    /// Memory in bytes during the same trials. `None` if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_usage: Option<[[Option<u64>; RUNS]; QUESTIONS]>,
    /// Seconds that loading took. `None` if not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_time: Option<f64>,
}

impl ResultFile {
    /// Times and size from which the score is computed.
    #[must_use]
    pub fn score_input(&self) -> ScoreInput {
        ScoreInput {
            cold: self.result.map(|runs| runs[0]),
            hot: self.result.map(|runs| hot_time(&runs)),
            total_bytes: Some(self.total_size),
            suspected: Suspects::default(),
        }
    }
}

/// Result file of one configuration of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportedResult<'a> {
    /// Configuration that was measured.
    pub configuration: &'a Configuration,
    /// Data state in which questions were asked and sizes were taken.
    pub state: DataState,
    /// Whether all documents were loaded, so that the result may be compared with others.
    pub comparable: bool,
    /// Content of the result file.
    pub file: ResultFile,
}

impl ExportedResult<'_> {
    /// File name, made of the configuration's identity, the number of documents and the data state.
    #[must_use]
    pub fn name(&self) -> String {
        let ConfigurationId { system, version, variant, storage } = &self.configuration.id;
        let scale = scale_name(self.file.dataset_size);
        let state =
            if self.state == DataState::Drained { String::new() } else { format!("_{}", self.state.word()) };
        let name = format!("{system}_{version}_{variant}_{storage}_{scale}{state}");
        let is_allowed = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
        name.chars().map(|c| if is_allowed(c) { c } else { '-' }).collect::<String>() + ".json"
    }
}

/// Number of documents as in the names of published files: `1m`, `100k`, `1234`.
#[must_use]
pub fn scale_name(documents: u64) -> String {
    for (unit, letter) in [(1_000_000, "m"), (1000, "k")] {
        if documents > 0 && documents.is_multiple_of(unit) {
            return format!("{}{letter}", documents / unit);
        }
    }
    documents.to_string()
}

/// Makes one result file for each loaded configuration, except reference rows.
#[must_use]
pub fn exported_results(run: &Run) -> Vec<ExportedResult<'_>> {
    let export = |configuration| Export::new(run, configuration)?.result();
    let measured = run.manifest.configurations.iter().filter(|configuration| !configuration.reference);
    measured.filter_map(export).collect()
}

/// Results of one configuration, from which its file is made.
struct Export<'a> {
    run: &'a Run,
    configuration: &'a Configuration,
    trials: Vec<&'a Trial>,
    load: &'a Trial,
    state: DataState,
}

impl<'a> Export<'a> {
    fn new(run: &'a Run, configuration: &'a Configuration) -> Option<Self> {
        let belongs =
            |cell: &Cell| cell.workload == WorkloadKind::Analytics && configuration.contains_cell(cell);
        let trials: Vec<&Trial> = run.trials().filter(|trial| belongs(&trial.cell)).collect();
        let load = *trials.iter().find(|trial| trial.cell.step == Step::Load && trial.seconds.is_some())?;
        // Drained is the published data state. Compacted is used only if questions were asked in no other.
        let is_asked_in =
            |state| trials.iter().any(|trial| trial.cell.step.word() == "q1" && is_in(trial, state));
        let only_compacted = is_asked_in(DataState::Compacted) && !is_asked_in(DataState::Drained);
        let state = if only_compacted { DataState::Compacted } else { DataState::Drained };
        Some(Self { run, configuration, trials, load, state })
    }

    fn result(&self) -> Option<ExportedResult<'a>> {
        let configuration = self.configuration;
        let size =
            self.trials.iter().find(|trial| trial.cell.step == Step::Size && is_in(trial, self.state))?;
        let bytes = |metric: &MetricDef| metric.value(size).map(|value| value as u64);
        let machine = &self.run.manifest.machine;
        let mut tags =
            vec![configuration.id.variant.clone(), format!("storage-{}", configuration.id.storage)];
        if configuration.embedded {
            tags.push("embedded".to_owned());
        }
        if self.state != DataState::Drained {
            tags.push(self.state.word().to_owned());
        }
        let unverified = self.per_run(|trial| (trial.cell.phase == Phase::ColdUnverified).then_some(()));
        if unverified.iter().flatten().any(Option::is_some) {
            tags.push(Phase::ColdUnverified.word().to_owned());
        }
        let result = self.per_run(|trial| trial.seconds.map(round_to_nanosecond));
        let memory = self.per_run(|trial| {
            let bytes = [metric::PEAK_PSS_BYTES, metric::HELD_PSS_BYTES]
                .iter()
                .find_map(|metric| metric.value(trial));
            bytes.map(|bytes| bytes as u64)
        });
        let file = ResultFile {
            system: configuration.title.clone(),
            version: configuration.id.version.clone(),
            os: machine.os.clone(),
            date: self.run.manifest.day(),
            machine: format!("{} cores, {}", machine.cores, machine.processor),
            retains_structure: if self.retains_value() { "yes" } else { "no" }.to_owned(),
            tags,
            // The published size of the data set counts lines.
            dataset_size: self.run.manifest.data.documents + self.run.manifest.data.no_documents,
            num_loaded_documents: metric::DOCUMENTS_LOADED.value(self.load).map_or(0, |count| count as u64),
            total_size: bytes(&metric::TOTAL_BYTES).or_else(|| bytes(&metric::FILES_BYTES))?,
            data_size: bytes(&metric::DATA_BYTES),
            index_size: bytes(&metric::INDEX_BYTES),
            result,
            memory_usage: memory.iter().flatten().any(Option::is_some).then_some(memory),
            load_time: self.load.seconds.map(round_to_nanosecond),
        };
        let comparable = self.load.verdict == Verdict::Exact;
        Some(ExportedResult { configuration, state: self.state, comparable, file })
    }

    /// Applies `value` to each trial that the published format includes.
    fn per_run<T: Copy>(&self, value: impl Fn(&Trial) -> Option<T>) -> [[Option<T>; RUNS]; QUESTIONS] {
        std::array::from_fn(|question| {
            std::array::from_fn(|run| self.trial(&step_word(question), run).and_then(&value))
        })
    }

    /// Finds the trial that corresponds to a published run. `None` if the whole cell has no time, because a
    /// question that was wrong in one round is not fast in another.
    fn trial(&self, step: &str, run: usize) -> Option<&'a Trial> {
        let phases: &[Phase] = if run == 0 { &[Phase::Cold, Phase::ColdUnverified] } else { &[Phase::Hot] };
        let mut selected = None;
        for trial in &self.trials {
            if trial.cell.step.word() != step
                || !is_in(trial, self.state)
                || !phases.contains(&trial.cell.phase)
            {
                continue;
            }
            if !trial.verdict.has_time() || trial.verdict.is_unverified() {
                return None;
            }
            if trial.round == 1 && trial.order as usize == run.saturating_sub(1) {
                selected = Some(*trial);
            }
        }
        selected
    }

    fn retains_value(&self) -> bool {
        self.run.records.iter().any(|record| match &record.body {
            RecordBody::Structure(structure) => {
                self.configuration.contains_cell(&structure.cell)
                    && matches!(structure.retains, RoundTripOutcome::Bytes | RoundTripOutcome::Value)
            }
            _ => false,
        })
    }
}

fn is_in(trial: &Trial, state: DataState) -> bool {
    trial.cell.state == Some(state)
}

/// Rounds to nanoseconds: clocks resolve no more, and numbers with so few decimals are read back exactly.
fn round_to_nanosecond(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e9
}

/// Parses the text of a result file, or of a JSON array of them.
///
/// # Errors
/// [`ResultsError::Corrupt`] if the text does not have this format; `path` only appears in the message.
pub fn parse_result_files(path: &Path, text: &str) -> Result<Vec<ResultFile>, ResultsError> {
    let corrupt = |error: serde_json::Error| ResultsError::Corrupt {
        path: path.to_owned(),
        line: error.line(),
        message: error.to_string(),
    };
    if text.trim_start().starts_with('[') {
        serde_json::from_str(text).map_err(corrupt)
    } else {
        Ok(vec![serde_json::from_str(text).map_err(corrupt)?])
    }
}

/// Reads the result file at `path`, or all files of a folder whose names end with `.json`, sorted by name.
///
/// # Errors
/// [`ResultsError::Missing`] if `path` does not exist or the folder holds no result file,
/// [`ResultsError::Io`] if a file cannot be read, [`ResultsError::Corrupt`] if its format is wrong.
pub fn read_result_files(path: &Path) -> Result<Vec<ResultFile>, ResultsError> {
    if !path.exists() {
        return Err(ResultsError::Missing(format!("{} is not there", path.display())));
    }
    if !path.is_dir() {
        let text = fs::read_to_string(path).map_err(ResultsError::io("read", path))?;
        return parse_result_files(path, &text);
    }
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(path).map_err(ResultsError::io("read", path))? {
        let file = entry.map_err(ResultsError::io("read", path))?.path();
        if file.extension().is_some_and(|extension| extension == "json") && file.is_file() {
            files.push(file);
        }
    }
    if files.is_empty() {
        return Err(ResultsError::Missing(format!("{} holds no run and no result file", path.display())));
    }
    files.sort();
    let mut results = Vec::new();
    for file in files {
        results.extend(read_result_files(&file)?);
    }
    Ok(results)
}

/// Writes one file per configuration into `folder`, which is created if missing. Existing files are never
/// overwritten, because they may be the only copy of a result.
///
/// # Errors
/// [`ResultsError::Exists`] if one of the files exists, before any is written; [`ResultsError::Io`] if the
/// folder or a file cannot be written.
pub fn write_result_files(
    folder: &Path,
    exported: &[ExportedResult<'_>],
) -> Result<Vec<PathBuf>, ResultsError> {
    fs::create_dir_all(folder).map_err(ResultsError::io("create", folder))?;
    let paths: Vec<PathBuf> = exported.iter().map(|result| folder.join(result.name())).collect();
    if let Some(path) = paths.iter().find(|path| path.exists()) {
        return Err(ResultsError::Exists { path: path.clone() });
    }
    for (path, result) in paths.iter().zip(exported) {
        let mut text = serde_json::to_string_pretty(&result.file).map_err(|error| ResultsError::Io {
            action: "write",
            path: path.clone(),
            source: error.into(),
        })?;
        text.push('\n');
        File::create_new(path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(ResultsError::io("write", path))?;
    }
    Ok(paths)
}
