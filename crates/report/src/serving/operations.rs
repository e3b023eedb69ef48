//! Table of operations: percentiles, errors, and the cost of an operation.

use jsonathlon_results::summary::{CellSummary, Run};
use jsonathlon_schema::metric::{self, MetricDef};

use super::conditions::{Group, clients, rate};
use super::throughput::{is_driver_bound, is_read_from_the_disk};
use crate::format;
use crate::section::{
    Column, Section, configuration_columns, dash, name_columns, optional, printable, sorted_configurations,
    trials_text,
};

const SERVICE: [&MetricDef; 5] = [
    &metric::SERVICE_P50_US,
    &metric::SERVICE_P90_US,
    &metric::SERVICE_P99_US,
    &metric::SERVICE_P999_US,
    &metric::SERVICE_MAX_US,
];
const RESPONSE: [&MetricDef; 5] = [
    &metric::RESPONSE_P50_US,
    &metric::RESPONSE_P90_US,
    &metric::RESPONSE_P99_US,
    &metric::RESPONSE_P999_US,
    &metric::RESPONSE_MAX_US,
];

/// A column of a metric, with its heading.
struct MetricColumn {
    title: &'static str,
    metric: &'static MetricDef,
    /// Whether the metric counts what went wrong or was delayed, instead of a cost of operations.
    is_count: bool,
    /// Whether the column is shown even if all its values are 0.
    always: bool,
}

impl MetricColumn {
    fn column(&self) -> Column {
        if self.is_count { Column::count(self.title) } else { Column::number(self.title).detail() }
    }
}

const COLUMNS: [MetricColumn; 20] = [
    counted("errors", &metric::ERRORS, true),
    counted("wrong", &metric::WRONG_ANSWERS, true),
    counted("stale", &metric::STALE_ANSWERS, false),
    counted("retries", &metric::RETRIES, false),
    counted("lost updates", &metric::LOST_UPDATES, true),
    counted("unknown writes", &metric::UNKNOWN_WRITES, false),
    counted("reconnects", &metric::RECONNECTS, false),
    counted("missed", &metric::MISSED_ARRIVALS, false),
    counted("unfinished", &metric::UNFINISHED_ARRIVALS, false),
    counted("max backlog", &metric::BACKLOG_MAX, false),
    measured("late, p99", &metric::LATENESS_P99_US),
    measured("WAL/op", &metric::WAL_BYTES_PER_OP),
    measured("of it records", &metric::WAL_RECORD_BYTES_PER_OP),
    measured("page images", &metric::WAL_IMAGE_BYTES_PER_OP),
    measured("WAL, idle", &metric::IDLE_WAL_BYTES),
    measured("written/op", &metric::DISK_WRITTEN_BYTES_PER_OP),
    measured("CPU/op, server", &metric::SERVER_CPU_US_PER_OP),
    measured("CPU/op, client", &metric::CLIENT_CPU_US_PER_OP),
    measured("switches/op", &metric::CONTEXT_SWITCHES_PER_OP),
    measured("migrations/op", &metric::CPU_MIGRATIONS_PER_OP),
];

const fn counted(title: &'static str, metric: &'static MetricDef, always: bool) -> MetricColumn {
    MetricColumn { title, metric, is_count: true, always }
}

const fn measured(title: &'static str, metric: &'static MetricDef) -> MetricColumn {
    MetricColumn { title, metric, is_count: false, always: true }
}

/// Columns of the table, with those of `metrics`.
fn columns(group: &Group<'_>, metrics: &[&MetricColumn]) -> Vec<Column> {
    let mut columns = configuration_columns();
    columns.push(Column::count("clients"));
    if !group.is_closed() {
        let rate = if group.has_slo() { "highest rate" } else { "rate" };
        columns.extend([rate, "throughput"].map(|title| Column::number(title).main()));
    }
    columns.extend([
        Column::number("p50").main(),
        Column::number("p90").useful(),
        Column::number("p99"),
        Column::number("p99.9").useful(),
        Column::number("longest").useful(),
    ]);
    columns.extend(metrics.iter().map(|metric| metric.column()));
    columns.push(Column::words("verdict"));
    columns
}

/// The table of one mix under one set of conditions.
pub(super) fn table(run: &Run, group: &Group<'_>) -> Section {
    let is_closed = group.is_closed();
    let rows: Vec<(Vec<String>, &CellSummary)> = sorted_configurations(run)
        .into_iter()
        .flat_map(|configuration| {
            group.entries_of(configuration).into_iter().map(move |entry| (name_columns(configuration), entry))
        })
        .collect();
    let is_shown = |column: &&MetricColumn| {
        let mut values = rows.iter().filter_map(|(_, entry)| entry.metric(column.metric));
        if column.always { values.next().is_some() } else { values.any(|value| value != 0.0) }
    };
    let metrics: Vec<&MetricColumn> = COLUMNS.iter().filter(is_shown).collect();
    let title = match is_closed {
        true => "service time (not latency), closed loop",
        false => "response time",
    };
    let mut section = Section::new(format!("{}: {title}", group.title()), columns(group, &metrics));
    for (mut row, entry) in rows {
        row.push(clients(&entry.cell).to_string());
        if !is_closed {
            let found = entry.metric(&metric::SLO_OPS_PER_S).map(|rate| format!("{}/s", format::count(rate)));
            row.push(found.or_else(|| rate(&entry.cell)).map_or_else(dash, |rate| printable(&rate)));
            row.push(optional(entry.metric(&metric::THROUGHPUT_OPS_PER_S), format::count));
        }
        row.extend(if is_closed { SERVICE } else { RESPONSE }.map(|metric| with_interval(entry, metric)));
        row.extend(metrics.iter().map(|column| {
            trials_text(entry, column.metric, |value| per_operation(column.metric, value))
                .unwrap_or_else(dash)
        }));
        let driver_mark = if is_driver_bound(entry) { ", driver-bound *" } else { "" };
        let disk_mark = if is_read_from_the_disk(entry) { ", not in memory †" } else { "" };
        row.push(format!("{}{driver_mark}{disk_mark}", entry.verdict.word()));
        section.rows.mark(entry.severity(), row);
    }
    section
}

/// A percentile as text; p99 with its interval.
fn with_interval(entry: &CellSummary, metric: &MetricDef) -> String {
    let Some(value) = entry.value(metric) else { return dash() };
    let text = format::microseconds(value);
    let is_p99 = [metric::SERVICE_P99_US, metric::RESPONSE_P99_US].contains(metric);
    match entry.limits(metric).filter(|_| is_p99) {
        Some([low, high]) => {
            format!("{text} ({} … {})", format::microseconds(low), format::microseconds(high))
        }
        None => text,
    }
}

/// Formats a value without `/op`, which the heading already says.
fn per_operation(metric: &MetricDef, value: f64) -> String {
    let text = format::metric_value(metric.unit, value);
    text.strip_suffix("/op").map_or_else(|| text.clone(), str::to_owned)
}
