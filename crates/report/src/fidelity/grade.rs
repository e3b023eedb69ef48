//! Tables of the configurations that are I-JSON-safe, and of those that contradict the RFC.

use serde::Serialize;

use jsonathlon_dataset::fidelity::RfcRequirement;
use jsonathlon_results::summary::CellSummary;
use jsonathlon_schema::finding_state::FindingState;

use super::{Case, CaseResults, WAYS, is_taken, listed, way_in, whole};
use crate::section::{Section, printable};

/// Maximum number of cases that are named in a table cell.
const NAMED: usize = 8;

/// Why a case shows that a configuration is not I-JSON-safe; `None` if the case does not show that.
fn against(entry: &CellSummary) -> Option<String> {
    WAYS.iter().find_map(|way| {
        let finding = way_in(entry, way)?;
        match &finding.state {
            FindingState::NotOffered => None,
            FindingState::Accepted => {
                let whole = whole(entry, way)?;
                let is_same = matches!(whole.state, FindingState::SameBytes | FindingState::SameValue);
                (!is_same).then(|| whole.describe())
            }
            other => Some(other.to_string()),
        }
    })
}

/// Whether a configuration is I-JSON-safe, by the cases that decide it.
#[derive(Debug, Serialize)]
pub(crate) struct IJsonGrade {
    /// `None` while the result of a deciding case is missing.
    pub(crate) safe: Option<bool>,
    /// Number of deciding cases whose document came back with the same value by both ways.
    pub(crate) kept: usize,
    /// Number of planned cases that decide.
    pub(crate) deciding: usize,
    /// Names of the deciding cases that contradict it, each with the reason.
    pub(crate) broken: Vec<String>,
}

impl IJsonGrade {
    pub(super) fn of(tried: &CaseResults<'_>) -> Self {
        let tried_deciding: Vec<(&Case, &CellSummary)> =
            tried.entries().filter(|(case, _)| case.decides).collect();
        let deciding = tried.cases.iter().filter(|(case, _)| case.decides).count();
        let broken: Vec<String> = tried_deciding
            .iter()
            .filter_map(|(case, entry)| Some(format!("{} ({})", case.name, against(entry)?)))
            .collect();
        let is_complete = tried_deciding.len() == deciding && deciding > 0;
        let safe = if broken.is_empty() { is_complete.then_some(true) } else { Some(false) };
        Self { safe, kept: tried_deciding.len() - broken.len(), deciding, broken }
    }
}

pub(super) fn table(all: &[CaseResults<'_>]) -> Section {
    let header = ["system", "variant", "I-JSON-safe", "deciding", "because of"];
    let mut section = Section::new("I-JSON-safe".to_owned(), &header, 3);
    section.left_also = vec![4];
    for tried in all {
        let IJsonGrade { safe, kept, deciding, broken } = IJsonGrade::of(tried);
        let grade = match safe {
            Some(false) => "no",
            Some(true) => "yes",
            None => "–",
        };
        let mut row = tried.columns();
        row.extend([grade.to_owned(), format!("{kept} of {deciding}")]);
        row.push(printable(&listed(&broken, NAMED)));
        section.rows.push(row);
    }
    section.notes.push(
        "deciding: objects of I-JSON that must be accepted; so many of them came back with the same value by both ways"
            .to_owned(),
    );
    section
}

/// Predicate on a case and its result.
type CasePredicate<'a> = &'a dyn Fn(&Case, &CellSummary) -> bool;

/// Table of documents that were wrongly rejected, wrongly accepted, lost, or that ended an engine. `None` if
/// there are none.
pub(super) fn against_the_rfc(all: &[CaseResults<'_>]) -> Option<Section> {
    let header = ["system", "variant", "what", "documents", "cases"];
    let mut section = Section::new("against the RFC".to_owned(), &header, 3);
    section.left_also = vec![4];
    let state = |entry: &CellSummary, wanted: &[FindingState]| {
        let is_it = |state: &FindingState| wanted.contains(state);
        WAYS.iter().any(|way| {
            way_in(entry, way).is_some_and(|finding| is_it(&finding.state))
                || whole(entry, way).is_some_and(|finding| is_it(&finding.state))
        })
    };
    for tried in all {
        let kinds: [(&str, CasePredicate<'_>); 4] = [
            ("refuses what must be accepted", &|case, entry| {
                case.must == RfcRequirement::Accept && state(entry, &[FindingState::Refused])
            }),
            ("accepts what must be rejected", &|case, entry| {
                case.must == RfcRequirement::Reject && WAYS.iter().any(|way| is_taken(entry, way))
            }),
            ("ends or hangs", &|_, entry| state(entry, &[FindingState::Crashed, FindingState::Hung])),
            ("loses what it accepted", &|case, entry| {
                case.must != RfcRequirement::Reject && state(entry, &[FindingState::Lost])
            }),
        ];
        for (what, is_so) in kinds {
            let names: Vec<String> = tried
                .entries()
                .filter(|(case, entry)| is_so(case, entry))
                .map(|(case, _)| case.name.clone())
                .collect();
            if !names.is_empty() {
                let mut row = tried.columns();
                row.extend([what.to_owned(), names.len().to_string(), printable(&listed(&names, NAMED))]);
                section.rows.push(row);
            }
        }
    }
    (!section.rows.is_empty()).then_some(section)
}
