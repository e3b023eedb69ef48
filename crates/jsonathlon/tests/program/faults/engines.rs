//! Engines that crash, hang, print garbage or fail to open. The other system of the run must not be affected.

use std::time::{Duration, Instant};

use jsonathlon_results::summary::Summary;
use jsonathlon_schema::record::{FailureKind, Verdict};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Look, QUESTIONS, World, eventually, mock};

/// Runs a system with this script next to a good one, which must have correct results.
fn beside_a_good_one(script: Value, more: &[&str]) -> (World, Summary, String) {
    let world = World::with(&[mock("bad", script), mock("good", json!({}))]);
    let mut arguments = vec!["-n", "300"];
    arguments.extend(more);
    let ended = world.measure("bad,good", &arguments).expect(1);
    let summary = ended.summary();
    assert!(summary.complete);
    summary.is_right("good");
    world.kept("out").is_complete();
    world.nothing_left();
    (world, summary, ended.stderr)
}

#[test]
fn an_engine_that_dies_while_loading_fails_alone() {
    for (by, words) in [("abort", "SIGABRT"), ("kill", "SIGKILL")] {
        let script =
            json!({"faults": [{"statement": "load", "action": "crash", "signal": by, "after": 150}]});
        let (world, summary, stderr) = beside_a_good_one(script, &["-r", "1"]);
        let load = summary.entry("bad", "load");
        // One record has the message; all others refer to it.
        let journal = std::fs::read_to_string(world.path("out").join("journal.ndjson")).unwrap();
        let words_of = |line: &&str| line.contains(words);
        assert_eq!(journal.lines().filter(words_of).count(), 1, "{journal}");
        let table = world.run(&["export", "--tables", "full", &world.text("out")]).expect(0).stdout;
        let (table, _) = table.split_once("\nanswer\n").unwrap();
        assert_eq!(table.lines().filter(words_of).count(), 1, "{table}");
        assert_eq!((load.verdict, load.median_s), (Verdict::Failed, None));
        let failures = summary.failures_of("bad");
        assert!(failures.iter().all(|failure| failure.kind == FailureKind::Crash), "{failures:?}");
        assert!(failures[0].error.contains(words), "{failures:?}");
        for question in QUESTIONS {
            assert_eq!(summary.hot("bad", question).verdict, Verdict::Failed);
        }
        let (first, last) = (&failures[0], failures.last().unwrap());
        assert_eq!((&first.cause_key, last.cause_key.as_ref()), (&None, Some(&first.key)));
        assert_eq!(last.error, format!("not done, because loading failed: {}", first.error));
        assert!(failures.len() > 20, "{failures:?}");
        assert!(stderr.contains("bad 1.0 plain load: crash: the worker ended"), "{stderr}");
    }
}

#[test]
fn an_engine_that_dies_in_a_trial_beyond_the_planned_ones_has_no_time() {
    // Fast questions get up to twenty hot trials, three of which are planned.
    let script = json!({"faults": [{"statement": "q1", "execution": FIRST_HOT + 7, "action": "crash"}]});
    let (_, summary, _) = beside_a_good_one(script, &["-r", "1"]);
    let hot = summary.hot("bad", "q1");
    assert_eq!((hot.verdict, hot.median_s), (Verdict::Failed, None));
    assert!(
        matches!(summary.failures_of("bad").as_slice(), [one] if one.kind == FailureKind::Crash && one.cell.step.word() == "q1")
    );
    assert_eq!(summary.hot("bad", "q2").verdict, Verdict::Exact);
}

/// Execution number of the first hot trial of a question that takes 120 ms: after the cold one and two
/// warm-up executions.
const FIRST_HOT: u64 = 4;

#[test]
fn an_engine_that_dies_while_answering_loses_that_question_only() {
    for (by, words) in [("abort", "SIGABRT"), ("kill", "SIGKILL")] {
        let script = json!({"delay_ms": {"q3": 120}, "faults": [
            {"statement": "q1", "execution": 1, "action": "crash", "signal": by},
            {"statement": "q3", "execution": FIRST_HOT, "action": "crash", "signal": by},
        ]});
        let (world, summary, _) = beside_a_good_one(script, &["-r", "1"]);
        let cold = summary.cold("bad", "q1");
        assert_eq!((cold.verdict, cold.median_s), (Verdict::Failed, None));
        let cold = summary.cold("bad", "q3");
        assert_eq!((cold.verdict, cold.trials), (Verdict::Exact, 1), "recorded before the engine died");
        let hot = summary.hot("bad", "q3");
        assert_eq!((hot.verdict, hot.trials, hot.median_s), (Verdict::Failed, 0, None));
        let failures = summary.failures_of("bad");
        assert!(failures.iter().all(|failure| failure.kind == FailureKind::Crash), "{failures:?}");
        assert!(failures.iter().all(|failure| failure.error.contains(words)), "{failures:?}");
        assert_eq!(
            failures.iter().filter(|failure| failure.cell.step.word() == "q3").count(),
            3,
            "the planned hot ones"
        );
        for question in ["q2", "q4", "q5", "q6"] {
            assert!(summary.hot("bad", question).median_s.is_some(), "{question}");
        }
        assert!(world.kept("out").work().is_empty());
    }
}

#[test]
fn a_worker_killed_from_outside_is_a_crash_and_the_run_goes_on() {
    let slow = json!({"faults": [{"statement": "q4", "execution": 1, "action": "delay", "ms": 20_000}]});
    let world = World::with(&[mock("bad", slow), mock("good", json!({}))]);
    let running = world.start_measuring("out", "bad,good", &["-n", "300", "-r", "1"]);
    let asks = world.path("out/work/bad@1.0-plain-default/asks.json");
    eventually("q4 is asked", || std::fs::read_to_string(&asks).unwrap_or_default().contains("q4"));
    let workers = world.workers();
    assert_eq!(workers.len(), 1, "exactly one system is up: {:?}", world.processes());
    kill_process(Pid::from_raw(workers[0].try_into().unwrap()).unwrap(), Signal::KILL).unwrap();
    let summary = running.end(Duration::from_secs(15)).expect(1).summary();
    summary.is_right("good");
    summary.is_right_but_for("bad", "q4");
    let failures = summary.failures_of("bad");
    assert!(
        failures.iter().all(|f| f.cell.step.word() == "q4" && f.kind == FailureKind::Crash),
        "{failures:?}"
    );
    assert!(failures[0].error.contains("SIGKILL"), "{failures:?}");
    world.nothing_left();
}

#[test]
fn a_question_that_hangs_is_given_up_and_not_asked_again() {
    let script = json!({"faults": [{"statement": "q2", "action": "hang"}]});
    let begun = Instant::now();
    let (world, summary, _) = beside_a_good_one(script, &["-r", "2", "--timeout", "2s"]);
    assert!(begun.elapsed() < Duration::from_secs(30), "asked again: {:?}", begun.elapsed());
    summary.is_right_but_for("bad", "q2");
    for entry in [summary.cold("bad", "q2"), summary.hot("bad", "q2")] {
        assert_eq!((entry.verdict, entry.median_s), (Verdict::Timeout, None));
    }
    let trials = world.kept("out").trials();
    let of_q2 = trials.iter().filter(|trial| trial.cell.id.system == "bad" && trial.cell.step.word() == "q2");
    for trial in of_q2 {
        let failure = trial.failure.as_ref().unwrap();
        assert_eq!(failure.kind, FailureKind::Timeout);
        let words = if trial.round == 1 { "gave no answer within 2s" } else { "not asked again" };
        // The first trial of a round has the message; the others refer to it.
        assert!(failure.cause_key.is_some() || failure.error.contains(words), "{failure:?}");
    }
}

#[test]
fn a_load_that_hangs_is_limited() {
    let script = json!({"faults": [{"statement": "load", "action": "hang", "after": 100}]});
    let begun = Instant::now();
    let (_, summary, stderr) = beside_a_good_one(script, &["-r", "1", "--load-timeout", "2s"]);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    let load = summary.entry("bad", "load");
    assert_eq!((load.verdict, load.median_s), (Verdict::Timeout, None));
    assert!(summary.failures_of("bad").iter().all(|failure| failure.kind == FailureKind::Timeout));
    assert!(stderr.contains("bad 1.0 plain load: timeout: the worker gave no answer within 2s"), "{stderr}");
}

#[test]
fn rubbish_on_the_protocol_fails_a_question_and_printing_does_not() {
    for (text, times) in [("Segmentation fault (joke)\n", 1), ("{\"id\": 1, \"ok\": ", 3)] {
        let script = json!({"faults": [
            {"statement": "q5", "action": "print", "text": "hello from the engine"},
            {"statement": "q6", "action": "garbage", "text": text, "times": times},
        ]});
        let (world, summary, _) = beside_a_good_one(script, &["-r", "1"]);
        summary.is_right_but_for("bad", "q6");
        for entry in [summary.cold("bad", "q6"), summary.hot("bad", "q6")] {
            assert_eq!((entry.verdict, entry.median_s), (Verdict::Failed, None));
        }
        let failures =
            summary.failures_of("bad").into_iter().filter(|failure| failure.cell.step.word() == "q6");
        let failures: Vec<_> = failures.collect();
        assert_eq!(failures.len(), 4, "one cold trial and the planned hot ones");
        assert!(failures.iter().all(|failure| failure.kind == FailureKind::Protocol), "{failures:?}");
        assert!(failures[0].error.contains(text.trim()), "{failures:?}");
        let log = std::fs::read_to_string(world.path("out/logs/bad@1.0-plain-default.log")).unwrap();
        assert!(log.contains("hello from the engine"), "{log}");
    }
}

#[test]
fn an_engine_that_opens_slowly_is_waited_for_outside_of_the_times() {
    let world = World::with(&[mock("slow", json!({"delay_ms": {"open": 250}}))]);
    let summary = world.measure("slow", &["-n", "300", "-r", "1"]).expect(0).summary();
    summary.is_right("slow");
    for question in QUESTIONS {
        let cold = summary.cold("slow", question);
        assert!(cold.metrics["open_s"] >= 0.25, "{cold:?}");
        assert!(cold.median_s.unwrap() < 0.25, "{cold:?}");
    }
}

#[test]
fn an_engine_that_does_not_open_fails_alone_with_its_own_words() {
    let script =
        json!({"faults": [{"statement": "open", "action": "refuse", "message": "no licence for today"}]});
    let (_, summary, stderr) = beside_a_good_one(script, &["-r", "1"]);
    assert_eq!(summary.entry("bad", "load").verdict, Verdict::Failed);
    assert!(stderr.contains("bad 1.0 plain load: refused: no licence for today"), "{stderr}");
    // If a restart fails, only the question that needed it is lost. The first opening is for the load, the
    // second to measure the size.
    let script = json!({"faults": [{"statement": "open", "execution": 4, "action": "crash"}]});
    let (_, summary, _) = beside_a_good_one(script, &["-r", "1"]);
    let failed: Vec<&str> = QUESTIONS
        .into_iter()
        .filter(|question| summary.cold("bad", question).verdict == Verdict::Failed)
        .collect();
    assert_eq!(failed.len(), 1, "{failed:?}");
    summary.is_right_but_for("bad", failed[0]);
}

#[test]
fn a_refused_question_fails_with_the_systems_own_words() {
    let script =
        json!({"faults": [{"statement": "q6", "action": "refuse", "message": "no such path: langs"}]});
    let (_, summary, stderr) = beside_a_good_one(script, &["-r", "1"]);
    summary.is_right_but_for("bad", "q6");
    assert!(stderr.contains("bad 1.0 plain q6: refused: no such path: langs"), "{stderr}");
}

#[test]
fn a_count_that_is_off_is_a_wrong_load() {
    let (_, summary, _) = beside_a_good_one(json!({"count_off_by": -1}), &["-r", "1"]);
    let load = summary.entry("bad", "load");
    assert_eq!((load.verdict, load.median_s), (Verdict::Wrong, None));
    let error = &summary.failures_of("bad")[0].error;
    assert!(error.contains("299 documents are in the table, 300 were accepted"), "{error}");
}

#[test]
fn another_version_than_the_expected_one_is_not_measured() {
    let (_, summary, stderr) = beside_a_good_one(json!({"version": "mock 0.9"}), &["-r", "1"]);
    assert_eq!(summary.entry("bad", "load").verdict, Verdict::Failed);
    assert!(summary.hot("bad", "q1").median_s.is_none());
    assert!(stderr.contains("mock 0.9") && stderr.contains("mock 1.0"), "{stderr}");
}

#[test]
fn background_work_is_waited_for() {
    let world = World::with(&[mock("lazy", json!({"undrained": 3}))]);
    let summary = world.measure("lazy", &["-n", "300", "-r", "1"]).expect(0).summary();
    summary.is_right("lazy");
    let sizes = summary.entries("lazy", "size");
    let drained = sizes.iter().find(|entry| entry.metrics.contains_key("drained_s")).unwrap();
    assert!(!drained.metrics.contains_key("background_work_left"), "{drained:?}");
}
