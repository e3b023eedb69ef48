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
use crate::section::{NAMES, Section, TOO_FEW_ROUNDS, by_class, name, none, of_trials, optional, printable};

/// The table of one mix under one set of conditions.
pub(super) fn by_clients(run: &Run, summary: &Summary, group: &Group<'_>) -> Section {
    let numbers = group.clients();
    let mut header: Vec<String> = ["class", "system", "variant", "storage"].map(str::to_owned).to_vec();
    header.extend(numbers.iter().map(|number| match number {
        1 => "1 client".to_owned(),
        number => format!("{number} clients"),
    }));
    header.push("verdict".to_owned());
    let mut section = Section {
        title: format!("{}: operations per second, closed loop", group.title()),
        left_columns: NAMES,
        left_also: vec![header.len() - 1],
        header,
        ..Section::default()
    };
    for configuration in by_class(run) {
        let own = group.of(configuration);
        if own.is_empty() {
            continue;
        }
        let mut row = name(configuration);
        for number in &numbers {
            let entry = own.iter().find(|entry| clients(&entry.cell) == *number);
            row.push(entry.map_or_else(none, |entry| shown(entry)));
        }
        let worst = own.iter().map(|entry| entry.verdict).max();
        row.push(worst.map_or_else(none, |verdict| verdict.word().to_owned()));
        let severity = own.iter().map(|entry| entry.severity()).max().unwrap_or_default();
        section.rows.mark(severity, row);
    }
    section.notes.extend(highest(summary, group));
    section
}

/// Throughput with its interval as text, in parentheses if it is not ranked; the verdict if there is none.
fn shown(entry: &CellSummary) -> String {
    let Some(mut text) = of_trials(entry, &THROUGHPUT_OPS_PER_S, format::count) else {
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
    entry.metric(&metric::DRIVER_SHARE).is_some_and(|share| share > DRIVER_BOUND)
}

/// A sentence per ranking on the configuration with the highest throughput at its best number of clients. If
/// none is shown to be highest, the sentence names those that are not shown to differ.
fn highest(summary: &Summary, group: &Group<'_>) -> Vec<String> {
    let is_of_group =
        |peak: &&PeakThroughput| group.entries.iter().any(|entry| entry.cell == peak.comparison.cell);
    let of_group: Vec<&PeakThroughput> = summary.peaks.iter().filter(is_of_group).collect();
    let bests = of_group.iter().filter(|peak| is_the_best(&peak.comparison));
    let lead_of = |best: &&&PeakThroughput| {
        // Comparisons with this best one, i.e. those of its ranking.
        let (id, profile) = (&best.comparison.other, best.comparison.other_profile);
        let own = of_group.iter().map(|peak| &peak.comparison);
        lead(own.filter(|one| (&one.other, one.other_profile) == (id, profile)))
    };
    let told = |lead| match lead {
        Lead::Alone(first) => format!("alone: {}", reached(first, group)),
        Lead::Shown { first, next } => {
            format!("highest: {}; next {}", reached(first, group), beside(next, group))
        }
        Lead::NotShown { first, alike } => {
            let alike: Vec<String> = alike.iter().map(|one| beside(one, group)).collect();
            format!("nobody is shown to be highest: {}; {}", reached(first, group), alike.join("; "))
        }
    };
    bests.filter_map(|best| lead_of(&best)).map(told).collect()
}

/// A configuration with its throughput, its interval and its number of clients, as text.
fn reached(one: &CellRatio, group: &Group<'_>) -> String {
    let cell = &one.cell;
    let entry = group.entries.iter().find(|entry| entry.cell == *cell);
    let value = entry.and_then(|entry| entry.value(&THROUGHPUT_OPS_PER_S));
    let limits = entry.and_then(|entry| entry.limits(&THROUGHPUT_OPS_PER_S));
    let interval = limits
        .map(|[low, high]| format!(" ({} … {})", format::count(low), format::count(high)))
        .unwrap_or_default();
    let value = optional(value, format::count);
    let name = printable(&format!("{} {}", cell.id.system, cell.id.variant));
    format!("{name}, {value}/s{interval} at {}", at(clients(cell)))
}

/// Like [`reached`], with the ratio to the best.
fn beside(one: &CellRatio, group: &Group<'_>) -> String {
    let what = match one.difference {
        Significance::NotSignificant if one.limits().is_none() => format!(", {TOO_FEW_ROUNDS}"),
        Significance::NotSignificant => format!(", {}", Significance::NotSignificant.words()),
        Significance::Faster | Significance::Slower => String::new(),
    };
    let interval = one
        .limits()
        .map(|[low, high]| format!(" ({} … {})", format::three(low), format::three(high)))
        .unwrap_or_default();
    format!("{}: {}{interval}{what}", reached(one, group), format::times(one.ratio))
}

fn at(clients: u64) -> String {
    if clients == 1 { "1 client".to_owned() } else { format!("{clients} clients") }
}
