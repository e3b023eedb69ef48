//! Finds the sizes of documents at which the faster of two systems changes.

use std::collections::BTreeMap;

use jsonathlon_results::crossover::{Crossover, Point, crossings};
use jsonathlon_results::summary::{Run, Summary};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::record::{Cell, Phase};
use jsonathlon_schema::workload::WorkloadKind;
use jsonathlon_stats::statistics::paired_ratio;

use super::{bytes_of, entries, is_smaller, word};
use crate::section::{Section, by_class, optional};

/// Tests that are the same for every system. Tests under an index are left out, because each system has its
/// own indexes.
const TESTS: [&str; 6] = ["export", "import", "copy", "extract", "filter", "order"];

/// A size of documents at which the faster of two configurations changes.
pub(crate) struct TestCrossover<'r> {
    pub(crate) test: &'static str,
    pub(crate) data: String,
    /// Configuration that is faster below that size; `above` is the one that is faster above it.
    pub(crate) below: &'r Configuration,
    pub(crate) above: &'r Configuration,
    /// Size of a document in bytes, with its interval.
    pub(crate) at: Crossover,
}

/// Times of one configuration in seconds, by size in bytes and by round.
type Times = BTreeMap<u64, BTreeMap<u32, Vec<f64>>>;

/// All crossovers among ranked configurations, by data set and test.
pub(crate) fn all<'r>(run: &'r Run, summary: &Summary) -> Vec<TestCrossover<'r>> {
    let ranked: Vec<&Configuration> =
        by_class(run).into_iter().filter(|one| one.ranked && !one.reference).collect();
    let mut found = Vec::new();
    for data in super::data_sets(summary) {
        for test in TESTS {
            let is_own = |cell: &Cell| {
                cell.workload == WorkloadKind::Documents
                    && cell.step.word() == test
                    && word(cell, "data") == data
                    && !is_smaller(cell)
                    && !matches!(cell.phase, Phase::Cold | Phase::ColdUnverified)
                    && ["index", "form"].iter().all(|name| word(cell, name).is_empty())
            };
            let times: Vec<Times> = ranked.iter().map(|one| times(run, summary, one, is_own)).collect();
            for (place, (one, of_one)) in ranked.iter().zip(&times).enumerate() {
                for (other, of_other) in ranked.iter().zip(&times).skip(place + 1) {
                    for at in crossings(&points(of_one, of_other)) {
                        let (below, above) =
                            if at.first_is_less_below { (*one, *other) } else { (*other, *one) };
                        found.push(TestCrossover { test, data: data.clone(), below, above, at });
                    }
                }
            }
        }
    }
    found
}

fn times(run: &Run, summary: &Summary, of: &Configuration, is_own: impl Fn(&Cell) -> bool) -> Times {
    let mut times = Times::new();
    // A cell with a wrong answer has no time, so its trials are left out.
    let right: Vec<String> = entries(summary)
        .filter(|entry| entry.median_s.is_some() && of.has(&entry.cell) && is_own(&entry.cell))
        .map(|entry| entry.cell.key())
        .collect();
    for trial in run.trials().filter(|trial| of.has(&trial.cell) && is_own(&trial.cell)) {
        if let Some(seconds) = trial.seconds.filter(|_| right.contains(&trial.cell.key())) {
            let size = times.entry(bytes_of(word(&trial.cell, "size"))).or_default();
            size.entry(trial.round).or_default().push(seconds);
        }
    }
    times
}

/// Ratios of the first to the second configuration at the sizes, and over the rounds, that both have.
fn points(one: &Times, other: &Times) -> Vec<Point> {
    let point = |(size, of_one): (&u64, &BTreeMap<u32, Vec<f64>>)| {
        let of_other = other.get(size)?;
        let (a, b): (Vec<_>, Vec<_>) = of_one
            .iter()
            .filter_map(|(round, times)| Some((times.clone(), of_other.get(round)?.clone())))
            .unzip();
        Some(Point { size: *size as f64, ratio: paired_ratio(&a, &b)? })
    };
    one.iter().filter_map(point).collect()
}

/// Table of all crossovers; `None` if there are none.
pub(super) fn table(run: &Run, summary: &Summary) -> Option<Section> {
    let all = all(run, summary);
    let header =
        ["test", "data", "faster with smaller documents", "faster with larger ones", "from", "95 % interval"];
    let mut section = Section::new("who changes places over sizes".to_owned(), &header, 4);
    for one in &all {
        let name = |configuration: &Configuration| {
            let id = &configuration.id;
            format!("{} {} {}", id.system, id.variant, id.storage)
        };
        let interval = match (one.at.low, one.at.high) {
            (None, None) => optional(None, size),
            (low, high) => {
                let limit = |limit: Option<f64>| limit.map(size).unwrap_or_default();
                format!("{} … {}", limit(low), limit(high)).trim().to_owned()
            }
        };
        section.rows.push(vec![
            one.test.to_owned(),
            one.data.clone(),
            name(one.below),
            name(one.above),
            size(one.at.size),
            interval,
        ]);
    }
    section.notes.push(
        "between sizes that were measured times are taken for straight lines on logarithms; an interval without a limit \
         reaches beyond all of them"
            .to_owned(),
    );
    (!all.is_empty()).then_some(section)
}

/// Formats bytes in KiB or MiB, the units of document sizes.
fn size(bytes: f64) -> String {
    let (unit, name) = if bytes >= 1048576.0 { (1048576.0, "MiB") } else { (1024.0, "KiB") };
    let number = bytes / unit;
    if number < 10.0 { format!("{number:.1} {name}") } else { format!("{number:.0} {name}") }
}
