//! Exports a run as CSV, and as result files of the published benchmark.

use jsonathlon_schema::record::Parameters;

use crate::ResultsError;
use crate::challenge::jsonbench::{self, ExportedResult};
use crate::run::Run;
use crate::summary::Summary;

/// Formats the summary as CSV with one line per cell: identity, dimensions and time, then all metrics in name
/// order, then all findings, each with state, details and the system's message. RFC 4180, with `\n` line
/// ends.
#[must_use]
pub fn csv(summary: &Summary) -> String {
    csv_lines(summary, false)
}

/// Formats the summary like [`csv`], with two more columns for the mean and standard deviation of times.
#[must_use]
pub fn csv_with_means(summary: &Summary) -> String {
    csv_lines(summary, true)
}

fn csv_lines(summary: &Summary, has_means: bool) -> String {
    let mut metric_names: Vec<&str> =
        summary.results.iter().flat_map(|entry| entry.metrics.keys().map(String::as_str)).collect();
    metric_names.sort_unstable();
    metric_names.dedup();
    let dimensions: Vec<Parameters> = summary.results.iter().map(|entry| entry.cell.dimensions()).collect();
    let mut parameters: Vec<&str> =
        dimensions.iter().flat_map(|parameters| parameters.keys().map(String::as_str)).collect();
    parameters.sort_unstable();
    parameters.dedup();
    let mut lines = Vec::with_capacity(summary.results.len() + 1);
    let identity_columns = ["workload", "system", "version", "variant", "step", "phase"];
    let time_columns = ["trials", "median_s", "low_s", "high_s", "verdict", "bound_by"];
    let mean_columns: &[&str] = if has_means { &["mean_s", "sd_s"] } else { &[] };
    let findings = findings(summary);
    let finding_columns = findings.iter().flat_map(|subject| [subject.clone(), format!("{subject}, words")]);
    let columns = identity_columns
        .iter()
        .chain(&parameters)
        .chain(&time_columns)
        .chain(&metric_names)
        .chain(mean_columns)
        .map(|name| (*name).to_owned());
    lines.push(line(columns.chain(finding_columns)));
    for (entry, dimensions) in summary.results.iter().zip(&dimensions) {
        let cell = &entry.cell;
        let mut fields = vec![
            cell.workload.to_string(),
            cell.id.system.clone(),
            cell.id.version.clone(),
            cell.id.variant.clone(),
            cell.step.to_string(),
            cell.phase.word().to_owned(),
        ];
        fields.extend(parameters.iter().map(|name| match dimensions.get(*name) {
            Some(serde_json::Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => String::new(),
        }));
        fields.extend([
            entry.trials.to_string(),
            number(entry.median_s),
            number(entry.low_s),
            number(entry.high_s),
            entry.verdict.word().to_owned(),
            entry.bound_by.map(|bound| bound.to_string()).unwrap_or_default(),
        ]);
        fields.extend(metric_names.iter().map(|name| number(entry.metrics.get(*name).copied())));
        if has_means {
            fields.extend([number(entry.mean_s), number(entry.sd_s)]);
        }
        fields.extend(findings.iter().flat_map(|subject| match entry.finding(subject) {
            Some(finding) => [finding.describe(), finding.message.clone().unwrap_or_default()],
            None => [String::new(), String::new()],
        }));
        lines.push(line(fields.into_iter()));
    }
    lines.concat()
}

/// Subjects of all findings, in order of first occurrence.
fn findings(summary: &Summary) -> Vec<String> {
    let mut subjects: Vec<String> = Vec::new();
    for finding in summary.results.iter().flat_map(|entry| &entry.findings) {
        if !subjects.contains(&finding.subject) {
            subjects.push(finding.subject.clone());
        }
    }
    subjects
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

/// Makes one result file of the published benchmark per configuration. The published statistic uses round 1
/// only.
///
/// # Errors
/// [`ResultsError::Missing`] if no configuration has a finished load and size of the analytics workload.
pub fn jsonbench(run: &Run) -> Result<Vec<ExportedResult<'_>>, ResultsError> {
    let exported = jsonbench::exported_results(run);
    if exported.is_empty() {
        return Err(ResultsError::Missing(format!(
            "{} holds no finished analytics load, so there is nothing to export in the published format",
            run.path
        )));
    }
    Ok(exported)
}
