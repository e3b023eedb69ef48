//! Values of cells of the mixed workload as text.

use jsonathlon_results::summary::CellSummary;
use jsonathlon_schema::metric::MetricDef;

use crate::format;
use crate::section::{dash, optional};

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
