//! Power cuts, over a mock that syncs, one that does not, and one that does not care.

use serde_json::json;

use crate::support::World;
use crate::support::real::{OUTAGE, excluded};
use crate::{count, entry, keeping, run, stops};

const POWER: [&str; 2] = ["--kind", "power"];

fn found(keeps: serde_json::Value) -> Option<(World, jsonathlon_results::summary::Summary)> {
    if excluded(&[OUTAGE]) {
        return None;
    }
    let world = World::with(&[keeping("ma", keeps, json!([]))]);
    let summary = run(&world, "ma", &[&POWER[..], &["--disk", "64MB"]].concat()).expect(0).summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    world.nothing_left();
    assert!(world.kept("out").work().is_empty());
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains(&world.text("")), "{mounts}");
    Some((world, summary))
}

#[test]
fn what_was_synced_outlives_a_power_cut() {
    let Some((world, summary)) = found(json!({"syncs": true})) else { return };
    let found = entry(&summary, "ma", "synced", "power");
    assert_eq!((count(found, "stops"), count(found, "stops_kept")), (2, 2), "{found:?}");
    assert!(count(found, "acknowledged_writes") > 0);
    assert_eq!(count(found, "writes_after_cut"), 0);
    let table = world.run(&["export", "-f", "markdown", &world.text("out")]).expect(0).stdout;
    assert!(table.contains("kept in 2 of 2 power cuts"), "{table}");
}

#[test]
fn what_was_not_synced_is_lost_and_a_kill_alone_would_not_show_it() {
    let Some((_world, summary)) = found(json!({})) else { return };
    let found = entry(&summary, "ma", "synced", "power");
    assert_eq!((count(found, "stops"), count(found, "stops_kept")), (2, 0), "{found:?}");
    assert_eq!(count(found, "lost_writes"), count(found, "acknowledged_writes"), "{found:?}");
    assert!(stops(found).iter().all(|finding| finding.state == "promise broken"), "{found:?}");
}

#[test]
fn what_is_acknowledged_after_the_cut_is_told() {
    let Some((_world, summary)) = found(json!({"syncs": true, "is_careless": true})) else { return };
    let found = entry(&summary, "ma", "synced", "power");
    assert_eq!(count(found, "lost_writes"), 0, "{found:?}");
    // It goes on for a moment in the dark.
    assert!(count(found, "writes_after_cut") > 0, "{found:?}");
    assert!(stops(found).iter().any(|one| one.told() == "kept: acknowledged after the cut"), "{found:?}");
}
