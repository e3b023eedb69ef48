//! Table of the disk space that documents and their copies take.

use jsonathlon_results::summary::{Run, Summary};
use jsonathlon_schema::metric;

use super::{bytes_of, configuration_columns, entries, name_columns, word};
use crate::format;
use crate::section::{Column, Section, optional, sorted_configurations};

/// Table of one data set; `None` if nothing was measured for it.
pub(super) fn table(run: &Run, summary: &Summary, data: &str) -> Option<Section> {
    let mut columns = configuration_columns();
    columns.extend([
        Column::words("documents of"),
        Column::number("texts").useful(),
        Column::number("files").main(),
        Column::number("with the copy").useful(),
        Column::number("added").useful(),
        Column::number("sharing"),
        Column::number("data").detail(),
        Column::number("logs").detail(),
    ]);
    let mut section = Section::new(format!("disk: after settling, {data}"), columns);
    for configuration in sorted_configurations(run) {
        let is_shown = |entry: &&jsonathlon_results::summary::CellSummary| {
            entry.cell.step.word() == "disk"
                && word(&entry.cell, "data") == data
                && configuration.contains_cell(&entry.cell)
        };
        let mut disk_entries: Vec<_> = entries(summary).filter(is_shown).collect();
        disk_entries.sort_by_key(|entry| bytes_of(word(&entry.cell, "size")));
        for entry in disk_entries {
            let bytes = |metric| optional(entry.metric(metric), format::bytes);
            let mut row = name_columns(configuration);
            row.extend([
                word(&entry.cell, "size").to_owned(),
                bytes(&metric::SOURCE_BYTES),
                bytes(&metric::FILES_BYTES),
                bytes(&metric::FILES_WITH_COPY_BYTES),
                bytes(&metric::ADDED_BYTES),
                optional(entry.metric(&metric::ADDED_SHARE), format::percent),
                bytes(&metric::DATA_BYTES),
                bytes(&metric::LOG_BYTES),
            ]);
            section.rows.mark(entry.severity(), row);
        }
    }
    if data == "identical" {
        section.notes.push(
            "these documents are copies of each other: sharing is judged by `--content distinct` as well"
                .to_owned(),
        );
    }
    (!section.rows.is_empty()).then_some(section)
}
