//! Tables of the configurations that are I-JSON-safe, and of those that contradict the RFC.

use serde::Serialize;

use jsonathlon_results::summary::CellSummary;
use jsonathlon_schema::finding_state::FindingState;
use jsonathlon_schema::settings::fidelity::{KnownCase, RfcRequirement};

use super::{CaseResults, INPUT_PATHS, document_finding, input_finding, is_stored, join_names};
use crate::section::{Section, printable};

/// Maximum number of cases that are named in a table cell.
const NAMED: usize = 8;

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
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct IJsonGrade {
    /// `None` while the result of a deciding case is missing.
    pub(crate) safe: Option<bool>,
    /// Number of deciding cases whose document came back with the same value by both input paths.
    pub(crate) preserved_cases: usize,
    /// Number of planned cases that decide.
    pub(crate) deciding_cases: usize,
    /// Names of the deciding cases that contradict it, each with the reason.
    pub(crate) contradictions: Vec<String>,
}

impl IJsonGrade {
    pub(super) fn new(results: &CaseResults<'_>) -> Self {
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

pub(super) fn table(all: &[CaseResults<'_>]) -> Section {
    let header = ["system", "variant", "I-JSON-safe", "deciding", "because of"];
    let mut section = Section::new("I-JSON-safe".to_owned(), &header, 3);
    section.further_left_columns = vec![4];
    for results in all {
        let IJsonGrade { safe, preserved_cases, deciding_cases, contradictions } = IJsonGrade::new(results);
        let grade = match safe {
            Some(false) => "no",
            Some(true) => "yes",
            None => "–",
        };
        let mut row = results.columns();
        row.extend([grade.to_owned(), format!("{preserved_cases} of {deciding_cases}")]);
        row.push(printable(&join_names(&contradictions, NAMED)));
        section.rows.push(row);
    }
    section.notes.push(
        "deciding: how many of the I-JSON objects that must be accepted came back with the same value by both insert paths"
            .to_owned(),
    );
    section
}

/// Predicate on a case and its result.
type CasePredicate<'a> = &'a dyn Fn(&KnownCase, &CellSummary) -> bool;

/// Table of documents that were wrongly rejected, wrongly accepted, lost, or that ended an engine. `None` if
/// there are none.
pub(super) fn rfc_violations(all: &[CaseResults<'_>]) -> Option<Section> {
    let header = ["system", "variant", "what", "documents", "cases"];
    let mut section = Section::new("against the RFC".to_owned(), &header, 3);
    section.further_left_columns = vec![4];
    let has_state = |entry: &CellSummary, states: &[FindingState]| {
        let is_listed = |state: &FindingState| states.contains(state);
        INPUT_PATHS.iter().any(|input_path| {
            input_finding(entry, input_path).is_some_and(|finding| is_listed(&finding.state))
                || document_finding(entry, input_path).is_some_and(|finding| is_listed(&finding.state))
        })
    };
    for results in all {
        let kinds: [(&str, CasePredicate<'_>); 4] = [
            ("rejects what must be accepted", &|case, entry| {
                case.requirement == RfcRequirement::Accept && has_state(entry, &[FindingState::Rejected])
            }),
            ("accepts what must be rejected", &|case, entry| {
                case.requirement == RfcRequirement::Reject
                    && INPUT_PATHS.iter().any(|path| is_stored(entry, path))
            }),
            ("ends or hangs", &|_, entry| has_state(entry, &[FindingState::Crashed, FindingState::Hung])),
            ("loses what it accepted", &|case, entry| {
                case.requirement != RfcRequirement::Reject
                    && has_state(entry, &[FindingState::NothingReturned])
            }),
        ];
        for (problem, predicate) in kinds {
            let names: Vec<String> = results
                .entries()
                .filter(|(case, entry)| predicate(case, entry))
                .map(|(case, _)| case.name.clone())
                .collect();
            if !names.is_empty() {
                let mut row = results.columns();
                row.extend([
                    problem.to_owned(),
                    names.len().to_string(),
                    printable(&join_names(&names, NAMED)),
                ]);
                section.rows.push(row);
            }
        }
    }
    (!section.rows.is_empty()).then_some(section)
}
