//! Power cuts of a mock that syncs, one that does not, and one that ignores failed syncs.

use std::process::Command;

use serde_json::json;

use super::{count, crashes, entry, keeping, run};
use crate::support::real::{OUTAGE, excluded};
use crate::support::{LIMIT, MARK, PROGRAM, Running, World};

const POWER: [&str; 2] = ["--crash", "power"];

fn found(keeps: serde_json::Value, code: i32) -> Option<(World, jsonathlon_results::summary::Summary)> {
    if excluded(&[OUTAGE]) {
        return None;
    }
    let world = World::with(&[keeping("ma", keeps, json!([]))]);
    let summary = run(&world, "ma", &[&POWER[..], &["--disk-size", "64MB"]].concat()).expect(code).summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    world.nothing_left();
    assert!(world.kept("out").work().is_empty());
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains(&world.text("")), "{mounts}");
    Some((world, summary))
}

#[test]
fn what_was_synced_outlives_a_power_cut() {
    let Some((world, summary)) = found(json!({"syncs": true}), 0) else { return };
    let found = entry(&summary, "ma", "synced", "power");
    assert_eq!((count(found, "crashes"), count(found, "crashes_without_loss")), (2, 2), "{found:?}");
    assert!(count(found, "acknowledged_writes") > 0);
    assert_eq!(count(found, "writes_acknowledged_after_crash"), 0);
    let table = world.run(&["export", "-f", "markdown", &world.text("out")]).expect(0).stdout;
    assert!(table.contains("kept in 2 of 2 power cuts"), "{table}");
}

#[test]
fn what_was_not_synced_is_lost_and_a_kill_alone_would_not_show_it() {
    let Some((_world, summary)) = found(json!({}), 1) else { return };
    let found = entry(&summary, "ma", "synced", "power");
    assert_eq!((count(found, "crashes"), count(found, "crashes_without_loss")), (2, 0), "{found:?}");
    assert_eq!(count(found, "lost_writes"), count(found, "acknowledged_writes"), "{found:?}");
    assert!(crashes(found).iter().all(|finding| finding.state.as_str() == "promise broken"), "{found:?}");
}

#[test]
fn what_is_acknowledged_after_the_cut_is_told() {
    let Some((_world, summary)) = found(json!({"syncs": true, "ignores_write_errors": true}), 0) else {
        return;
    };
    let found = entry(&summary, "ma", "synced", "power");
    assert_eq!(count(found, "lost_writes"), 0, "{found:?}");
    // The mock continues for a moment after the power cut.
    assert!(count(found, "writes_acknowledged_after_crash") > 0, "{found:?}");
    assert!(
        crashes(found).iter().any(|one| one.describe() == "nothing lost: acknowledged after the cut"),
        "{found:?}"
    );
}

#[test]
fn a_disk_that_cannot_be_is_told_and_a_disk_that_is_too_small_fails() {
    if excluded(&[OUTAGE]) {
        return;
    }
    let world = World::with(&[keeping("ma", json!({"syncs": true}), json!([]))]);
    for (size, words) in [("1MB", "too few for a file system with a log"), ("900GB", "bytes are free at")] {
        std::fs::remove_dir_all(world.path("out")).ok();
        let summary = run(&world, "ma", &[&POWER[..], &["--disk-size", size]].concat()).expect(0).summary();
        assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
        assert_eq!(entry(&summary, "ma", "synced", "power").verdict.word(), "not_applicable");
        let table = world.run(&["export", "-f", "markdown", &world.text("out")]).expect(0).stdout;
        assert!(table.contains("not applicable: ") && table.contains(words), "{table}");
    }
    std::fs::remove_dir_all(world.path("out")).ok();
    let small = ["--disk-size", "34MB", "-n", "60000", "--crashes", "1"];
    let summary = run(&world, "ma", &[&POWER[..], &small].concat()).expect(1).summary();
    assert!(summary.complete);
    assert!(summary.failures[0].error.contains("choose a larger --disk-size"), "{:?}", summary.failures);
    world.nothing_left();
}

/// Runs the program without loop devices, or without the tool that creates a file system.
#[test]
fn what_the_machine_lacks_is_told() {
    if excluded(&[OUTAGE]) {
        return;
    }
    let (systems, bind) = ("systems", "mount --bind /dev/null");
    for (setup, words) in [
        (
            "mount -t tmpfs none /dev && touch /dev/null && chmod 666 /dev/null",
            "there is no /dev/loop-control",
        ),
        (
            "for folder in /usr/sbin /sbin /usr/bin /bin; do [ ! -x $folder/mkfs.ext4 ] || MOUNT $folder/mkfs.ext4; done",
            "there is no mkfs.ext4",
        ),
    ] {
        let world = World::with(&[keeping("ma", json!({"syncs": true}), json!([]))]);
        let (systems, out) = (world.text(systems), world.text("out"));
        let setup = setup.replace("MOUNT", bind);
        let text = format!(
            "set -e\n{setup}\nexec '{PROGRAM}' run durability --systems-dir '{systems}' -s ma --json -o '{out}' -n 20 \
             --crashes 1 --crash-within 200ms --crash power --disk-size 64MB"
        );
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", &text]).current_dir(world.path("")).env(MARK, world.path(""));
        let summary = Running::start(command, &world.path("")).end(LIMIT).expect(0).summary();
        assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
        let table = world.run(&["export", "-f", "markdown", &world.text("out")]).expect(0).stdout;
        assert!(table.contains("not applicable: ") && table.contains(words), "{table}");
        world.nothing_left();
    }
}
