//! Runs in other formats: a table for spreadsheets, and the published format of the billion-document
//! JSON challenge.

use serde::{Deserialize, Serialize};

use crate::ResultsError;
use crate::manifest::Configuration;
use crate::record::{Body, Cell, Phase, Record, Trial};
use crate::summary::{Run, Summary};

/// One line a result and metric-free columns first, then every metric that occurs, in name order.
/// RFC 4180, with `\n` line ends.
#[must_use]
pub fn csv(summary: &Summary) -> String {
    let mut names: Vec<&str> =
        summary.results.iter().flat_map(|entry| entry.metrics.keys().map(String::as_str)).collect();
    names.sort_unstable();
    names.dedup();
    let mut parameters: Vec<&str> =
        summary.results.iter().flat_map(|entry| entry.parameters.keys().map(String::as_str)).collect();
    parameters.sort_unstable();
    parameters.dedup();
    let mut lines = Vec::with_capacity(summary.results.len() + 1);
    let fixed = ["workload", "system", "version", "variant", "step", "phase"];
    let figures = ["trials", "median_s", "low_s", "high_s", "verdict", "bound_by"];
    lines.push(line(fixed.iter().chain(&parameters).chain(&figures).chain(&names).map(|n| (*n).to_owned())));
    for entry in &summary.results {
        let mut fields = vec![
            entry.workload.clone(),
            entry.system.clone(),
            entry.version.clone(),
            entry.variant.clone(),
            entry.step.clone(),
            entry.phase.word().to_owned(),
        ];
        fields.extend(parameters.iter().map(|name| match entry.parameters.get(*name) {
            Some(serde_json::Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        }));
        fields.extend([
            entry.trials.to_string(),
            number(entry.median_s),
            number(entry.low_s),
            number(entry.high_s),
            entry.verdict.word().to_owned(),
            entry.bound_by.clone().unwrap_or_default(),
        ]);
        fields.extend(names.iter().map(|name| number(entry.metrics.get(*name).copied())));
        lines.push(line(fields.into_iter()));
    }
    lines.concat()
}

fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn line(fields: impl Iterator<Item = String>) -> String {
    let quoted: Vec<String> = fields
        .map(|field| {
            if field.contains([',', '"', '\n', '\r']) {
                format!("\"{}\"", field.replace('"', "\"\""))
            } else {
                field
            }
        })
        .collect();
    quoted.join(",") + "\n"
}

/// A result file in the published format of the challenge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// Name for people.
    pub system: String,
    /// Version.
    pub version: String,
    /// Operating system.
    pub os: String,
    /// Day of the run, `YYYY-MM-DD`.
    pub date: String,
    /// Machine.
    pub machine: String,
    /// `yes` when documents come back as the same value, measured; else `no`.
    pub retains_structure: String,
    /// Free words.
    pub tags: Vec<String>,
    /// Documents offered.
    pub dataset_size: u64,
    /// Documents loaded.
    pub num_loaded_documents: u64,
    /// Bytes in all.
    pub total_size: u64,
    /// Bytes of data, where the system tells them apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_size: Option<u64>,
    /// Bytes of indexes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_size: Option<u64>,
    /// Seconds of Q1 to Q5: round 1's cold trial and its first two hot ones; null where there is no time.
    pub result: Vec<[Option<f64>; 3]>,
    /// Peak memory in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_usage: Option<u64>,
    /// Seconds of loading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_time: Option<f64>,
}

/// One result file a configuration. The published statistic takes round 1 only; it is made from the same
/// trials as everything else.
///
/// # Errors
/// When the run holds no analytics results.
pub fn jsonbench(run: &Run) -> Result<Vec<Published>, ResultsError> {
    let files: Vec<Published> = run
        .manifest
        .configurations
        .iter()
        .filter(|configuration| !configuration.reference)
        .filter_map(|configuration| published(run, configuration))
        .collect();
    if files.is_empty() {
        return Err(ResultsError::Missing(format!(
            "{} holds no finished analytics load, so there is nothing to export in the published format",
            run.path
        )));
    }
    Ok(files)
}

fn published(run: &Run, configuration: &Configuration) -> Option<Published> {
    let of = |cell: &Cell| cell.workload == "analytics" && configuration.has(cell);
    let trials: Vec<&Trial> = run.trials().filter(|trial| of(&trial.cell)).collect();
    let load = trials.iter().find(|trial| trial.cell.step == "load" && trial.seconds.is_some())?;
    // The state that the questions were asked in is the one whose sizes belong beside them.
    let state = trials
        .iter()
        .find(|trial| trial.cell.step == "q1")
        .and_then(|trial| trial.cell.parameters.get("state"))
        .cloned();
    let size = trials
        .iter()
        .filter(|trial| trial.cell.step == "size")
        .find(|trial| state.is_none() || trial.cell.parameters.get("state") == state.as_ref())?;
    let bytes = |name: &str| size.metrics.get(name).map(|value| *value as u64);
    let time = |question: u32, cold: bool, order: u32| {
        trials
            .iter()
            .find(|trial| {
                trial.cell.step == format!("q{question}")
                    && trial.cell.parameters.get("state") == state.as_ref()
                    && (trial.cell.phase != Phase::Hot) == cold
                    && trial.round == 1
                    && trial.order == order
            })
            .and_then(|trial| trial.seconds)
    };
    let peak =
        trials.iter().filter_map(|trial| trial.metrics.get("peak_pss_bytes")).copied().reduce(f64::max);
    let retains = run.records.iter().any(|record| retains_value(record, &of));
    let mut tags = vec![configuration.variant.clone(), format!("storage-{}", configuration.storage)];
    if configuration.embedded {
        tags.push("embedded".to_owned());
    }
    Some(Published {
        system: configuration.title.clone(),
        version: configuration.version.clone(),
        os: run.manifest.machine.os.clone(),
        date: run.manifest.started.chars().take(10).collect(),
        machine: format!("{} cores, {}", run.manifest.machine.cores, run.manifest.machine.processor),
        retains_structure: if retains { "yes" } else { "no" }.to_owned(),
        tags,
        dataset_size: run.manifest.data.documents,
        num_loaded_documents: load.metrics.get("documents_loaded").map_or(0, |count| *count as u64),
        total_size: bytes("total_bytes").or_else(|| bytes("files_bytes"))?,
        data_size: bytes("data_bytes"),
        index_size: bytes("index_bytes"),
        result: (1..=5).map(|q| [time(q, true, 0), time(q, false, 0), time(q, false, 1)]).collect(),
        memory_usage: peak.map(|bytes| bytes as u64),
        load_time: load.seconds,
    })
}

fn retains_value(record: &Record, of: &impl Fn(&Cell) -> bool) -> bool {
    match &record.body {
        Body::Structure(structure) => of(&structure.cell) && structure.retains != "changed",
        _ => false,
    }
}
