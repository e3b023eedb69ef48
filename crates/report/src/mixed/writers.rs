//! Tables of writers, and of what questions beside them saw.

use jsonathlon_results::mixed::cell_of;
use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_schema::metric;
use jsonathlon_schema::record::{ALL_QUESTIONS, INGEST, Phase, RATE, TOO_SHORT};
use jsonathlon_stats::batch_schedule::KEPT_LIMIT;

use super::cells::{plain, with_limits};
use crate::format;
use crate::section::{
    Column, Section, configuration_columns, dash, name_columns, optional, sorted_configurations,
};

/// Rate that writers kept: `2.00k/s`, or `1.19k/s of 2.00k/s` if they fell behind.
fn kept(entry: Option<&CellSummary>) -> String {
    let Some(entry) = entry else { return dash() };
    let documents = entry.value(&metric::DOCUMENTS_PER_S);
    let reached = optional(documents, |rate| format!("{}/s", format::count(rate)));
    let rate = entry.cell.parameters.get(RATE).and_then(serde_json::Value::as_f64);
    match (rate, entry.value(&metric::KEPT_SHARE)) {
        (Some(rate), Some(share)) if share < KEPT_LIMIT => format!("{reached} of {}/s", format::count(rate)),
        _ => reached,
    }
}

/// Rate of the writers alone, and whether it was measured for so short a time that it has no rank.
fn alone_rate(entry: Option<&CellSummary>) -> String {
    let rate = with_limits(entry, &metric::DOCUMENTS_PER_S);
    match entry.and_then(|entry| entry.finding(TOO_SHORT)) {
        Some(_) => format!("{rate}, {TOO_SHORT}"),
        None => rate,
    }
}

/// Table of the writers, beside questions and alone.
pub(super) fn writers(run: &Run, summary: &Summary) -> Section {
    let own = vec![
        Column::number("kept"),
        Column::number("backlog").useful(),
        Column::number("response p50").main(),
        Column::number("response p95"),
        Column::number("response max").main(),
        Column::count("retries").useful(),
        Column::number("alone"),
        Column::number("data grew by").useful(),
        Column::words("verdict"),
    ];
    let mut section =
        Section::new("writers beside questions".to_owned(), [configuration_columns(), own].concat());
    for configuration in sorted_configurations(run) {
        let beside = cell_of(summary, configuration, Phase::Both, INGEST);
        let alone = cell_of(summary, configuration, Phase::Alone, INGEST);
        let Some(entry) = beside.or(alone) else { continue };
        let mut row = name_columns(configuration);
        row.extend([
            kept(beside),
            plain(beside, &metric::BACKLOG_DOCUMENTS),
            with_limits(beside, &metric::INSERT_RESPONSE_P50_US),
            with_limits(beside, &metric::INSERT_RESPONSE_P95_US),
            plain(beside, &metric::INSERT_RESPONSE_MAX_US),
            plain(beside, &metric::RETRIES),
            alone_rate(alone),
            plain(beside, &metric::GROWN_SHARE),
            entry.verdict.word().to_owned(),
        ]);
        section.rows.mark(entry.severity(), row);
    }
    section
}

/// Table of what questions beside writers saw, and whether their answers were as expected.
pub(super) fn answers(run: &Run, summary: &Summary) -> Section {
    let own = vec![
        Column::number("as expected"),
        Column::number("wrong"),
        Column::number("no moment").main(),
        Column::count("holes").main(),
        Column::count("torn").useful(),
        Column::count("went back").useful(),
        Column::number("stale p50").useful(),
        Column::number("stale p95"),
        Column::number("stale max").main(),
        Column::words("verdict"),
    ];
    let mut section =
        Section::new("answers beside writers".to_owned(), [configuration_columns(), own].concat());
    for configuration in sorted_configurations(run) {
        let Some(entry) = cell_of(summary, configuration, Phase::Both, ALL_QUESTIONS) else { continue };
        let mut row = name_columns(configuration);
        let metrics = [
            metric::EXACT,
            metric::WRONG_ANSWERS,
            metric::BOUNDED,
            metric::HOLES,
            metric::TORN,
            metric::WENT_BACK,
            metric::STALE_P50_MS,
            metric::STALE_P95_MS,
            metric::STALE_MAX_MS,
        ];
        row.extend(metrics.iter().map(|metric| plain(Some(entry), metric)));
        row.push(entry.verdict.word().to_owned());
        section.rows.mark(entry.severity(), row);
    }
    section
}
