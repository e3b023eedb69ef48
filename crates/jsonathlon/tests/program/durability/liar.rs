//! A server whose syncs have no effect is detected by every power cut.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::{count, entry, start};
use crate::support::World;
use crate::support::real::{OUTAGE, excluded};

/// Number of power cuts, each of which must detect it.
const CUTS: u64 = 10;

/// Builds the program that disables syncs, and copies it to a place that the server's user can access.
fn liar(world: &World) -> String {
    let outage = concat!(env!("CARGO_MANIFEST_DIR"), "/../powerfail/Cargo.toml");
    // The test executable is `…/debug/deps/test-…`.
    let target = std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned();
    let built = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "--locked",
            "--example",
            "liar",
            "--manifest-path",
            outage,
            "--target-dir",
        ])
        .arg(&target)
        .status();
    assert!(built.unwrap().success(), "the example `liar` cannot be compiled");
    std::fs::copy(target.join("debug/examples/liar"), world.path("liar")).unwrap();
    world.text("liar")
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, target).unwrap();
        }
    }
}

#[test]
fn a_server_whose_syncs_lie_is_caught_by_every_power_cut() {
    if excluded(&["postgresql"]) || excluded(&[OUTAGE]) {
        return;
    }
    let world = World::new();
    let folder = world.path("systems").join("postgresql");
    copy(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../catalogue/systems/postgresql")), &folder);
    let definition = std::fs::read_to_string(folder.join("system.toml")).unwrap();
    let (begins, lies) = ("start = [\n", format!("start = [\n    \"{}\",\n", liar(&world)));
    assert_eq!(definition.matches(begins).count(), 1);
    std::fs::write(folder.join("system.toml"), definition.replace(begins, &lies)).unwrap();
    let crashes = CUTS.to_string();
    let arguments = [
        "--crash",
        "power",
        "--durability",
        "synced",
        "--crashes",
        &crashes,
        "-n",
        "100",
        "--crash-within",
        "700ms",
    ];
    let ended = start(&world, "postgresql", &arguments).end(Duration::from_secs(600));
    let summary = ended.expect(1).summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    let found = entry(&summary, "postgresql", "synced", "power");
    // The server may start with the remaining data, or not start at all.
    assert_eq!((count(found, "crashes"), count(found, "crashes_without_loss")), (CUTS, 0), "{found:?}");
    world.nothing_left();
}
