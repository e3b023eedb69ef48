//! Tests of synthetic serving runs: summaries, rankings, comparisons and the gate.

use jsonathlon_results::compare::{
    CellComparison, Outcome, ReasonKind, RunComparison, SidePair, compare, compare_sides,
};
use jsonathlon_results::export::csv;
use jsonathlon_results::ratio_to_best::{ComparisonTarget, Significance};
use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_results::test_fixtures::serving::{ServingFixture, run_with_bad_cells};
use jsonathlon_schema::metric;
use jsonathlon_schema::record::{Phase, RecordBody, Trial, Verdict};
use jsonathlon_stats::histogram::Histogram;

fn entry<'a>(summary: &'a Summary, system: &str, name: &str) -> &'a CellSummary {
    let mut found =
        summary.results.iter().filter(|entry| entry.cell.id.system == system && entry.cell.name() == name);
    let one = found.next().unwrap();
    assert!(found.next().is_none());
    one
}

fn trials<'a>(run: &'a Run, entry: &CellSummary) -> Vec<&'a Trial> {
    let key = entry.cell.key();
    run.trials().filter(|trial| trial.cell.key() == key).collect()
}

fn edit(run: &mut Run, change: impl Fn(&mut Trial)) {
    for record in &mut run.records {
        if let RecordBody::Trial(trial) = &mut record.body {
            change(trial);
        }
    }
}

#[test]
fn a_cell_is_about_its_throughput() {
    let run = ServingFixture::default().run("r");
    let summary = run.summary();
    let one = entry(&summary, "postgresql", "a, 8 clients, synced");
    assert_eq!((one.trials, one.median_s, one.verdict), (4, None, Verdict::Exact));
    assert_eq!(*one.headline(), metric::THROUGHPUT_OPS_PER_S);
    let [low, high] = one.limits(one.headline()).unwrap();
    let value = one.value(one.headline()).unwrap();
    assert!(low < value && value < high);
    assert_eq!(one.metric(&metric::CLIENTS), Some(8.0));
    // Counts are summed over all rounds.
    let operations = trials(&run, one).iter().map(|trial| trial.metrics["operations"]).sum::<f64>();
    assert_eq!(one.metric(&metric::OPERATIONS), Some(operations));
    let load = entry(&summary, "postgresql", "load, synced");
    assert_eq!((*load.headline(), load.trials), (metric::SECONDS, 3));
    assert_eq!(*entry(&summary, "postgresql", "size, drained, synced").headline(), metric::TOTAL_BYTES);
    assert!(entry(&summary, "sqlite", "a, update, 32 clients, synced").cell.is_single_operation());
}

#[test]
fn percentiles_are_of_the_merged_histograms() {
    let run = ServingFixture::default().run("r");
    let summary = run.summary();
    let one = entry(&summary, "mongodb", "c, 1 client, synced");
    let mut all = Histogram::new();
    for trial in trials(&run, one) {
        all.merge(&Histogram::from_text(&trial.histograms["service"]).unwrap());
    }
    assert_eq!(all.count(), 9_600);
    assert_eq!(one.metric(&metric::SERVICE_P99_US), Some(all.quantile_us(0.99)));
    let [low, high] = one.limits(&metric::SERVICE_P99_US).unwrap();
    let value = one.value(&metric::SERVICE_P99_US).unwrap();
    assert!(low < value && value < high && high / low < 2.0);
    // 2,400 samples per round: 24 beyond p99 and 2.4 beyond p99.9.
    assert!(one.metric(&metric::SERVICE_P999_US).is_some());
    assert_eq!(one.limits(&metric::SERVICE_P999_US), None);
    // With fewer than 1,000 samples in a single round, p99 has no interval either.
    let few = ServingFixture { samples: 999, ..ServingFixture::default() }.run("r");
    let few = few.summary();
    let one = entry(&few, "mongodb", "c, 1 client, synced");
    assert!(one.metric(&metric::SERVICE_P99_US).is_some() && one.limits(&metric::SERVICE_P99_US).is_none());
    assert!(one.limits(&metric::SERVICE_P90_US).is_some());
}

#[test]
fn what_is_not_right_never_looks_fast() {
    let summary = run_with_bad_cells("r").summary();
    for (system, name, verdict) in [
        ("mongodb", "a, 8 clients, synced", Verdict::Wrong),
        ("mongodb", "a, read, 8 clients, synced", Verdict::Wrong),
        ("sqlite", "a, 8 clients, synced", Verdict::Failed),
    ] {
        let one = entry(&summary, system, name);
        assert_eq!(one.verdict, verdict, "{name}");
        assert_eq!(one.value(one.headline()), None, "{name}");
        assert_eq!(*one.headline(), metric::THROUGHPUT_OPS_PER_S);
        assert!(one.metrics.keys().all(|name| !name.starts_with("service_")) && one.intervals.is_empty());
    }
    // An unverified cell has a value, but no other cell is compared with it.
    let unverified = entry(&summary, "mongodb", "c, 8 clients, synced");
    assert!(unverified.value(unverified.headline()).is_some());
    let others = |name: &'static str| {
        summary
            .comparisons
            .iter()
            .filter(move |one| one.other.system == name && one.compared_with == ComparisonTarget::Best)
    };
    assert!(others("mongodb").all(|one| one.cell.step.word() == "load"));
    assert_eq!(others("duckdb").count(), 0, "it is not ranked");
    assert_eq!(summary.failures.len(), 6);
}

#[test]
fn the_best_has_the_highest_throughput_of_its_tier_and_number_of_clients() {
    let mut run = ServingFixture::default().run("r");
    let best = |run: &Run, name: &str| {
        let summary = run.summary();
        let of = |one: &&jsonathlon_results::ratio_to_best::CellRatio| one.cell.name() == name;
        summary.comparisons.iter().filter(of).cloned().collect::<Vec<_>>()
    };
    let found = best(&run, "c, 1 client, synced");
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|one| one.other.system == "sqlite" && one.metric == "throughput_ops_per_s"));
    let slow = found.iter().find(|one| one.cell.id.system == "mongodb").unwrap();
    assert!(slow.ratio < 0.5 && slow.difference == Significance::Slower, "{slow:?}");
    // Another tier is another ranking.
    edit(&mut run, |trial| {
        if trial.cell.id.system == "sqlite" {
            trial.cell.parameters.insert("durability".into(), "process".into());
        }
    });
    assert!(best(&run, "c, 1 client, synced").iter().all(|one| one.other.system == "postgresql"));
    assert_eq!(best(&run, "c, 1 client, process").len(), 1);
    // A configuration that loaded fewer documents never counts as faster.
    edit(&mut run, |trial| {
        if trial.cell.id.system == "postgresql" && trial.cell.phase == Phase::Load {
            trial.verdict = Verdict::Partial;
        }
    });
    assert!(best(&run, "c, 1 client, synced").iter().all(|one| one.other.system == "mongodb"));
    let partial = run.summary();
    assert_eq!(entry(&partial, "postgresql", "c, 1 client, synced").verdict, Verdict::Partial);
}

#[test]
fn by_a_schedule_a_cell_is_about_its_response_time() {
    let run = ServingFixture { rates: vec![0.5, 0.95], ..ServingFixture::default() }.run("r");
    let summary = run.summary();
    let open = summary.results.iter().filter(|entry| entry.cell.is_open_loop()).collect::<Vec<_>>();
    assert_eq!(open.len(), 8);
    for one in open {
        assert_eq!(*one.headline(), metric::RESPONSE_P99_US);
        assert!(one.metric(&metric::RESPONSE_P99_US) > one.metric(&metric::SERVICE_P99_US));
    }
    // The service time of a closed loop is not ranked.
    assert!(summary.comparisons.iter().all(|one| one.metric != "service_p99_us"));
}

fn measured<'a>(comparison: &'a RunComparison, system: &str, name: &str) -> &'a CellComparison {
    comparison.cells.iter().find(|cell| cell.id.system == system && cell.name() == name).unwrap()
}

#[test]
fn throughput_and_p99_are_compared_and_gated() {
    let a = ServingFixture::default().run("a");
    let same = compare(&a, &ServingFixture { seed: 2, ..ServingFixture::default() }.run("b"), false).unwrap();
    let gate = same.clone().with_gate(0.05, false).gate.unwrap();
    assert!(gate.passed, "{:?}", gate.reasons);
    // Four systems: two mixes with three numbers of clients and two metrics each, and one load.
    assert_eq!((gate.measured_tested, gate.tested), (48, 52));
    let one = measured(&same, "postgresql", "a, 8 clients, synced: throughput");
    assert_eq!((one.parameters["clients"].as_u64(), one.metric.name), (Some(8), "throughput_ops_per_s"));
    // The p99 of single operations is shown; their throughput is that of the mix.
    measured(&same, "postgresql", "a, read, 8 clients, synced: service time, p99");
    assert!(same.cells.iter().all(|cell| cell.name() != "a, read, 8 clients, synced: throughput"));
    let factors = [("mongodb", 0.75)].into();
    let b = ServingFixture { seed: 2, factors, ..ServingFixture::default() }.run("b");
    let slower = compare(&a, &b, false).unwrap();
    let cell = measured(&slower, "mongodb", "c, 32 clients, synced: throughput");
    assert_eq!(cell.outcome, Outcome::Timed(Significance::Slower));
    let gate = slower.with_gate(0.05, false).gate.unwrap();
    assert!(!gate.passed && gate.reasons.iter().all(|reason| reason.kind == ReasonKind::Slower));
    assert!(gate.reasons.iter().all(|reason| reason.text.starts_with("mongodb 1 key default: ")));
    let text = &gate
        .reasons
        .iter()
        .find(|reason| reason.text.contains("c, 32 clients, synced: throughput"))
        .unwrap()
        .text;
    assert!(text.contains("is 0.7"), "{text}");
    // In the opposite direction it passes.
    assert!(compare(&b, &a, false).unwrap().with_gate(0.05, false).gate.unwrap().passed);
}

#[test]
fn a_machine_that_was_slower_is_divided_out_of_throughput_too() {
    let with_control = |mut run: Run, factor: f64| {
        for round in 1..=4 {
            let mut trial = jsonathlon_results::test_fixtures::trial(
                jsonathlon_schema::record::Cell {
                    id: jsonathlon_schema::id::ConfigurationId::new("control", "1", "kernels", ""),
                    step: "control".into(),
                    phase: Phase::Steady,
                    state: None,
                    profile: None,
                    workload: "serving".into(),
                    parameters: Default::default(),
                },
                round,
                None,
            );
            let seconds = factor * (1.0 + 0.001 * f64::from(round));
            for name in ["control_memory_s", "control_compute_s"] {
                trial.metrics.insert(name.to_owned(), seconds);
            }
            run.records.push(jsonathlon_results::test_fixtures::record(trial));
        }
        run
    };
    let a = with_control(ServingFixture::default().run("a"), 1.0);
    let factors = ["postgresql", "mongodb", "sqlite", "duckdb"].map(|name| (name, 0.5)).into();
    let b = with_control(ServingFixture { factors, ..ServingFixture::default() }.run("b"), 2.0);
    let comparison = compare(&a, &b, false).unwrap();
    for name in ["a, 8 clients, synced: throughput", "a, 8 clients, synced: service time, p99"] {
        let cell = measured(&comparison, "sqlite", name);
        assert_eq!(cell.raw_outcome, Some(Significance::Slower), "{name}");
        assert!((cell.tested_ratio().unwrap() - 1.0).abs() < 0.02, "{name}: {cell:?}");
    }
    assert!(
        comparison
            .with_gate(0.05, false)
            .gate
            .unwrap()
            .reasons
            .iter()
            .all(|reason| reason.text.contains("load"))
    );
}

#[test]
fn what_is_wrong_now_fails_once() {
    let a = ServingFixture { rounds: 2, clients: vec![8], ..ServingFixture::default() }.run("a");
    let comparison = compare(&a, &run_with_bad_cells("b"), false).unwrap();
    let failing = || comparison.cells.iter().filter(|cell| cell.outcome == Outcome::NowFails);
    // The mix and its two operations on two systems, and the unverified mix.
    assert_eq!(failing().count(), 7);
    assert!(failing().all(|cell| cell.b.value.is_none() || cell.b.verdict == Verdict::Unverified));
}

#[test]
fn two_configurations_of_one_run_are_paired_by_round() {
    let run = ServingFixture { factors: [("mongodb", 1.2)].into(), ..ServingFixture::default() }.run("r");
    let comparison = compare_sides(&run, &SidePair::parse("postgresql,mongodb").unwrap()).unwrap();
    let cell = measured(&comparison, "mongodb", "c, 32 clients, synced: throughput");
    assert!(cell.low.is_some() && cell.divided_by_control.is_none());
    assert!(comparison.cells.iter().all(|cell| cell.outcome != Outcome::NotCompared));
}

#[test]
fn exports_hold_every_parameter() {
    let run = ServingFixture { rates: vec![0.5], ..ServingFixture::default() }.run("r");
    let summary = run.summary();
    let table = csv(&summary);
    let header = table.lines().next().unwrap();
    for name in [
        "arrival",
        "clients",
        "documents",
        "durability",
        "operation",
        "rate_per_s",
        "values",
        "service_p99_us",
    ] {
        assert!(header.split(',').any(|column| column == name), "{name}");
    }
    let json = serde_json::to_string(&summary).unwrap();
    assert_eq!(serde_json::from_str::<Summary>(&json).unwrap(), summary);
}

/// Thirty pairs of equal runs, and of runs whose second one has 25 % less throughput in one system.
#[test]
fn equal_runs_pass_and_a_quarter_less_throughput_fails() {
    let small =
        ServingFixture { clients: vec![1, 8], mixes: vec!["c"], samples: 1_100, ..ServingFixture::default() };
    let run = |seed: u64, factor: f64| {
        ServingFixture { seed, factors: [("mongodb", factor)].into(), ..small.clone() }.run("r")
    };
    let (mut alarms, mut found) = (0, 0);
    for pair in 0..30 {
        let reasons =
            |a: &Run, b: &Run| compare(a, b, false).unwrap().with_gate(0.05, false).gate.unwrap().reasons;
        let a = run(2 * pair + 10, 1.0);
        alarms += usize::from(!reasons(&a, &run(2 * pair + 11, 1.0)).is_empty());
        let planted = reasons(&a, &run(2 * pair + 11, 0.75));
        found +=
            usize::from(planted.iter().any(|reason| {
                reason.text.starts_with("mongodb") && reason.text.contains(": throughput is 0.")
            }));
    }
    println!("{alarms} of 30 equal pairs fail, {found} of 30 planted ones are found");
    assert!(alarms <= 4, "{alarms}");
    assert!(found >= 27, "{found}");
}

#[test]
fn peaks_are_the_highest_over_clients_beside_the_highest_of_all() {
    let summary = ServingFixture::default().run("r").summary();
    let of = |mix: &str| {
        let peaks = summary.peak_throughputs.iter();
        peaks.filter(|peak| peak.comparison.cell.step.word() == mix).collect::<Vec<_>>()
    };
    let found = of("c");
    assert_eq!(found.len(), 3, "duckdb is not ranked");
    let best = found.iter().find(|peak| peak.comparison.cell.id.system == "postgresql").unwrap();
    assert_eq!((best.comparison.ratio, best.other_clients), (1.0, Some(32)));
    let next = found.iter().find(|peak| peak.comparison.cell.id.system == "mongodb").unwrap();
    assert_eq!(next.comparison.other.system, "postgresql");
    assert!(next.comparison.difference == Significance::Slower && next.comparison.high.unwrap() < 1.0);
    assert_eq!(next.comparison.cell.parameters["clients"].as_u64(), Some(32));
}
