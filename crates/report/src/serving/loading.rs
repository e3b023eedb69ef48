//! Table of loads: their duration, their rate, and the size of the documents.

use jsonathlon_results::summary::{Run, Summary};
use jsonathlon_schema::id::{DataState, Step};
use jsonathlon_schema::metric;
use jsonathlon_schema::workload::WorkloadKind;

use crate::format;
use crate::section::{
    NAME_COLUMNS, Section, interval, name_columns, optional, printable, sorted_configurations,
};

pub(super) fn loading(run: &Run, summary: &Summary) -> Section {
    let header = [
        "class",
        "system",
        "variant",
        "storage",
        "of",
        "time",
        "95 % interval",
        "documents/s",
        "peak memory",
        "size",
        "bytes/document",
        "verdict",
    ];
    let mut section = Section::new("loading".to_owned(), &header, NAME_COLUMNS + 1);
    section.further_left_columns = vec![header.len() - 1];
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
    if section.rows.iter().all(|row| row.get(NAME_COLUMNS).is_none_or(String::is_empty)) {
        section.header.remove(NAME_COLUMNS);
        section.left_columns = NAME_COLUMNS;
        section.further_left_columns = vec![section.header.len() - 1];
        for row in section.rows.iter_mut() {
            row.remove(NAME_COLUMNS);
        }
    }
    section
}
