//! Tests of rounds of loads and questions, budgets, precision, the control, classes and profiles, on the
//! whole program.

use std::collections::BTreeSet;

use jsonathlon_results::ratio_to_best::ComparisonTarget;
use jsonathlon_results::summary::Summary;
use jsonathlon_schema::id::{DataState, Step};
use jsonathlon_schema::ranking::MemoryProfile;
use jsonathlon_schema::record::Phase;
use rustix::process::Signal;
use serde_json::json;

use crate::support::{Look, World, eventually, mock};

fn world() -> World {
    World::with(&[mock("ma", json!({})), mock("mb", json!({}))])
}

#[test]
fn a_short_load_is_repeated_and_a_control_is_timed_in_every_round() {
    let world = world();
    // The defaults of a run: three loads if one takes less than a minute.
    let folder = world.text("systems");
    let out = world.text("out");
    let arguments = [
        "run",
        "--systems-dir",
        &folder,
        "-s",
        "ma,mb",
        "--json",
        "--no-yardstick",
        "-n",
        "300",
        "-r",
        "5",
        "-o",
        &out,
    ];
    let summary = world.run(&arguments).expect(0).summary();
    for system in ["ma", "mb"] {
        summary.is_right(system);
        let load = summary.entry(system, "load");
        assert_eq!(load.trials, 3);
        assert!(load.low_s.is_some() && load.high_s.is_some(), "a load has an interval: {load:?}");
        assert_eq!(summary.hot(system, "q1").trials % 5, 0, "five rounds");
    }
    let kept = world.kept("out");
    kept.is_complete();
    let loads: BTreeSet<(String, u32)> = kept
        .trials()
        .into_iter()
        .filter(|trial| trial.cell.step == Step::Size && trial.cell.state == Some(DataState::Drained))
        .map(|trial| (trial.cell.id.system, trial.round))
        .collect();
    assert_eq!(loads.len(), 6, "a size after every load: {loads:?}");
    // The control runs before each system's turn, in every round.
    let control: BTreeSet<(u32, u32)> =
        kept.control().iter().map(|trial| (trial.round, trial.order)).collect();
    assert_eq!(control.len(), 10, "{control:?}");
    for trial in kept.control() {
        assert!(trial.metrics["control_memory_s"] > 0.0 && trial.metrics["control_compute_s"] > 0.0);
        assert_eq!(trial.seconds, None);
    }
}

#[test]
fn loads_that_were_asked_for_are_planned_and_resumed() {
    let world = World::with(&[mock("ma", json!({"delay_ms": {"load": 200, "q1": 10}}))]);
    let running = world.start_measuring("out", "ma", &["-n", "300", "-r", "4", "--load-rounds", "4"]);
    let kept = world.kept("out");
    let loads = || kept.trials().into_iter().filter(|trial| trial.cell.step.word() == "load").count();
    eventually("there are two loads", || loads() >= 2);
    running.signal(Signal::INT);
    running.end(crate::support::LIMIT).expect(4);
    let summary = world.resume("out").expect(0).summary();
    assert!(summary.complete);
    kept.is_complete();
    assert_eq!(loads(), 4, "what was loaded again to go on is no trial");
    assert_eq!(summary.entry("ma", "load").trials, 4);
    summary.is_right("ma");
}

#[test]
fn a_budget_that_holds_no_five_rounds_is_refused_and_says_what_is_needed() {
    let world = World::with(&[mock("ma", json!({"delay_ms": {"load": 300}}))]);
    let ended = world.measure("ma", &["-n", "300", "--budget", "500ms"]).expect(2);
    let ended = ended.says(&[
        "5 rounds do not fit into a budget of",
        "--budget",
        "--rounds",
        "jsonathlon run --resume",
    ]);
    let kept = world.kept("out");
    let rounds = || kept.trials().iter().map(|trial| trial.round).max();
    assert_eq!(rounds(), Some(1));
    // Finished trials are still shown.
    assert!(
        ended.stdout.contains("\"complete\": false") && kept.path("report.html").exists(),
        "{}",
        ended.stdout
    );
    assert!(kept.work().is_empty());
    // A resumed run executes the planned rounds, and the time already spent is counted.
    let ended = world.resume("out").expect(0).says(&["of which", "are spent"]);
    assert!(!ended.stderr.contains("200 rounds"), "{}", ended.stderr);
    assert_eq!(rounds(), Some(5));
    kept.is_complete();
}

#[test]
fn a_budget_that_holds_the_rounds_is_told_and_kept() {
    let world = World::with(&[mock("ma", json!({}))]);
    // One system only, so that a round takes far less than a fifth of the budget even next to other tests.
    let ended = world.measure("ma", &["-n", "300", "--budget", "30s", "--timeout", "60s"]).expect(0);
    let ended = ended.says(&["rounds are planned for the budget of 30 s"]);
    let summary = ended.summary();
    let rounds = world.kept("out").trials().iter().map(|trial| trial.round).max().unwrap();
    assert!(rounds >= 5, "only {rounds} rounds of about half a second in 30 s");
    summary.is_right("ma");
}

#[test]
fn precision_ends_with_every_cell_within_it_or_named() {
    let world = world();
    let arguments = ["-n", "300", "--precision", "90%", "--budget", "30s"];
    let summary = world.measure("ma,mb", &arguments).expect(0).summary();
    let precision = summary.precision.as_ref().unwrap();
    assert!(precision.rounds >= 5 && precision.alpha < 0.05);
    let ranked = |entry: &&jsonathlon_results::summary::CellSummary| {
        matches!(entry.cell.phase, Phase::Load | Phase::Cold | Phase::Hot)
    };
    for entry in summary.results.iter().filter(ranked) {
        let within = entry.high_s.is_some_and(|high| high <= 1.9 * entry.median_s.unwrap());
        let named = precision.not_reached.iter().any(|one| {
            (&one.id.system, &one.step, one.phase)
                == (&entry.cell.id.system, &entry.cell.step, entry.cell.phase)
        });
        assert_ne!(within, named, "{entry:?}");
    }
    let tables = world.run(&["export", "--tables", "full", &world.text("out")]).expect(0).stdout;
    assert!(tables.contains("precision: ") && tables.contains("± 90"), "{tables}");
}

#[test]
fn profiles_of_one_system_are_ranked_apart_and_resumed_as_they_were() {
    let world = World::new();
    let out = world.text("out");
    let arguments =
        ["run", "-s", "sqlite", "--profile", "both", "--memory", "256MB", "-n", "500", "-r", "2", "-o"];
    let summary: Summary =
        world.run(&[&arguments[..], &[&out, "--json", "--load-rounds", "1"]].concat()).expect(0).summary();
    let rankings: BTreeSet<String> = world
        .kept("out")
        .manifest()
        .configurations
        .iter()
        .filter(|one| !one.reference)
        .map(|one| one.ranking())
        .collect();
    let expected = ["as-is", "as-is, stock", "prepared", "prepared, stock"].map(str::to_owned);
    assert_eq!(rankings, BTreeSet::from(expected));
    // Every configuration is alone in its ranking and therefore the best.
    let best = summary.comparisons.iter().filter(|one| one.compared_with == ComparisonTarget::Best);
    for one in best {
        assert_eq!(one.ratio, 1.0, "{one:?}");
        assert_eq!(one.cell.profile, one.other_profile);
    }
    let sized = summary
        .results
        .iter()
        .find(|entry| entry.cell.step.word() == "q1" && entry.cell.profile == Some(MemoryProfile::Sized));
    assert_eq!(sized.unwrap().cell.parameters["memory"], 256_000_000);
    // Nothing is left to do, and the plan has not changed.
    world.run(&["run", "--resume", &out]).expect(0);
    let tables = world.run(&["export", "--tables", "full", &out]).expect(0).stdout;
    assert!(tables.contains("as-is, stock") && tables.contains("ranked apart"), "{tables}");
}

#[test]
fn a_load_that_fails_fails_those_planned_after_it_and_the_run_is_complete() {
    let fault = json!({"statement": "load", "execution": 1, "action": "crash"});
    let world = World::with(&[mock("ma", json!({"faults": [fault]})), mock("mb", json!({}))]);
    let summary = world.measure("ma,mb", &["-n", "300", "-r", "3", "--load-rounds", "3"]).expect(1).summary();
    assert!(summary.complete);
    world.kept("out").is_complete();
    let loads: Vec<u32> = summary
        .failures_of("ma")
        .iter()
        .filter(|one| one.cell.step == Step::Load)
        .map(|one| one.round)
        .collect();
    assert_eq!(loads, [1, 2, 3]);
    assert_eq!(summary.entry("ma", "load").median_s, None);
    summary.is_right("mb");
}
