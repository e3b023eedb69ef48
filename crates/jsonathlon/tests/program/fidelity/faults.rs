//! Documents that crash an engine, engines that hang or do not start, and a program that is killed.

use serde_json::json;

use super::{run, start, told};
use crate::support::killed::{killed_to_its_end, moments};
use crate::support::{World, mock};

const FIVE: &str = "literal-null,literal-true,literal-false,key-empty,key-dot";

#[test]
fn a_document_that_ends_the_engine_is_a_finding_and_the_others_go_on() {
    let crash = |by: &str| json!({"statement": "one_put", "execution": 3, "action": "crash", "signal": by});
    let lose = json!({"statement": "one_put", "execution": 3, "action": "disconnect", "message": "the server is gone"});
    for fault in [crash("abort"), crash("kill"), lose] {
        let world = World::with(&[mock("ma", json!({"faults": [fault]})).fidelity("")]);
        let summary = run(&world, "ma", &["--cases", FIVE]).expect(0).summary();
        assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
        let ended = |entry: &&jsonathlon_results::summary::CellSummary| {
            entry
                .finding("parameter")
                .is_some_and(|finding| finding.state.as_str() == "crashed" && finding.message.is_some())
        };
        assert_eq!(summary.results.iter().filter(ended).count(), 1, "{fault}");
        for way in ["bulk, whole", "parameter, whole"] {
            let came_back = summary.results.iter().filter(|entry| entry.finding(way).is_some()).count();
            assert_eq!(came_back, if way.starts_with("bulk") { 5 } else { 4 }, "{fault}: {way}");
        }
        let report = world.run(&["export", "-f", "markdown", &world.text("out")]).expect(0).stdout;
        assert!(report.contains("ends or hangs"), "{report}");
        world.nothing_left();
    }
}

#[test]
fn an_engine_that_hangs_over_a_document_is_ended() {
    let script = json!({"faults": [{"statement": "one_read", "execution": 2, "action": "hang"}]});
    let world = World::with(&[mock("ma", script).fidelity("")]);
    let ended = run(&world, "ma", &["--cases", "literal-null,literal-true", "--timeout", "1s"]).expect(0);
    let summary = ended.summary();
    assert!(summary.complete);
    let hung = summary
        .results
        .iter()
        .flat_map(|entry| &entry.findings)
        .filter(|finding| finding.state.as_str() == "hung");
    assert!(hung.count() > 0);
    world.nothing_left();
}

#[test]
fn an_engine_that_never_comes_up_fails_its_cells_and_no_other() {
    let never = json!({"faults": [{"statement": "open", "action": "refuse", "message": "no room"}]});
    let world = World::with(&[mock("ma", never).fidelity(""), mock("mb", json!({})).fidelity("")]);
    let summary = run(&world, "ma,mb", &["--cases", FIVE]).expect(1).summary();
    assert!(summary.complete);
    assert_eq!(summary.failures.len(), 5);
    assert!(
        summary.failures.iter().all(|failure| failure.error.contains("no room")),
        "{:?}",
        summary.failures
    );
    assert!(summary.failures.iter().any(|failure| failure.error.contains("3 times in a row")));
    assert_eq!(told(&summary, "mb", "key-dot")["parameter, whole"], "same bytes");
}

#[test]
fn a_run_that_is_killed_goes_on_where_it_was() {
    let world = World::with(&[mock("ma", json!({})).fidelity(""), mock("mb", json!({})).fidelity("")]);
    let begin = || start(&world, "ma,mb", &["--cases", "key-,number-,space-"]);
    killed_to_its_end(&world, 6, moments(0x9e37_79b9_7f4a_7c15, 700), begin, || {});
}
