//! Table of sizes, beside those of the same documents in plain files.

use jsonathlon_results::summary::{Run, Summary};
use jsonathlon_schema::id::{DataState, Step};
use jsonathlon_schema::metric::{self, MetricDef};

use super::find;
use crate::format;
use crate::section::{NAMES, Section, by_class, name, none, optional};

/// Index of the column of logs: behind `on disk`, which includes them.
const LOGS: usize = 9;

pub(crate) fn sizes(run: &Run, summary: &Summary) -> Section {
    let mut section = Section::new(
        "size".to_owned(),
        &[
            "class",
            "system",
            "variant",
            "storage",
            "state",
            "total",
            "data",
            "indexes",
            "on disk",
            "bytes/document",
            "of raw",
        ],
        NAMES + 1,
    );
    let mut logs: Vec<Option<f64>> = Vec::new();
    let raw = summary
        .results
        .iter()
        .find(|entry| entry.cell.id.system == "files" && entry.cell.id.variant == "raw")
        .and_then(|entry| entry.metric(&metric::FILES_BYTES));
    let documents = summary.data.documents.max(1) as f64;
    let of_raw = |total: Option<f64>| match (total, raw) {
        (Some(total), Some(raw)) if raw > 0.0 => format::percent(total / raw),
        _ => none(),
    };
    for format in ["raw", "gzip-6", "lz4", "zstd-1"] {
        let Some(entry) = summary
            .results
            .iter()
            .find(|entry| entry.cell.id.system == "files" && entry.cell.id.variant == format)
        else {
            continue;
        };
        let total = entry.metric(&metric::FILES_BYTES);
        logs.push(None);
        section.rows.push(vec![
            none(),
            "files".into(),
            format.into(),
            none(),
            none(),
            optional(total, format::bytes),
            none(),
            none(),
            none(),
            optional(total, |total| format!("{:.1}", total / documents)),
            of_raw(total),
        ]);
    }
    let mut ranges = false;
    for configuration in by_class(run) {
        for state in DataState::ALL {
            let Some(entry) = find(summary, configuration, &Step::Size, Some(state)) else { continue };
            let metric = |figure: &MetricDef| entry.metric(figure);
            let total = metric(&metric::TOTAL_BYTES).or_else(|| metric(&metric::FILES_BYTES));
            let mut row = name(configuration);
            row.extend([
                state.word().to_owned(),
                size_with_range(
                    total,
                    metric(&metric::LEAST_TOTAL_BYTES),
                    metric(&metric::MOST_TOTAL_BYTES),
                    &mut ranges,
                ),
                optional(metric(&metric::DATA_BYTES), format::bytes),
                optional(metric(&metric::INDEX_BYTES), format::bytes),
                optional(metric(&metric::FILES_BYTES), format::bytes),
                optional(total, |total| format!("{:.1}", total / documents)),
                of_raw(total),
            ]);
            logs.push(metric(&metric::LOG_BYTES));
            section.rows.mark(entry.severity(), row);
        }
    }
    // The column is left out if no system reports its logs.
    if logs.iter().any(Option::is_some) {
        section.header.insert(LOGS, "logs".to_owned());
        for (row, logs) in section.rows.iter_mut().zip(&logs) {
            row.insert(LOGS, optional(*logs, format::bytes));
        }
    }
    if ranges {
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

/// A size as text, with its range over loads if three digits show one; `ranges` is set then.
fn size_with_range(median: Option<f64>, least: Option<f64>, most: Option<f64>, ranges: &mut bool) -> String {
    let text = optional(median, format::bytes);
    match (least.map(format::bytes), most.map(format::bytes)) {
        (Some(least), Some(most)) if least != most => {
            *ranges = true;
            format!("{text} ({least} … {most})")
        }
        _ => text,
    }
}
