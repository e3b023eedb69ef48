//! Decides from the cases of a fidelity run whether configurations are I-JSON-safe.

use std::collections::HashMap;

use jsonathlon_schema::finding_state::FindingState;
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::record::Finding;
use jsonathlon_schema::settings::fidelity::KnownCase;
use jsonathlon_schema::workload::WorkloadKind;
use serde::Serialize;

use crate::cell_summary::CellSummary;

/// Input paths of a document, as findings name them.
pub const INPUT_PATHS: [&str; 2] = ["bulk", "parameter"];

/// Results of one configuration in all cases.
#[derive(Debug)]
pub struct CaseResults<'a> {
    /// Configuration to which all results belong.
    pub configuration: &'a Configuration,
    /// Each case with its entry. `None` if the case was not tried yet, or could not be.
    cases: Vec<(&'a KnownCase, Option<&'a CellSummary>)>,
}

impl<'a> CaseResults<'a> {
    /// Collects the results of `configuration` among all entries of a summary.
    #[must_use]
    pub fn new(configuration: &'a Configuration, cases: &'a [KnownCase], entries: &'a [CellSummary]) -> Self {
        let entries: HashMap<&str, &CellSummary> = entries
            .iter()
            .filter(|entry| {
                entry.cell.workload == WorkloadKind::Fidelity && configuration.contains_cell(&entry.cell)
            })
            .filter(|entry| !entry.findings.is_empty())
            .map(|entry| (entry.cell.step.word(), entry))
            .collect();
        let cases = cases.iter().map(|case| (case, entries.get(case.name.as_str()).copied())).collect();
        Self { configuration, cases }
    }

    /// Cases that were tried, each with its entry.
    pub fn entries(&self) -> impl Iterator<Item = (&'a KnownCase, &'a CellSummary)> {
        self.cases.iter().filter_map(|(case, entry)| Some((*case, (*entry)?)))
    }
}

/// Finding on whether an input path accepted the document.
#[must_use]
pub fn input_finding<'a>(entry: &'a CellSummary, input_path: &str) -> Option<&'a Finding> {
    entry.finding(input_path)
}

/// Finding on the whole document that an input path stored.
#[must_use]
pub fn document_finding<'a>(entry: &'a CellSummary, input_path: &str) -> Option<&'a Finding> {
    entry.finding(&format!("{input_path}, whole"))
}

/// Why a case shows that a configuration is not I-JSON-safe; `None` if the case does not show that.
fn contradiction(entry: &CellSummary) -> Option<String> {
    INPUT_PATHS.iter().find_map(|input_path| {
        let finding = input_finding(entry, input_path)?;
        match &finding.state {
            FindingState::NotTested => None,
            FindingState::Accepted => {
                let document = document_finding(entry, input_path)?;
                let is_same = matches!(document.state, FindingState::SameBytes | FindingState::SameValue);
                (!is_same).then(|| document.describe())
            }
            state => Some(state.to_string()),
        }
    })
}

/// Whether a configuration is I-JSON-safe, by the cases that decide it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct IJsonGrade {
    /// `None` while the result of a deciding case is missing.
    pub safe: Option<bool>,
    /// Number of deciding cases whose document came back with the same value by both input paths.
    pub preserved_cases: usize,
    /// Number of planned cases that decide.
    pub deciding_cases: usize,
    /// Names of the deciding cases that contradict it, each with the reason.
    pub contradictions: Vec<String>,
}

impl IJsonGrade {
    /// Grades a configuration by the results of its deciding cases.
    #[must_use]
    pub fn new(results: &CaseResults<'_>) -> Self {
        let deciding_entries: Vec<(&KnownCase, &CellSummary)> =
            results.entries().filter(|(case, _)| case.decides_i_json).collect();
        let deciding_cases = results.cases.iter().filter(|(case, _)| case.decides_i_json).count();
        let contradictions: Vec<String> = deciding_entries
            .iter()
            .filter_map(|(case, entry)| Some(format!("{} ({})", case.name, contradiction(entry)?)))
            .collect();
        let is_complete = deciding_entries.len() == deciding_cases && deciding_cases > 0;
        let safe = if contradictions.is_empty() { is_complete.then_some(true) } else { Some(false) };
        let preserved_cases = deciding_entries.len() - contradictions.len();
        Self { safe, preserved_cases, deciding_cases, contradictions }
    }
}
