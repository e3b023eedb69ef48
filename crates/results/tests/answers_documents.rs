//! Tests of answers about large documents.

use jsonathlon_results::answer::{AnswerOutcome, AnswerSubject};
use jsonathlon_results::summary::Run;
use jsonathlon_results::test_fixtures::{self, record};
use jsonathlon_schema::metric::{FILES_BYTES, SOURCE_BYTES};
use jsonathlon_schema::record::Phase;
use jsonathlon_schema::workload::WorkloadKind;

use crate::answers::{ROUNDS, all_of, cell_of, only, run_of_workload};

/// A run over documents of two sizes, in which two systems import alike, and the second one copies three times as fast
/// over the smaller documents, and `large` times as fast over the larger ones.
fn documents_run(titles: [&str; 2], large: f64) -> Run {
    let systems = titles.map(|title| {
        let mut configuration = test_fixtures::configuration(title, "1");
        configuration.title = title.to_owned();
        configuration
    });
    let mut records = Vec::new();
    for (size, factor) in [("64KiB", 3.0), ("1MiB", large)] {
        for (system, seconds) in systems.iter().zip([factor, 1.0]) {
            let words = [("size", size), ("data", "identical")];
            let cell = |step, phase| cell_of(system, WorkloadKind::Documents, step, phase, &words);
            for (round, effect) in (1..).zip(ROUNDS) {
                for step in ["import", "copy"] {
                    // Imports scatter in opposite directions.
                    let scatter = if round % 2 == 0 { 0.9 } else { 1.1 };
                    let scatter = if system.title == titles[0] { scatter } else { 1.0 / scatter };
                    let seconds = if step == "copy" { seconds * effect } else { scatter };
                    let trial = test_fixtures::trial(cell(step, Phase::Load), round, Some(seconds));
                    records.push(record(trial));
                }
            }
            let mut disk = test_fixtures::trial(cell("disk", Phase::Steady), 1, None);
            let bytes = [FILES_BYTES.with_value(seconds * 1e6), SOURCE_BYTES.with_value(2e6)];
            disk.metrics.extend(bytes);
            records.push(record(disk));
        }
    }
    run_of_workload(WorkloadKind::Documents, systems.to_vec(), records)
}

#[test]
fn sizes_of_documents_with_the_same_leader_are_one_answer() {
    let run = documents_run(["one", "two"], 2.0);
    let copy = only(&run, AnswerSubject::Copy);
    assert_eq!(copy.conditions, "all sizes");
    assert_eq!(copy.sentence, "Copy, all sizes: two at least 2.0 × faster than one (95 %: 2.0 … 2.0)");
    let operations = only(&run, AnswerSubject::Operations);
    assert_eq!(
        operations.sentence,
        "Fastest: two in 2 of 4 comparisons (operations × 2 sizes), no difference shown in 2"
    );
    let AnswerOutcome::Counted { first, .. } = operations.outcome else { panic!("{operations:?}") };
    assert_eq!(first, [1]);
    let import = only(&run, AnswerSubject::Import).sentence;
    let start = "Import, all sizes: no difference shown between one and two (95 %: 0.";
    assert!(
        import.starts_with(start) || import.starts_with(&start.replace("one and two", "two and one")),
        "{import}"
    );
    let stored = only(&run, AnswerSubject::StoredSize);
    assert_eq!(stored.sentence, "Stored size, all sizes: smallest two, 50 % of the text");
    assert!(all_of(&run, AnswerSubject::Export).is_empty(), "it was not measured");
}

#[test]
fn an_operation_that_depends_on_the_size_names_it() {
    let copies = all_of(&documents_run(["one", "two"], 0.4), AnswerSubject::Copy);
    let sentences: Vec<&str> = copies.iter().map(|answer| answer.sentence.as_str()).collect();
    assert_eq!(
        sentences,
        [
            "Copy with a change, 64 KiB: two 3.0 × faster than one (95 %: 3.0 … 3.0)",
            "Copy with a change, 1 MiB: one 2.5 × faster than two (95 %: 2.5 … 2.5)"
        ]
    );
}

#[test]
fn operations_of_long_names_stay_in_one_line_with_factor_and_interval() {
    let titles = ["PostgreSQL 18", "MongoDB"];
    let copy = only(&documents_run(titles, 2.0), AnswerSubject::Copy).sentence;
    assert_eq!(copy, "Copy, all sizes: MongoDB at least 2.0 × faster than PostgreSQL 18 (2.0 … 2.0)");
    assert!(copy.chars().count() <= 78, "{copy}");
}

#[test]
fn who_is_alone_is_told_so_once() {
    let mut run = documents_run(["one", "two"], 2.0);
    run.manifest.configurations.pop();
    run.records.retain(|record| !record.key.contains("/two@"));
    run.manifest.plan.trials = run.records.iter().map(|record| record.key.clone()).collect();
    let answers = run.summary().answers;
    let sentences: Vec<&str> = answers.iter().map(|answer| answer.sentence.as_str()).collect();
    assert_eq!(sentences, ["Operations, all sizes: one is alone in its group, so nobody wins"]);
}
