//! Tests in processes of their own, and what may be left of them.

#![allow(dead_code, reason = "each test program uses its own part of this")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use jsonathlon_outage::Disk;

/// What a machine cannot have is left out by name, separated by commas.
const WITHOUT: &str = "JSONATHLON_TEST_WITHOUT";
const OUTAGE: &str = "outage";
/// In the environment of a test's own process: its folder. What it starts inherits it, and is known by it.
const FOLDER: &str = "JSONATHLON_OUTAGE_TEST_FOLDER";
/// Of the disks that tests make, bytes.
pub(crate) const SIZE: u64 = 64 << 20;
/// How long something may take that takes milliseconds.
const LIMIT: Duration = Duration::from_secs(30);

/// Whether the user left these tests out, which nobody shall miss.
pub(crate) fn is_excluded(test: &str) -> bool {
    let names = std::env::var(WITHOUT).unwrap_or_default();
    let excluded = names.split(',').any(|name| name.trim() == OUTAGE);
    if excluded {
        // Past the harness, which shows only what failing tests print.
        let text = format!("{test}: done without {OUTAGE}, excluded by name ({WITHOUT})\n");
        std::io::stderr().write_all(text.as_bytes()).unwrap();
    }
    excluded
}

/// Fails, and says how to do without, where there can be no disk.
fn is_possible(folder: &Path) {
    if let Err(error) = Disk::check(&folder.join("disk"), SIZE) {
        panic!("this test cuts the power of a disk of its own, or is left out ({WITHOUT}={OUTAGE}): {error}");
    }
}

/// The folder of this process, if it is a test's own.
pub(crate) fn own_folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// A folder that everybody may enter, in which a disk can be mounted.
pub(crate) fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    is_possible(folder.path());
    folder
}

/// The command that runs this one test again in a process of its own, in which [`own_folder`] is this one.
pub(crate) fn again(test: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .stdin(Stdio::null());
    command
}

/// Runs the body of the test of this name in a process that is in a mount namespace of its own. Nothing may be left of
/// it, whatever it did.
pub(crate) fn alone(test: &str, body: impl FnOnce(&Path)) {
    if let Some(folder) = own_folder() {
        jsonathlon_outage::enter().unwrap();
        return body(&folder);
    }
    if is_excluded(test) {
        return;
    }
    let folder = folder();
    let ended = again(test, folder.path()).output().unwrap();
    let [out, err] = [&ended.stdout, &ended.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    assert!(ended.status.success(), "{test}: {}\n{out}\n{err}", ended.status);
    assert!(out.contains("1 passed"), "{test} was not run:\n{out}");
    nothing_left(folder.path());
    let files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.is_empty(), "{files:?} is left");
}

/// No mount, loop device or process of the tests in this folder, on the whole machine.
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

/// Everything on the machine that belongs to the tests in this folder, in words.
pub(crate) fn left(folder: &Path) -> Vec<String> {
    let mark = format!("{FOLDER}={}", folder.display());
    let shown = folder.display().to_string();
    let mut found = Vec::new();
    for process in entries("/proc") {
        // Processes come and go while this looks, and some are none.
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
        // What `losetup --all` shows.
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

/// The program under which syncs lie: an example of this crate, compiled when it is not there.
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

/// Where this was compiled to: `…/debug/deps/test-…`.
fn target() -> PathBuf {
    std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned()
}
