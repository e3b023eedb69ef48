//! Documents that a system does not take.

use jsonathlon_results::record::Verdict;
use serde_json::{Value, json};

use crate::support::{Look, QUESTIONS, World, mock};

fn refusing(ordinals: &[u64]) -> Value {
    let refusals: Vec<Value> = ordinals
        .iter()
        .map(|ordinal| json!({"ordinal": ordinal, "reason": format!("no room for {ordinal}")}))
        .collect();
    json!({"refuse": refusals})
}

#[test]
fn documents_refused_by_row_are_listed_and_the_answers_are_over_the_rest() {
    let world = World::with(&[mock("picky", refusing(&[3, 1500])), mock("good", json!({}))]);
    let ended = world.measure("picky,good", &["-n", "2k", "-r", "1"]).expect(0);
    let summary = ended.summary();
    summary.is_right("picky");
    summary.is_right("good");
    let load = &summary.entry("picky", "load").metrics;
    assert_eq!(
        [load["documents_offered"], load["documents_loaded"], load["documents_rejected"]],
        [2000.0, 1998.0, 2.0]
    );
    let expected = [3, 1500].map(|ordinal| (ordinal, format!("no room for {ordinal}")));
    assert_eq!(world.kept("out").rejects("picky"), expected);
    assert!(world.kept("out").rejects("good").is_empty());
    assert!(ended.stderr.contains("picky 1.0 plain: 2 documents rejected"), "{}", ended.stderr);
    // The two systems hold different documents, so their right answers differ.
    let counted = |system: &str| {
        let trials = world.kept("out").trials();
        let trial =
            trials.into_iter().find(|trial| trial.cell.id.system == system && trial.cell.step.word() == "q1");
        trial.unwrap().answer_digest.unwrap()
    };
    assert_ne!(counted("picky"), counted("good"));
}

#[test]
fn below_999_of_a_thousand_a_system_is_not_compared() {
    let world = World::with(&[mock("picky", refusing(&[7])), mock("good", json!({}))]);
    let ended = world.measure("picky,good", &["-n", "300", "-r", "1"]);
    let summary = ended.expect(0).summary();
    summary.is_right("good");
    let load = summary.entry("picky", "load");
    assert_eq!(load.verdict, Verdict::Partial);
    assert_eq!(load.metrics["documents_loaded"], 299.0);
    for question in QUESTIONS {
        // Right over what it holds, and yet no answer to the question.
        assert_eq!(summary.hot("picky", question).verdict, Verdict::Partial);
    }
    let tables = world.run(&["export", &world.text("out")]).expect(0).stdout;
    for line in tables.lines().filter(|line| line.trim_start().starts_with("picky 1.0")) {
        assert!(!line.contains("exact"), "{line}");
    }
    assert_eq!(tables.matches("partial, not comparable").count(), 6, "{tables}");
    assert_eq!(tables.matches("partial").count(), 7, "{tables}");
    assert!(tables.contains("picky rejected 1: no room for 7"), "{tables}");
}

#[test]
fn malformed_lines_are_counted_and_listed_and_the_answers_stay_exact() {
    let world = World::new();
    let arguments = ["run", "--json", "-s", "sqlite", "-n", "8k", "--malformed", "8", "-r", "1"];
    let out = world.text("out");
    let ended = world.run(&[&arguments[..], &["-o", &out]].concat()).expect(0);
    let summary = ended.summary();
    let loads = summary.entries("sqlite", "load");
    assert!(!loads.is_empty());
    for load in loads {
        assert_eq!(load.verdict, Verdict::Exact);
        let metrics = &load.metrics;
        assert_eq!(
            [metrics["documents_offered"], metrics["documents_loaded"], metrics["documents_rejected"]],
            [8000.0, 7992.0, 8.0],
            "{}",
            load.cell.id.variant
        );
    }
    for question in QUESTIONS {
        for entry in summary.entries("sqlite", question) {
            assert_eq!(entry.verdict, Verdict::Exact, "{question} {}", entry.cell.id.variant);
        }
    }
    let rejects = world.kept("out").rejects("sqlite");
    assert_eq!(rejects.len(), 8);
    assert!(rejects.windows(2).all(|pair| pair[0].0 < pair[1].0), "{rejects:?}");
    // The same lines are those that are no JSON in the data itself.
    let data = world.events("events.ndjson", &["-n", "8k", "--malformed", "8"]);
    let lines = std::fs::read(data).unwrap();
    let bad: Vec<u64> = (0..)
        .zip(lines.split(|byte| *byte == b'\n'))
        .filter(|(_, line)| !line.is_empty() && serde_json::from_slice::<Value>(line).is_err())
        .map(|(ordinal, _)| ordinal)
        .collect();
    assert_eq!(rejects.iter().map(|(ordinal, _)| *ordinal).collect::<Vec<_>>(), bad);
    assert!(rejects.iter().all(|(_, reason)| !reason.is_empty()), "{rejects:?}");
    assert_eq!(world.kept("out").manifest().data.malformed, 8);
}

#[test]
fn a_file_refused_as_a_whole_for_no_document_in_it_fails_the_load() {
    // Refused once, and accepted in parts: there is no document to blame.
    let script = json!({"refuse": [{"ordinal": 7, "reason": "moon in the wrong house", "load": 1}]});
    let world = World::with(&[mock("moody", script).by_file(), mock("good", json!({})).by_file()]);
    let ended = world.measure("moody,good", &["-n", "300", "-r", "1"]).expect(1);
    let summary = ended.summary();
    summary.is_right("good");
    assert_eq!(summary.entry("moody", "load").verdict, Verdict::Failed);
    let words = "refused the documents as a whole (document 7 of ";
    assert!(ended.stderr.contains(words), "{}", ended.stderr);
    assert!(ended.stderr.contains("moon in the wrong house"), "{}", ended.stderr);
    world.kept("out").is_complete();
}
