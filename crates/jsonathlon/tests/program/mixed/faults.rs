//! Faults that are planted in the mock, each of which must be found.

use jsonathlon_results::summary::Summary;
use jsonathlon_schema::record::{FailureKind, Phase, Verdict};
use serde_json::{Value, json};

use crate::mixed::{entry, is_measured};
use crate::support::{World, mock};

/// A fault of every execution of a statement.
fn always(statement: &str, action: &str) -> Value {
    json!({ "faults": [{ "statement": statement, "action": action }] })
}

/// A fault of the third batch of each data folder.
fn third_batch(action: &str) -> Value {
    json!({ "faults": [
        { "statement": "mix_insert", "execution": 3, "action": action, "message": "as planted" },
    ] })
}

/// Runs a system with a fault beside one without, and asserts that the first one has no result of questions beside
/// writers, for this reason.
fn is_wrong(script: Value, words: &[&str]) {
    let world = World::with(&[mock("bad", script).mixed(), mock("good", json!({})).mixed()]);
    let summary = world.mix("bad,good", &[]).expect(1).summary();
    is_measured(&summary, "good", Verdict::Exact);
    let failures: Vec<_> =
        summary.failures.iter().filter(|failure| failure.kind == FailureKind::Wrong).collect();
    assert!(!failures.is_empty() && failures.iter().all(|failure| failure.cell.id.system == "bad"));
    let told = |word: &&str| failures.iter().any(|failure| failure.error.contains(*word));
    assert!(words.iter().all(told), "{words:?} is not in {failures:#?}");
    let beside = entry(&summary, "bad", Phase::Both, "all");
    assert_eq!(beside.verdict, Verdict::Wrong);
    assert!(!beside.metrics.contains_key("questions_per_h"), "{:?}", beside.metrics);
}

/// Runs a system with a fault that it gets over.
fn is_right(script: Value) -> Summary {
    let world = World::with(&[mock("ma", script).mixed()]);
    let summary = world.mix("ma", &[]).expect(0).summary();
    assert!(summary.failures.is_empty(), "{:?}", summary.failures);
    is_measured(&summary, "ma", Verdict::Exact);
    summary
}

#[test]
fn an_answer_that_lacks_a_document_which_it_tells_of_is_wrong() {
    is_wrong(always("mix_ask", "one_short"), &["wrong; the first: q"]);
}

#[test]
fn an_answer_with_a_document_of_which_it_does_not_tell_is_wrong() {
    is_wrong(always("mix_ask", "one_early"), &["wrong; the first: q"]);
}

#[test]
fn a_batch_that_is_there_twice_is_found() {
    is_wrong(third_batch("repeat_batch"), &["wrong; the first: q"]);
}

#[test]
fn a_batch_that_was_acknowledged_and_lost_is_found() {
    is_wrong(third_batch("lose_batch"), &[]);
}

#[test]
fn a_changed_value_in_an_answer_is_found() {
    let script = json!({ "faults": [
        { "statement": "mix_ask", "execution": 40, "action": "wrong_value", "row": 0, "column": 1 },
    ] });
    is_wrong(script, &["1 of"]);
}

#[test]
fn an_answer_that_contradicts_itself_in_what_it_saw_is_found() {
    let script = json!({ "faults": [
        { "statement": "mix_ask", "execution": 40, "action": "wrong_value", "row": 0, "column": 0 },
    ] });
    is_wrong(script, &["1 of"]);
}

#[test]
fn a_batch_that_is_shown_late_is_a_finding_and_no_fault() {
    let summary = is_right(third_batch("hold_batch"));
    let beside = entry(&summary, "ma", Phase::Both, "all");
    let [finding] = beside.findings.as_slice() else { panic!("{:?}", beside.findings) };
    assert!(finding.message.as_ref().unwrap().contains("declared to be visible at once"));
    assert!(beside.metrics["stale_max_ms"] > 0.0, "{:?}", beside.metrics);
}

#[test]
fn a_batch_that_is_sent_back_is_sent_again() {
    let summary = is_right(third_batch("conflict"));
    assert_eq!(entry(&summary, "ma", Phase::Both, "ingest").metrics["retries"], 1.0);
}

#[test]
fn what_became_of_a_batch_is_found_out_after_its_connection_is_lost() {
    let summary = is_right(third_batch("lose_answer"));
    let writers = entry(&summary, "ma", Phase::Both, "ingest");
    assert_eq!((writers.metrics["unknown_writes"], writers.metrics["retries"]), (1.0, 0.0));
    // Without an answer, and without the batch: it is sent once more.
    let summary = is_right(third_batch("disconnect"));
    let writers = entry(&summary, "ma", Phase::Both, "ingest");
    assert_eq!((writers.metrics["unknown_writes"], writers.metrics["retries"]), (0.0, 1.0));
}

#[test]
fn a_question_that_is_refused_fails_with_its_message() {
    let world = World::with(&[mock(
        "ma",
        json!({ "faults": [
        { "statement": "mix_ask", "action": "refuse", "message": "no such function" },
    ] }),
    )
    .mixed()]);
    let summary = world.mix("ma", &[]).expect(1).summary();
    assert!(summary.complete);
    assert!(summary.failures.iter().any(|failure| failure.error.contains("no such function")));
    assert!(summary.results.iter().all(|entry| !entry.metrics.contains_key("questions_per_h")));
}

#[test]
fn answers_of_no_single_moment_are_compared_with_bounds_and_not_ranked() {
    let loose = mock("ma", json!({})).mixed_with("snapshot = false\nvisible = \"refresh\"");
    let world = World::with(&[loose]);
    let ended = world.mix("ma", &[]).expect(0);
    let ended = ended.says(&["its answers are compared with bounds, and not ranked"]);
    is_measured(&ended.summary(), "ma", Verdict::Unverified);
}
