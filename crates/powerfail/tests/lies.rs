//! Tests that a program whose syncs have no effect is detected by every power cut, and that it passes with
//! real syncs.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use jsonathlon_powerfail::Disk;

use support::{SIZE, liar, run_isolated};

const CUTS: usize = 10;
/// Ways of the tool `sync` to sync a file: the file and its folder, its data, and its file system.
const SYNCS: [&str; 3] = ["sync file .", "sync --data file .", "sync --file-system file"];

/// Writes a file on the disk, syncs it in this way, and cuts the power. Returns `true` if the file is still
/// there.
fn is_kept(disk: &mut Disk, under: Option<&Path>, sync: &str) -> bool {
    let file = disk.path().join("file");
    fs::remove_file(&file).ok();
    disk.sync().unwrap();
    let mut command = Command::new(under.unwrap_or(Path::new("env")));
    command.args(["sh", "-c", &format!("echo acknowledged > file && {sync}")]).current_dir(disk.path());
    assert!(command.status().unwrap().success(), "{sync}");
    assert!(file.exists(), "{sync}");
    disk.cut_power().unwrap();
    disk.remount().unwrap();
    fs::read_to_string(&file).is_ok_and(|text| text == "acknowledged\n")
}

#[test]
fn what_is_said_to_be_synced_under_a_liar_is_lost_at_every_cut() {
    run_isolated("what_is_said_to_be_synced_under_a_liar_is_lost_at_every_cut", |folder| {
        let liar = liar();
        let mut disk = Disk::create(&folder.join("disk"), SIZE).unwrap();
        for sync in SYNCS {
            assert!(is_kept(&mut disk, None, sync), "{sync}: lost without a liar");
        }
        // The machine-wide `sync` is tried only where it has no effect.
        let ways = SYNCS.into_iter().chain(["sync"]).cycle();
        let caught = ways.take(CUTS).filter(|sync| !is_kept(&mut disk, Some(&liar), sync)).count();
        assert_eq!(caught, CUTS);
        disk.close().unwrap();
    });
}
