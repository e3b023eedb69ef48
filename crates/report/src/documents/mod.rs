//! Tables of the documents workload: times by test and size, disk space, crossovers, and use of indexes.

pub(crate) mod crossover;
mod disk;
mod matrix;
pub(crate) mod published;
mod times;

use jsonathlon_results::document_size::{bytes_of, is_smaller, word};
use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::workload::WorkloadKind;

use crate::section::{Column, Section};
use crate::shown_text::{ALWAYS, Explanation, ShownText};

/// All tables of the workload. `means` adds means and standard deviations to the times.
pub(crate) fn sections(run: &Run, summary: &Summary, means: bool) -> Vec<Section> {
    let mut sections = Vec::new();
    for data in data_sets(summary) {
        sections.extend(times::sections(run, summary, &data, means));
        sections.extend(disk::table(run, summary, &data));
    }
    sections.extend(crossover::table(run, summary));
    sections.extend(matrix::sections(run, summary));
    sections
}

/// Notes on how to read the workload's tables.
const READING_NOTES: [Explanation; 3] = [
    (
        ALWAYS,
        "times are of statements alone, in the client; each document that came out was compared by value with \
         what went in, copies are the documents with `l` set to 1 and nothing else, and a cell with a wrong \
         answer has no time",
    ),
    (
        &["sharing"],
        "sharing: bytes that the copy added to the system's files, logs apart and after settling, ÷ bytes of the \
         documents' texts; of `identical` documents it says how alike they are as much as what the system shares",
    ),
    (
        &["use of indexes"],
        "an index is used, usable (when the system is forced to), in vain (in the plan, and every row or entry is \
         visited), or impossible; plans are kept under plans/",
    ),
];

/// Notes on how to read the workload's tables, those that are needed.
pub(crate) fn reading_notes(shown: &ShownText) -> Vec<String> {
    shown.explain(&READING_NOTES)
}

fn entries(summary: &Summary) -> impl Iterator<Item = &CellSummary> {
    summary
        .results
        .iter()
        .filter(|entry| entry.cell.workload == WorkloadKind::Documents && entry.cell.step.is_workload_step())
}

/// Names of the data sets, in the order in which they were measured.
fn data_sets(summary: &Summary) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for entry in entries(summary) {
        let data = word(&entry.cell, "data");
        if !names.iter().any(|known| known == data) {
            names.push(data.to_owned());
        }
    }
    names
}

/// Requested sizes of documents, such as `64KiB`, in ascending order.
fn sizes<'a>(entries: impl Iterator<Item = &'a CellSummary>) -> Vec<String> {
    let mut sizes: Vec<(u64, String)> = Vec::new();
    for entry in entries {
        let size = word(&entry.cell, "size");
        if !sizes.iter().any(|(_, known)| known == size) {
            sizes.push((bytes_of(size), size.to_owned()));
        }
    }
    sizes.sort();
    sizes.into_iter().map(|(_, size)| size).collect()
}

/// Columns of the cells that [`name_columns`] returns.
fn configuration_columns() -> Vec<Column> {
    vec![Column::words("system"), Column::words("variant"), Column::setting("storage")]
}

/// Table cells that identify a configuration: system with version, variant, storage.
fn name_columns(configuration: &Configuration) -> Vec<String> {
    let id = &configuration.id;
    vec![format!("{} {}", id.system, id.version), id.variant.clone(), id.storage.clone()]
}
