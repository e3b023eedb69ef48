//! Tables of the systems that change documents or extracted values, with one row per kind of change.

use jsonathlon_dataset::fidelity::{ChangeKind, RfcRequirement};
use jsonathlon_results::summary::CellSummary;
use jsonathlon_schema::finding_state::FindingState;
use jsonathlon_schema::record::Finding;

use super::{Case, CaseResults, WAYS, listed, value, whole};
use crate::section::Section;

/// Maximum number of examples in a table cell.
const EXAMPLES: usize = 4;

type FindingSelector = for<'e> fn(&'e CellSummary, &str) -> Option<&'e Finding>;

pub(super) fn tables(all: &[CaseResults<'_>]) -> Vec<Section> {
    let whole = table("who changes whole documents, by kind", all, whole);
    let value = table("who changes extracted values, by kind", all, value);
    [whole, value].into_iter().filter(|section| !section.rows.is_empty()).collect()
}

fn table(title: &str, all: &[CaseResults<'_>], of: FindingSelector) -> Section {
    let mut section = Section::new(title.to_owned(), &["kind", "who (documents)", "for instance"], 3);
    for kind in ChangeKind::ALL.map(ChangeKind::word) {
        let has = |finding: &Finding| {
            let is_lost = finding.state == FindingState::Lost && kind == ChangeKind::Loss.word();
            is_lost || finding.kinds.iter().any(|known| known == kind)
        };
        let mut who = Vec::new();
        let mut examples: Vec<String> = Vec::new();
        for tried in all {
            let is_so = |(case, entry): &(&Case, &CellSummary)| {
                // Text that is no JSON has no value that could be preserved.
                case.must != RfcRequirement::Reject && WAYS.iter().any(|way| of(entry, way).is_some_and(has))
            };
            let found: Vec<(&Case, &CellSummary)> = tried.entries().filter(is_so).collect();
            if found.is_empty() {
                continue;
            }
            who.push(format!("{} ({})", tried.name(), found.len()));
            for (case, _) in found {
                if !examples.contains(&case.name) {
                    examples.push(case.name.clone());
                }
            }
        }
        if !who.is_empty() {
            section.rows.push(vec![kind.to_owned(), who.join(", "), listed(&examples, EXAMPLES)]);
        }
    }
    section
}
