//! Table of throughput: a row per configuration, a column per number of clients.

use jsonathlon_results::leader::{Lead, is_the_best, lead};
use jsonathlon_results::peaks::PeakThroughput;
use jsonathlon_results::ratio_to_best::{CellRatio, Significance};
use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_schema::metric::{self, THROUGHPUT_OPS_PER_S};
use jsonathlon_schema::record::Verdict;

use super::DRIVER_BOUND;
use super::conditions::{Group, clients};
use crate::format;
use crate::section::{
    Column, Section, TOO_FEW_ROUNDS, configuration_columns, dash, name_columns, optional, printable,
    sorted_configurations, trials_text,
};

/// The table of one mix under one set of conditions.
pub(super) fn table(run: &Run, summary: &Summary, group: &Group<'_>) -> Section {
    let client_counts = group.clients();
    let mut columns = configuration_columns();
    columns.extend(client_counts.iter().map(|count| Column::number(&describe_clients(*count)).main()));
    columns.push(Column::words("verdict"));
    let title = format!("{}: operations per second, closed loop", group.title());
    let mut section = Section::new(title, columns);
    for configuration in sorted_configurations(run) {
        let entries = group.entries_of(configuration);
        if entries.is_empty() {
            continue;
        }
        let mut row = name_columns(configuration);
        for count in &client_counts {
            let entry = entries.iter().find(|entry| clients(&entry.cell) == *count);
            row.push(entry.map_or_else(dash, |entry| describe_entry(entry)));
        }
        let worst = entries.iter().map(|entry| entry.verdict).max();
        row.push(worst.map_or_else(dash, |verdict| verdict.word().to_owned()));
        let severity = entries.iter().map(|entry| entry.severity()).max().unwrap_or_default();
        section.rows.mark(severity, row);
    }
    section.notes.extend(describe_leaders(summary, group));
    section
}

/// Throughput with its interval as text, in parentheses if it is not ranked; the verdict if there is none.
fn describe_entry(entry: &CellSummary) -> String {
    let Some(mut text) = trials_text(entry, &THROUGHPUT_OPS_PER_S, format::count) else {
        return entry.verdict.word().to_owned();
    };
    if !matches!(entry.verdict, Verdict::Exact | Verdict::Approximate) {
        text = format!("({text})");
    }
    if let Some([low, high]) = entry.limits(&THROUGHPUT_OPS_PER_S) {
        text.push_str(&format!(" ({} … {})", format::count(low), format::count(high)));
    }
    if is_driver_bound(entry) {
        text.push_str(" *");
    }
    if is_read_from_the_disk(entry) {
        text.push_str(" †");
    }
    text
}

/// Returns `true` if at least half of the entry's trials read data from the disk.
pub(super) fn is_read_from_the_disk(entry: &CellSummary) -> bool {
    entry.metric(&metric::IN_MEMORY).is_some_and(|in_memory| in_memory < 1.0)
}

/// Returns `true` if the clients took more than half of the CPU time.
pub(super) fn is_driver_bound(entry: &CellSummary) -> bool {
    entry.metric(&metric::CLIENT_CPU_SHARE).is_some_and(|share| share > DRIVER_BOUND)
}

/// A sentence per ranking on the configuration with the highest throughput at its best number of clients. If
/// none is shown to be highest, the sentence names those that are not shown to differ.
fn describe_leaders(summary: &Summary, group: &Group<'_>) -> Vec<String> {
    let is_in_group =
        |peak: &&PeakThroughput| group.entries.iter().any(|entry| entry.cell == peak.comparison.cell);
    let peaks: Vec<&PeakThroughput> = summary.peak_throughputs.iter().filter(is_in_group).collect();
    let leaders = peaks.iter().filter(|peak| is_the_best(&peak.comparison));
    let lead_of = |best: &&&PeakThroughput| {
        // Comparisons with this best one, i.e. those of its ranking.
        let (id, profile) = (&best.comparison.other, best.comparison.other_profile);
        let comparisons = peaks.iter().map(|peak| &peak.comparison);
        lead(comparisons.filter(|comparison| (&comparison.other, comparison.other_profile) == (id, profile)))
    };
    let describe = |lead| match lead {
        Lead::Alone(first) => format!("alone: {}", describe_throughput(first, group)),
        Lead::Shown { first, runner_up } => format!(
            "highest: {}; next {}",
            describe_throughput(first, group),
            describe_ratio(runner_up, group)
        ),
        Lead::NotShown { first, tied } => {
            let tied: Vec<String> = tied.iter().map(|comparison| describe_ratio(comparison, group)).collect();
            let first = describe_throughput(first, group);
            format!("no system is shown to be highest: {first}; {}", tied.join("; "))
        }
    };
    leaders.filter_map(|best| lead_of(&best)).map(describe).collect()
}

/// A configuration with its throughput, its interval and its number of clients, as text.
fn describe_throughput(comparison: &CellRatio, group: &Group<'_>) -> String {
    let cell = &comparison.cell;
    let entry = group.entries.iter().find(|entry| entry.cell == *cell);
    let value = entry.and_then(|entry| entry.value(&THROUGHPUT_OPS_PER_S));
    let limits = entry.and_then(|entry| entry.limits(&THROUGHPUT_OPS_PER_S));
    let interval = limits
        .map(|[low, high]| format!(" ({} … {})", format::count(low), format::count(high)))
        .unwrap_or_default();
    let value = optional(value, format::count);
    let name = printable(&format!("{} {}", cell.id.system, cell.id.variant));
    format!("{name}, {value}/s{interval} at {}", describe_clients(clients(cell)))
}

/// Like [`describe_throughput`], with the ratio to the best.
fn describe_ratio(comparison: &CellRatio, group: &Group<'_>) -> String {
    let note = match comparison.difference {
        Significance::NotSignificant if comparison.limits().is_none() => format!(", {TOO_FEW_ROUNDS}"),
        Significance::NotSignificant => format!(", {}", Significance::NotSignificant.label()),
        Significance::Faster | Significance::Slower => String::new(),
    };
    let interval = comparison
        .limits()
        .map(|[low, high]| format!(" ({} … {})", format::three_digits(low), format::three_digits(high)))
        .unwrap_or_default();
    format!("{}: {}{interval}{note}", describe_throughput(comparison, group), format::ratio(comparison.ratio))
}

fn describe_clients(clients: u64) -> String {
    if clients == 1 { "1 client".to_owned() } else { format!("{clients} clients") }
}
