//! The frontier: both peaks alone, and questions beside writers at shares of the writers' peak.

use jsonathlon_results::cell_summary::CellSummary;
use jsonathlon_results::summary::Summary;
use jsonathlon_schema::record::{FailureKind, Phase, Verdict};
use serde_json::{Value, json};

use crate::mixed::{ASKED, entry};
use crate::support::killed::{killed_to_its_end, moments, resumed_amid_a_unit};
use crate::support::{World, mock};

/// Options of a run whose pool lasts at every rate, and whose writers alone are measured for more than a second.
const FRONTIER: [&str; 6] = ["--rate", "50%,max", "-n", "400", "--measure", "5s"];
/// Latest moment of a kill, in ms after the start.
const LATEST_MS: u64 = 6000;

/// Inserts take a time that decides the peak, unlike those of a mock that does nothing.
fn slow(mut more: Vec<Value>) -> Value {
    more.insert(0, json!({ "statement": "mix_insert", "action": "delay", "ms": 40 }));
    json!({ "faults": more })
}

/// The only entry of a system's step beside writers at this rate.
fn point<'s>(
    summary: &'s Summary,
    system: &str,
    (name, value): (&str, Value),
    step: &str,
) -> &'s CellSummary {
    let is_meant = |entry: &&CellSummary| {
        let cell = &entry.cell;
        cell.id.system == system
            && cell.phase == Phase::Both
            && cell.step.word() == step
            && cell.parameters.get(name) == Some(&value)
    };
    let found: Vec<&CellSummary> = summary.results.iter().filter(is_meant).collect();
    let [entry] = found.as_slice() else { panic!("{} of {system} {step} {value}", found.len()) };
    entry
}

/// Rates of the points, as cells name them.
fn rates() -> [(&'static str, Value); 2] {
    [("rate_share", json!(0.5)), ("rate", json!("max"))]
}

fn is_measured(summary: &Summary, system: &str) {
    for rate in rates() {
        for step in ASKED {
            let entry = point(summary, system, rate.clone(), step);
            assert_eq!(entry.verdict, Verdict::Exact, "{system} {step} {rate:?}");
            assert!(entry.metrics["questions_per_h"] > 0.0, "{system} {step} {rate:?}");
        }
        let writers = point(summary, system, rate.clone(), "ingest");
        assert!(writers.metrics["documents_per_s"] > 0.0, "{system} {rate:?}");
    }
    for step in ASKED {
        assert_eq!(entry(summary, system, Phase::Still, step).verdict, Verdict::Exact, "{system} {step}");
    }
    assert!(entry(summary, system, Phase::Alone, "ingest").metrics["documents_per_s"] > 0.0);
}

#[test]
fn points_lie_between_both_peaks() {
    let world = World::with(&[mock("ma", slow(Vec::new())).mixed(), mock("mb", slow(Vec::new())).mixed()]);
    let summary = world.mix("ma,mb", &[FRONTIER.as_slice(), &["-r", "2"]].concat()).expect(0).summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    for system in ["ma", "mb"] {
        is_measured(&summary, system);
        let [share, _] = rates();
        let half = point(&summary, system, share, "ingest");
        // The rate is a share of the system's own peak, so it is kept.
        assert!(half.metrics.contains_key("kept_share"), "{:?}", half.metrics);
        let peak = entry(&summary, system, Phase::Alone, "ingest").metrics["documents_per_s"];
        assert!(half.metrics["documents_per_s"] < peak, "{:?}", half.metrics);
        let still = &entry(&summary, system, Phase::Still, "all").cell.parameters;
        assert!(!still.contains_key("rate") && !still.contains_key("rate_share"), "{still:?}");
    }
    let tables = world.run(&["export", "--tables", "full", &world.text("out")]).expect(0).unbroken();
    for words in [
        "frontier of questions against documents",
        "50 %",
        "max, alone",
        "share of the frontier",
        "documents/s alone",
        "questions/h alone",
        "0.5 is what two loads give that merely share the cores",
    ] {
        assert!(tables.contains(words), "{words:?} is not in\n{tables}");
    }
    assert!(!tables.contains("no share:"), "{tables}");
    world.kept("out").is_complete();
    world.nothing_left();
}

#[test]
fn wrong_answers_leave_no_share() {
    let bad = mock("bad", slow(vec![json!({ "statement": "mix_ask", "action": "one_short" })])).mixed();
    let good = mock("good", slow(Vec::new())).mixed();
    let world = World::with(&[bad, good]);
    let summary = world.mix("bad,good", &FRONTIER).expect(1).summary();
    is_measured(&summary, "good");
    let mut failures = summary.failures.iter();
    assert!(failures.any(|failure| failure.kind == FailureKind::Wrong), "{:?}", summary.failures);
    let tables = world.run(&["export", "--tables", "full", &world.text("out")]).expect(0).unbroken();
    assert!(tables.contains("no share: the peak of the writers"), "{tables}");
}

#[test]
fn a_peak_that_cannot_be_measured_leaves_no_shares_of_it() {
    let fault = json!({ "statement": "mix_insert", "action": "refuse", "message": "as planted" });
    let world = World::with(&[mock("ma", json!({ "faults": [fault] })).mixed()]);
    let summary = world.mix("ma", &FRONTIER).expect(1).summary();
    let told = |words: &str| summary.failures.iter().any(|failure| failure.error.contains(words));
    assert!(told("as planted") && told("a share of a peak that is not known"), "{:?}", summary.failures);
    assert_eq!(entry(&summary, "ma", Phase::Still, "all").verdict, Verdict::Exact);
    world.kept("out").is_complete();
}

#[test]
fn a_peak_that_is_too_short_leaves_no_shares_of_it() {
    let world = World::with(&[mock("ma", slow(Vec::new())).mixed()]);
    let summary = world.mix("ma", &["--rate", "50%,max", "-n", "400"]).expect(1).summary();
    let told = |words: &str| summary.failures.iter().any(|failure| failure.error.contains(words));
    assert!(told("a peak that is not known: the peak of the writers is too short"), "{:?}", summary.failures);
    for step in ASKED {
        assert_eq!(point(&summary, "ma", ("rate", json!("max")), step).verdict, Verdict::Exact, "{step}");
    }
    let tables = world.run(&["export", "--tables", "full", &world.text("out")]).expect(0).unbroken();
    assert!(tables.contains("no share: the peak of the writers is too short"), "{tables}");
    assert!(tables.contains("exact, too short"), "{tables}");
}

#[test]
fn a_point_or_peak_of_which_only_some_results_were_recorded_is_repeated() {
    let has_phase = |line: &str, phase: Phase| line.contains(&format!("\"phase\":\"{}\"", phase.word()));
    let is_of_point = |line: &str| has_phase(line, Phase::Both) && line.contains("\"rate_share\":0.5");
    let is_of_peak = |line: &str| has_phase(line, Phase::Still);
    for is_of_unit in [&is_of_point as &dyn Fn(&str) -> bool, &is_of_peak] {
        let world = World::with(&[mock("ma", slow(Vec::new())).mixed()]);
        world.mix("ma", &FRONTIER).expect(0);
        is_measured(&resumed_amid_a_unit(&world, 2, is_of_unit), "ma");
    }
}

#[test]
fn a_run_that_is_killed_goes_on() {
    let world = World::with(&[mock("ma", slow(Vec::new())).mixed()]);
    let begin = || world.start_mixed("out", "ma", &FRONTIER);
    let summary = killed_to_its_end(&world, 4, moments(0x1b87_3593_cc9e_2d51, LATEST_MS), begin, || {});
    is_measured(&summary, "ma");
}
