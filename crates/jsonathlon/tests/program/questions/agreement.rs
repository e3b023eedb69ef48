//! Tests of answers that agree, differ, or are alone, with systems whose answers the tests define.

use jsonathlon_results::summary::Summary;
use jsonathlon_schema::record::{AnswerStatus, ExpectedAnswerSource, Verdict};
use serde_json::json;

use super::{GROUPS, SUM, agreement, documents, folder, run, verdict};
use crate::support::{World, mock};

/// A world with systems `one`, `two`, … that support users' own questions.
fn world(names: &[&str]) -> World {
    let systems: Vec<_> = names.iter().map(|name| mock(name, json!({})).questions()).collect();
    World::with(&systems)
}

/// Runs the question `sum`, which each system answers with the given cell.
fn sums(answers: &[(&str, &str)], expected: i32) -> (World, Summary) {
    let names: Vec<&str> = answers.iter().map(|(name, _)| *name).collect();
    let world = world(&names);
    let data = documents(&world);
    folder(&world, &[("questions.toml", SUM)]);
    for (name, answer) in answers {
        folder(&world, &[(&format!("{name}/sum.sql"), &format!("answer {{{{table}}}} [[{answer}]];\n"))]);
    }
    let ended = run(&world, &names.join(","), &data, &[]).expect(expected);
    let summary = ended.summary();
    world.nothing_left();
    (world, summary)
}

#[test]
fn a_majority_is_right_and_who_differs_has_no_time() {
    let (_, summary) = sums(&[("one", "3.0"), ("two", "4"), ("three", "3")], 1);
    assert_eq!(agreement(&summary, "sum").basis, ExpectedAnswerSource::Agreed);
    for right in ["one", "three"] {
        assert_eq!(verdict(&summary, right, "sum"), Verdict::Exact);
    }
    assert_eq!(verdict(&summary, "two", "sum"), Verdict::Wrong);
    let is_two = |entry: &&jsonathlon_results::summary::CellSummary| {
        entry.cell.id.system == "two" && entry.cell.step.word() == "sum"
    };
    assert!(summary.results.iter().filter(is_two).all(|entry| entry.median_s.is_none()));
    let standing = agreement(&summary, "sum").answers.iter().find(|one| one.id.system == "two").unwrap();
    let rows = standing.rows.as_ref().unwrap();
    assert_eq!(
        (standing.answer, rows.missing_rows[0][0].as_f64(), rows.extra_rows[0][0].as_i64()),
        (AnswerStatus::Different, Some(3.0), Some(4))
    );
    assert!(
        summary
            .failures
            .iter()
            .any(|failure| failure.error.contains("missing [3") && failure.error.contains("has [4]"))
    );
}

#[test]
fn without_a_majority_nobody_is_right_and_nobody_ranked() {
    let (_, summary) = sums(&[("one", "1"), ("two", "2"), ("three", "3")], 1);
    assert_eq!(agreement(&summary, "sum").basis, ExpectedAnswerSource::Disputed);
    for system in ["one", "two", "three"] {
        assert_eq!(verdict(&summary, system, "sum"), Verdict::Disputed, "{system}");
    }
    assert!(
        summary.comparisons.iter().all(|one| one.cell.step.word() != "sum"),
        "nobody is ranked: {:?}",
        summary.comparisons
    );
    // Two against two is not a majority either.
    let (_, summary) = sums(&[("one", "1"), ("two", "2"), ("three", "1"), ("four", "2")], 1);
    assert_eq!(agreement(&summary, "sum").basis, ExpectedAnswerSource::Disputed);
}

#[test]
fn one_system_alone_is_unverified_and_never_ranked() {
    let (world, summary) = sums(&[("one", "1")], 0);
    assert_eq!(agreement(&summary, "sum").basis, ExpectedAnswerSource::Unverified);
    assert_eq!(verdict(&summary, "one", "sum"), Verdict::Unverified);
    assert!(summary.comparisons.iter().all(|one| one.cell.step.word() != "sum"));
    let out = world.text("out");
    let tables = world.run(&["export", &out, "--format", "markdown"]).expect(0).stdout;
    assert!(tables.contains("unverified") && tables.contains("UNVERIFIED"), "{tables}");
}

#[test]
fn floats_that_differ_in_the_last_digit_agree() {
    let (_, summary) = sums(&[("one", "0.30000000000000004"), ("two", "0.3")], 0);
    assert_eq!(agreement(&summary, "sum").basis, ExpectedAnswerSource::Agreed);
    let (_, summary) = sums(&[("one", "0.300001"), ("two", "0.3")], 1);
    let one = agreement(&summary, "sum");
    assert_eq!(one.basis, ExpectedAnswerSource::Disputed);
    let rule = one.answers.iter().find_map(|standing| standing.rule.as_deref()).unwrap();
    assert!(rule.contains("1e-9"), "{rule}");
}

#[test]
fn infinity_agrees_with_itself_alone_and_is_kept_by_its_name() {
    let infinity = r#"{"float": "Infinity"}"#;
    let (world, summary) = sums(&[("one", infinity), ("two", "0.0"), ("three", infinity)], 1);
    assert_eq!(agreement(&summary, "sum").basis, ExpectedAnswerSource::Agreed);
    assert_eq!(verdict(&summary, "two", "sum"), Verdict::Wrong);
    assert_eq!(verdict(&summary, "three", "sum"), Verdict::Exact);
    assert!(
        summary.failures.iter().all(|failure| failure.error.contains("missing [Infinity]")),
        "{:?}",
        summary.failures
    );
    let answers = std::fs::read_dir(world.kept("out").path("answers")).unwrap();
    for answer in answers {
        let text = std::fs::read_to_string(answer.unwrap().path()).unwrap();
        assert!(text.contains("Infinity") || text.contains("[[0.0]]"), "{text}");
    }
    let out = world.text("out");
    let tables = world.run(&["export", &out, "--format", "markdown"]).expect(0).stdout;
    assert!(
        tables.contains("answer (total): \\[Infinity\\]") || tables.contains("answer (total): [Infinity]"),
        "{tables}"
    );
}

#[test]
fn what_is_left_of_amounts_that_cancel_makes_nobody_wrong() {
    let world = world(&["one", "two", "three"]);
    // The statements name the key of the documents, as a real sum names its addends.
    let lines: Vec<String> = (0..50)
        .map(|n| format!(r#"{{"answer":{}{}.5}}"#, if n % 2 == 0 { "" } else { "-" }, 900 + n))
        .collect();
    let data = world.file("amounts.ndjson", lines.join("\n"));
    folder(
        &world,
        &[
            ("questions.toml", SUM),
            ("one/sum.sql", "answer {{table}} [[0.0]];\n"),
            ("two/sum.sql", "answer {{table}} [[4.9e-7]];\n"),
            ("three/sum.sql", "answer {{table}} [[4.9e-7]];\n"),
        ],
    );
    let summary = run(&world, "one,two,three", &data, &[]).expect(0).summary();
    let one = agreement(&summary, "sum");
    assert_eq!((one.basis, one.addend), (ExpectedAnswerSource::Agreed, Some(948.5)));
    for system in ["one", "two", "three"] {
        assert_eq!(verdict(&summary, system, "sum"), Verdict::Exact, "{system}");
    }
    // A difference too large for rounding makes the answer wrong.
    folder(&world, &[("one/sum.sql", "answer {{table}} [[0.001]];\n")]);
    std::fs::remove_dir_all(world.path("out")).unwrap();
    let summary = run(&world, "one,two,three", &data, &[]).expect(1).summary();
    assert_eq!((verdict(&summary, "one", "sum"), agreement(&summary, "sum").addend), (Verdict::Wrong, None));
}

#[test]
fn a_check_shows_the_answer_the_statement_and_the_rows_that_differ() {
    let world = world(&["one", "two", "three"]);
    let data = documents(&world);
    let questions = folder(
        &world,
        &[
            ("questions.toml", SUM),
            ("one/sum.sql", "answer {{table}} [[3.5]];\n"),
            ("two/sum.sql", "answer {{table}} [[3.5]];\n"),
            ("three/sum.sql", "answer {{table}} [[4]];\n"),
        ],
    );
    let folders = world.text("systems");
    let check =
        ["questions", "check", &questions, "-d", &data, "-s", "one,two,three", "--systems-dir", &folders];
    let told = world.run(&check).expect(1).stdout;
    for words in [
        "agreed: 2 of 3",
        "answer (total): [3.5]",
        "asked of one: answer documents",
        "is missing [3.5]",
        "has instead [4]",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    folder(&world, &[("three/sum.sql", "answer {{table}} [[3.5]];\n")]);
    let told = world.run(&check).expect(0).stdout;
    assert!(told.contains("agreed: 3 of 3") && !told.contains("EMPTY"), "{told}");
    for name in ["one", "two", "three"] {
        folder(&world, &[(&format!("{name}/sum.sql"), "answer {{table}} [[null]];\n")]);
    }
    let told = world.run(&check).expect(0).stdout;
    assert!(told.contains("THE ANSWER IS EMPTY"), "{told}");
}

#[test]
fn answers_without_an_order_are_multisets_and_with_one_are_not() {
    let groups = |stated: &str| {
        let world = world(&["one", "two"]);
        let data = documents(&world);
        folder(
            &world,
            &[
                ("questions.toml", &GROUPS.replace("order = [\"n desc\"]\n", stated)),
                ("one/groups.sql", "answer {{table}} [[\"a\", 2], [\"b\", 1]];\n"),
                ("two/groups.sql", "answer {{table}} [[\"b\", 1], [\"a\", 2]];\n"),
            ],
        );
        run(&world, "one,two", &data, &[]).summary()
    };
    assert_eq!(agreement(&groups(""), "groups").basis, ExpectedAnswerSource::Agreed);
    let summary = groups("order = [\"n desc\"]\n");
    let one = agreement(&summary, "groups");
    assert_eq!(one.basis, ExpectedAnswerSource::Disputed);
    assert!(one.answers.iter().any(|one| one.rule.as_deref().is_some_and(|rule| rule.contains("ORDER BY"))));
}

#[test]
fn the_user_may_know_the_answer_or_name_who_does() {
    let given = |more: &[(&str, &str)], top: &str| {
        let world = world(&["one", "two", "three"]);
        let data = documents(&world);
        let definition = format!("{top}{SUM}");
        let mut files = vec![
            ("questions.toml", definition.as_str()),
            ("one/sum.sql", "answer {{table}} [[1]];\n"),
            ("two/sum.sql", "answer {{table}} [[1]];\n"),
            ("three/sum.sql", "answer {{table}} [[3]];\n"),
        ];
        files.extend(more);
        folder(&world, &files);
        run(&world, "one,two,three", &data, &[]).expect(1).summary()
    };
    let summary = given(&[("expected.json", r#"{"sum": [[3]]}"#)], "");
    assert_eq!(agreement(&summary, "sum").basis, ExpectedAnswerSource::Expected);
    assert_eq!(
        (verdict(&summary, "one", "sum"), verdict(&summary, "three", "sum")),
        (Verdict::Wrong, Verdict::Exact)
    );
    let summary = given(&[], "reference = \"three\"\n");
    assert_eq!(agreement(&summary, "sum").basis, ExpectedAnswerSource::Reference);
    assert_eq!(
        (verdict(&summary, "two", "sum"), verdict(&summary, "three", "sum")),
        (Verdict::Wrong, Verdict::Exact)
    );
}

#[test]
fn variants_of_one_system_stand_side_by_side_and_have_one_vote() {
    let world = world(&["one", "two"]);
    let data = documents(&world);
    folder(
        &world,
        &[
            ("questions.toml", SUM),
            ("one/sum.sql", "answer {{table}} [[1]];\n"),
            // This variant inherits the statement of the system.
            ("one+indexed/index.sql", "index {{table}};\n"),
            ("one+other/sum.sql", "answer {{table}} [[1]];\n"),
            ("two/sum.sql", "answer {{table}} [[2]];\n"),
        ],
    );
    let summary = run(&world, "one,two", &data, &[]).expect(1).summary();
    let one = agreement(&summary, "sum");
    let variants: Vec<&str> = one.answers.iter().map(|standing| standing.id.variant.as_str()).collect();
    assert_eq!(variants, ["own", "indexed", "other", "own"]);
    assert_eq!(one.basis, ExpectedAnswerSource::Disputed, "three configurations of one system are one vote");
    let rankings: std::collections::BTreeSet<String> = world_manifest(&world)
        .configurations
        .iter()
        .map(jsonathlon_schema::manifest::Configuration::ranking)
        .collect();
    assert_eq!(rankings.into_iter().collect::<Vec<_>>(), ["own"]);
}

fn world_manifest(world: &World) -> jsonathlon_schema::manifest::Manifest {
    world.kept("out").manifest()
}
