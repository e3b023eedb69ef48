//! Tables of the fidelity workload: what happened to the documents, which systems change what, and which are
//! I-JSON-safe.

mod counts;
mod deepest;
mod grade;
mod kinds;

use jsonathlon_results::i_json::{CaseResults, IJsonGrade, INPUT_PATHS, document_finding, input_finding};
use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_schema::finding_state::FindingState;
use jsonathlon_schema::record::Finding;

use crate::section::{Section, printable, sorted_configurations};
use crate::shown_text::{ALWAYS, Explanation, ShownText};

/// All tables of the workload.
pub(crate) fn sections(run: &Run, summary: &Summary) -> Vec<Section> {
    let cases = run.manifest.fidelity_cases();
    let all: Vec<CaseResults<'_>> = sorted_configurations(run)
        .into_iter()
        .map(|configuration| CaseResults::new(configuration, cases, &summary.results))
        .collect();
    let mut sections = vec![counts::table(&all)];
    sections.extend(kinds::tables(&all));
    sections.push(grade::table(&all));
    sections.extend(grade::rfc_violations(&all));
    sections.extend(deepest::table(&sorted_configurations(run), summary));
    sections
}

/// Notes on how to read the workload's tables.
const READING_NOTES: [Explanation; 4] = [
    (
        ALWAYS,
        "every document went alone into an empty table, by the bulk path and as one parameter; `same value` means \
         exact decimals, code units of strings, and members in any order",
    ),
    (
        ALWAYS,
        "what must be rejected is outside of JSON's grammar (RFC 8259, section 10: what writes JSON keeps to it); \
         what is the implementation's choice is within, and beyond what the RFC promises: other systems may read \
         it differently",
    ),
    (
        &["I-JSON"],
        "I-JSON-safe: every object of I-JSON (RFC 7493) goes in by both insert paths and comes out with the same \
         value",
    ),
    (
        ALWAYS,
        "every finding, with the system's own words and what came back, is in the journal, in `--json` and in \
         `jsonathlon export --format csv`",
    ),
];

/// Notes on how to read the workload's tables, those that are needed.
pub(crate) fn reading_notes(shown: &ShownText) -> Vec<String> {
    shown.explain(&READING_NOTES)
}

/// I-JSON grades of a fidelity run's configurations, each with the index of the configuration. Empty for
/// other workloads.
pub(crate) fn i_json_grades(run: &Run, summary: &Summary) -> Vec<(usize, IJsonGrade)> {
    let cases = run.manifest.fidelity_cases();
    if cases.is_empty() {
        return Vec::new();
    }
    let configurations = run.manifest.configurations.iter().enumerate();
    configurations
        .map(|(index, configuration)| {
            (index, IJsonGrade::new(&CaseResults::new(configuration, cases, &summary.results)))
        })
        .collect()
}

/// Name of a configuration within a text: system and variant.
fn name(results: &CaseResults<'_>) -> String {
    let id = &results.configuration.id;
    printable(&format!("{} {}", id.system, id.variant))
}

/// Table cells that identify a configuration: system with version, and variant.
fn name_columns(results: &CaseResults<'_>) -> Vec<String> {
    let id = &results.configuration.id;
    vec![format!("{} {}", id.system, id.version), id.variant.clone()]
}

/// Finding on the value extracted from the document that an input path stored.
fn value_finding<'a>(entry: &'a CellSummary, input_path: &str) -> Option<&'a Finding> {
    entry.finding(&format!("{input_path}, value"))
}

/// Returns `true` if an input path accepted a document and did not lose it. A bulk path may skip text that it
/// does not recognise as a document.
fn is_stored(entry: &CellSummary, input_path: &str) -> bool {
    let has_state = |finding: Option<&Finding>, state| finding.is_some_and(|finding| finding.state == state);
    has_state(input_finding(entry, input_path), FindingState::Accepted)
        && !has_state(document_finding(entry, input_path), FindingState::NothingReturned)
}

/// Joins up to `limit` names, and states how many more there are.
fn join_names(names: &[String], limit: usize) -> String {
    let text = names.iter().take(limit).cloned().collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(limit) {
        Some(more) if more > 0 => format!("{text} and {more} more"),
        _ => text,
    }
}
