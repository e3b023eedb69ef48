//! Tests that nothing of a disk is left if its program is killed at any moment.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

mod support;

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jsonathlon_powerfail::Disk;
use rustix::process::{Pid, Signal, kill_process};

use support::{SIZE, is_excluded, left, nothing_left, own_folder, test_command};

/// Activity of the program at the time of the kill. `mkfs` and `mount` are reported by the wrapped tools.
const STAGES: [&str; 8] = ["enter", "make", "mkfs", "mount", "use", "cut", "again", "close"];
/// Minimum number of kills, raised by `JSONATHLON_KILLS`; then up to `FURTHER` more, until each stage was
/// hit.
const KILLS: u32 = 32;
const FURTHER: u32 = 200;
/// Timeout for reaching a stage.
const LIMIT: Duration = Duration::from_secs(30);
/// Latest moment of a kill, in ms after the stage was seen.
const LATEST_MS: u64 = 6;
/// Environment variable with the file to which stages are written, one per line.
const STAGES_FILE: &str = "JSONATHLON_OUTAGE_TEST_STAGES";

fn say(stage: &str) {
    let file = std::env::var_os(STAGES_FILE).unwrap();
    let mut file = OpenOptions::new().append(true).open(file).unwrap();
    writeln!(file, "{stage}").unwrap();
}

/// Creates, cuts and closes disks until it is killed.
fn hold(folder: &Path) {
    say("enter");
    jsonathlon_powerfail::enter().unwrap();
    loop {
        say("make");
        let mut disk = Disk::create(&folder.join("disk"), SIZE).unwrap();
        say("use");
        fs::write(disk.path().join("file"), vec![b'-'; 1 << 20]).unwrap();
        disk.sync().unwrap();
        fs::write(disk.path().join("file"), "unsynced").unwrap();
        // Uses the disk and outlives the program for a short time.
        let mut user =
            Command::new("sleep").arg("0.2").current_dir(disk.path()).stdin(Stdio::null()).spawn().unwrap();
        say("cut");
        disk.cut_power().unwrap();
        user.kill().unwrap();
        user.wait().unwrap();
        say("again");
        disk.remount().unwrap();
        say("close");
        disk.close().unwrap();
    }
}

/// Writes wrappers of the tools that report their stage first.
fn tools(folder: &Path) {
    for (name, stage) in [("mkfs.ext4", "mkfs"), ("mount", "mount")] {
        let text = format!(
            "#!/bin/sh\necho {stage} >> \"${STAGES_FILE}\"\nPATH=${{PATH#*:}}:/usr/sbin:/sbin\nexec {name} \"$@\"\n"
        );
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Pseudo-random kill moments by Marsaglia's xorshift.
struct Moments(u64);

impl Moments {
    fn new() -> Self {
        let given = std::env::var("JSONATHLON_KILL_SEED").ok().map(|text| text.parse::<u64>().unwrap());
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
        let seed = given.unwrap_or_else(now) | 1;
        println!("the same moments again: JSONATHLON_KILL_SEED={seed}");
        Self(seed)
    }

    fn next(&mut self) -> Duration {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        Duration::from_micros(self.0 % (LATEST_MS * 1000))
    }
}

/// A child process with a disk, to be killed.
struct Holder {
    child: Child,
    stages: PathBuf,
}

impl Holder {
    fn start(test: &str, folder: &Path, tools: &Path) -> Self {
        let stages = tools.join("stages");
        fs::write(&stages, "").unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = test_command(test, folder);
        command.env(STAGES_FILE, &stages).env("PATH", format!("{}:{path}", tools.display()));
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn().unwrap();
        Self { child, stages }
    }

    fn stage(&self) -> String {
        let text = fs::read_to_string(&self.stages).unwrap();
        text.lines().last().unwrap_or_default().to_owned()
    }

    /// Waits until the process is at this stage.
    fn reach(&mut self, stage: &str) {
        let begun = Instant::now();
        while self.stage() != stage {
            assert!(self.child.try_wait().unwrap().is_none(), "it ended by itself");
            assert!(begun.elapsed() < LIMIT, "it never came to {stage}");
        }
    }

    /// Ends the process by this signal. Returns the stage it was at.
    fn end(mut self, signal: Signal) -> String {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        self.child.wait().unwrap();
        self.stage()
    }
}

#[test]
fn nothing_is_left_of_a_program_that_is_killed_at_any_moment() {
    let test = "nothing_is_left_of_a_program_that_is_killed_at_any_moment";
    if let Some(folder) = own_folder() {
        return hold(&folder);
    }
    if is_excluded(test) {
        return;
    }
    let (folder, wrapped) = (support::folder(), tempfile::tempdir().unwrap());
    tools(wrapped.path());
    let mut moments = Moments::new();
    let mut met: BTreeMap<String, u32> = BTreeMap::new();
    let asked = std::env::var("JSONATHLON_KILLS").map_or(0, |text| text.parse::<u32>().unwrap());
    let kills = KILLS.max(asked);
    for (kill, wanted) in (0..kills + FURTHER).zip(STAGES.iter().cycle()) {
        if kill >= kills && STAGES.iter().all(|stage| met.contains_key(*stage)) {
            break;
        }
        let mut holder = Holder::start(test, folder.path(), wrapped.path());
        holder.reach(wanted);
        // Half of the kills happen immediately, so that short stages are hit; the others at any later moment.
        if kill / STAGES.len() as u32 % 2 == 1 {
            std::thread::sleep(moments.next());
        }
        // SIGINT is not used, because shells let background processes ignore it.
        let signal = if kill % 3 == 2 { Signal::TERM } else { Signal::KILL };
        *met.entry(holder.end(signal)).or_default() += 1;
        nothing_left(folder.path());
        let files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        // The mount point may be left as an empty folder.
        assert!(
            files.iter().all(|path| path.ends_with("disk") && fs::remove_dir(path).is_ok()),
            "{files:?} is left"
        );
    }
    println!("kills by what the program was at: {met:?}");
    assert!(STAGES.iter().all(|stage| met.contains_key(*stage)), "not at every stage: {met:?}");
}

/// Like a server under its guard, which needs some time to end after the program was killed.
#[test]
fn a_disk_is_there_as_long_as_anything_of_the_program_is() {
    let test = "a_disk_is_there_as_long_as_anything_of_the_program_is";
    if let Some(folder) = own_folder() {
        jsonathlon_powerfail::enter().unwrap();
        let disk = Disk::create(&folder.join("disk"), SIZE).unwrap();
        let script = "echo ready > ../ready; until [ -e ../go ]; do sleep 0.01; done
            echo 'still there' > file && sync file && cat file > ../written && mv ../written ../done";
        let mut server = Command::new("sh").args(["-c", script]).current_dir(disk.path()).spawn().unwrap();
        server.wait().unwrap();
        return;
    }
    if is_excluded(test) {
        return;
    }
    let folder = support::folder();
    let path = |name: &str| folder.path().join(name);
    let appears = |name: &str| {
        let begun = Instant::now();
        while !path(name).exists() {
            assert!(begun.elapsed() < LIMIT, "there is no {name}");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let mut child =
        test_command(test, folder.path()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    appears("ready");
    child.kill().unwrap();
    child.wait().unwrap();
    let left = left(folder.path());
    for wanted in ["ext4", "/sys/block/loop"] {
        assert!(left.iter().any(|line| line.contains(wanted)), "{wanted} is not in {left:#?}");
    }
    fs::write(path("go"), "").unwrap();
    appears("done");
    assert_eq!(fs::read_to_string(path("done")).unwrap(), "still there\n");
    nothing_left(folder.path());
}
