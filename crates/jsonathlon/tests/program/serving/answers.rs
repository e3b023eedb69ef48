//! Tests of answers in the serving workload and of their verification.

use jsonathlon_schema::record::{FailureKind, Trial, Verdict};
use serde_json::json;

use crate::support::{World, mock};

/// The trials of mixes as a whole, without those of single operations.
fn trials(world: &World) -> Vec<Trial> {
    let all = world.kept("out").trials();
    all.into_iter()
        .filter(|trial| {
            trial.cell.step.is_workload_step() && !trial.cell.parameters.contains_key("operation")
        })
        .collect()
}

fn world(script: serde_json::Value) -> World {
    World::with(&[mock("ma", script).serving()])
}

#[test]
fn every_answer_is_checked_and_every_figure_recorded() {
    let world = world(json!({}));
    // Long enough for the rarest operation even next to other tests.
    let ended = world.serve("ma", &["--mixes", "a,c,d,e,f,churn,insert", "--duration", "500ms"]).expect(0);
    let summary = ended.summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    let kept = world.kept("out");
    kept.is_complete();
    assert!(kept.work().is_empty());
    let trials = trials(&world);
    assert_eq!(trials.len(), 7 * 2, "seven mixes in two rounds");
    // Next to other tests, half a second may be too short for CPU usage to be read in every trial.
    assert!(
        trials
            .iter()
            .any(|trial| trial.metrics.get("server_cpu_us_per_op").is_some_and(|spent| *spent > 0.0))
    );
    for trial in trials {
        assert_eq!(trial.verdict, Verdict::Exact, "{:?}", trial.failure);
        for figure in ["throughput_ops_per_s", "service_p50_us", "service_max_us"] {
            assert!(
                trial.metrics.get(figure).is_some_and(|value| *value > 0.0),
                "{figure}: {:?}",
                trial.metrics
            );
        }
        for none in ["errors", "lost_updates"] {
            assert!(trial.metrics[none] == 0.0, "{none} of {}: {trial:?}", trial.cell.step);
        }
        assert!(trial.histograms.contains_key("service") && !trial.per_second.is_empty());
    }
}

#[test]
fn what_is_stale_truncated_or_anothers_is_wrong() {
    for (spoilt, words) in [("stale", "version"), ("truncated", ""), ("another_key", "")] {
        // Once, in the middle of the first trial: after the reads of the warm-up and before the end.
        let world = world(json!({"faults": [{"statement": "kv_read", "action": spoilt}]}));
        let ended = world.serve("ma", &["-r", "1"]).expect(1);
        let summary = ended.summary();
        let failure = summary.failures.iter().find(|failure| failure.kind == FailureKind::Wrong);
        let failure = failure.unwrap_or_else(|| panic!("{spoilt}: {:?}", summary.failures));
        assert!(failure.error.contains(words), "{spoilt}: {}", failure.error);
        let fast = summary.results.iter().filter(|entry| entry.cell.step.is_workload_step());
        for entry in fast {
            assert!(!matches!(entry.verdict, Verdict::Exact), "{spoilt}: {entry:?}");
        }
    }
}

#[test]
fn one_wrong_answer_among_many_is_found() {
    // The warm-up does not scan, so the fault hits the first trial.
    let world = world(json!({"faults": [{"statement": "kv_scan", "execution": 700, "action": "truncated"}]}));
    let ended =
        world.serve("ma", &["-r", "1", "--mixes", "e", "--duration", "2s", "--warmup", "1ms"]).expect(1);
    let failures = ended.summary().failures;
    assert!(failures.iter().any(|failure| failure.error.starts_with("1 answer was wrong")), "{failures:?}");
    let trial = trials(&world).remove(0);
    assert_eq!(trial.verdict, Verdict::Wrong);
    assert!(trial.histograms.is_empty(), "nothing of it can be shown as if it were right");
}

#[test]
fn conflicts_are_tried_again_and_counted() {
    let conflict = json!({"statement": "kv_update", "action": "conflict", "message": "deadlock found", "execution": 500});
    let world = world(json!({"faults": [conflict]}));
    world.serve("ma", &["-r", "1", "--warmup", "1ms", "--duration", "1s"]).expect(0);
    let trial = trials(&world).remove(0);
    assert_eq!(trial.metrics["retries"], 1.0);
    assert_eq!(trial.metrics["errors"], 0.0);
}

#[test]
fn refusals_are_errors_and_a_trial_of_errors_is_no_fast_one() {
    let refuse = json!({"statement": "kv_update", "action": "refuse", "message": "no space left"});
    let world = world(json!({"faults": [refuse]}));
    let ended = world.serve("ma", &["-r", "1"]);
    let trial = trials(&world).remove(0);
    assert_eq!(trial.verdict, Verdict::Partial);
    assert!(trial.metrics["errors"] > 0.0);
    assert!(ended.stderr.contains("no space left"), "{}", ended.stderr);
}

#[test]
fn a_connection_that_breaks_is_opened_again() {
    let lose =
        json!({"statement": "kv_update", "action": "disconnect", "message": "gone away", "execution": 500});
    let world = world(json!({"faults": [lose]}));
    world.serve("ma", &["-r", "1", "--duration", "1s", "--warmup", "1ms"]).expect(0);
    let trial = trials(&world).remove(0);
    assert_eq!((trial.metrics["reconnects"], trial.metrics["errors"]), (1.0, 1.0), "{:?}", trial.metrics);
    assert_eq!(trial.verdict, Verdict::Exact, "one in thousands");
}

#[test]
fn a_rate_that_cannot_be_reached_shows_itself() {
    let world = world(json!({"delay_ms": {"kv_read": 5}}));
    world
        .serve("ma", &["-r", "1", "--mixes", "c", "--rates", "2000", "--clients", "2", "--duration", "1s"])
        .expect(0);
    let open =
        trials(&world).into_iter().find(|trial| trial.cell.parameters.contains_key("rate_per_s")).unwrap();
    assert_eq!(open.verdict, Verdict::Exact);
    assert!(open.metrics["missed_arrivals"] > 100.0, "{:?}", open.metrics);
    assert!(open.metrics["backlog_max"] > 100.0);
    assert!(open.metrics["response_p99_us"] > 20.0 * open.metrics["service_p50_us"], "{:?}", open.metrics);
}

#[test]
fn the_highest_rate_that_meets_the_slo_is_found() {
    let world = world(json!({"delay_ms": {"kv_read": 2}}));
    world.serve("ma", &["-r", "1", "--mixes", "c", "--slo", "p50<50ms", "--clients", "4"]).expect(0);
    let found = trials(&world).into_iter().find(|trial| trial.cell.parameters.contains_key("slo")).unwrap();
    let rate = found.metrics["slo_ops_per_s"];
    assert!(rate > 100.0 && rate < 2100.0, "{rate}");
    assert!(found.metrics["slo_broken_ops_per_s"] >= rate);
}

#[test]
fn what_a_system_does_not_have_is_said() {
    let world = world(json!({}));
    let ended = world.serve("ma", &["-r", "1", "--mixes", "c,find"]).expect(0);
    let summary = ended.summary();
    let find = summary.results.iter().find(|entry| entry.cell.step.word() == "find").unwrap();
    assert_eq!(find.verdict, Verdict::NotApplicable);
    let refused = trials(&world).into_iter().find(|trial| trial.cell.step.word() == "find").unwrap();
    let failure = refused.failure.unwrap();
    assert_eq!(failure.kind, FailureKind::Refused);
    assert!(failure.error.contains("it has no find"), "{}", failure.error);
}
