//! Tests of answers about mixed loads.

use jsonathlon_results::answer::{AnswerOutcome, AnswerSubject};
use jsonathlon_results::summary::Run;
use jsonathlon_results::test_fixtures::{self, record};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric::{DOCUMENTS_PER_S, KEPT_SHARE, MetricDef, QUESTIONS_PER_H, STALE_P95_MS};
use jsonathlon_schema::record::{Cell, Phase, Verdict};
use jsonathlon_schema::severity::Severity;
use jsonathlon_schema::workload::WorkloadKind;

use crate::answers::{ROUNDS, all_of, cell_of, only, run_of_workload};
use crate::support::edit;

#[test]
fn questions_beside_writers_are_compared_among_those_that_kept_the_rate() {
    let systems = ["one", "two"].map(|system| test_fixtures::configuration(system, "1"));
    let run = |kept_by_two: f64| {
        let mut records = Vec::new();
        for ((system, rate), kept) in systems.iter().zip([1e4, 2e4]).zip([1.0, kept_by_two]) {
            let cell = |step, phase| cell_of(system, WorkloadKind::Mixed, step, phase, &[("writers", "two")]);
            records.push(record(test_fixtures::trial(cell("load", Phase::Load), 1, Some(2.0))));
            for (round, effect) in (1..).zip(ROUNDS) {
                let mut all = test_fixtures::trial(cell("all", Phase::Both), round, None);
                all.metrics.extend([QUESTIONS_PER_H.with_value(rate * effect), KEPT_SHARE.with_value(kept)]);
                records.push(record(all));
            }
        }
        run_of_workload(WorkloadKind::Mixed, systems.to_vec(), records)
    };
    let both = only(&run(0.97), AnswerSubject::Throughput);
    let AnswerOutcome::Leader { first: 1, runner_up: 0, ratio, .. } = both.outcome else {
        panic!("{both:?}")
    };
    assert!((1.99..2.01).contains(&ratio), "{ratio}");
    assert_eq!(
        both.sentence,
        "Questions beside writers: two answers 2.0 × as many questions per hour as one (95 %: 2.0 … 2.0)"
    );
    let one = only(&run(0.94), AnswerSubject::Throughput);
    assert_eq!(one.outcome, AnswerOutcome::OnlyOne { only: 0 });
}

/// Cell of a mixed load at 2,000 documents per second.
fn mixed_cell(of: &Configuration, step: &str, phase: Phase) -> Cell {
    let mut cell = cell_of(of, WorkloadKind::Mixed, step, phase, &[]);
    cell.parameters.extend([("writers".to_owned(), 2.into()), ("streams".to_owned(), 2.into())]);
    // Alone, writers are at full speed.
    let rate = if phase == Phase::Alone { "max".into() } else { 2_000.into() };
    cell.parameters.insert("rate".to_owned(), rate);
    cell
}

/// A mixed run of systems, each with the staleness of its answers in milliseconds and the share of the rate that it
/// kept. Of all that is compared, each system reaches half as much as the one before.
fn mixed_run(systems: &[(&str, f64, f64)]) -> Run {
    let mut configurations = Vec::new();
    let mut records = Vec::new();
    for ((system, stale_ms, kept), place) in systems.iter().zip(0..) {
        let configuration = test_fixtures::configuration(system, "1");
        let factor = 2.0_f64.powi(place);
        let load = cell_of(&configuration, WorkloadKind::Mixed, "load", Phase::Load, &[]);
        records.push(record(test_fixtures::trial(load, 1, Some(2.0))));
        for (round, effect) in (1..).zip(ROUNDS) {
            let mut trial = |step: &str, phase: Phase, metrics: &[(MetricDef, f64)]| {
                let mut trial = test_fixtures::trial(mixed_cell(&configuration, step, phase), round, None);
                trial.metrics.extend(metrics.iter().map(|(metric, value)| metric.with_value(*value)));
                records.push(record(trial));
            };
            let kept = (KEPT_SHARE, *kept);
            let per_hour = (QUESTIONS_PER_H, 1e4 / factor * effect);
            trial("all", Phase::Both, &[per_hour, kept, (STALE_P95_MS, stale_ms * effect)]);
            trial("ingest", Phase::Both, &[(DOCUMENTS_PER_S, 2_000.0 * kept.1), kept]);
            trial("ingest", Phase::Alone, &[(DOCUMENTS_PER_S, 1e5 / factor * effect)]);
        }
        configurations.push(configuration);
    }
    run_of_workload(WorkloadKind::Mixed, configurations, records)
}

#[test]
fn each_part_of_a_mixed_load_is_a_plain_sentence() {
    let run = mixed_run(&[("one", 20.0, 1.0), ("two", 60.0, 1.0)]);
    let sentences: Vec<String> = run.summary().answers.into_iter().map(|answer| answer.sentence).collect();
    for sentence in [
        "Questions beside writers: one answers 2.0 × as many questions per hour as two (95 %: 2.0 … 2.0)",
        "Writers alone: one inserts 2.0 × as many documents/s as two (95 %: 2.0 … 2.0)",
        "Freshness: one lags 3.0 × less behind the writers at p95 than two (95 %: 3.0 … 3.0)",
    ] {
        assert!(sentences.iter().any(|known| known == sentence), "{sentence} is not in {sentences:#?}");
    }
    let conditions = &only(&run, AnswerSubject::Freshness).conditions;
    assert_eq!(conditions, "Freshness, 2000 documents/s, 2 streams, 2 writers");
    // Nothing is how many times fresher than what has no staleness at all.
    let fresh = only(&mixed_run(&[("one", 0.0, 1.0), ("two", 60.7, 1.0)]), AnswerSubject::Freshness);
    assert_eq!(fresh.sentence, "Freshness: at p95 questions lag behind writers by 0 (one) and 60.7 ms (two)");
    assert_eq!(fresh.outcome, AnswerOutcome::Counted { first: vec![0], value: "0 at p95".to_owned() });
}

#[test]
fn who_could_not_keep_the_rate_is_named_with_what_it_kept() {
    let run = mixed_run(&[("one", 20.0, 1.0), ("two", 60.0, 0.5935)]);
    let kept = only(&run, AnswerSubject::KeptRate);
    assert_eq!(kept.sentence, "Rate not kept, so not compared beside writers: two kept 1,187 of 2,000/s");
    assert_eq!((kept.outcome.configurations(), kept.severity), (vec![0], Severity::Warning));
    let sentences: Vec<String> = run.summary().answers.into_iter().map(|answer| answer.sentence).collect();
    let alone = "Writers alone: one inserts 2.0 × as many documents/s as two (95 %: 2.0 … 2.0)";
    assert!(sentences.iter().any(|sentence| sentence == alone), "{sentences:#?}");
    let only_one = "Questions beside writers: only one can be compared in questions per hour, so nobody wins";
    assert!(sentences.iter().any(|sentence| sentence == only_one), "{sentences:#?}");
    assert!(all_of(&mixed_run(&[("one", 20.0, 1.0)]), AnswerSubject::KeptRate).is_empty());
}

#[test]
fn steps_of_a_mixed_load_have_the_words_of_its_tables() {
    let mut run = mixed_run(&[("one", 20.0, 1.0), ("two", 60.0, 1.0)]);
    edit(
        &mut run,
        |trial| trial.cell.id.system == "two" && trial.cell.phase == Phase::Both,
        |trial| trial.verdict = Verdict::Wrong,
    );
    let correctness = only(&run, AnswerSubject::Correctness);
    assert_eq!(correctness.sentence, "Wrong or missing: two (all questions, writers wrong)");
}
