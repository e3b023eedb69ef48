//! Tables of the configurations that are I-JSON-safe, and of those that contradict the RFC.

use jsonathlon_results::i_json::IJsonGrade;
use jsonathlon_results::summary::CellSummary;
use jsonathlon_schema::finding_state::FindingState;
use jsonathlon_schema::settings::fidelity::{KnownCase, RfcRequirement};

use super::{CaseResults, INPUT_PATHS, document_finding, input_finding, is_stored, join_names, name_columns};
use crate::section::{Column, Section, printable, words};

/// Maximum number of cases that are named in a table cell.
const NAMED: usize = 8;

pub(super) fn table(all: &[CaseResults<'_>]) -> Section {
    let mut columns = words(&["system", "variant", "I-JSON-safe"]);
    columns.extend([Column::number("deciding"), Column::words("because of")]);
    let mut section = Section::new("I-JSON-safe".to_owned(), columns);
    for results in all {
        let IJsonGrade { safe, preserved_cases, deciding_cases, contradictions } = IJsonGrade::new(results);
        let grade = match safe {
            Some(false) => "no",
            Some(true) => "yes",
            None => "–",
        };
        let mut row = name_columns(results);
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
    let mut columns = words(&["system", "variant", "what"]);
    columns.extend([Column::number("documents"), Column::words("cases")]);
    let mut section = Section::new("against the RFC".to_owned(), columns);
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
                let mut row = name_columns(results);
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
