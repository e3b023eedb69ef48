//! Throughput: a row a configuration, a column a number of clients.

use jsonathlon_results::beside_best::{Difference, Peak};
use jsonathlon_results::figure::{self, THROUGHPUT_OPS_PER_S};
use jsonathlon_results::record::Verdict;
use jsonathlon_results::summary::{Entry, Run, Summary};

use super::DRIVER_BOUND;
use super::conditions::{Group, clients};
use crate::format;
use crate::section::{NAMES, Section, by_class, name, none, printable};

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
        section.rows.push(row);
    }
    section.notes.extend(highest(summary, group));
    section
}

/// A throughput with its interval; in brackets what has no rank; the verdict of what has none.
fn shown(entry: &Entry) -> String {
    let Some(value) = entry.value(&THROUGHPUT_OPS_PER_S) else { return entry.verdict.word().to_owned() };
    let mut text = format::count(value);
    if !matches!(entry.verdict, Verdict::Exact | Verdict::Approximate) {
        text = format!("({text})");
    }
    if let Some([low, high]) = entry.limits(&THROUGHPUT_OPS_PER_S) {
        text.push_str(&format!(" ({} … {})", format::count(low), format::count(high)));
    }
    if is_driver_bound(entry) {
        text.push_str(" *");
    }
    text
}

/// Whether the clients took more than half of the CPU time.
pub(super) fn is_driver_bound(entry: &Entry) -> bool {
    entry.metric(&figure::DRIVER_SHARE).is_some_and(|share| share > DRIVER_BOUND)
}

/// Who gets the most done at its best number of clients, in each ranking, and whether the next one is shown to do less.
fn highest(summary: &Summary, group: &Group<'_>) -> Vec<String> {
    let is_of_group = |peak: &&Peak| group.entries.iter().any(|entry| entry.cell == peak.comparison.cell);
    let of_group: Vec<&Peak> = summary.peaks.iter().filter(is_of_group).collect();
    let is_best = |peak: &Peak| {
        let one = &peak.comparison;
        one.cell.id == one.other && one.cell.profile == one.other_profile
    };
    let best = of_group.iter().filter(|peak| is_best(peak));
    best.map(|best| {
        let cell = &best.comparison.cell;
        let entry = group.entries.iter().find(|entry| entry.cell == *cell);
        let limits = entry.and_then(|entry| entry.limits(&THROUGHPUT_OPS_PER_S));
        let interval = limits
            .map(|[low, high]| format!(" ({} … {})", format::count(low), format::count(high)))
            .unwrap_or_default();
        let mut others: Vec<&&Peak> = of_group
            .iter()
            .filter(|peak| !is_best(peak))
            .filter(|peak| {
                (&peak.comparison.other, peak.comparison.other_profile) == (&cell.id, cell.profile)
            })
            .collect();
        others.sort_by(|a, b| b.value.total_cmp(&a.value));
        let next = others.first().map(|next| beside(next)).unwrap_or_default();
        printable(&format!(
            "highest: {} {}, {}/s{interval} at {}{next}",
            cell.id.system,
            cell.id.variant,
            format::count(best.value),
            at(clients(cell)),
        ))
    })
    .collect()
}

fn beside(next: &Peak) -> String {
    let one = &next.comparison;
    let what = match one.difference {
        Difference::NoneShown if one.low.is_none() => ", no interval with one round",
        Difference::NoneShown => ", no difference shown",
        Difference::Faster | Difference::Slower => "",
    };
    let interval = one
        .low
        .zip(one.high)
        .map(|(low, high)| format!(" ({} … {})", format::three(low), format::three(high)))
        .unwrap_or_default();
    format!(
        "; next {} {}, {}/s at {}: {}{interval}{what}",
        one.cell.id.system,
        one.cell.id.variant,
        format::count(next.value),
        at(clients(&one.cell)),
        format::times(one.ratio)
    )
}

fn at(clients: u64) -> String {
    if clients == 1 { "1 client".to_owned() } else { format!("{clients} clients") }
}
