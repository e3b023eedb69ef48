//! Tables of the documents workload: times by test and size, disk space, crossovers, and use of indexes.

pub(crate) mod crossover;
mod disk;
mod matrix;
pub(crate) mod published;
mod times;

use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::record::Cell;
use jsonathlon_schema::workload::WorkloadKind;

use crate::section::Section;

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
pub(crate) fn reading_notes() -> Vec<String> {
    [
        "times are of statements alone, in the client; each document that came out was compared by value with what went in, \
         copies are the documents with `l` set to 1 and nothing else, and a cell with a wrong answer has no time",
        "sharing: bytes that the copy added to the system's files, logs apart and after settling, ÷ bytes of the documents' \
         texts; of `identical` documents it says how alike they are as much as what the system shares",
        "an index is used, usable (when the system is forced to), in vain (in the plan, and every row or entry is visited), or \
         impossible; plans are kept under plans/",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn word<'a>(cell: &'a Cell, name: &str) -> &'a str {
    cell.parameters.get(name).and_then(serde_json::Value::as_str).unwrap_or_default()
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

/// Bytes of a size such as `64KiB`; 0 if the text has no number.
fn bytes_of(size: &str) -> u64 {
    let digits = size.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match size.get(digits.len()..) {
        Some("KiB") => 1 << 10,
        Some("MiB") => 1 << 20,
        Some("GiB") => 1 << 30,
        _ => 1,
    };
    digits.parse::<u64>().unwrap_or_default().saturating_mul(unit)
}

/// Returns `true` if a cell holds documents of the largest size that its configuration accepts, which is less
/// than the requested size.
fn is_smaller(cell: &Cell) -> bool {
    let n = cell.parameters.get("n").and_then(serde_json::Value::as_u64);
    n.is_some_and(|n| n < 60 && 1_u64 << (n + 4) < bytes_of(word(cell, "size")))
}

/// Table cells that identify a configuration: system with version, variant, storage.
fn name_columns(configuration: &Configuration) -> Vec<String> {
    let id = &configuration.id;
    vec![format!("{} {}", id.system, id.version), id.variant.clone(), id.storage.clone()]
}
