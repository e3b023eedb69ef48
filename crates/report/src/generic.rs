//! Generic tables for workloads without tables of their own: every cell with all its metrics.

use std::collections::BTreeSet;

use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric::{MetricDef, Unit};
use jsonathlon_schema::record::{Cell, Phase};
use jsonathlon_schema::workload::WorkloadName;

use crate::format;
use crate::section::{
    Column, Section, configuration_columns, dash, groups_text, interval, name_columns, optional, printable,
    sorted_configurations,
};

/// One table per kind of cell, in the order in which the cells were measured.
pub(crate) fn sections(run: &Run, summary: &Summary, workload: &WorkloadName) -> Vec<Section> {
    let mut kinds: Vec<(String, Vec<&CellSummary>)> = Vec::new();
    for entry in summary.results.iter().filter(|entry| entry.cell.workload == *workload) {
        let kind = kind(&entry.cell);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, entries)) => entries.push(entry),
            None => kinds.push((kind, vec![entry])),
        }
    }
    kinds.iter().map(|(kind, entries)| table(run, kind, entries)).collect()
}

/// Title of a cell's table, i.e. its dimensions without the configuration: `append: insert, batch, clients
/// 4`.
fn kind(cell: &Cell) -> String {
    let mut parts = vec![format!("{}: {}", cell.workload, cell.step)];
    if cell.phase.word() != cell.step.word() {
        parts.push(cell.phase.phrase().to_owned());
    }
    parts.extend(cell.state.map(|state| state.word().to_owned()));
    let is_shown_elsewhere = |name: &str| matches!(name, "scale" | "preparation" | "memory");
    let parameters = cell.parameters.iter().filter(|(name, _)| !is_shown_elsewhere(name));
    parts.extend(parameters.map(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{} {value}", name.replace('_', " "))
    }));
    printable(&parts.join(", "))
}

fn table(run: &Run, title: &str, entries: &[&CellSummary]) -> Section {
    let names: BTreeSet<&str> =
        entries.iter().flat_map(|entry| entry.metrics.keys().map(String::as_str)).collect();
    let has_times = entries.iter().any(|entry| entry.median_s.is_some());
    let mut columns = configuration_columns();
    if has_times {
        columns.extend([Column::number("median"), Column::interval()]);
    }
    columns.extend(names.iter().map(|name| Column::number(&title_of(name)).useful()));
    columns.push(Column::words("verdict"));
    let mut section = Section::new(title.to_owned(), columns);
    let rows = |configuration: &&Configuration| -> Vec<(Vec<String>, &CellSummary)> {
        let matching = entries.iter().filter(|entry| configuration.contains_cell(&entry.cell));
        matching.map(|entry| (name_columns(configuration), *entry)).collect()
    };
    for (mut row, entry) in sorted_configurations(run).iter().flat_map(rows) {
        if has_times {
            row.extend([optional(entry.median_s, format::seconds), interval(Some(entry))]);
        }
        row.extend(names.iter().map(|name| value(entry, name)));
        let is_unverified = entry.cell.phase == Phase::ColdUnverified;
        row.push(entry.verdict.word().to_owned() + if is_unverified { ", cold-unverified" } else { "" });
        section.rows.mark(entry.severity(), row);
    }
    section
}

/// Heading of a metric's column: its registered title, otherwise its name in words.
fn title_of(name: &str) -> String {
    MetricDef::find(name).map_or_else(|| printable(&name.replace('_', " ")), |metric| metric.title.to_owned())
}

fn value(entry: &CellSummary, name: &str) -> String {
    let Some(value) = entry.metrics.get(name) else { return dash() };
    let unit = MetricDef::find(name).map_or_else(|| Unit::from_metric_name(name), |metric| metric.unit);
    let show = |value: f64| format::metric_value(unit, value);
    match (entry.groups.get(name), entry.limits_of(name)) {
        (Some(groups), _) => groups_text(groups, show),
        (None, Some([low, high])) if low < high => {
            format!("{} ({} … {})", show(*value), show(low), show(high))
        }
        _ => show(*value),
    }
}
