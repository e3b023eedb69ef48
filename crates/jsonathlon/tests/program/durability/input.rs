//! Invalid options and missing prerequisites of `run durability`.

use serde_json::json;

use super::{entry, keeping, run};
use crate::support::{LIMIT, MARK, PROGRAM, Running, World};

#[test]
fn options_that_make_no_sense_are_refused_in_words() {
    let world = World::with(&[keeping("ma", json!({}), json!([]))]);
    for (arguments, words) in [
        (&["--durability", "synced,windows"][..], "no durability tier `windows`"),
        (&["--durability", "process"], "has none of the selected durability tiers"),
        (&["--rounds", "3"], "unexpected argument '--rounds'"),
        (&["--system", "ma=/nowhere"], "unexpected argument '--system'"),
        (&["--crash-within", "1h"], "too long"),
        (&["--crash", "fire"], "process, power"),
    ] {
        run(&world, "ma", arguments).expect(2).says(&[words]);
    }
}

/// Runs power cuts as a user other than root, or as root with a view of the machine that `setup` changes.
fn with_power(world: &World, way: &[&str], setup: &str, more: &str) -> crate::support::Ended {
    let (systems, out) = (world.text("systems"), world.text("out"));
    let text = format!(
        "{setup}\nexec '{PROGRAM}' run durability --systems-dir '{systems}' -s ma --json -o '{out}' -n 20 \
         --crashes 1 --crash-within 200ms {more}"
    );
    let mut command = std::process::Command::new("unshare");
    command.args(way).args(["sh", "-c", &text]).current_dir(world.path("")).env(MARK, world.path(""));
    command.stdin(std::process::Stdio::null());
    Running::start(command, &world.path("")).end(LIMIT)
}

#[test]
fn who_is_not_root_is_told_so_and_gets_the_rest() {
    let world = World::with(&[keeping("ma", json!({}), json!([]))]);
    let way = ["--user", "--map-user=1000", "--map-group=1000"];
    let summary = with_power(&world, &way, "", "--crash process,power").expect(0).summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    assert_eq!(super::count(entry(&summary, "ma", "synced", "process"), "crashes_without_loss"), 1);
    let power = entry(&summary, "ma", "synced", "power");
    assert_eq!(power.verdict.word(), "not_applicable");
    let table = world.run(&["export", "-f", "markdown", &world.text("out")]).expect(0).stdout;
    assert!(table.contains("not applicable: needs root"), "{table}");
}
