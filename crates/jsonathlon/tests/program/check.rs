//! Tests of `jsonathlon check`: false alarms of the instrument, and scaling over runs.

use crate::support::{World, mock};
use serde_json::json;

#[test]
fn a_system_against_itself_is_compared_as_often_as_asked() {
    let script = json!({"delay_ms": {"q1": 2, "q2": 2, "q3": 2, "q4": 2, "q5": 2, "q6": 2}});
    let world = World::with(&[mock("ma", script)]);
    let (systems, out) = (world.text("systems"), world.text("noise"));
    let ended = world.run(&[
        "check",
        "noise",
        "-s",
        "ma",
        "--systems-dir",
        &systems,
        "-n",
        "200",
        "-c",
        "12",
        "-r",
        "3",
        "-o",
        &out,
    ]);
    // Chance may raise an alarm; the test asserts only that nothing failed.
    let text = &ended.stdout;
    assert!(matches!(ended.code(), 0 | 1), "{text}{}", ended.stderr);
    assert!(text.contains("false alarms in 12 comparisons"), "{text}");
    assert!(!ended.stderr.contains("trials failed"), "{}", ended.stderr);
    for question in ["Q1", "Q6"] {
        let row = text.lines().find(|line| line.trim_start().starts_with(question)).unwrap();
        assert_eq!(row.split_whitespace().nth(1), Some("2"), "{row}");
    }
    // The journal has both sides, and every answer was verified.
    let kept = world.kept("noise");
    kept.is_complete();
    world.nothing_left();
}

#[test]
fn a_check_with_failed_trials_is_not_passed() {
    let fault = json!({"statement": "q1", "action": "wrong_value", "row": 0, "column": 1});
    let world = World::with(&[mock("ma", json!({"faults": [fault]}))]);
    let (systems, out) = (world.text("systems"), world.text("noise"));
    let arguments = ["check", "noise", "-s", "ma", "--systems-dir", &systems, "-n", "200"];
    let ended = world.run(&[&arguments[..], &["-c", "6", "-r", "2", "-o", &out]].concat()).expect(1);
    assert!(ended.stderr.contains("trials failed"), "{}", ended.stderr);
}

#[test]
fn growth_is_told_over_runs_of_different_scales() {
    let script = json!({"delay_ms": {"load": 5}});
    let world = World::with(&[mock("ma", script)]);
    for (out, scale) in [("small", "200"), ("large", "2000")] {
        world.measure_into(out, "ma", &["-n", scale, "-r", "1", "-t", "1"]).expect(0);
    }
    let text = world.run(&["check", "growth", &world.text("small"), &world.text("large")]).expect(0).stdout;
    let row = text.lines().find(|line| line.contains("making documents ready")).unwrap();
    assert!(row.split_whitespace().next_back().unwrap().parse::<f64>().is_ok(), "{text}");
    for figure in ["load", "q1 hot", "q6 cold", "coordinator bytes"] {
        assert!(text.lines().any(|line| line.contains(figure)), "{figure}: {text}");
    }
    // A single document count shows no scaling.
    let error = world.run(&["check", "growth", &world.text("small"), &world.text("small")]).expect(2).stderr;
    assert!(error.contains("different --scale"), "{error}");
}
