//! Tests of size comparisons between two synthetic runs.

use crate::support;

use jsonathlon_results::compare::{
    Outcome, ReasonKind, RunComparison, SidePair, SizeChange, compare, compare_sides,
};
use jsonathlon_results::summary::Run;
use jsonathlon_schema::record::{Phase, RecordBody};

use support::{cell, configuration, edit, gate, kinds, one, run};

/// A run whose configurations all have these drained sizes, one per load.
fn sized(name: &str, systems: &[&str], sizes: &[f64]) -> Run {
    let configurations: Vec<_> = systems.iter().map(|system| configuration(system, "1")).collect();
    let mut run = run(name, &configurations);
    run.records.retain(|record| !record.key.contains("/size/"));
    for of in &configurations {
        for (round, bytes) in (1..).zip(sizes) {
            let mut record = support::trial(cell(of, "size", Phase::Steady), round, None);
            if let RecordBody::Trial(trial) = &mut record.body {
                trial.metrics = [("total_bytes".to_owned(), *bytes)].into();
            }
            run.records.push(record);
        }
    }
    run.manifest.plan.trials = run.records.iter().map(|record| record.key.clone()).collect();
    run
}

fn compared(a: &[f64], b: &[f64]) -> RunComparison {
    compare(&sized("a", &["ma"], a), &sized("b", &["ma"], b), false).unwrap()
}

fn outcome(comparison: &RunComparison) -> Outcome {
    one(comparison, "size, drained").outcome
}

#[test]
fn sizes_that_do_not_vary_differ_as_counted() {
    let same = compared(&[5e6; 3], &[5e6; 3]);
    let size = one(&same, "size, drained");
    assert_eq!((size.outcome, size.metric.name), (Outcome::Sized(SizeChange::Same), "total_bytes"));
    assert_eq!((size.ratio, size.low, size.high), (Some(1.0), Some(1.0), Some(1.0)));
    assert_eq!((size.a.value, size.a.median_s, size.a.rounds), (Some(5e6), None, 3));
    // One page more is a difference, but not a regression if below the allowed share.
    let page = compared(&[5e6; 3], &[5_000_500.0; 3]);
    assert_eq!(outcome(&page), Outcome::Sized(SizeChange::Larger));
    assert_eq!((page.counts.larger, page.counts.slower, page.counts.none_shown), (1, 0, 3));
    assert!(gate(&page).passed && !page.clone().with_gate(0.0, false).gate.unwrap().passed);
    // Counted sizes are not tested, so the family of tested times does not grow.
    assert_eq!((gate(&page).tested, gate(&page).sizes_tested, gate(&page).sizes_counted), (1, 0, 1));
    assert_eq!((size.p_differs, size.p_slower), (None, None));
    let more = compared(&[5e6; 3], &[5.5e6; 3]);
    let strict = gate(&more);
    assert_eq!(kinds(&strict), [ReasonKind::Larger]);
    assert_eq!(
        strict.reasons[0].text,
        "ma 1 plain default: size, drained is 1.100 times as large (no variation between loads)"
    );
    assert!(more.with_gate(0.1, false).gate.unwrap().passed, "exactly as much as is allowed");
    let less = compared(&[5e6; 3], &[4e6; 3]);
    assert_eq!(outcome(&less), Outcome::Sized(SizeChange::Smaller));
    assert!(gate(&less).passed);
}

#[test]
fn a_size_that_was_counted_once_is_held_against_the_share() {
    for (a, b) in [(&[5e6][..], &[5.4e6][..]), (&[5e6], &[5.4e6, 5.4e6]), (&[5e6, 5.1e6], &[5.4e6])] {
        let comparison = compared(a, b);
        let size = one(&comparison, "size, drained");
        assert_eq!((size.outcome, size.low), (Outcome::Sized(SizeChange::Larger), None));
        let strict = gate(&comparison);
        assert_eq!(kinds(&strict), [ReasonKind::Larger]);
        assert!(strict.reasons[0].text.ends_with("(counted once)"), "{strict:?}");
        assert!(comparison.with_gate(0.1, false).gate.unwrap().passed);
    }
}

#[test]
fn sizes_that_vary_between_loads_are_tested_with_the_times() {
    let loads = [5.0e6, 5.1e6, 4.9e6, 5.05e6, 4.95e6];
    let alike = compared(&loads, &[5.1e6, 4.95e6, 5.0e6, 5.1e6, 4.9e6]);
    assert_eq!(outcome(&alike), Outcome::Sized(SizeChange::NotSignificant));
    assert_eq!((gate(&alike).tested, gate(&alike).sizes_tested, gate(&alike).sizes_counted), (2, 1, 0));
    assert!(alike.with_gate(0.0, false).gate.unwrap().passed);
    let grown = compared(&loads, &loads.map(|bytes| 1.2 * bytes));
    let size = one(&grown, "size, drained");
    assert_eq!(size.outcome, Outcome::Sized(SizeChange::Larger));
    assert!(size.low.unwrap() > 1.0 && size.p_slower.unwrap() < 0.01);
    // Differences between whole runs concern times only and do not widen this interval.
    assert!((size.high.unwrap() / size.low.unwrap()).ln() < 0.12, "{size:?}");
    let strict = gate(&grown);
    assert_eq!(kinds(&strict), [ReasonKind::Larger]);
    assert_eq!(strict.reasons[0].text, "ma 1 plain default: size, drained is 1.200 times as large");
    assert!(grown.with_gate(0.25, false).gate.unwrap().passed);
    // A difference is shown, but it is smaller than allowed.
    let calm = [5.0e6, 5.01e6, 4.99e6, 5.005e6, 4.995e6];
    let little = compared(&calm, &calm.map(|bytes| 1.04 * bytes));
    assert_eq!(outcome(&little), Outcome::Sized(SizeChange::Larger));
    assert!(gate(&little).passed);
    // The size varies on one side only.
    let one_side = compared(&[5e6; 5], &loads.map(|bytes| 1.2 * bytes));
    assert_eq!((outcome(&one_side), gate(&one_side).sizes_tested), (Outcome::Sized(SizeChange::Larger), 1));
}

#[test]
fn two_sides_of_one_run_have_sizes_too() {
    let mut made = sized("run", &["ma#1", "ma#2"], &[5e6; 3]);
    let between = |run: &Run| compare_sides(run, &SidePair::parse("ma#1,ma#2").unwrap()).unwrap();
    assert_eq!(outcome(&between(&made)), Outcome::Sized(SizeChange::Same));
    edit(
        &mut made,
        |trial| trial.cell.id.system == "ma#2" && trial.cell.phase == Phase::Steady,
        |trial| {
            trial.metrics.insert("total_bytes".to_owned(), 6e6);
        },
    );
    let comparison = between(&made);
    assert_eq!(outcome(&comparison), Outcome::Sized(SizeChange::Larger));
    assert_eq!(kinds(&gate(&comparison)), [ReasonKind::Larger]);
}

#[test]
fn sizes_that_are_counted_in_two_ways_are_not_compared() {
    let a = sized("a", &["ma"], &[5e6; 3]);
    let mut b = a.clone();
    let files = |trial: &mut jsonathlon_schema::record::Trial| {
        trial.metrics = [("files_bytes".to_owned(), 9e6)].into();
    };
    edit(&mut b, |trial| trial.cell.phase == Phase::Steady, files);
    let comparison = compare(&a, &b, false).unwrap();
    let size = one(&comparison, "size, drained");
    assert_eq!(size.outcome, Outcome::NotCompared);
    assert_eq!(size.note.as_deref(), Some("no size that both count in the same way"));
    assert_eq!(kinds(&gate(&comparison)), [ReasonKind::Missing]);
    // Sizes counted as files can be compared with each other.
    let both = compare(&b, &b, false).unwrap();
    let size = one(&both, "size, drained");
    assert_eq!((size.outcome, size.metric.name), (Outcome::Sized(SizeChange::Same), "files_bytes"));
}

#[test]
fn reference_rows_have_sizes_and_no_part_in_the_gate() {
    let systems = ["ma", "yardstick"];
    let (a, mut b) = (sized("a", &systems, &[5e6; 3]), sized("b", &systems, &[5e6; 3]));
    edit(
        &mut b,
        |trial| trial.cell.id.system == "yardstick" && trial.cell.phase == Phase::Steady,
        |trial| {
            trial.metrics.insert("total_bytes".to_owned(), 9e6);
        },
    );
    let comparison = compare(&a, &b, false).unwrap();
    assert_eq!((comparison.counts.larger, comparison.counts.sizes_alike), (0, 1));
    assert!(gate(&comparison).passed);
}
