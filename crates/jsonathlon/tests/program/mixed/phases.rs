//! What a run without faults measures, phase by phase.

use jsonathlon_schema::record::{Phase, Verdict};
use serde_json::json;

use crate::mixed::{ASKING, entry, is_measured};
use crate::support::{LIMIT, World, mock};

#[test]
fn every_phase_is_measured_and_every_answer_is_right() {
    let world = World::with(&[mock("ma", json!({})).mixed(), mock("mb", json!({})).mixed()]);
    let summary = world.mix("ma,mb", &["-r", "2"]).expect(0).summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    let pool = world.kept("out").manifest().settings.workload.mixed.unwrap().pool.unwrap();
    assert_eq!((summary.data.documents, pool.documents, pool.left_out), (200, 200, 0));
    // Writers alone have enough documents for a fast system: 50,000 for each of 0.15 s.
    assert_eq!(pool.alone, Some(7_500));
    for system in ["ma", "mb"] {
        is_measured(&summary, system, Verdict::Exact);
        let all = |phase| entry(&summary, system, phase, "all");
        for (phase, factor) in
            [(Phase::Both, "interference"), (Phase::Left, "debt"), (Phase::Drained, "disorder")]
        {
            assert!(all(phase).metrics[factor] > 0.0, "{system} {factor}");
            assert!(all(phase).intervals.contains_key(factor), "{system} {factor}");
        }
        assert!(all(Phase::Still).metrics["seen_cost"] > 0.0);
        let writers = entry(&summary, system, Phase::Both, "ingest");
        assert!(writers.metrics["kept_share"] > 0.0 && writers.metrics["backlog_documents"] >= 0.0);
        // Questions beside writers saw documents come in, and none of them too late.
        assert!(all(Phase::Both).metrics["stale_max_ms"] >= 0.0);
        assert_eq!(all(Phase::Both).metrics["holes"], 0.0);
        assert!(all(Phase::Both).findings.is_empty(), "{:?}", all(Phase::Both).findings);
    }
    world.kept("out").is_complete();
    world.nothing_left();
}

#[test]
fn writers_alone_insert_more_than_may_come_in_beside_questions() {
    let world = World::with(&[mock("ma", json!({})).mixed()]);
    let load = ["--growth", "20%", "--batch", "4", "--rate", "60", "--measure", "1s"];
    let summary = world.mix("ma", &load).expect(0).summary();
    is_measured(&summary, "ma", Verdict::Exact);
    let inserted = |phase| entry(&summary, "ma", phase, "ingest").metrics["documents"];
    assert!(inserted(Phase::Both) <= 40.0, "{}", inserted(Phase::Both));
    assert!(inserted(Phase::Alone) > 40.0, "{}", inserted(Phase::Alone));
    // With documents of the user's own, the first ones are all that there is.
    let events = world.events("events.ndjson", &["-n", "400"]);
    let ended = world.start_mixed("own", "ma", &["--data", &events]).end(LIMIT).expect(0);
    let pool = world.kept("own").manifest().settings.workload.mixed.unwrap().pool.unwrap();
    assert_eq!((pool.documents, pool.alone), (200, None));
    assert!(entry(&ended.summary(), "ma", Phase::Alone, "ingest").metrics["documents"] <= 200.0);
}

#[test]
fn a_rate_that_a_system_does_not_keep_is_told_beside_it() {
    let fault = json!({ "statement": "mix_insert", "action": "delay", "ms": 100 });
    let world = World::with(&[mock("ma", json!({ "faults": [fault] })).mixed()]);
    // Two writers send at most 200 documents per second.
    let summary = world.mix("ma", &["-n", "2000", "--rate", "1000"]).expect(0).summary();
    let writers = entry(&summary, "ma", Phase::Both, "ingest");
    assert!(writers.metrics["kept_share"] < 0.5 && writers.metrics["backlog_documents"] > 0.0);
    let tables = world.run(&["export", "--tables", "full", &world.text("out")]).expect(0).unbroken();
    assert!(tables.contains("of 1.00k/s"), "{tables}");
}

#[test]
fn cells_say_how_many_write_and_ask_what() {
    let world = World::with(&[mock("ma", json!({})).mixed()]);
    let summary = world.mix("ma", &["--writers", "3", "--streams", "1", "--rate", "90"]).expect(0).summary();
    for phase in ASKING.into_iter().chain([Phase::Alone]) {
        let step = if phase == Phase::Alone { "ingest" } else { "all" };
        let parameters = &entry(&summary, "ma", phase, step).cell.parameters;
        assert_eq!(parameters["writers"], 3, "{}", phase.word());
        assert_eq!(parameters["streams"], 1, "{}", phase.word());
        // Writers alone are always measured at full speed.
        let rate = if phase == Phase::Alone { json!("max") } else { json!(90.0) };
        assert_eq!((&parameters["batch"], &parameters["rate"]), (&json!(10), &rate), "{}", phase.word());
    }
}

#[test]
fn documents_that_some_system_may_refuse_come_in_for_none() {
    let world = World::with(&[mock("ma", json!({})).mixed(), mock("mb", json!({})).mixed()]);
    let events = std::fs::read_to_string(world.events("events.ndjson", &["-n", "400"])).unwrap();
    let file = world.file("more.ndjson", format!("{{\"kind\":\"x\",\"kind\":\"y\"}}\n{events}"));
    let ended = world.mix("ma,mb", &["--data", &file]).expect(0);
    let ended = ended.says(&["come in for no system, because some system may refuse them: 1"]);
    is_measured(&ended.summary(), "mb", Verdict::Exact);
    let pool = world.kept("out").manifest().settings.workload.mixed.unwrap().pool.unwrap();
    assert_eq!((pool.documents, pool.left_out), (200, 1));
}

#[test]
fn tables_show_phases_writers_and_answers() {
    let world = World::with(&[mock("ma", json!({})).mixed(), mock("mb", json!({})).mixed()]);
    world.mix("ma,mb", &["-r", "2"]).expect(0);
    let tables = world.run(&["export", "--tables", "full", &world.text("out")]).expect(0).unbroken();
    for words in [
        "questions per hour while documents come in",
        "interference",
        "times of questions, growth taken out",
        "writers beside questions",
        "answers beside writers",
        "no steady state is claimed",
    ] {
        assert!(tables.contains(words), "{words:?} is not in\n{tables}");
    }
    for format in ["csv", "json", "markdown"] {
        let exported = world.run(&["export", "-f", format, &world.text("out")]).expect(0).stdout;
        assert!(exported.contains("questions") && exported.contains("mb"), "{format}\n{exported}");
    }
}
