//! Table of counts, with one row per configuration, or one per input path if the two differ.

use jsonathlon_schema::finding_state::FindingState;
use jsonathlon_schema::settings::fidelity::RfcRequirement;

use super::{CaseResults, INPUT_PATHS, document_finding, input_finding, is_stored, name_columns};
use crate::section::{Column, Section};

fn columns() -> Vec<Column> {
    vec![
        Column::words("system"),
        Column::words("variant"),
        Column::words("insert path"),
        Column::count("valid accepted"),
        Column::count("invalid rejected"),
        Column::count("optional accepted").useful(),
        Column::number("same bytes").main(),
        Column::number("same value").main(),
        Column::number("changed"),
        Column::number("nothing returned"),
        Column::count("unreadable"),
        Column::count("ended engine"),
        Column::count("not tested").useful(),
    ]
}

/// Counts of a configuration's cases by one input path.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    /// Accepted documents by requirement of the RFC: accept, reject, choose. `tested` holds the totals.
    accepted: [u64; 3],
    tested: [u64; 3],
    bytes: u64,
    value: u64,
    changed: u64,
    nothing_returned: u64,
    unreadable: u64,
    ended: u64,
    not_tested: u64,
}

impl Counts {
    fn new(results: &CaseResults<'_>, input_path: &str) -> Self {
        let mut counts = Self::default();
        for (case, entry) in results.entries() {
            let Some(finding) = input_finding(entry, input_path) else { continue };
            let index = match case.requirement {
                RfcRequirement::Accept => 0,
                RfcRequirement::Reject => 1,
                RfcRequirement::Choose => 2,
            };
            if finding.state == FindingState::NotTested {
                counts.not_tested += 1;
                continue;
            }
            let increment =
                |totals: &mut [u64; 3]| totals.iter_mut().skip(index).take(1).for_each(|count| *count += 1);
            increment(&mut counts.tested);
            match &finding.state {
                FindingState::Accepted
                    if case.requirement != RfcRequirement::Reject || is_stored(entry, input_path) =>
                {
                    increment(&mut counts.accepted)
                }
                state if state.has_ended_engine() => counts.ended += 1,
                _ => {}
            }
            match document_finding(entry, input_path).map(|finding| &finding.state) {
                Some(FindingState::SameBytes) => counts.bytes += 1,
                Some(FindingState::SameValue) => counts.value += 1,
                Some(FindingState::Changed) => counts.changed += 1,
                Some(FindingState::NothingReturned) => counts.nothing_returned += 1,
                Some(FindingState::Unreadable) => counts.unreadable += 1,
                Some(state) if state.has_ended_engine() => counts.ended += 1,
                _ => {}
            }
        }
        counts
    }

    fn cells(&self) -> Vec<String> {
        let [valid, invalid, optional] = self.accepted;
        let [all_valid, all_invalid, all_optional] = self.tested;
        let mut cells = vec![
            format!("{valid} of {all_valid}"),
            format!("{} of {all_invalid}", all_invalid - invalid),
            format!("{optional} of {all_optional}"),
        ];
        let Self { bytes, value, changed, nothing_returned, unreadable, ended, not_tested, .. } = *self;
        let counts = [bytes, value, changed, nothing_returned, unreadable, ended, not_tested];
        cells.extend(counts.map(|count| count.to_string()));
        cells
    }
}

pub(super) fn table(all: &[CaseResults<'_>]) -> Section {
    let mut section = Section::new("outcomes by document".to_owned(), columns());
    for results in all {
        let [bulk, parameter] = INPUT_PATHS.map(|input_path| Counts::new(results, input_path));
        let mut row = |input_path: &str, counts: &Counts| {
            let mut cells = name_columns(results);
            cells.push(input_path.to_owned());
            cells.extend(counts.cells());
            section.rows.push(cells);
        };
        if bulk == parameter {
            row("both", &bulk);
        } else {
            row("bulk", &bulk);
            row("parameter", &parameter);
        }
    }
    section
}
