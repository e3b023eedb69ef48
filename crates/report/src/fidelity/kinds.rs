//! Tables of the systems that change documents or extracted values, with one row per kind of change.

use jsonathlon_dataset::fidelity::ChangeKind;
use jsonathlon_results::summary::CellSummary;
use jsonathlon_schema::finding_state::FindingState;
use jsonathlon_schema::record::Finding;
use jsonathlon_schema::settings::fidelity::{KnownCase, RfcRequirement};

use super::{CaseResults, INPUT_PATHS, document_finding, join_names, name, value_finding};
use crate::section::{Section, words};

/// Maximum number of examples in a table cell.
const EXAMPLES: usize = 4;

type FindingSelector = for<'e> fn(&'e CellSummary, &str) -> Option<&'e Finding>;

pub(super) fn tables(all: &[CaseResults<'_>]) -> Vec<Section> {
    let documents = table("changes to whole documents, by kind", all, document_finding);
    let values = table("changes to extracted values, by kind", all, value_finding);
    [documents, values].into_iter().filter(|section| !section.rows.is_empty()).collect()
}

fn table(title: &str, all: &[CaseResults<'_>], select: FindingSelector) -> Section {
    let mut section = Section::new(title.to_owned(), words(&["kind", "system (documents)", "for instance"]));
    for kind in ChangeKind::ALL.map(ChangeKind::word) {
        let is_of_kind = |finding: &Finding| {
            let is_lost = finding.state == FindingState::NothingReturned && kind == ChangeKind::Loss.word();
            is_lost || finding.kinds.iter().any(|known| known == kind)
        };
        let mut systems = Vec::new();
        let mut examples: Vec<String> = Vec::new();
        for results in all {
            let is_affected = |(case, entry): &(&KnownCase, &CellSummary)| {
                // Text that is no JSON has no value that could be preserved.
                case.requirement != RfcRequirement::Reject
                    && INPUT_PATHS.iter().any(|path| select(entry, path).is_some_and(is_of_kind))
            };
            let affected: Vec<(&KnownCase, &CellSummary)> = results.entries().filter(is_affected).collect();
            if affected.is_empty() {
                continue;
            }
            systems.push(format!("{} ({})", name(results), affected.len()));
            for (case, _) in affected {
                if !examples.contains(&case.name) {
                    examples.push(case.name.clone());
                }
            }
        }
        if !systems.is_empty() {
            section.rows.push(vec![kind.to_owned(), systems.join(", "), join_names(&examples, EXAMPLES)]);
        }
    }
    section
}
