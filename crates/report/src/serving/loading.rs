//! Table of loads: their duration, their rate, and the size of the documents.

use jsonathlon_results::summary::{Run, Summary};
use jsonathlon_schema::id::{DataState, Step};
use jsonathlon_schema::metric;
use jsonathlon_schema::workload::WorkloadKind;

use crate::format;
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
    section
}
