//! Tables of how plans use each index, by query and its form.

use std::collections::BTreeSet;

use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_schema::metric;
use jsonathlon_schema::record::Verdict;
use jsonathlon_schema::severity::Severity;

use super::{bytes_of, entries, word};
use crate::section::{Section, by_class, none, printable};

/// Operations of queries, in the order in which they are shown.
const OPERATIONS: [&str; 5] = ["extract", "filter", "order", "contains", "exists"];

/// One matrix per configuration that has such cells.
pub(super) fn all(run: &Run, summary: &Summary) -> Vec<Section> {
    let of = |configuration: &&jsonathlon_schema::manifest::Configuration| {
        let is_own = |entry: &&CellSummary| entry.cell.step.word() == "use" && configuration.has(&entry.cell);
        let own: Vec<&CellSummary> = entries(summary).filter(is_own).collect();
        let id = &configuration.id;
        matrix(&format!("{} {} {} {}", id.system, id.version, id.variant, id.storage), &own)
    };
    by_class(run).iter().filter_map(of).collect()
}

fn matrix(name: &str, own: &[&CellSummary]) -> Option<Section> {
    let mut indexes: Vec<&str> = Vec::new();
    let mut queries: Vec<(usize, &str, &str)> = Vec::new();
    for entry in own {
        let cell = &entry.cell;
        let (index, operation, form) = (word(cell, "index"), word(cell, "query"), word(cell, "form"));
        if !indexes.contains(&index) {
            indexes.push(index);
        }
        let place = OPERATIONS.iter().position(|known| *known == operation).unwrap_or(OPERATIONS.len());
        if !queries.contains(&(place, operation, form)) {
            queries.push((place, operation, form));
        }
    }
    if own.is_empty() {
        return None;
    }
    queries.sort_by_key(|(place, ..)| *place);
    let mut header = vec!["query".to_owned(), "form".to_owned()];
    header.extend(indexes.iter().map(|index| printable(index)));
    let mut section = Section {
        title: printable(&format!("use of indexes: {name}")),
        left_columns: header.len(),
        header,
        ..Section::default()
    };
    for (_, operation, form) in queries {
        let mut row = vec![operation.to_owned(), printable(form)];
        let mut severity = Severity::Good;
        for index in &indexes {
            let is_here = |entry: &&&CellSummary| {
                let cell = &entry.cell;
                (word(cell, "index"), word(cell, "query"), word(cell, "form")) == (*index, operation, form)
            };
            let found: Vec<&CellSummary> = own.iter().filter(is_here).copied().collect();
            row.push(states(&found));
            severity = found.iter().map(|entry| entry.severity()).fold(severity, Severity::max);
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
    let tells_apart = |names: &&[&str]| {
        let labels: BTreeSet<String> = sorted.iter().map(|entry| label(names, entry)).collect();
        let states: BTreeSet<_> = sorted.iter().map(|entry| (label(names, entry), state(entry))).collect();
        labels.len() == states.len()
    };
    let kinds: [&[&str]; 3] = [&["size"], &["data"], &["size", "data"]];
    let names = kinds.into_iter().find(tells_apart).unwrap_or(&["size", "data"]);
    let mut found: Vec<(&str, Vec<String>)> = Vec::new();
    for entry in &sorted {
        let (state, label) = (state(entry), label(names, entry));
        match found.iter_mut().find(|(known, _)| *known == state) {
            Some((_, labels)) if !labels.contains(&label) => labels.push(label),
            Some(_) => {}
            None => found.push((state, vec![label])),
        }
    }
    match found.as_slice() {
        [] => none(),
        [(state, _)] => (*state).to_owned(),
        several => {
            let each: Vec<String> =
                several.iter().map(|(state, labels)| format!("{state} ({})", labels.join(", "))).collect();
            each.join(", ")
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
