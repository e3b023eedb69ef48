//! The program, or its system, is killed while writers and streams are at work.

use jsonathlon_schema::record::{FailureKind, Phase, Verdict};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::mixed::{ASKED, ASKING, entry, is_measured};
use crate::support::killed::{Moments, killed_until_it_ends, kills, resumed_amid_a_unit};
use crate::support::{LIMIT, World, eventually, mock};

/// Default number of kills of the program, and of those of them while a real engine works.
const KILLS: u32 = 8;
const REAL_KILLS: u32 = 4;
/// Latest moment of a kill, in ms after the start. A whole run takes longer, and a part of a round less.
const LATEST_MS: u64 = 6000;

/// Kills runs of these systems at random moments and resumes them to their ends, until there were enough kills.
fn goes_on(world: &World, systems: &str, options: &[&str], wanted: u32) {
    let mut moments = Moments::new();
    let (mut killed, mut runs) = (0, 0);
    while killed < wanted {
        runs += 1;
        let out = format!("out{runs}");
        let anew = || {
            // A folder without a plan cannot be resumed, so it is removed.
            std::fs::remove_dir_all(world.path(&out)).ok();
            world.start_mixed(&out, systems, options)
        };
        let pause = || moments.next(LATEST_MS);
        let (kills, summary) = killed_until_it_ends(world, &out, wanted - killed, pause, anew, || {});
        killed += kills;
        for system in systems.split(',') {
            is_measured(&summary, system, Verdict::Exact);
        }
        assert!(runs <= 2 * wanted, "{killed} kills in {runs} runs: choose other moments");
    }
    println!("{killed} kills, {runs} runs continued to their end");
}

#[test]
fn a_run_that_is_killed_goes_on_and_leaves_nobody_behind() {
    let world = World::with(&[mock("ma", json!({})).mixed(), mock("mb", json!({})).mixed()]);
    goes_on(&world, "ma,mb", &["-r", "2"], kills(KILLS));
}

#[test]
fn a_run_of_a_real_engine_that_is_killed_goes_on() {
    let load = ["--variants", "indexed", "-n", "1000", "-r", "2"];
    goes_on(&World::new(), "sqlite", &load, kills(REAL_KILLS));
}

#[test]
fn a_part_of_which_only_some_results_were_recorded_is_repeated() {
    let world = World::with(&[mock("ma", json!({})).mixed()]);
    world.mix("ma", &["-r", "2"]).expect(0);
    let is_of_part = |line: &str| {
        line.contains("\"round\":2")
            && ASKING.iter().any(|phase| line.contains(&format!("\"phase\":\"{}\"", phase.word())))
    };
    // All results of the first phase, and a part of those of the next one.
    let summary = resumed_amid_a_unit(&world, ASKED.len() + 2, is_of_part);
    is_measured(&summary, "ma", Verdict::Exact);
}

#[test]
fn a_worker_that_dies_beside_writers_costs_one_part_of_a_round() {
    let world = World::with(&[mock("ma", json!({})).mixed()]);
    let mut running = world.start_mixed("out", "ma", &["-n", "2000", "--measure", "4s"]);
    let is_writer = |entry: std::io::Result<std::fs::DirEntry>| {
        let name = entry.and_then(|entry| std::fs::read_to_string(entry.path().join("comm")));
        name.is_ok_and(|name| name.starts_with("writer-"))
    };
    let has_writers = |worker: &u32| {
        std::fs::read_dir(format!("/proc/{worker}/task")).is_ok_and(|tasks| tasks.into_iter().any(is_writer))
    };
    eventually("writers are at work", || running.has_ended() || world.workers().iter().any(has_writers));
    for worker in world.workers() {
        kill_process(Pid::from_raw(worker.try_into().unwrap()).unwrap(), Signal::KILL).ok();
    }
    let summary = running.end(LIMIT).expect(1).summary();
    assert!(summary.complete);
    assert!(summary.failures.iter().any(|failure| failure.kind == FailureKind::Crash));
    // What was measured before is there; what was not measured has no number.
    assert_eq!(entry(&summary, "ma", Phase::Still, "all").verdict, Verdict::Exact);
    for phase in [Phase::Both, Phase::Left, Phase::Drained] {
        let entry = entry(&summary, "ma", phase, "all");
        assert!(!entry.metrics.contains_key("questions_per_h"), "{}", phase.word());
    }
    assert_eq!(entry(&summary, "ma", Phase::Alone, "ingest").verdict, Verdict::Exact);
    world.kept("out").is_complete();
    world.nothing_left();
}
