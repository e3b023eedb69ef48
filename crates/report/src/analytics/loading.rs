//! Table of loading: its duration, its rates, and rejected documents.

use jsonathlon_results::summary::{Run, Summary};
use jsonathlon_schema::id::{DataState, Step};
use jsonathlon_schema::metric::{self, MetricDef};

use super::find;
use crate::format;
use crate::loaded_documents::{describe_rejects, describe_structure};
use crate::section::{
    Column, Section, configuration_columns, dash, interval, name_columns, optional, sorted_configurations,
};

fn columns() -> Vec<Column> {
    let own = vec![
        Column::count("loaded"),
        Column::count("rejected"),
        Column::number("time"),
        Column::interval(),
        Column::number("documents/s").main(),
        Column::number("MB/s").detail(),
        Column::words("bound by").detail(),
        Column::number("peak memory").useful(),
        Column::number("drained after").useful(),
        Column::number("compacted after").detail(),
        Column::words("round trip").main(),
        Column::words("verdict"),
    ];
    [configuration_columns(), own].concat()
}

/// Table of loads; configurations that were not loaded have no row.
pub(crate) fn loading(run: &Run, summary: &Summary) -> Section {
    let mut section = Section::new("loading, until durable and visible".to_owned(), columns());
    for configuration in sorted_configurations(run) {
        let Some(entry) = find(summary, configuration, &Step::Load, None) else { continue };
        let metric = |metric: &MetricDef| entry.metric(metric);
        let size = |state: DataState, metric: &MetricDef| {
            find(summary, configuration, &Step::Size, Some(state)).and_then(|entry| entry.metric(metric))
        };
        let mut row = name_columns(configuration);
        row.extend([
            share(metric(&metric::DOCUMENTS_LOADED), metric(&metric::DOCUMENTS_OFFERED)),
            optional(metric(&metric::DOCUMENTS_REJECTED), format::integer),
            optional(entry.median_s, format::seconds),
            interval(Some(entry)),
            optional(metric(&metric::DOCUMENTS_PER_S), format::count),
            optional(metric(&metric::BYTES_PER_S), |rate| format!("{:.0}", rate / 1e6)),
            entry.bound_by.map_or_else(dash, |bound| bound.to_string()),
            optional(metric(&metric::PEAK_PSS_BYTES), format::bytes),
            optional(size(DataState::Drained, &metric::DRAINED_S), format::seconds),
            optional(size(DataState::Compacted, &metric::COMPACTED_S), format::seconds),
            describe_structure(run, configuration),
            entry.verdict.word().to_owned(),
        ]);
        section.rows.mark(entry.severity(), row);
    }
    section.notes.extend(describe_rejects(run));
    section
}

fn share(part: Option<f64>, whole: Option<f64>) -> String {
    match (part, whole) {
        (Some(part), Some(whole)) if whole > 0.0 => format::percent(part / whole),
        _ => dash(),
    }
}
