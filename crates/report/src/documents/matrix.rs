//! Tables of how plans use each index, by query and its form.

use std::collections::BTreeSet;

use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_schema::metric;
use jsonathlon_schema::record::Verdict;
use jsonathlon_schema::severity::Severity;

use super::{bytes_of, entries, word};
use crate::section::{Column, Section, dash, printable, sorted_configurations, words};

/// Operations of queries, in the order in which they are shown.
const OPERATIONS: [&str; 5] = ["extract", "filter", "order", "contains", "exists"];

/// One matrix per configuration that has such cells.
pub(super) fn sections(run: &Run, summary: &Summary) -> Vec<Section> {
    let matrix_of = |configuration: &&jsonathlon_schema::manifest::Configuration| {
        let is_shown = |entry: &&CellSummary| {
            entry.cell.step.word() == "use" && configuration.contains_cell(&entry.cell)
        };
        let uses: Vec<&CellSummary> = entries(summary).filter(is_shown).collect();
        let id = &configuration.id;
        matrix(&format!("{} {} {} {}", id.system, id.version, id.variant, id.storage), &uses)
    };
    sorted_configurations(run).iter().filter_map(matrix_of).collect()
}

fn matrix(name: &str, entries: &[&CellSummary]) -> Option<Section> {
    let mut indexes: Vec<&str> = Vec::new();
    let mut queries: Vec<(usize, &str, &str)> = Vec::new();
    for entry in entries {
        let cell = &entry.cell;
        let (index, operation, form) = (word(cell, "index"), word(cell, "query"), word(cell, "form"));
        if !indexes.contains(&index) {
            indexes.push(index);
        }
        let position = OPERATIONS.iter().position(|known| *known == operation).unwrap_or(OPERATIONS.len());
        if !queries.contains(&(position, operation, form)) {
            queries.push((position, operation, form));
        }
    }
    if entries.is_empty() {
        return None;
    }
    queries.sort_by_key(|(position, ..)| *position);
    let mut columns = words(&["query", "form"]);
    columns.extend(indexes.iter().map(|index| Column::words(&printable(index)).main()));
    let mut section = Section::new(printable(&format!("use of indexes: {name}")), columns);
    for (_, operation, form) in queries {
        let mut row = vec![operation.to_owned(), printable(form)];
        let mut severity = Severity::Good;
        for index in &indexes {
            let is_in_cell = |entry: &&&CellSummary| {
                let cell = &entry.cell;
                (word(cell, "index"), word(cell, "query"), word(cell, "form")) == (*index, operation, form)
            };
            let matching: Vec<&CellSummary> = entries.iter().filter(is_in_cell).copied().collect();
            row.push(states(&matching));
            severity = matching.iter().map(|entry| entry.severity()).fold(severity, Severity::max);
        }
        section.rows.mark(severity, row);
    }
    Some(section)
}

/// How an index is used, as text. If that differs, each state is followed by its sizes or data sets, or both.
fn states(entries: &[&CellSummary]) -> String {
    let mut sorted = entries.to_vec();
    sorted.sort_by_key(|entry| bytes_of(word(&entry.cell, "size")));
    let label = |names: &[&str], entry: &CellSummary| {
        names.iter().map(|name| word(&entry.cell, name)).collect::<Vec<_>>().join(" ")
    };
    let distinguishes = |names: &&[&str]| {
        let labels: BTreeSet<String> = sorted.iter().map(|entry| label(names, entry)).collect();
        let states: BTreeSet<_> = sorted.iter().map(|entry| (label(names, entry), state(entry))).collect();
        labels.len() == states.len()
    };
    let kinds: [&[&str]; 3] = [&["size"], &["data"], &["size", "data"]];
    let names = kinds.into_iter().find(distinguishes).unwrap_or(&["size", "data"]);
    let mut labels_by_state: Vec<(&str, Vec<String>)> = Vec::new();
    for entry in &sorted {
        let (state, label) = (state(entry), label(names, entry));
        match labels_by_state.iter_mut().find(|(known, _)| *known == state) {
            Some((_, labels)) if !labels.contains(&label) => labels.push(label),
            Some(_) => {}
            None => labels_by_state.push((state, vec![label])),
        }
    }
    match labels_by_state.as_slice() {
        [] => dash(),
        [(state, _)] => (*state).to_owned(),
        several => {
            let parts: Vec<String> =
                several.iter().map(|(state, labels)| format!("{state} ({})", labels.join(", "))).collect();
            parts.join(", ")
        }
    }
}

fn state(entry: &CellSummary) -> &'static str {
    match entry.metric(&metric::INDEX_USE) {
        None if entry.verdict != Verdict::NotApplicable => entry.verdict.word(),
        Some(usage) if usage >= 3.0 => "used",
        Some(usage) if usage >= 2.0 => "usable",
        Some(usage) if usage >= 1.0 => "in vain",
        Some(_) => "impossible",
        None => "not applicable",
    }
}
