//! Crash tests of real systems, one variant each.

use std::time::Duration;

use jsonathlon_results::summary::Summary;

use super::{count, entry, start};
use crate::support::World;
use crate::support::real::{OUTAGE, excluded};

fn crashed(system: &str, more: &[&str]) -> Option<Summary> {
    if excluded(&[system]) || more.contains(&"power") && excluded(&[OUTAGE]) {
        return None;
    }
    let world = World::new();
    let usual = ["-n", "300", "--crash-within", "800ms"];
    let ended = start(&world, system, &[&usual[..], more].concat()).end(Duration::from_secs(400));
    let summary = ended.summary();
    // Next to other tests a system may exceed the window it promises; the run then exits with 1.
    ended.expect(i32::from(!summary.broken_promises.is_empty()));
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    world.nothing_left();
    assert!(world.kept("out").work().is_empty());
    Some(summary)
}

/// Crashes a tier twice that promises to keep everything.
fn keeps_all(system: &str, kind: &str) {
    let Some(summary) = crashed(system, &["--durability", "synced", "--crash", kind]) else { return };
    let found = entry(&summary, system, "synced", kind);
    assert_eq!((count(found, "crashes"), count(found, "crashes_without_loss")), (2, 2), "{found:?}");
    assert!(count(found, "acknowledged_writes") > 10, "{found:?}");
}

/// Crashes a tier with a window ten times. Something must be lost at least once, but nothing far older than
/// the window.
fn loses_inside_its_window(system: &str, window_s: f64) {
    let Some(summary) = crashed(system, &["--durability", "window", "--crashes", "10"]) else { return };
    let found = entry(&summary, system, "window", "process");
    assert_eq!(count(found, "crashes"), 10, "{found:?}");
    assert!(found.metrics["oldest_loss_s"] < 10.0 * window_s, "{found:?}");
    assert!(count(found, "crashes_without_loss") < 10 && count(found, "lost_writes") > 0, "{found:?}");
}

#[test]
fn sqlite_keeps_what_it_synced() {
    keeps_all("sqlite", "process");
}

#[test]
fn sqlite_keeps_what_it_synced_when_the_power_goes() {
    keeps_all("sqlite", "power");
}

#[test]
fn postgresql_keeps_what_it_synced() {
    keeps_all("postgresql", "process");
}

#[test]
fn postgresql_keeps_what_it_synced_when_the_power_goes() {
    keeps_all("postgresql", "power");
}

#[test]
fn postgresql_loses_inside_its_window() {
    loses_inside_its_window("postgresql", 0.6);
}

#[test]
fn mongodb_keeps_what_it_synced() {
    keeps_all("mongodb", "process");
}

#[test]
fn mongodb_loses_inside_its_window() {
    loses_inside_its_window("mongodb", 0.1);
}
