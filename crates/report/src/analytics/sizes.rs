//! Table of sizes, beside those of the same documents in plain files.

use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_schema::id::{DataState, Step};
use jsonathlon_schema::metric::{self, MetricDef};

use super::find;
use crate::format;
use crate::section::{
    Column, Section, configuration_columns, dash, name_columns, optional, sorted_configurations,
};

/// Index of the column of logs: behind `on disk`, which includes them.
const LOGS: usize = 9;

/// Columns of the table, without the one of logs.
fn columns() -> Vec<Column> {
    let own = vec![
        Column::setting("state"),
        Column::number("total"),
        Column::number("data").useful(),
        Column::number("indexes").useful(),
        Column::number("on disk").useful(),
        Column::number("bytes/document").detail(),
        Column::number("of raw").main(),
    ];
    [configuration_columns(), own].concat()
}

/// Number of documents and their size in a plain file, to which the table relates sizes.
struct PlainDocuments {
    count: f64,
    raw_bytes: Option<f64>,
}

impl PlainDocuments {
    fn new(summary: &Summary) -> Self {
        Self {
            count: summary.data.documents.max(1) as f64,
            raw_bytes: plain_file(summary, "raw").and_then(|entry| entry.metric(&metric::FILES_BYTES)),
        }
    }

    /// Bytes per document, as text; a dash if there is no total.
    fn bytes_per_document(&self, total: Option<f64>) -> String {
        optional(total, |total| format!("{:.1}", total / self.count))
    }

    /// Ratio of a total to the plain file, as text; a dash if either is missing.
    fn share_of_raw(&self, total: Option<f64>) -> String {
        match (total, self.raw_bytes) {
            (Some(total), Some(raw)) if raw > 0.0 => format::percent(total / raw),
            _ => dash(),
        }
    }
}

pub(crate) fn sizes(run: &Run, summary: &Summary) -> Section {
    let mut section = Section::new("size".to_owned(), columns());
    let mut logs: Vec<Option<f64>> = Vec::new();
    let documents = PlainDocuments::new(summary);
    for row in plain_rows(summary, &documents) {
        logs.push(None);
        section.rows.push(row);
    }
    let mut has_ranges = false;
    for configuration in sorted_configurations(run) {
        for state in DataState::ALL {
            let Some(entry) = find(summary, configuration, &Step::Size, Some(state)) else { continue };
            let mut row = name_columns(configuration);
            row.push(state.word().to_owned());
            row.extend(measured_sizes(entry, &documents, &mut has_ranges));
            logs.push(entry.metric(&metric::LOG_BYTES));
            section.rows.mark(entry.severity(), row);
        }
    }
    // The column is left out if no system reports its logs.
    if logs.iter().any(Option::is_some) {
        section.columns.insert(LOGS, Column::number("logs").detail());
        for (row, logs) in section.rows.iter_mut().zip(&logs) {
            row.insert(LOGS, optional(*logs, format::bytes));
        }
    }
    if has_ranges {
        section
            .notes
            .push("total: the median over loads, and the smallest and the largest of them".to_owned());
    }
    section.notes.push(
        "total, data and indexes as each system's own catalogue counts; on disk: allocated blocks of its \
         whole data folder, logs included"
            .to_owned(),
    );
    section
}

/// Entry of the documents in a plain file, raw or compressed as `variant` says; `None` if there is none.
fn plain_file<'a>(summary: &'a Summary, variant: &str) -> Option<&'a CellSummary> {
    summary.results.iter().find(|entry| entry.cell.id.system == "files" && entry.cell.id.variant == variant)
}

/// Rows of the same documents in plain files, raw and compressed.
fn plain_rows(summary: &Summary, documents: &PlainDocuments) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for variant in ["raw", "gzip-6", "lz4", "zstd-1"] {
        let Some(entry) = plain_file(summary, variant) else { continue };
        let total = entry.metric(&metric::FILES_BYTES);
        rows.push(vec![
            dash(),
            "files".into(),
            variant.into(),
            dash(),
            dash(),
            optional(total, format::bytes),
            dash(),
            dash(),
            dash(),
            documents.bytes_per_document(total),
            documents.share_of_raw(total),
        ]);
    }
    rows
}

/// Columns from the total to the last one; `has_ranges` is set if the total shows a range over loads.
fn measured_sizes(entry: &CellSummary, documents: &PlainDocuments, has_ranges: &mut bool) -> [String; 6] {
    let metric = |metric: &MetricDef| entry.metric(metric);
    let total = metric(&metric::TOTAL_BYTES).or_else(|| metric(&metric::FILES_BYTES));
    [
        size_with_range(
            total,
            metric(&metric::LEAST_TOTAL_BYTES),
            metric(&metric::MOST_TOTAL_BYTES),
            has_ranges,
        ),
        optional(metric(&metric::DATA_BYTES), format::bytes),
        optional(metric(&metric::INDEX_BYTES), format::bytes),
        optional(metric(&metric::FILES_BYTES), format::bytes),
        documents.bytes_per_document(total),
        documents.share_of_raw(total),
    ]
}

/// A size as text, with its range over loads if three digits show one; `has_ranges` is set then.
fn size_with_range(
    median: Option<f64>,
    least: Option<f64>,
    most: Option<f64>,
    has_ranges: &mut bool,
) -> String {
    let text = optional(median, format::bytes);
    match (least.map(format::bytes), most.map(format::bytes)) {
        (Some(least), Some(most)) if least != most => {
            *has_ranges = true;
            format!("{text} ({least} … {most})")
        }
        _ => text,
    }
}
