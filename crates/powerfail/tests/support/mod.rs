//! Runs tests in separate processes, and checks what they leave behind.

#![allow(dead_code, reason = "each test program uses its own part of this")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use jsonathlon_powerfail::Disk;

/// Environment variable with the comma-separated names of what tests must do without.
const WITHOUT: &str = "JSONATHLON_TEST_WITHOUT";
const OUTAGE: &str = "outage";
/// Environment variable with the folder of a test's own process. Children inherit it, which identifies them.
const FOLDER: &str = "JSONATHLON_OUTAGE_TEST_FOLDER";
/// Size in bytes of the disks that tests create.
pub(crate) const SIZE: u64 = 64 << 20;
/// Timeout for operations that normally take milliseconds.
const LIMIT: Duration = Duration::from_secs(30);

/// Returns `true` if the user excluded these tests, and prints that.
pub(crate) fn is_excluded(test: &str) -> bool {
    let names = std::env::var(WITHOUT).unwrap_or_default();
    let excluded = names.split(',').any(|name| name.trim() == OUTAGE);
    if excluded {
        // Prints past the test harness, which shows only the output of failing tests.
        let text = format!("{test}: done without {OUTAGE}, excluded by name ({WITHOUT})\n");
        std::io::stderr().write_all(text.as_bytes()).unwrap();
    }
    excluded
}

/// Fails if disks cannot be created here; the message tells how to exclude these tests.
fn is_possible(folder: &Path) {
    if let Err(error) = Disk::check(&folder.join("disk"), SIZE) {
        panic!("this test cuts the power of a disk of its own, or is left out ({WITHOUT}={OUTAGE}): {error}");
    }
}

/// The folder of this process. `None` if it is not a test's own process.
pub(crate) fn own_folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// A folder that is accessible to all users, in which a disk can be mounted.
pub(crate) fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    is_possible(folder.path());
    folder
}

/// The command that runs only this test in a separate process, in which [`own_folder`] returns `folder`.
pub(crate) fn test_command(test: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .stdin(Stdio::null());
    command
}

/// Runs the body of the named test in a separate process with its own mount namespace. Nothing of it may be
/// left, whatever it did.
pub(crate) fn run_isolated(test: &str, body: impl FnOnce(&Path)) {
    if let Some(folder) = own_folder() {
        jsonathlon_powerfail::enter().unwrap();
        return body(&folder);
    }
    if is_excluded(test) {
        return;
    }
    let folder = folder();
    let ended = test_command(test, folder.path()).output().unwrap();
    let [out, err] = [&ended.stdout, &ended.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    assert!(ended.status.success(), "{test}: {}\n{out}\n{err}", ended.status);
    assert!(out.contains("1 passed"), "{test} was not run:\n{out}");
    nothing_left(folder.path());
    let files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.is_empty(), "{files:?} is left");
}

/// Asserts that no mount, loop device or process of the tests in this folder is left on the whole machine.
pub(crate) fn nothing_left(folder: &Path) {
    let begun = Instant::now();
    loop {
        let left = left(folder);
        if left.is_empty() {
            return;
        }
        assert!(begun.elapsed() < LIMIT, "left after {LIMIT:?}: {left:#?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Lists everything on the machine that belongs to the tests in this folder.
pub(crate) fn left(folder: &Path) -> Vec<String> {
    let mark = format!("{FOLDER}={}", folder.display());
    let shown = folder.display().to_string();
    let mut found = Vec::new();
    for process in entries("/proc") {
        // Entries without this file are skipped: processes that have just ended, and entries that are no
        // processes.
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes()) {
            let command = fs::read(process.join("cmdline")).unwrap_or_default();
            found.push(format!(
                "{}: {}",
                process.display(),
                String::from_utf8_lossy(&command).replace('\0', " ")
            ));
        }
        // Each process sees the mounts of its own namespace.
        let mounts = fs::read_to_string(process.join("mountinfo")).unwrap_or_default();
        let mounts = mounts.lines().filter(|line| line.contains(&shown));
        found.extend(mounts.map(|line| format!("{}: {line}", process.display())));
    }
    for device in entries("/sys/block") {
        // The backing file, as `losetup --all` shows it.
        let image = fs::read_to_string(device.join("loop/backing_file")).unwrap_or_default();
        if image.contains(&shown) {
            found.push(format!("{}: {}", device.display(), image.trim()));
        }
    }
    found
}

fn entries(folder: &str) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).unwrap().filter_map(|entry| Some(entry.ok()?.path()))
}

/// Path of the program that disables syncs: an example of this crate, compiled if necessary.
pub(crate) fn liar() -> PathBuf {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--example", "liar"])
        .args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")])
        .arg("--target-dir")
        .arg(target())
        .status();
    assert!(built.unwrap().success(), "the example `liar` cannot be compiled");
    target().join("debug/examples/liar")
}

/// The target directory of this test, whose executable is `…/debug/deps/test-…`.
fn target() -> PathBuf {
    std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned()
}
