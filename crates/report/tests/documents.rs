//! Tests of the tables of synthetic documents runs.

use jsonathlon_report::render::TableStyle;
use jsonathlon_report::run::tables;
use jsonathlon_results::compare::{Outcome, compare};
use jsonathlon_results::run::Run;
use jsonathlon_results::test_fixtures::{cell, configuration, record, run, trial};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::record::{Cell, Failure, FailureKind, JournalRecord, Phase, Verdict};

const PLAIN: TableStyle = TableStyle::PLAIN;

fn of(one: &Configuration, step: &str, phase: Phase, n: u32, size: &str, more: &[(&str, &str)]) -> Cell {
    let mut cell = cell(one, step, phase);
    cell.workload = "documents".into();
    let own = [("size", size.into()), ("n", n.into()), ("data", "identical".into())];
    cell.parameters.extend(own.map(|(name, value): (&str, serde_json::Value)| (name.to_owned(), value)));
    cell.parameters.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())));
    cell
}

/// Two systems, one of which accepts no documents larger than 512 KiB. `usage` is an index use in plans.
fn made(usage: f64) -> Run {
    let (one, other) = (configuration("sqlite", "3"), configuration("mongodb", "6"));
    let mut records: Vec<JournalRecord> = Vec::new();
    for (round, factor) in [(1, 1.0), (2, 1.1), (3, 0.95)] {
        for (n, size) in [(16, "1MiB"), (12, "64KiB")] {
            let times = |one: &Configuration, n: u32, seconds: f64| {
                record(trial(of(one, "export", Phase::Hot, n, size, &[]), round, Some(seconds * factor)))
            };
            records.extend([times(&one, n, 0.2), times(&other, n.min(15), 0.4)]);
            let index = [("index", "plain")];
            let indexed = of(&one, "filter", Phase::Hot, n, size, &index);
            records.push(record(trial(indexed, round, Some(1e-4 * factor))));
        }
    }
    let mut disk = trial(of(&one, "disk", Phase::Steady, 12, "64KiB", &[]), 1, None);
    disk.metrics =
        [("source_bytes", 8e6), ("files_bytes", 5e6), ("files_with_copy_bytes", 9e6), ("added_bytes", 4e6)]
            .into_iter()
            .chain([("added_share", 0.5)])
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
    records.push(record(disk));
    for (n, size, usage) in [(12, "64KiB", usage), (16, "1MiB", 2.0)] {
        let query = [("index", "plain"), ("query", "filter"), ("form", "->>")];
        let mut plan = trial(of(&one, "use", Phase::Steady, n, size, &query), 1, None);
        plan.metrics = [("index_use".to_owned(), usage)].into();
        records.push(record(plan));
    }
    for (data, usage) in [("identical", 1.0), ("distinct", 3.0)] {
        for (n, size) in [(12, "64KiB"), (16, "1MiB")] {
            let query = [("index", "gin"), ("query", "contains"), ("form", "@>"), ("data", data)];
            let mut plan = trial(of(&one, "use", Phase::Steady, n, size, &query), 1, None);
            plan.metrics = [("index_use".to_owned(), usage)].into();
            records.push(record(plan));
        }
    }
    let mut copy = trial(of(&other, "copy", Phase::Load, 12, "64KiB", &[]), 1, None);
    copy.verdict = Verdict::NotApplicable;
    copy.failure = Some(Failure::new(FailureKind::Refused, "no setter"));
    records.push(record(copy));
    run("a-run", vec![one, other], records)
}

#[test]
fn tests_are_tables_with_a_column_for_each_size() {
    let text = tables(&made(3.0), PLAIN);
    let line = |begins: &str, after: &str| {
        let from = text.find(after).unwrap();
        let line = text[from..].lines().find(|line| line.trim_start().starts_with(begins));
        line.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("system", "export: "), "system variant storage 64KiB 1MiB");
    assert!(line("sqlite", "export: ").starts_with("sqlite 3 plain default 200 ms ("), "{text}");
    // Instead of the larger size it uses the largest that it accepts.
    assert!(line("mongodb", "export: ").contains("400 ms * ("), "{text}");
    assert!(line("sqlite", "filter: ").contains("index plain 100 µs"), "{text}");
    assert!(line("mongodb", "copy: ").ends_with("not applicable"), "{text}");
    assert!(text.contains("not applicable: mongodb plain: no setter"), "{text}");
    assert!(line("sqlite", "disk: ").ends_with("5.00 MB 9.00 MB 4.00 MB 50.0 % – –"), "{text}");
    assert_eq!(line("filter", "use of indexes: "), "filter ->> used (64KiB), usable (1MiB) –");
    assert_eq!(
        line("contains", "use of indexes: "),
        "contains @> – in vain (identical), used (distinct)",
        "what differs between data sets says which"
    );
}

#[test]
fn a_plan_that_does_something_else_is_seen() {
    let same = compare(&made(3.0), &made(3.0), false).unwrap();
    assert!(same.cells.iter().all(|cell| cell.step.word() != "use"), "the same words need no line");
    let other = compare(&made(3.0), &made(1.0), false).unwrap();
    let uses: Vec<_> = other.cells.iter().filter(|cell| cell.step.word() == "use").collect();
    let [one] = uses.as_slice() else { panic!("{uses:?}") };
    assert_eq!((one.a.value, one.b.value, one.ratio), (Some(3.0), Some(1.0), None));
    assert!(matches!(one.outcome, Outcome::NotCompared) && one.note.as_deref().unwrap().contains("index"));
}

#[test]
fn who_changes_places_is_told_with_the_size() {
    let (one, other) = (configuration("sqlite", "3"), configuration("mongodb", "6"));
    let mut records: Vec<JournalRecord> = Vec::new();
    for (round, factor) in [(1, 1.0), (2, 1.02), (3, 0.99)] {
        for (n, size, slower) in [(12, "64KiB", 4.0), (16, "1MiB", 0.25)] {
            let exported = |one: &Configuration, seconds: f64| {
                record(trial(of(one, "export", Phase::Hot, n, size, &[]), round, Some(seconds)))
            };
            records.extend([exported(&one, 0.1 * factor), exported(&other, 0.1 * slower)]);
        }
    }
    let made = run("a-run", vec![one, other], records);
    let text = tables(&made, PLAIN);
    let line = text.lines().find(|line| line.trim_start().starts_with("export  identical"));
    let words = line.unwrap_or_else(|| panic!("{text}")).split_whitespace().collect::<Vec<_>>().join(" ");
    // Halfway between 64 KiB and 1 MiB on a logarithmic scale.
    assert!(words.starts_with("export identical sqlite plain default mongodb plain default 25"), "{words}");
    assert!(words.contains(" KiB ") && words.contains('…'), "{words}");
}
