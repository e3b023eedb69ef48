//! Other programs that use the processors: a warning before the run, waiting for them, and a caveat after it.

use std::process::{Child, Command, Stdio};

use rustix::process::Signal;
use serde_json::json;

use crate::support::{Ended, LIMIT, Running, WAIT_QUIET, World, eventually, mock};

/// Loop that keeps a core busy while the process with the first argument exists.
const LOOP: &str =
    "while kill -0 \"$0\" 2>/dev/null; do i=0; while [ $i -lt 10000 ]; do i=$((i+1)); done; done";

/// Processes that keep every core busy until this is dropped, and at most until this test program ends.
struct BusyLoops(Vec<Child>);

impl BusyLoops {
    fn start() -> Self {
        let start = |_| {
            let mut shell = Command::new("sh");
            shell.args(["-c", LOOP, &std::process::id().to_string()]);
            shell.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
        };
        Self((0..usable_cores()).map(start).collect())
    }
}

impl Drop for BusyLoops {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // An error means that the process has ended.
            child.kill().ok();
            child.wait().ok();
        }
    }
}

fn usable_cores() -> usize {
    std::thread::available_parallelism().unwrap().get()
}

/// Whether processes of this test can keep most cores of the machine busy; they cannot in a container that has
/// few of them.
fn has_all_cores() -> bool {
    let stat = std::fs::read_to_string("/proc/stat").unwrap();
    let is_core = |line: &&str| line.starts_with("cpu") && !line.starts_with("cpu ");
    let has_all = stat.lines().filter(is_core).count() == usable_cores();
    if !has_all {
        eprintln!("not tested, since this machine has more cores than may be used here");
    }
    has_all
}

/// A system that answers slowly, so that there are trials over a second and more.
fn world() -> World {
    World::with(&[mock("ma", json!({"delay_ms": {"load": 200, "q1": 50, "q2": 50}}))])
}

/// Starts a run that looks for other programs, unlike those of other tests.
fn start(world: &World, more: &[&str]) -> Running {
    let (systems, out) = (world.text("systems"), world.text("out"));
    let mut command = world.command(&["run", "--systems-dir", &systems, "-s", "ma", "-o", &out]);
    command.args(["--no-yardstick", "-n", "300", "-r", "3", "--load-rounds", "1"]);
    command.args(more).env_remove(WAIT_QUIET);
    Running::start(command, &world.path(""))
}

/// Where these words begin in standard error, in which they are exactly once.
fn place(ended: &Ended, words: &str) -> usize {
    assert_eq!(ended.stderr.matches(words).count(), 1, "{words:?} in\n{}", ended.stderr);
    ended.stderr.find(words).unwrap()
}

#[test]
fn busy_processors_are_warned_of_before_the_run_and_are_a_caveat_after_it() {
    if !has_all_cores() {
        return;
    }
    let world = world();
    let _loops = BusyLoops::start();
    let ended = start(&world, &[]).end(LIMIT).expect(0);
    let warning = place(&ended, "warning: other programs are using the processors (");
    assert!(warning < place(&ended, "staging documents"), "{}", ended.stderr);
    let ended = ended.says(&["stop them, or wait with --wait-quiet 2m"]);
    assert!(ended.unbroken().contains("repeat on a quiet machine"), "{}", ended.stdout);
}

#[test]
fn a_run_that_waited_in_vain_begins_with_the_warning() {
    if !has_all_cores() {
        return;
    }
    let world = world();
    let _loops = BusyLoops::start();
    let ended = start(&world, &["--wait-quiet", "2s"]).end(LIMIT).expect(0);
    let waiting = place(&ended, "waiting for a quiet machine, 2 s at most: other programs");
    let warning = place(&ended, "stop them (2 s of waiting did not help)");
    assert!(waiting < warning && warning < place(&ended, "staging documents"), "{}", ended.stderr);
}

#[test]
fn a_run_that_waits_can_be_interrupted_and_leaves_nothing() {
    if !has_all_cores() {
        return;
    }
    let world = world();
    let _loops = BusyLoops::start();
    let running = start(&world, &["--wait-quiet", "1h"]);
    eventually("it waits", || running.stderr().contains("waiting for a quiet machine"));
    running.signal(Signal::INT);
    running.end(LIMIT).expect(4).says(&["no trial had finished; start the run again"]);
    assert!(!world.path("out").exists());
    world.nothing_left();
}

#[test]
fn a_run_that_shall_not_look_does_not_warn() {
    let world = world();
    let _loops = BusyLoops::start();
    let ended = start(&world, &["--wait-quiet", "0"]).end(LIMIT).expect(0);
    assert!(!ended.stderr.contains("other programs"), "{}", ended.stderr);
    // It still says how long it takes, before it begins.
    assert!(place(&ended, "this run takes about ") < place(&ended, "staging documents"), "{}", ended.stderr);
    world.run(&["run", "--wait-quiet", "soon"]).expect(2).says(&["\"soon\" is no time", "90s"]);
}
