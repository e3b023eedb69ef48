//! Tables of the mixed workload: questions beside writers, their times, the writers, and what questions saw.

mod cells;
pub(crate) mod frontier;
mod phases;
mod streams;
mod writers;

use jsonathlon_results::summary::{Run, Summary};

use crate::analytics::loading;
use crate::section::Section;
use crate::shown_text::{ALWAYS, Explanation, ShownText};

/// All tables of the workload that have rows.
pub(crate) fn sections(run: &Run, summary: &Summary) -> Vec<Section> {
    let mut sections = vec![
        loading::loading(run, summary),
        phases::questions_per_hour(run, summary),
        phases::times(run, summary),
        writers::writers(run, summary),
        writers::answers(run, summary),
        frontier::points(run, summary),
        frontier::shares(run, summary),
        streams::questions_per_hour(run, summary),
        streams::times(run, summary),
    ];
    sections.retain(|section| !section.rows.is_empty() || !section.notes.is_empty());
    sections
}

/// Note on how to read frontiers.
pub(crate) const FRONTIER_NOTE: &str = "frontier: what writers and questions reach together, as shares of both peaks alone; its share is the area \
     below the hull of all points ÷ (peak × peak): 0.5 is what two loads give that merely share the cores, 1 is no \
     interference";

/// Notes on how to read the workload's tables.
const READING_NOTES: [Explanation; 9] = [
    (
        &["both"],
        "still: questions on data as loaded; both: beside writers; left: writers gone, nothing drained; drained: \
         grown data at rest; alone: writers without questions. Tables grow, so no steady state is claimed: times \
         are divided, and questions per hour multiplied, by documents seen ÷ documents loaded",
    ),
    (
        &["interference", "debt", "disorder"],
        "interference: questions per hour both ÷ left; debt: left ÷ drained; disorder: drained ÷ still; each is \
         paired by round, and an interval that holds 1 shows no effect",
    ),
    (&["frontier"], FRONTIER_NOTE),
    (
        &["speed-up"],
        "speed-up: questions per hour ÷ those of one stream in the same round; slowest ÷ fastest: work of \
         the slowest stream ÷ that of the fastest one, in which a question counts with its mean time",
    ),
    (
        &["kept"],
        "kept: share of the documents due in the window that were acknowledged by its end, without batches that had \
         less time than others; below 95 % the questions beside these writers are not ranked",
    ),
    (
        &["too short"],
        "too short: writers alone used up their documents in less than a second, or sent fewer than five batches; \
         give a larger --growth",
    ),
    (
        &["response"],
        "response: from when a batch was due, so a stall is charged to all batches that it delayed; at full speed \
         from when it was sent",
    ),
    (
        &["stale"],
        "stale: age of the oldest acknowledged batch of which a question did not see everything, 0 if it saw all",
    ),
    (
        ALWAYS,
        "every answer was compared with the expected one over exactly the documents that its snapshot held; a \
         round with one wrong answer has no results",
    ),
];

/// Notes on how to read the workload's tables, those that are needed.
pub(crate) fn reading_notes(shown: &ShownText) -> Vec<String> {
    shown.explain(&READING_NOTES)
}
