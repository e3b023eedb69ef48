//! Streams on still data: what each number of streams reaches, and wrong answers among them.

use jsonathlon_results::cell_summary::CellSummary;
use jsonathlon_results::summary::Summary;
use jsonathlon_schema::record::{FailureKind, Phase, Verdict};
use serde_json::json;

use crate::mixed::ASKED;
use crate::support::killed::{killed_to_its_end, moments, resumed_amid_a_unit};
use crate::support::{World, mock};

/// Options of a run on still data.
const STILL: [&str; 4] = ["--rate", "0", "--streams", "4,1"];
/// Latest moment of a kill, in ms after the start.
const LATEST_MS: u64 = 2000;

/// The only entry of a system's step with this number of streams.
fn entry<'s>(summary: &'s Summary, system: &str, streams: u32, step: &str) -> &'s CellSummary {
    let is_meant = |entry: &&CellSummary| {
        let cell = &entry.cell;
        cell.id.system == system
            && cell.phase == Phase::Still
            && cell.step.word() == step
            && cell.parameters["streams"] == streams
    };
    let found: Vec<&CellSummary> = summary.results.iter().filter(is_meant).collect();
    let [entry] = found.as_slice() else { panic!("{} of {system} {step} {streams}", found.len()) };
    entry
}

/// Asserts that every question was measured with both numbers of streams.
fn is_measured(summary: &Summary, system: &str) {
    for streams in [1, 4] {
        for step in ASKED {
            let entry = entry(summary, system, streams, step);
            assert_eq!(entry.verdict, Verdict::Exact, "{system} {step} {streams}");
            assert!(entry.metrics["questions_per_h"] > 0.0, "{system} {step} {streams}");
            assert!(entry.metrics["question_p50_us"] > 0.0, "{system} {step} {streams}");
        }
        let all = entry(summary, system, streams, "all");
        let is_several = streams > 1;
        assert!(is_several || all.metrics["stream_speedup"] == 1.0, "{:?}", all.metrics);
        assert!(all.metrics["stream_speedup"] > 0.0, "{:?}", all.metrics);
        assert_eq!(all.metrics.contains_key("stream_fairness"), is_several, "{:?}", all.metrics);
    }
    let fairness = entry(summary, system, 4, "all").metrics["stream_fairness"];
    assert!(fairness > 0.0 && fairness <= 1.0, "{fairness}");
}

#[test]
fn each_number_of_streams_is_compared_with_one_stream() {
    let world = World::with(&[mock("ma", json!({})).mixed(), mock("mb", json!({})).mixed()]);
    let summary = world.mix("ma,mb", &[STILL.as_slice(), &["-r", "2"]].concat()).expect(0).summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    for system in ["ma", "mb"] {
        is_measured(&summary, system);
        let all = entry(&summary, system, 4, "all");
        assert!(all.intervals.contains_key("stream_speedup"), "{:?}", all.intervals);
        assert!(!all.cell.parameters.contains_key("writers"), "{:?}", all.cell.parameters);
    }
    assert_eq!(summary.data.documents, 200, "nothing is held back to come in");
    assert!(summary.results.iter().all(|entry| !["both", "alone"].contains(&entry.cell.phase.word())));
    let tables = world.run(&["export", "--tables", "full", &world.text("out")]).expect(0).unbroken();
    for words in
        ["streams on still data", "speed-up", "slowest ÷ fastest", "times of questions on still data"]
    {
        assert!(tables.contains(words), "{words:?} is not in\n{tables}");
    }
    assert!(!tables.contains("questions per hour while documents come in"), "{tables}");
    let sentences: Vec<&str> = summary.answers.iter().map(|answer| answer.sentence.as_str()).collect();
    assert!(sentences.iter().any(|sentence| sentence.contains("4 streams on still data")), "{sentences:?}");
    world.kept("out").is_complete();
    world.nothing_left();
}

#[test]
fn without_one_stream_there_is_no_speed_up() {
    let world = World::with(&[mock("ma", json!({})).mixed()]);
    let summary = world.mix("ma", &["--rate", "0", "--streams", "2"]).expect(0).summary();
    let all = entry(&summary, "ma", 2, "all");
    assert!(!all.metrics.contains_key("stream_speedup"), "{:?}", all.metrics);
    assert!(all.metrics.contains_key("stream_fairness"), "{:?}", all.metrics);
}

#[test]
fn a_wrong_answer_leaves_no_number_of_streams() {
    let fault = json!({ "statement": "q2", "action": "wrong_value", "row": 0, "column": 1 });
    let script = json!({ "faults": [fault] });
    let world = World::with(&[mock("bad", script).mixed(), mock("good", json!({})).mixed()]);
    let summary = world.mix("bad,good", &STILL).expect(1).summary();
    is_measured(&summary, "good");
    let mut failures = summary.failures.iter();
    assert!(failures.any(|failure| failure.kind == FailureKind::Wrong), "{:?}", summary.failures);
    for streams in [1, 4] {
        let all = entry(&summary, "bad", streams, "all");
        assert_eq!(all.verdict, Verdict::Wrong, "{streams}");
        assert!(!all.metrics.contains_key("questions_per_h"), "{:?}", all.metrics);
    }
}

#[test]
fn a_round_of_which_only_some_numbers_of_streams_were_recorded_is_repeated() {
    let world = World::with(&[mock("ma", json!({})).mixed()]);
    world.mix("ma", &[STILL.as_slice(), &["-r", "2"]].concat()).expect(0);
    let is_of_round = |line: &str| line.contains("\"phase\":\"still\"") && line.contains("\"round\":2");
    // One stream is complete, and four streams asked in the same process: each number is compared with one stream.
    is_measured(&resumed_amid_a_unit(&world, ASKED.len(), is_of_round), "ma");
}

#[test]
fn a_run_that_is_killed_goes_on() {
    let world = World::with(&[mock("ma", json!({})).mixed(), mock("mb", json!({})).mixed()]);
    let begin = || world.start_mixed("out", "ma,mb", &STILL);
    let summary = killed_to_its_end(&world, 4, moments(0x5d3b_1c07_66a1_f00d, LATEST_MS), begin, || {});
    for system in ["ma", "mb"] {
        is_measured(&summary, system);
    }
}
