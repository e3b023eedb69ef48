//! Tests of systems that hold different documents: systems that rejected documents must not outvote one that
//! holds them, and no answer is wrong because of the documents held. The mock answers with its document
//! count, so that every document matters.

use jsonathlon_results::summary::Summary;
use jsonathlon_schema::record::{Agreement, AnswerStatus, ExpectedAnswerSource, Verdict};
use serde_json::{Value, json};

use super::{SUM, agreement, documents, folder, run, verdict};
use crate::support::{World, mock};

/// Number of documents offered, which is the expected answer.
const ALL: u64 = 50;
const ASKS: &str = "count {{table}};\n";

/// The script of a mock that rejects these documents.
fn refusing(ordinals: impl IntoIterator<Item = u64>) -> Value {
    let refuse: Vec<Value> =
        ordinals.into_iter().map(|ordinal| json!({"ordinal": ordinal, "reason": "not this one"})).collect();
    json!({"rejections": refuse})
}

/// Runs systems, each with its rejected documents and its statement for the question.
fn asked(systems: &[(&str, Vec<u64>, &str)], top: &str, more: &[(&str, &str)]) -> (World, Summary) {
    let folders: Vec<_> =
        systems.iter().map(|(name, refused, _)| mock(name, refusing(refused.clone())).questions()).collect();
    let world = World::with(&folders);
    let data = documents(&world);
    folder(&world, &[("questions.toml", &format!("{top}{SUM}"))]);
    folder(&world, more);
    for (name, _, statement) in systems {
        folder(&world, &[(&format!("{name}/sum.sql"), statement)]);
    }
    let names: Vec<&str> = systems.iter().map(|(name, ..)| *name).collect();
    let summary = run(&world, &names.join(","), &data, &[]).summary();
    world.nothing_left();
    (world, summary)
}

fn given(one: &Agreement, system: &str) -> AnswerStatus {
    one.answers.iter().find(|standing| standing.id.system == system).unwrap().answer
}

#[test]
fn those_who_refused_a_document_do_not_outvote_who_holds_it() {
    let (world, summary) = asked(
        &[
            ("one", vec![7], ASKS),
            ("two", vec![7], ASKS),
            ("three", vec![], ASKS),
            ("four", vec![], "answer {{table}} [[1]];\n"),
        ],
        "",
        &[],
    );
    let one = agreement(&summary, "sum");
    assert_eq!((one.basis, one.documents), (ExpectedAnswerSource::Agreed, ALL - 1));
    assert_eq!(one.first.as_ref().unwrap().rows, [[json!(ALL - 1)]]);
    let all: Vec<AnswerStatus> =
        ["one", "two", "three", "four"].iter().map(|name| given(one, name)).collect();
    assert_eq!(all, [AnswerStatus::Same, AnswerStatus::Same, AnswerStatus::Same, AnswerStatus::Different]);
    // It holds all 50 documents, answers so in every trial, and is correct.
    assert_eq!(verdict(&summary, "three", "sum"), Verdict::Exact);
    assert_eq!(verdict(&summary, "four", "sum"), Verdict::Wrong);
    let wrong = |summary: &Summary, words: &str| {
        let all = summary.failures.iter().all(|failure| failure.error.contains(words));
        assert!(all && !summary.failures.is_empty(), "{words}: {:?}", summary.failures);
    };
    // Compared with the other system that holds all documents.
    wrong(&summary, "missing [50]; has [1]");
    let out = world.text("out");
    let tables = world.run(&["export", &out, "--format", "markdown"]).expect(0).stdout;
    for words in [
        "over the 49 documents that all of them hold",
        "three 1.0 own holds 50 documents",
        "answer (total): ",
    ] {
        assert!(tables.contains(words), "{words}: {tables}");
    }
    // A system that holds more documents than all others is judged by its answer over the common ones.
    let lone =
        [("one", vec![7], ASKS), ("two", vec![7], ASKS), ("four", vec![], "answer {{table}} [[1]];\n")];
    let (_, summary) = asked(&lone, "", &[]);
    assert_eq!(verdict(&summary, "four", "sum"), Verdict::Wrong);
    wrong(&summary, "over the 49 documents that all hold: 1 of 1 rows differ; missing [49]; has [1]");
}

#[test]
fn who_holds_nothing_is_not_asked() {
    let (_, summary) =
        asked(&[("one", (0..ALL).collect(), ASKS), ("two", vec![], ASKS), ("three", vec![], ASKS)], "", &[]);
    let one = agreement(&summary, "sum");
    assert_eq!((one.basis, one.documents), (ExpectedAnswerSource::Agreed, ALL));
    assert_eq!(given(one, "one"), AnswerStatus::Failed);
    assert!(
        summary.failures.iter().any(|failure| failure.error.contains("refused all 50 documents")),
        "{summary:?}"
    );
    assert_eq!(verdict(&summary, "two", "sum"), Verdict::Exact);
}

#[test]
fn nobody_is_right_or_wrong_over_documents_that_no_other_holds() {
    let (world, summary) =
        asked(&[("one", (0..25).collect(), ASKS), ("two", (25..ALL).collect(), ASKS)], "", &[]);
    let one = agreement(&summary, "sum");
    assert_eq!((one.basis, one.first.as_ref()), (ExpectedAnswerSource::OtherDocuments, None));
    assert!(one.answers.iter().all(|standing| standing.answer == AnswerStatus::OtherDocuments));
    assert!(summary.failures.is_empty(), "{:?}", summary.failures);
    let out = world.text("out");
    let tables = world.run(&["export", &out, "--format", "markdown"]).expect(0).stdout;
    assert!(
        tables.contains("they hold other documents") && tables.contains("holds 25 documents"),
        "{tables}"
    );
    // A system that holds too few documents is left out, and the others decide.
    let (_, summary) =
        asked(&[("one", (0..25).collect(), ASKS), ("two", vec![], ASKS), ("three", vec![], ASKS)], "", &[]);
    let one = agreement(&summary, "sum");
    assert_eq!((one.basis, given(one, "one")), (ExpectedAnswerSource::Agreed, AnswerStatus::OtherDocuments));
    assert_eq!(verdict(&summary, "two", "sum"), Verdict::Exact);
    assert_ne!(verdict(&summary, "one", "sum"), Verdict::Wrong);
}

#[test]
fn what_the_reference_refused_is_looked_at_too() {
    let (_, summary) = asked(&[("one", vec![7], ASKS), ("two", vec![], ASKS)], "reference = \"one\"\n", &[]);
    let one = agreement(&summary, "sum");
    assert_eq!(
        (one.basis, one.documents, given(one, "two")),
        (ExpectedAnswerSource::Reference, ALL - 1, AnswerStatus::Same)
    );
    assert_eq!(verdict(&summary, "two", "sum"), Verdict::Exact);
}

#[test]
fn the_users_own_answer_is_over_all_documents() {
    let (_, summary) = asked(
        &[("one", vec![7], ASKS), ("two", vec![], ASKS), ("three", vec![], "answer {{table}} [[49]];\n")],
        "",
        &[("expected.json", r#"{"sum": [[50]]}"#)],
    );
    let one = agreement(&summary, "sum");
    let all: Vec<AnswerStatus> = ["one", "two", "three"].iter().map(|name| given(one, name)).collect();
    assert_eq!(
        (one.basis, all),
        (
            ExpectedAnswerSource::Expected,
            vec![AnswerStatus::OtherDocuments, AnswerStatus::Same, AnswerStatus::Different]
        )
    );
    assert_ne!(verdict(&summary, "one", "sum"), Verdict::Wrong);
    assert_eq!(verdict(&summary, "two", "sum"), Verdict::Exact);
    assert_eq!(verdict(&summary, "three", "sum"), Verdict::Wrong);
}
