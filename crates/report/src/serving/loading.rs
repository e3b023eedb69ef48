//! Table of loads: their duration, their rate, and the size of the documents.

use jsonathlon_results::summary::{Run, Summary};
use jsonathlon_schema::id::{DataState, Step};
use jsonathlon_schema::metric;
use jsonathlon_schema::record::RecordBody;
use jsonathlon_schema::workload::WorkloadKind;

use crate::format;
use crate::loaded_documents::describe_rejects;
use crate::section::{
    Column, Section, configuration_columns, interval, name_columns, optional, printable,
    sorted_configurations,
};

/// Index of the column that says what was loaded: behind those of configurations.
const OF: usize = 4;

fn columns() -> Vec<Column> {
    let own = vec![
        Column::words("of"),
        Column::number("time"),
        Column::interval(),
        Column::number("documents/s").main(),
        Column::number("peak memory").useful(),
        Column::number("size").main(),
        Column::number("bytes/document").useful(),
        Column::words("verdict"),
    ];
    [configuration_columns(), own].concat()
}

pub(super) fn loading(run: &Run, summary: &Summary) -> Section {
    let mut section = Section::new("loading".to_owned(), columns());
    let serving_entries =
        || summary.results.iter().filter(|entry| entry.cell.workload == WorkloadKind::Serving);
    for configuration in sorted_configurations(run) {
        let loads = serving_entries()
            .filter(|entry| entry.cell.step == Step::Load && configuration.contains_cell(&entry.cell));
        for load in loads {
            let size = serving_entries()
                .find(|entry| {
                    let cell = &entry.cell;
                    cell.step == Step::Size
                        && cell.state == Some(DataState::Drained)
                        && cell.belongs_to_load(&load.cell)
                })
                .and_then(|size| size.value(size.headline()));
            let documents = load.metric(&metric::DOCUMENTS_LOADED).filter(|documents| *documents > 0.0);
            let mut row = name_columns(configuration);
            row.extend([
                printable(&load.cell.dimension_labels().join(", ")),
                optional(load.median_s, format::seconds),
                interval(Some(load)),
                optional(load.metric(&metric::DOCUMENTS_PER_S), format::count),
                optional(load.metric(&metric::PEAK_PSS_BYTES), format::bytes),
                optional(size, format::bytes),
                optional(size.zip(documents).map(|(size, documents)| size / documents), |bytes| {
                    format!("{bytes:.0}")
                }),
                load.verdict.word().to_owned(),
            ]);
            section.rows.mark(load.severity(), row);
        }
    }
    // The column `of` is removed if no load has further dimensions.
    if section.rows.iter().all(|row| row.get(OF).is_none_or(String::is_empty)) {
        section.columns.remove(OF);
        for row in section.rows.iter_mut() {
            row.remove(OF);
        }
    }
    section.notes.extend(describe_round_trips(run));
    section.notes.extend(describe_rejects(run));
    section
}

/// Notes on what each system made of a user's documents when it loaded them, and on requests that are about
/// other documents for it. None for generated records, which are not read back.
fn describe_round_trips(run: &Run) -> Vec<String> {
    let mut notes = Vec::new();
    for configuration in sorted_configurations(run) {
        let reports = run.records.iter().filter_map(|record| match &record.body {
            RecordBody::Structure(report) if configuration.contains_cell(&report.cell) => Some(report),
            _ => None,
        });
        for report in reports {
            let changed = report.compared.saturating_sub(report.equal_value);
            let compared = format::integer(report.compared as f64);
            let outcome = match changed {
                0 => format!("all {compared} documents keep their values"),
                _ => format!("{} of {compared} documents are changed", format::integer(changed as f64)),
            };
            let name = [&configuration.title, &configuration.id.version, &configuration.id.variant];
            let name = name.map(String::as_str).join(" ");
            notes.push(format!(
                "round trip of {name}: {outcome}; reads must return what it gave back after the load"
            ));
            notes.extend(report.notes.iter().map(|note| printable(&format!("{name}: {note}"))));
        }
    }
    notes
}
