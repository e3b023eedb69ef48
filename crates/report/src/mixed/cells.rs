//! Cells of the mixed workload, and their values as text.

use jsonathlon_results::summary::{CellSummary, Summary};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric::MetricDef;
use jsonathlon_schema::record::{Phase, RATE_SHARE, WRITERS};
use jsonathlon_schema::workload::WorkloadKind;

use crate::format;
use crate::section::{dash, optional};

/// Cell of a configuration in a phase of a run with writers, whose rate is no share of its own peak. `None` if it was
/// not measured.
pub(super) fn find<'a>(
    summary: &'a Summary,
    configuration: &Configuration,
    phase: Phase,
    step: &str,
) -> Option<&'a CellSummary> {
    summary.results.iter().find(|entry| {
        entry.cell.workload == WorkloadKind::Mixed
            && entry.cell.phase == phase
            && entry.cell.parameters.contains_key(WRITERS)
            && !entry.cell.parameters.contains_key(RATE_SHARE)
            && entry.cell.step.word() == step
            && configuration.contains_cell(&entry.cell)
    })
}

/// Value of a metric with its interval over rounds, as text. A dash if the entry has none.
pub(super) fn with_limits(entry: Option<&CellSummary>, metric: &MetricDef) -> String {
    let show = |value: f64| format::metric_value(metric.unit, value);
    let Some(value) = entry.and_then(|entry| entry.value(metric)) else { return dash() };
    match entry.and_then(|entry| entry.limits(metric)) {
        Some([low, high]) if low < high => format!("{} ({} … {})", show(value), show(low), show(high)),
        _ => show(value),
    }
}

/// Value of a metric as text. A dash if the entry has none.
pub(super) fn plain(entry: Option<&CellSummary>, metric: &MetricDef) -> String {
    optional(entry.and_then(|entry| entry.value(metric)), |value| format::metric_value(metric.unit, value))
}
