//! Answers that are wrong, and answers that are correct although they look different.

use jsonathlon_schema::record::{FailureKind, Verdict};
use serde_json::{Value, json};

use crate::support::{Look, QUESTIONS, World, mock};

/// Number of columns of each question.
const COLUMNS: [usize; 6] = [2, 3, 3, 2, 2, 2];

/// Applies a fault to every execution of every question.
fn always(act: &Value) -> Value {
    faults(act, None)
}

/// Applies a fault to one execution of every question. The first execution is the cold trial; then follow two
/// to five warm-up executions and twenty hot trials of a question that takes almost no time.
fn at(act: &Value, nth: u64) -> Value {
    faults(act, Some(nth))
}

fn faults(act: &Value, nth: Option<u64>) -> Value {
    let fault = |question: &str| {
        let mut fault = act.clone();
        fault["statement"] = question.into();
        if let Some(nth) = nth {
            fault["execution"] = nth.into();
        }
        fault
    };
    json!({"faults": QUESTIONS.map(fault)})
}

fn wrong_value(column: usize) -> Value {
    json!({"action": "wrong_value", "row": 0, "column": column})
}

#[test]
fn a_wrong_value_in_any_column_of_any_question_is_caught() {
    let systems = [0, 1, 2].map(|column| mock(&format!("column{column}"), always(&wrong_value(column))));
    let world = World::with(&systems);
    let ended = world.measure("column0,column1,column2", &["-n", "300", "-r", "1"]).expect(1);
    let summary = ended.summary();
    assert!(summary.complete);
    let mut caught = 0;
    for column in 0..3 {
        for (question, columns) in QUESTIONS.iter().zip(COLUMNS) {
            let system = format!("column{column}");
            for entry in [summary.cold(&system, question), summary.hot(&system, question)] {
                let what = format!("{question} column {column} {}", entry.cell.phase.word());
                if column < columns {
                    assert_eq!(entry.verdict, Verdict::Wrong, "{what}");
                    assert_eq!((entry.median_s, entry.low_s, entry.trials), (None, None, 0), "{what}");
                    caught += 1;
                } else {
                    assert_eq!(entry.verdict, Verdict::Exact, "{what}");
                }
            }
        }
    }
    assert_eq!(caught, 2 * COLUMNS.iter().sum::<usize>());
    let error = &summary.failures_of("column2")[0].error;
    assert!(error.contains("users") && error.contains("expected") && error.contains("answered"), "{error}");
}

#[test]
fn one_wrong_answer_among_many_takes_the_time_away() {
    // Executions 2 to 6 may be warm-up; their answers are verified too.
    let systems = [1, 2, 10].map(|nth| mock(&format!("ask{nth}"), at(&wrong_value(1), nth)));
    let world = World::with(&systems);
    let summary = world.measure("ask1,ask2,ask10", &["-n", "300", "-r", "1"]).expect(1).summary();
    assert!(summary.complete);
    for question in QUESTIONS {
        let cold = summary.cold("ask1", question);
        assert_eq!((cold.verdict, cold.median_s), (Verdict::Wrong, None), "{question}");
        assert_eq!(summary.hot("ask1", question).verdict, Verdict::Exact, "{question}");
        for system in ["ask2", "ask10"] {
            let hot = summary.hot(system, question);
            assert_eq!((hot.verdict, hot.median_s), (Verdict::Wrong, None), "{system} {question}");
            let cold = summary.cold(system, question);
            assert_eq!(cold.verdict, Verdict::Exact, "{system} {question}");
            assert!(cold.median_s.is_some());
        }
        assert!(summary.hot("ask10", question).trials > 10, "the right trials are kept, they are no figure");
    }
}

#[test]
fn missing_and_extra_rows_nan_null_and_another_type_are_wrong() {
    let distortions = [
        ("missing", json!({"action": "missing_row", "row": 1})),
        ("extra", json!({"action": "extra_row", "cells": ["x", 1]})),
        ("twice", json!({"action": "extra_row", "cells": [null, 0]})),
        ("nan", json!({"action": "nan", "row": 0, "column": 1})),
        ("nothing", json!({"action": "wrong_value", "row": 0, "column": 0, "value": null})),
        ("typed", json!({"action": "wrong_value", "row": 0, "column": 1, "value": 1.5})),
    ];
    let systems = distortions.clone().map(|(name, act)| mock(name, always(&act)));
    let world = World::with(&systems);
    let names = distortions.map(|(name, _)| name);
    let summary = world.measure(&names.join(","), &["-n", "300", "-r", "1"]).expect(1).summary();
    for name in names {
        // For questions with three columns the extra rows have another width, which is wrong as well.
        for question in QUESTIONS {
            for entry in [summary.cold(name, question), summary.hot(name, question)] {
                assert_eq!((entry.verdict, entry.median_s), (Verdict::Wrong, None), "{name} {question}");
            }
        }
    }
}

#[test]
fn the_order_of_rows_is_free() {
    let world = World::with(&[mock("backwards", always(&json!({"action": "reorder"})))]);
    let summary = world.measure("backwards", &["-n", "300", "-r", "1"]).expect(0).summary();
    summary.is_right("backwards");
}

#[test]
fn a_column_declared_approximate_may_differ_and_its_error_is_shown() {
    let off = |value: u64| {
        json!({"faults": [
            {"statement": "q2", "action": "wrong_value", "row": 0, "column": 2, "value": value}
        ]})
    };
    let world = World::with(&[
        mock("declared", off(100)).approximate("q2", &[2]),
        mock("elsewhere", off(100)).approximate("q2", &[1]),
    ]);
    let ended = world.measure("declared,elsewhere", &["-n", "300", "-r", "1"]).expect(1);
    let summary = ended.summary();
    let users = {
        let rows = answer(&world, "elsewhere@1.0-plain-default-q2");
        assert_eq!(rows[0][2], 100);
        summary.failures_of("elsewhere")[0].error.clone()
    };
    // The expected value is taken from the message of the system that may not deviate.
    let expected: f64 = users.split(" expected").next().unwrap().rsplit(' ').next().unwrap().parse().unwrap();
    let hot = summary.hot("declared", "q2");
    assert_eq!(hot.verdict, Verdict::Approximate);
    assert!(hot.median_s.is_some());
    let error = (100.0 - expected).abs() / expected;
    assert!(error > 0.0 && (hot.metrics["relative_error"] - error).abs() < 1e-12, "{hot:?}");
    summary.is_right_but_for("declared", "q2");
    let elsewhere = summary.hot("elsewhere", "q2");
    assert_eq!((elsewhere.verdict, elsewhere.median_s), (Verdict::Wrong, None));
    let tables = world.run(&["export", "--tables", "full", &world.text("out")]).expect(0).stdout;
    assert!(tables.contains("approximate, error ≤ "), "{tables}");
}

fn answer(world: &World, prefix: &str) -> Value {
    let folder = world.path("out/answers");
    let name = crate::support::names_in(&folder).into_iter().find(|name| name.starts_with(prefix)).unwrap();
    let kept: Value = serde_json::from_slice(&std::fs::read(folder.join(name)).unwrap()).unwrap();
    kept["rows"].clone()
}

#[test]
fn a_plan_that_breaks_its_promise_fails_the_run_and_keeps_the_times() {
    let scripted = |plan: &str| json!({"plans": {"q2": plan}});
    let world = World::with(&[
        mock("keeps", scripted("index scan")).plan("q2", "index scan"),
        mock("breaks", scripted("full scan")).plan("q2", "index scan"),
    ]);
    let ended = world.measure("keeps,breaks", &["-n", "300", "-r", "1"]).expect(1);
    ended.summary().is_right("keeps");
    ended.summary().is_right_but_for("breaks", "");
    let failures = ended.summary().failures;
    assert!(
        matches!(failures.as_slice(), [one] if one.kind == FailureKind::Plan && one.cell.step.word() == "q2"),
        "{failures:?}"
    );
    assert!(ended.stderr.contains("breaks 1.0 plain q2: "), "{}", ended.stderr);
    assert!(!ended.stderr.contains("keeps 1.0 plain q2: "), "{}", ended.stderr);
    let tables = world.run(&["export", "--tables", "full", &world.text("out")]).expect(0).stdout;
    assert!(tables.contains("failed: breaks 1.0 plain q2 hot: plan: "), "{tables}");
}
