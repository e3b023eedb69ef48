//! Each loss that is planted in a mock must be found, and none where nothing is planted.

use serde_json::json;

use super::{count, crashes, entry, keeping, run, script};
use crate::support::{LIMIT, World, mock};

#[test]
fn what_keeps_its_promise_is_said_to() {
    let world = World::with(&[keeping("ma", json!({}), json!([]))]);
    let summary = run(&world, "ma", &[]).expect(0).summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    let found = entry(&summary, "ma", "synced", "process");
    for name in ["crashes", "crashes_without_loss", "crashes_as_promised"] {
        assert_eq!(count(found, name), 2, "{name}");
    }
    for name in [
        "lost_writes",
        "lost_documents",
        "torn_documents",
        "writes_out_of_order",
        "writes_acknowledged_after_crash",
    ] {
        assert_eq!(count(found, name), 0, "{name}");
    }
    assert!(count(found, "acknowledged_writes") > 20, "{found:?}");
    assert!(crashes(found).iter().all(|finding| finding.state.as_str() == "nothing lost"), "{found:?}");
    let table = world.run(&["export", "-f", "markdown", &world.text("out")]).expect(0).stdout;
    assert!(table.contains("kept in 2 of 2 kills"), "{table}");
    assert!(!table.contains("crashes that lost data"), "{table}");
    assert!(world.kept("out").work().is_empty());
    world.nothing_left();
}

#[test]
fn a_planted_loss_is_found_and_is_out_of_order_where_later_writes_are_there() {
    let world = World::with(&[keeping("ma", json!({"loss_interval": 7}), json!([]))]);
    let summary = run(&world, "ma", &[]).expect(1).summary();
    let found = entry(&summary, "ma", "synced", "process");
    assert_eq!((count(found, "crashes"), count(found, "crashes_without_loss")), (2, 0));
    let lost = count(found, "lost_writes");
    // A lost update may be hidden by a later one that is not lost.
    assert!(lost > 0 && lost <= count(found, "acknowledged_writes") / 7 + 1, "{found:?}");
    assert!(count(found, "writes_out_of_order") > 0, "{found:?}");
    for finding in crashes(found) {
        assert_eq!(finding.describe(), "promise broken: out of order");
        assert!(finding.observed.as_ref().unwrap().contains("was acknowledged"), "{finding:?}");
    }
    let table = world.run(&["export", "-f", "markdown", &world.text("out")]).expect(0).stdout;
    assert!(table.contains("kept in 0 of 2 kills") && table.contains("crash 2: promise broken"), "{table}");
    // Broken promises come first, with a remark whether the machine was busy.
    assert!(summary.failures.is_empty() && summary.broken_promises.len() == 1, "{summary:?}");
    let first: Vec<&str> = table.lines().filter(|line| !line.is_empty()).take(3).collect();
    assert_eq!(first[0], "## DURABILITY PROMISE BROKEN");
    let words = ["synced tier, process crash: promise broken in 2 of 2 crashes", "acknowledged writes lost"];
    assert!(first[1].contains("✖ ") && words.iter().all(|words| first[1].contains(words)), "{}", first[1]);
    assert!(first[2].contains("the machine"), "{}", first[2]);
    let broken = &summary.broken_promises[0];
    assert!(broken.machine_stall_s.is_some() && broken.lost_writes == lost, "{broken:?}");
}

#[test]
fn a_torn_value_is_found() {
    let world = World::with(&[keeping("ma", json!({"tear_interval": 9}), json!([]))]);
    let summary = run(&world, "ma", &[]).expect(1).summary();
    let found = entry(&summary, "ma", "synced", "process");
    assert!(count(found, "torn_documents") > 0 && count(found, "lost_writes") == 0, "{found:?}");
    assert!(crashes(found).iter().all(|finding| finding.describe() == "promise broken: torn"), "{found:?}");
}

/// A mock with a `window` tier: it acknowledges `together` writes before it stores them, and claims to lose
/// up to `ms` ms.
fn with_window(together: u64, ms: u32) -> World {
    let lossy = script(json!({"batch_writes": together}), json!([])).to_string();
    let lines = format!(
        "[serving.durability.window]\nprocess_crash = \"up to {ms} ms\"\nprocess_crash_ms = {ms}\n\
         power_loss = \"anything\"\nopen = {{ settings = {{ script = '{lossy}' }} }}\n"
    );
    let system = crate::support::mock("ma", script(json!({}), json!([]))).serving_with(&lines);
    World::with(&[system])
}

#[test]
fn what_a_tier_may_lose_is_lost_inside_its_window() {
    let world = with_window(1_000, 20_000);
    let summary = run(&world, "ma", &["--crashes", "3"]).expect(0).summary();
    let synced = entry(&summary, "ma", "synced", "process");
    assert_eq!((count(synced, "crashes_without_loss"), count(synced, "lost_writes")), (3, 0));
    let window = entry(&summary, "ma", "window", "process");
    let counts = (count(window, "crashes_without_loss"), count(window, "crashes_as_promised"));
    assert_eq!(counts, (0, 3), "{window:?}");
    assert!(count(window, "lost_writes") > 0 && count(window, "writes_out_of_order") == 0, "{window:?}");
    assert!(
        crashes(window).iter().all(|finding| finding.state.as_str() == "lost within its window"),
        "{window:?}"
    );
    assert_eq!(window.finding("promise").unwrap().state.as_str(), "up to 20000 ms");
}

#[test]
fn what_is_lost_beyond_its_window_is_found() {
    let world = with_window(1_000, 1);
    let summary = run(&world, "ma", &["--durability", "window", "--crashes", "1"]).expect(1).summary();
    let window = entry(&summary, "ma", "window", "process");
    assert_eq!(count(window, "crashes_as_promised"), 0);
    assert_eq!(crashes(window)[0].state.as_str(), "lost beyond its window");
    let shown = world.run(&["export", "-f", "markdown", &world.text("out")]).expect(0).stdout;
    assert!(
        shown.contains("promise broken in 1 of 1 crash, ")
            && shown.contains(" old where 1.00 ms are allowed"),
        "{shown}"
    );
}

/// A memory setting as in the folders of real systems; its value depends on the memory budget.
const POOL: &str = r#"
[profiles.sized]
least = "1MB"
[[profiles.sized.setting]]
name = "pool"
share = 0.5
unit = "MiB"
text = "{{amount}}MB"
stock = "128MB"
source = "its documentation"
"#;

#[test]
fn what_was_shown_holds_for_what_differs_in_memory_and_for_nothing_else() {
    let keeps = |each: u64| mock("ma", script(json!({"loss_interval": each}), json!([]))).serving_with(POOL);
    let world = World::with(&[keeps(7)]);
    // No memory option, as in typical commands. The system breaks its promise, so the run exits with 1.
    run(&world, "ma", &["--crashes", "1"]).expect(1);
    let tiers = |out: &str, more: &[&str]| {
        let all = [&["-n", "50", "-r", "1", "--mixes", "c"], more].concat();
        world.start_serving(out, "ma", &all).end(LIMIT).expect(0);
        world.run(&["export", "-f", "markdown", &world.text(out)]).expect(0).stdout
    };
    let shown = "synced: a process crash loses nothing (kept in 0 of 1 kill, as promised in 0, ";
    for (out, more) in
        [("plain", &[][..]), ("small", &["--memory", "300MB"]), ("stock", &["--profile", "stock"])]
    {
        let table = tiers(out, more);
        assert!(table.contains(shown), "{out}: {table}");
    }
    // The same system with other settings: nothing is known about it.
    keeps(8).write(&world.path("systems"));
    let table = tiers("other", &[]);
    assert!(table.contains("synced, as documented, not tested: a process crash loses nothing"), "{table}");
}

#[test]
fn what_was_shown_stands_beside_the_tier_in_serving() {
    let world = World::with(&[keeping("ma", json!({"loss_interval": 7}), json!([]))]);
    let tiers = |out: &str| {
        let served = world.start_serving(out, "ma", &["-n", "50", "-r", "1", "--mixes", "c"]);
        served.end(LIMIT).expect(0);
        world.run(&["export", "-f", "markdown", &world.text(out)]).expect(0).stdout
    };
    let table = tiers("before");
    assert!(table.contains("synced, as documented, not tested: a process crash loses nothing"), "{table}");
    run(&world, "ma", &[]).expect(1);
    let table = tiers("after");
    // A run that measures in this tier says first that the promise is broken, but does not fail itself.
    assert!(table.starts_with("## DURABILITY PROMISE BROKEN"), "{table}");
    let words = "synced: a process crash loses nothing (kept in 0 of 2 kills, as promised in 0, ";
    assert!(table.contains(words), "{table}");
    assert!(table.contains("a power loss nothing (as documented, not tested)"), "{table}");
}
