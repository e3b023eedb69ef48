//! Tests which data a power cut loses and which it keeps.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

mod support;

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use jsonathlon_powerfail::{Disk, OutageError};

use support::{SIZE, run_isolated};

/// Id of a user who owns no files.
const NOBODY: u32 = 65534;
/// Bytes of a file that is changed in its middle: several pages.
const LONG: usize = 40_000;

fn sync_folder(folder: &Path) {
    File::open(folder).unwrap().sync_all().unwrap();
}

/// Appends text to a file without syncing it.
fn append(path: &Path, text: &str) -> File {
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

/// Overwrites text in the middle of a file without changing its length.
fn overwrite(path: &Path, text: &str) -> File {
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(LONG as u64 / 2)).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

/// File operations of a program, in a folder of its own.
struct Files<'a>(&'a Path);

impl Files<'_> {
    fn make(&self) {
        fs::create_dir(self.0).unwrap();
        for name in ["appended", "overwritten", "renamed", "replaced", "replacement", "removed"] {
            fs::write(self.0.join(name), "-".repeat(LONG)).unwrap();
        }
    }

    /// Applies all changes; with `synced` also syncs the files and the folder.
    fn change(&self, synced: bool) {
        let path = |name: &str| self.0.join(name);
        let made = |name: &str| {
            let mut file = File::create(path(name)).unwrap();
            file.write_all(b"made").unwrap();
            file
        };
        let files =
            [made("made"), append(&path("appended"), "more"), overwrite(&path("overwritten"), "anew")];
        fs::rename(path("renamed"), path("with a new name")).unwrap();
        fs::rename(path("replacement"), path("replaced")).unwrap();
        fs::create_dir(path("folder")).unwrap();
        fs::remove_file(path("removed")).unwrap();
        fs::hard_link(path("appended"), path("linked")).unwrap();
        if synced {
            files.iter().for_each(|file| file.sync_all().unwrap());
            sync_folder(self.0);
        }
    }

    /// Names of the changes that are visible.
    fn seen(&self) -> Vec<&'static str> {
        let path = |name: &str| self.0.join(name);
        let text = |name: &str| fs::read_to_string(path(name)).unwrap_or_default();
        let middle = text("overwritten").get(LONG / 2..LONG / 2 + 4).unwrap_or_default().to_owned();
        let all = [
            ("made", path("made").exists()),
            ("what was in it", text("made") == "made"),
            ("appended", text("appended").ends_with("more")),
            ("overwritten", middle == "anew"),
            ("renamed", path("with a new name").exists() && !path("renamed").exists()),
            ("replaced", !path("replacement").exists()),
            ("folder", path("folder").is_dir()),
            ("removed", !path("removed").exists()),
            ("linked", path("linked").exists()),
        ];
        all.into_iter().filter_map(|(name, seen)| seen.then_some(name)).collect()
    }
}

#[test]
fn what_was_not_synced_is_gone_and_what_was_is_kept() {
    run_isolated("what_was_not_synced_is_gone_and_what_was_is_kept", |folder| {
        let mut disk = Disk::create(&folder.join("disk"), SIZE).unwrap();
        for round in 0..5 {
            let [synced, unsynced] = [format!("synced {round}"), format!("unsynced {round}")];
            let [synced, unsynced] = [disk.path().join(synced), disk.path().join(unsynced)];
            let [synced, unsynced] = [Files(&synced), Files(&unsynced)];
            synced.make();
            unsynced.make();
            disk.sync().unwrap();
            // The order matters, because the sync of one file may include earlier changes to its neighbours.
            synced.change(true);
            unsynced.change(false);
            assert_eq!(unsynced.seen().len(), 9, "{:?}", unsynced.seen());
            disk.cut_power().unwrap();
            disk.remount().unwrap();
            assert_eq!(synced.seen().len(), 9, "only {:?} is kept", synced.seen());
            assert_eq!(unsynced.seen(), Vec::<&str>::new(), "was not synced");
        }
        // The first synced folder has survived all later power cuts.
        let kept = disk.path().join("synced 0");
        assert_eq!(Files(&kept).seen().len(), 9);
        disk.close().unwrap();
    });
}

#[test]
fn what_is_written_after_a_cut_fails() {
    run_isolated("what_is_written_after_a_cut_fails", |folder| {
        let mut disk = Disk::create(&folder.join("disk"), SIZE).unwrap();
        let path = disk.path().join("file");
        let mut file = File::create(&path).unwrap();
        file.write_all(b"before").unwrap();
        file.sync_all().unwrap();
        sync_folder(disk.path());
        disk.cut_power().unwrap();
        file.write_all(b"after").unwrap_err();
        file.sync_all().unwrap_err();
        file.sync_data().unwrap_err();
        File::create(disk.path().join("new")).unwrap_err();
        fs::rename(&path, disk.path().join("moved")).unwrap_err();
        fs::create_dir(disk.path().join("folder")).unwrap_err();
        disk.sync().unwrap_err();
        // A second power cut has no further effect.
        disk.cut_power().unwrap();
        drop(file);
        disk.remount().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"before");
        fs::write(disk.path().join("new"), "works again").unwrap();
        disk.sync().unwrap();
        disk.close().unwrap();
    });
}

#[test]
fn a_disk_is_seen_by_what_the_program_starts_and_by_nobody_else() {
    run_isolated("a_disk_is_seen_by_what_the_program_starts_and_by_nobody_else", |folder| {
        let mut disk = Disk::create(&folder.join("disk"), SIZE).unwrap();
        let data = disk.path().join("data");
        fs::create_dir(&data).unwrap();
        chown(&data, Some(NOBODY), Some(NOBODY)).unwrap();
        disk.sync().unwrap();
        let mut other = Command::new("sh");
        other.args(["-c", "echo kept > kept && sync kept . && echo lost > lost"]).current_dir(&data);
        assert!(other.uid(NOBODY).gid(NOBODY).status().unwrap().success());
        let outside = format!("/proc/{}/mountinfo", std::os::unix::process::parent_id());
        let outside = fs::read_to_string(outside).unwrap();
        assert!(!outside.contains(disk.path().to_str().unwrap()), "{outside}");
        disk.cut_power().unwrap();
        disk.remount().unwrap();
        assert_eq!(fs::read_to_string(data.join("kept")).unwrap(), "kept\n");
        assert!(!data.join("lost").exists());
        disk.close().unwrap();
    });
}

#[test]
fn a_disk_is_mounted_again_once_those_who_used_it_are_gone() {
    run_isolated("a_disk_is_mounted_again_once_those_who_used_it_are_gone", |folder| {
        let mut disk = Disk::create(&folder.join("disk"), SIZE).unwrap();
        disk.cut_power().unwrap();
        let start = |seconds: &str| {
            Command::new("sleep").arg(seconds).current_dir(disk.path()).stdin(Stdio::null()).spawn().unwrap()
        };
        let mut short = start("0.5");
        let took = disk.remount().unwrap();
        assert!(short.try_wait().unwrap().is_some(), "mounted again after {took:?} under who used it");

        disk.set_unmount_timeout(Duration::from_secs(1));
        let long = Command::new("sleep").arg("1000").current_dir(disk.path()).spawn();
        let mut long = long.unwrap();
        let error = disk.remount().unwrap_err();
        long.kill().unwrap();
        long.wait().unwrap();
        let wanted = format!("sleep ({}): works in {}", long.id(), disk.path().display());
        assert!(matches!(error, OutageError::Held { .. }) && error.to_string().contains(&wanted), "{error}");
        disk.remount().unwrap();
        disk.close().unwrap();
    });
}

#[test]
fn a_disk_that_is_in_use_is_told_by_whom_and_is_nobodys_after_its_end() {
    run_isolated("a_disk_that_is_in_use_is_told_by_whom_and_is_nobodys_after_its_end", |folder| {
        let mut disk = Disk::create(&folder.join("disk"), SIZE).unwrap();
        disk.set_unmount_timeout(Duration::from_secs(1));
        let open = File::create(disk.path().join("open")).unwrap();
        let path = disk.path().to_owned();
        let error = disk.close().unwrap_err().to_string();
        assert!(
            error.contains(&format!("({}): has {} open", std::process::id(), path.join("open").display())),
            "{error}"
        );
        // Only the open file still holds the disk.
        assert!(!path.exists());
        drop(open);
    });
}
