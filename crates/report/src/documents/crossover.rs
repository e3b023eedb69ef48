//! Finds the sizes of documents at which the faster of two systems changes.

use std::collections::BTreeMap;

use jsonathlon_results::crossover::{Crossover, Point, crossings};
use jsonathlon_results::summary::{Run, Summary};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::record::{Cell, Phase};
use jsonathlon_schema::workload::WorkloadKind;
use jsonathlon_stats::statistics::paired_ratio;

use super::{bytes_of, entries, is_smaller, word};
use crate::section::{Column, Section, optional, sorted_configurations, words};

/// Tests that are the same for every system. Tests under an index are left out, because each system has its
/// own indexes.
const TESTS: [&str; 6] = ["export", "import", "copy", "extract", "filter", "order"];

/// A size of documents at which the faster of two configurations changes.
pub(crate) struct TestCrossover<'r> {
    pub(crate) test: &'static str,
    pub(crate) data: String,
    /// Configuration that is faster below that size; `faster_above` is the one that is faster above it.
    pub(crate) faster_below: &'r Configuration,
    pub(crate) faster_above: &'r Configuration,
    /// Size of a document in bytes, with its interval.
    pub(crate) crossing: Crossover,
}

/// Times of one configuration in seconds, by size in bytes and by round.
type Times = BTreeMap<u64, BTreeMap<u32, Vec<f64>>>;

/// All crossovers among ranked configurations, by data set and test.
pub(crate) fn find_crossovers<'r>(run: &'r Run, summary: &Summary) -> Vec<TestCrossover<'r>> {
    let ranked: Vec<&Configuration> = sorted_configurations(run)
        .into_iter()
        .filter(|configuration| configuration.ranked && !configuration.reference)
        .collect();
    let mut crossovers = Vec::new();
    for data in super::data_sets(summary) {
        for test in TESTS {
            let is_in_test = |cell: &Cell| {
                cell.workload == WorkloadKind::Documents
                    && cell.step.word() == test
                    && word(cell, "data") == data
                    && !is_smaller(cell)
                    && !matches!(cell.phase, Phase::Cold | Phase::ColdUnverified)
                    && ["index", "form"].iter().all(|name| word(cell, name).is_empty())
            };
            let times: Vec<Times> =
                ranked.iter().map(|configuration| times(run, summary, configuration, is_in_test)).collect();
            for (index, (first, first_times)) in ranked.iter().zip(&times).enumerate() {
                for (second, second_times) in ranked.iter().zip(&times).skip(index + 1) {
                    for crossover in crossings(&points(first_times, second_times)) {
                        let (faster_below, faster_above) =
                            if crossover.first_is_less_below { (*first, *second) } else { (*second, *first) };
                        crossovers.push(TestCrossover {
                            test,
                            data: data.clone(),
                            faster_below,
                            faster_above,
                            crossing: crossover,
                        });
                    }
                }
            }
        }
    }
    crossovers
}

fn times(
    run: &Run,
    summary: &Summary,
    configuration: &Configuration,
    is_in_test: impl Fn(&Cell) -> bool,
) -> Times {
    let mut times = Times::new();
    // A cell with a wrong answer has no time, so its trials are left out.
    let correct: Vec<String> = entries(summary)
        .filter(|entry| {
            entry.median_s.is_some() && configuration.contains_cell(&entry.cell) && is_in_test(&entry.cell)
        })
        .map(|entry| entry.cell.key())
        .collect();
    for trial in
        run.trials().filter(|trial| configuration.contains_cell(&trial.cell) && is_in_test(&trial.cell))
    {
        if let Some(seconds) = trial.seconds.filter(|_| correct.contains(&trial.cell.key())) {
            let size = times.entry(bytes_of(word(&trial.cell, "size"))).or_default();
            size.entry(trial.round).or_default().push(seconds);
        }
    }
    times
}

/// Ratios of the first to the second configuration at the sizes, and over the rounds, that both have.
fn points(first: &Times, second: &Times) -> Vec<Point> {
    let point = |(size, first_rounds): (&u64, &BTreeMap<u32, Vec<f64>>)| {
        let second_rounds = second.get(size)?;
        let (a, b): (Vec<_>, Vec<_>) = first_rounds
            .iter()
            .filter_map(|(round, times)| Some((times.clone(), second_rounds.get(round)?.clone())))
            .unzip();
        Some(Point { size: *size as f64, ratio: paired_ratio(&a, &b)? })
    };
    first.iter().filter_map(point).collect()
}

/// Table of all crossovers; `None` if there are none.
pub(super) fn table(run: &Run, summary: &Summary) -> Option<Section> {
    let crossovers = find_crossovers(run, summary);
    let mut columns = words(&["test", "data", "faster with smaller documents", "faster with larger ones"]);
    columns.extend([Column::number("from"), Column::interval()]);
    let mut section = Section::new("crossovers by document size".to_owned(), columns);
    for crossover in &crossovers {
        let name = |configuration: &Configuration| {
            let id = &configuration.id;
            format!("{} {} {}", id.system, id.variant, id.storage)
        };
        let interval = match (crossover.crossing.low, crossover.crossing.high) {
            (None, None) => optional(None, size),
            (low, high) => {
                let limit = |limit: Option<f64>| limit.map(size).unwrap_or_default();
                format!("{} … {}", limit(low), limit(high)).trim().to_owned()
            }
        };
        section.rows.push(vec![
            crossover.test.to_owned(),
            crossover.data.clone(),
            name(crossover.faster_below),
            name(crossover.faster_above),
            size(crossover.crossing.size),
            interval,
        ]);
    }
    section.notes.push(
        "between measured sizes times are interpolated as straight lines on log scales; an interval without a limit \
         reaches beyond all of them"
            .to_owned(),
    );
    (!crossovers.is_empty()).then_some(section)
}

/// Formats bytes in KiB or MiB, the units of document sizes.
fn size(bytes: f64) -> String {
    let (unit, name) = if bytes >= 1048576.0 { (1048576.0, "MiB") } else { (1024.0, "KiB") };
    let number = bytes / unit;
    if number < 10.0 { format!("{number:.1} {name}") } else { format!("{number:.0} {name}") }
}
