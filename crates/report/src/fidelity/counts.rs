//! Table of counts, with one row per configuration, or one per input path if the two differ.

use jsonathlon_dataset::fidelity::RfcRequirement;
use jsonathlon_schema::finding_state::FindingState;

use super::{CaseResults, WAYS, is_taken, way_in, whole};
use crate::section::Section;

const HEADER: [&str; 13] = [
    "system",
    "variant",
    "way in",
    "of valid accepted",
    "of invalid refused",
    "of choice accepted",
    "same bytes",
    "same value",
    "changed",
    "lost",
    "unreadable",
    "ended engine",
    "not offered",
];

/// Counts of a configuration's cases by one input path.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    /// Accepted documents by what the RFC says: must accept, must reject, choice. `offered` holds the totals.
    accepted: [u64; 3],
    offered: [u64; 3],
    bytes: u64,
    value: u64,
    changed: u64,
    lost: u64,
    unreadable: u64,
    ended: u64,
    not_offered: u64,
}

impl Counts {
    fn of(tried: &CaseResults<'_>, way: &str) -> Self {
        let mut counts = Self::default();
        for (case, entry) in tried.entries() {
            let Some(finding) = way_in(entry, way) else { continue };
            let place = match case.must {
                RfcRequirement::Accept => 0,
                RfcRequirement::Reject => 1,
                RfcRequirement::Choose => 2,
            };
            if finding.state == FindingState::NotOffered {
                counts.not_offered += 1;
                continue;
            }
            let add = |of: &mut [u64; 3]| of.iter_mut().skip(place).take(1).for_each(|count| *count += 1);
            add(&mut counts.offered);
            match &finding.state {
                FindingState::Accepted if case.must != RfcRequirement::Reject || is_taken(entry, way) => {
                    add(&mut counts.accepted)
                }
                state if state.has_ended_engine() => counts.ended += 1,
                _ => {}
            }
            match whole(entry, way).map(|finding| &finding.state) {
                Some(FindingState::SameBytes) => counts.bytes += 1,
                Some(FindingState::SameValue) => counts.value += 1,
                Some(FindingState::Changed) => counts.changed += 1,
                Some(FindingState::Lost) => counts.lost += 1,
                Some(FindingState::Unreadable) => counts.unreadable += 1,
                Some(state) if state.has_ended_engine() => counts.ended += 1,
                _ => {}
            }
        }
        counts
    }

    fn cells(&self) -> Vec<String> {
        let ([yes, wrong, choice], [of_yes, of_wrong, of_choice]) = (self.accepted, self.offered);
        let mut cells = vec![
            format!("{yes} of {of_yes}"),
            format!("{} of {of_wrong}", of_wrong - wrong),
            format!("{choice} of {of_choice}"),
        ];
        let Self { bytes, value, changed, lost, unreadable, ended, not_offered, .. } = *self;
        let counts = [bytes, value, changed, lost, unreadable, ended, not_offered];
        cells.extend(counts.map(|count| count.to_string()));
        cells
    }
}

pub(super) fn table(all: &[CaseResults<'_>]) -> Section {
    let mut section = Section::new("what became of the documents".to_owned(), &HEADER, 3);
    for tried in all {
        let [bulk, parameter] = WAYS.map(|way| Counts::of(tried, way));
        let mut row = |way: &str, counts: &Counts| {
            let mut cells = tried.columns();
            cells.push(way.to_owned());
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
