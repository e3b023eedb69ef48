//! Runs as a table for spreadsheets, and as result files of the published benchmark.

use crate::ResultsError;
use crate::challenge::jsonbench::{self, Exported};
use crate::record::Parameters;
use crate::run::Run;
use crate::summary::Summary;

/// One line a result and metric-free columns first, then every metric that occurs, in name order, then every finding
/// with its state and kinds, and the system's own words. RFC 4180, with `\n` line ends.
#[must_use]
pub fn csv(summary: &Summary) -> String {
    lines_of(summary, false)
}

/// The same with the mean of each time and its standard deviation in two further columns at the end.
#[must_use]
pub fn csv_with_means(summary: &Summary) -> String {
    lines_of(summary, true)
}

fn lines_of(summary: &Summary, means: bool) -> String {
    let mut names: Vec<&str> =
        summary.results.iter().flat_map(|entry| entry.metrics.keys().map(String::as_str)).collect();
    names.sort_unstable();
    names.dedup();
    let dimensions: Vec<Parameters> = summary.results.iter().map(|entry| entry.cell.dimensions()).collect();
    let mut parameters: Vec<&str> =
        dimensions.iter().flat_map(|all| all.keys().map(String::as_str)).collect();
    parameters.sort_unstable();
    parameters.dedup();
    let mut lines = Vec::with_capacity(summary.results.len() + 1);
    let fixed = ["workload", "system", "version", "variant", "step", "phase"];
    let figures = ["trials", "median_s", "low_s", "high_s", "verdict", "bound_by"];
    let further: &[&str] = if means { &["mean_s", "sd_s"] } else { &[] };
    let findings = findings(summary);
    let of_findings = findings.iter().flat_map(|of| [of.clone(), format!("{of}, words")]);
    let of_figures =
        fixed.iter().chain(&parameters).chain(&figures).chain(&names).chain(further).map(|n| (*n).to_owned());
    lines.push(line(of_figures.chain(of_findings)));
    for (entry, dimensions) in summary.results.iter().zip(&dimensions) {
        let cell = &entry.cell;
        let mut fields = vec![
            cell.workload.clone(),
            cell.id.system.clone(),
            cell.id.version.clone(),
            cell.id.variant.clone(),
            cell.step.to_string(),
            cell.phase.word().to_owned(),
        ];
        fields.extend(parameters.iter().map(|name| match dimensions.get(*name) {
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
        if means {
            fields.extend([number(entry.mean_s), number(entry.sd_s)]);
        }
        fields.extend(findings.iter().flat_map(|of| match entry.finding(of) {
            Some(finding) => [finding.told(), finding.words.clone().unwrap_or_default()],
            None => [String::new(), String::new()],
        }));
        lines.push(line(fields.into_iter()));
    }
    lines.concat()
}

/// Of what there are findings, in the order in which they come.
fn findings(summary: &Summary) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for finding in summary.results.iter().flat_map(|entry| &entry.findings) {
        if !all.contains(&finding.of) {
            all.push(finding.of.clone());
        }
    }
    all
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

/// One result file of the published benchmark a configuration. The published statistic takes round 1 only; it
/// is made from the same trials as everything else.
///
/// # Errors
/// When the run holds no analytics results.
pub fn jsonbench(run: &Run) -> Result<Vec<Exported<'_>>, ResultsError> {
    let exported = jsonbench::of_run(run);
    if exported.is_empty() {
        return Err(ResultsError::Missing(format!(
            "{} holds no finished analytics load, so there is nothing to export in the published format",
            run.path
        )));
    }
    Ok(exported)
}
