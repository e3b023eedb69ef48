//! Crash tests of systems that do not start again, and of a program that is killed.

use std::time::Duration;

use jsonathlon_schema::record::FailureKind;
use serde_json::json;

use super::{count, crashes, entry, keeping, run, start};
use crate::support::World;
use crate::support::killed::killed_to_its_end;
use crate::support::real::{OUTAGE, excluded};

/// Openings of a mock before a crash: for the load, for the session, and for each of three clients.
const OPENINGS: u64 = 5;

#[test]
fn a_system_that_does_not_start_after_a_crash_is_a_finding_with_its_last_words() {
    let fault = json!([{"statement": "open", "execution": OPENINGS + 1, "action": "refuse", "message": "the log is damaged"}]);
    let world = World::with(&[keeping("ma", json!({}), fault), keeping("mb", json!({}), json!([]))]);
    let summary = run(&world, "ma,mb", &[]).expect(1).summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    let found = entry(&summary, "ma", "synced", "process");
    assert_eq!((count(found, "crashes"), count(found, "crashes_without_loss")), (2, 0));
    for finding in crashes(found) {
        assert_eq!(finding.state.as_str(), "does not start");
        assert!(finding.message.as_ref().unwrap().contains("the log is damaged"), "{finding:?}");
    }
    assert_eq!(count(entry(&summary, "mb", "synced", "process"), "crashes_without_loss"), 2);
    world.nothing_left();
}

#[test]
fn a_system_that_hangs_in_recovery_is_given_up_in_time() {
    let fault = json!([{"statement": "open", "execution": OPENINGS + 1, "action": "hang"}]);
    let world = World::with(&[keeping("ma", json!({}), fault)]);
    let summary = run(&world, "ma", &["--crashes", "1", "--recovery-timeout", "1s"]).expect(1).summary();
    let found = entry(&summary, "ma", "synced", "process");
    let state = crashes(found)[0].state.as_str();
    assert_eq!((state, count(found, "crashes_without_loss")), ("hangs in recovery", 0));
    world.nothing_left();
}

#[test]
fn a_system_that_ends_while_it_is_read_is_a_finding() {
    let fault = json!([{"statement": "kv_read", "execution": 20, "action": "crash", "signal": "kill"}]);
    let world = World::with(&[keeping("ma", json!({}), fault)]);
    let summary = run(&world, "ma", &["--crashes", "1"]).expect(1).summary();
    let found = entry(&summary, "ma", "synced", "process");
    assert_eq!(
        (crashes(found)[0].describe().as_str(), count(found, "crashes_without_loss")),
        ("unreadable after the crash: crash", 0)
    );
}

#[test]
fn a_crash_before_which_nothing_was_acknowledged_tells_nothing() {
    let refuse = |of: &str| json!({"statement": of, "action": "refuse", "message": "read only"});
    let world = World::with(&[keeping("ma", json!({}), json!([refuse("kv_update"), refuse("kv_insert")]))]);
    let summary = run(&world, "ma", &["--crashes", "1"]).expect(1).summary();
    assert!(summary.failures[0].error.contains("nothing to crash: read only"), "{:?}", summary.failures);
}

#[test]
fn a_system_that_ends_by_itself_before_its_crash_fails() {
    let fault = json!([{"statement": "kv_update", "execution": 3, "action": "crash", "signal": "kill"}]);
    let world = World::with(&[keeping("ma", json!({}), fault)]);
    let summary = run(&world, "ma", &["--crashes", "1", "--crash-within", "10s"]).expect(1).summary();
    assert_eq!(summary.failures[0].kind, FailureKind::Crash, "{:?}", summary.failures);
    world.nothing_left();
}

/// Kills and resumes a run repeatedly.
fn killed_again_and_again(kind: &str) {
    let world = World::with(&[
        keeping("ma", json!({"syncs": true}), json!([])),
        keeping("mb", json!({"syncs": true}), json!([])),
    ]);
    let begin = || start(&world, "ma,mb", &["--crashes", "4", "--crash", kind, "--disk-size", "64MB"]);
    let mut pauses = (0..).map(|kill| Duration::from_millis(400 + 370 * kill));
    let summary = killed_to_its_end(
        &world,
        4,
        || pauses.next().unwrap(),
        begin,
        || {
            // Its mounts were private to the program and ended with it.
            let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
            assert!(!mounts.contains(&world.text("")), "{mounts}");
        },
    );
    for system in ["ma", "mb"] {
        let found = entry(&summary, system, "synced", kind);
        assert_eq!((count(found, "crashes"), count(found, "crashes_without_loss")), (4, 4));
    }
}

#[test]
fn a_run_that_is_killed_goes_on_where_it_was() {
    killed_again_and_again("process");
}

#[test]
fn a_run_that_is_killed_leaves_no_disk_and_goes_on_where_it_was() {
    if !excluded(&[OUTAGE]) {
        killed_again_and_again("power");
    }
}
