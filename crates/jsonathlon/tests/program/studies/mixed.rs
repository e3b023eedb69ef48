//! Tests of studies whose runs are of the mixed workload.

use serde_json::json;

use super::begun::study;
use crate::support::systems::System;
use crate::support::{World, mock};

/// A study of the frontier with a pool that lasts at every rate, and a peak that is measured for more than a second.
const FRONTIER: &str = r#"
workload = "mixed"
question = "How many questions beside how many documents?"
minutes = 0.1
systems = ["ma"]

[still]
scale = 400
growth = "100%"
batch = 10
rate = "50%,max"
measure = "5s"
rounds = 1

[chart]
kind = "frontier"

[[verdict]]
kind = "frontier"
says = "{system} keeps {share} of {documents} documents/s and {questions} questions/h{below}"
"#;

/// A system whose inserts take a time that decides the peak, with further faults.
fn slow(name: &str, more: &[serde_json::Value]) -> System {
    let mut faults = vec![json!({ "statement": "mix_insert", "action": "delay", "ms": 40 })];
    faults.extend_from_slice(more);
    mock(name, json!({ "faults": faults })).mixed()
}

#[test]
fn a_frontier_ends_in_its_share_with_both_peaks() {
    let world = World::with(&[slow("ma", &[])]);
    let file = world.file("mine.toml", FRONTIER);
    let out = world.text("out");
    let ended = study(&world, &[&file, "-o", &out]).expect(0);
    for words in [
        "study mine: How many questions beside how many documents?",
        "frontier of questions against documents",
        "share of the frontier",
        "The system ma keeps 0.",
    ] {
        assert!(ended.unbroken().contains(words), "`{words}` is not in:\n{}", ended.stdout);
    }
    world.kept("out").is_complete();
    let page = std::fs::read_to_string(world.path("out/study.html")).unwrap();
    for words in ["frontier of The system ma", "share 0.", "of both peaks alone", "50 %", "<polyline"] {
        assert!(page.contains(words), "`{words}` is not in:\n{page}");
    }
    // Printed again from the saved results, exactly equal; nothing is measured.
    assert_eq!(study(&world, &["--resume", &out]).expect(0).stdout, ended.stdout);
    world.nothing_left();
}

/// A second variant, so that a system has one more than a plain run of the workload measures.
const TWO_VARIANTS: &str = r#"snapshot = true
visible = "commit"

[variants.second]
title = "once more"
preparation = "prepared"
default = true
"#;

/// Options of a study on still data that names no variants.
const STILL: &str = r#"
workload = "mixed"
question = "How many questions?"
minutes = 0.1
systems = ["ma"]

[still]
scale = 200
rate = 0
streams = 1
measure = "500ms"
rounds = 1

[chart]
mix = "all"

[[verdict]]
kind = "value"
mix = "all"
says = "{system} answers {value}"
"#;

#[test]
fn a_study_without_variants_measures_those_of_a_plain_run_and_goes_on_with_them() {
    let world = World::with(&[mock("ma", json!({})).mixed_with(TWO_VARIANTS)]);
    let file = world.file("mine.toml", STILL);
    let variants_of = |out: &str| {
        let manifest = std::fs::read_to_string(world.path(out).join("manifest.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
        let configurations = manifest["configurations"].as_array().unwrap().clone();
        configurations.iter().map(|one| one["variant"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    study(&world, &[&file, "-o", &world.text("out")]).expect(0);
    assert_eq!(variants_of("out").len(), 1, "one variant of each system");
    let choice = std::fs::read_to_string(world.path("out/study.json")).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&choice).unwrap()["variants"], "main");
    // A study that was begun when a plain run measured all default variants, and that has not come to its run.
    std::fs::create_dir(world.path("old")).unwrap();
    std::fs::copy(world.path("out/study.toml"), world.path("old/study.toml")).unwrap();
    let begun = choice.replace("\"main\"", "\"default\"");
    assert_ne!(begun, choice);
    std::fs::write(world.path("old/study.json"), begun).unwrap();
    study(&world, &["--resume", &world.text("old")]).expect(0);
    assert_eq!(variants_of("old").len(), 2);
}

/// A system without a frontier is said beside those that have one.
#[test]
fn wrong_answers_leave_a_system_without_a_share() {
    let bad = slow("mb", &[json!({ "statement": "mix_ask", "action": "one_short" })]);
    let world = World::with(&[slow("ma", &[]), bad]);
    let file = world.file("mine.toml", FRONTIER);
    let ended = study(&world, &[&file, "-o", &world.text("out"), "-s", "ma,mb"]).expect(1);
    for words in ["failed: mb", "mb: no share: ", "The system ma keeps 0."] {
        assert!(ended.unbroken().contains(words), "`{words}` is not in:\n{}", ended.stdout);
    }
    assert!(!ended.unbroken().contains("The system mb keeps"), "{}", ended.stdout);
}

#[test]
fn options_are_those_of_the_workload() {
    let world = World::with(&[slow("ma", &[])]);
    let refused = |from: &str, to: &str, words: &[&str]| {
        assert!(FRONTIER.contains(from), "{from}");
        let file = world.file("mine.toml", FRONTIER.replacen(from, to, 1));
        study(&world, &[&file, "-o", &world.text("out")]).expect(2).says(words);
        assert!(!world.path("out").exists(), "nothing was begun");
    };
    refused("scale = 400", "scale = \"many\"", &["mine.toml:8", "many"]);
    refused("rate = \"50%,max\"", "rate = \"50%,200%\"", &["mine.toml:11", "1% to 100%"]);
    refused("batch = 10", "clients = 10", &["mine.toml:10", "`clients`", "streams"]);
    let file = world.file("mine.toml", FRONTIER);
    study(&world, &[&file, "--set", "mixes=a"]).expect(2).says(&["unknown option `mixes`", "growth"]);
    let serving = World::with(&[mock("ms", json!({})).serving()]);
    let file = serving.file("mine.toml", FRONTIER);
    study(&serving, &[&file, "-s", "ms"]).expect(2).says(&["ms", "mixed"]);
}

/// A study of questions on one CPU and on two, against another system as its reference.
const CORES: &str = r#"
workload = "mixed"
question = "How many CPUs?"
minutes = 0.1
systems = ["ma"]

[still]
scale = 400
rate = 0
streams = 1
measure = "500ms"
rounds = 3

[[vary]]
option = "server-cpus"
values = ["0", "0,1"]

[reference]
system = "mb"
variant = "plain"

[chart]
mix = "all"

[[verdict]]
mix = "all"
of = { server-cpus = "last" }
than = { server-cpus = "first" }
says = "on two CPUs {system} answers {change} questions"

[[verdict]]
kind = "cost"
along = "server-cpus"
says = "{system} beats {reference} from {cores} on with {value}, {factor} times"
none = "{system} has no cost: on {cores} {value}, and {reference}, {factor} times"
open = "{system} may have none: on {cores} {value}, {factor} times {reference}"
"#;

#[test]
fn a_system_on_fewer_cpus_is_compared_with_the_reference() {
    // The answers of the reference take so long that a single CPU beats it.
    let delay = json!({ "delay_ms": { "q1": 400 } });
    let world = World::with(&[mock("ma", json!({})).mixed(), mock("mb", delay)]);
    let file = world.file("mine.toml", CORES);
    let out = world.text("out");
    let ended = study(&world, &[&file, "-o", &out]).expect(0);
    for words in [
        "On two CPUs The system ma answers",
        "The system ma beats",
        "from 1 on with",
        "run 3 of 3: reference",
    ] {
        let said = format!("{} {}", ended.unbroken(), ended.stderr);
        assert!(said.contains(words), "`{words}` is not in:\n{said}");
    }
    for run in ["server-cpus-0", "server-cpus-0-1", "reference"] {
        world.kept(&format!("out/{run}")).is_complete();
    }
    let manifest = std::fs::read_to_string(world.path("out/server-cpus-0-1/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let settings = &manifest["settings"]["mixed"];
    assert_eq!(settings["server_cpus"], json!([0, 1]), "{manifest}");
    assert_eq!(study(&world, &["--resume", &out]).expect(0).stdout, ended.stdout);
    world.nothing_left();
}

#[test]
fn a_cpu_that_is_not_there_is_said() {
    let world = World::with(&[mock("ma", json!({})).mixed()]);
    let ended = world.mix("ma", &["--rate", "0", "--streams", "1", "--server-cpus", "1023"]);
    let summary = ended.expect(1).summary();
    let is_said = |words: &str| summary.failures.iter().any(|failure| failure.error.contains(words));
    assert!(is_said("failed to pin the system to the CPUs [1023]"), "{:?}", summary.failures);
}
