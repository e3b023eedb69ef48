//! The program, or its system, is killed while clients are running.

use jsonathlon_schema::record::Verdict;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::killed::{killed_until_it_ends, moments};
use crate::support::{LIMIT, World, eventually, mock};

/// Default and minimum number of kills of the program; `JSONATHLON_KILLS` may raise it.
const KILLS: u32 = 20;
/// Latest moment of a kill, in ms after the start. A whole run takes longer.
const LATEST_MS: u64 = 1200;

fn kills() -> u32 {
    std::env::var("JSONATHLON_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(KILLS).max(KILLS)
}

#[test]
fn a_run_that_is_killed_goes_on_and_leaves_nobody_behind() {
    let world = World::with(&[mock("ma", json!({})).serving(), mock("mb", json!({})).serving()]);
    let mut next = moments(0x9e37_79b9_7f4a_7c15, LATEST_MS);
    let (mut killed, mut runs) = (0, 0);
    while killed < kills() {
        runs += 1;
        let out = format!("out{runs}");
        let begin = || world.start_serving(&out, "ma,mb", &["--mixes", "a,c"]);
        let (more, _) = killed_until_it_ends(&world, &out, 2 * kills() - killed, &mut next, begin, || {});
        killed += more;
    }
}

#[test]
fn a_worker_that_dies_costs_its_trial_alone() {
    let world = World::with(&[mock("ma", json!({})).serving()]);
    let mut running = world.start_serving(
        "out",
        "ma",
        &["--mixes", "a", "-r", "1", "--clients", "1,2,3", "--duration", "1s"],
    );
    let trials = || {
        let all = world.kept("out").trials();
        all.into_iter().filter(|trial| trial.cell.step.is_workload_step()).count()
    };
    eventually("clients are at work", || {
        running.has_ended() || (world.kept("out").recorded() >= 3 && !world.workers().is_empty())
    });
    eventually("a trial is recorded", || running.has_ended() || trials() >= 1);
    for worker in world.workers() {
        kill_process(Pid::from_raw(worker.try_into().unwrap()).unwrap(), Signal::KILL).ok();
    }
    let summary = running.end(LIMIT).expect(1).summary();
    assert!(summary.complete);
    assert_eq!(summary.failures.len(), 1, "{:?}", summary.failures);
    let right = summary.results.iter().filter(|entry| {
        entry.cell.step.is_workload_step()
            && entry.verdict == Verdict::Exact
            && !entry.cell.parameters.contains_key("operation")
    });
    assert_eq!(right.count(), 2);
}
