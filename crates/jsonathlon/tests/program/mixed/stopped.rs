//! A server that stands still for a while beside writers: everything that waited for it must show it.

use std::fs::DirEntry;
use std::time::Duration;

use jsonathlon_schema::record::{Phase, Trial, TrialSecond, Verdict};
use rustix::process::{Pid, Signal, kill_process};

use crate::mixed::{entry, is_measured};
use crate::support::real::excluded;
use crate::support::{LIMIT, World, eventually_within};

/// Time for which the server stands still. It is one whole second of the series at least, whenever it begins.
const STILLNESS: Duration = Duration::from_secs(2);
/// Time that a batch and a question of the measured window must have taken. Even if the server stops when the writers
/// begin, which is half a second before the window, it stands still for longer after the first batch of the window.
const SHOWN_US: f64 = 1e6;
/// Names of the threads of writers and of streams, without their numbers.
const CLIENTS: [&str; 2] = ["writer-", "stream-"];
/// Number of times that each of them must have waited before the server stops.
const LEAST_WAITS: u64 = 30;
/// Documents that may come in last for longer than the phase.
const LOAD: [&str; 10] =
    ["-n", "4000", "--growth", "150%", "--rate", "1000", "--batch", "100", "--measure", "5s"];

/// Processes that stand still until this is dropped.
struct Stopped(Vec<Pid>);

impl Stopped {
    /// Stops a process and all of its descendants. Those that are stopped start no others.
    fn new(process: u32) -> Self {
        let mut stopped = Self(Vec::new());
        let mut left = vec![process];
        while let Some(process) = left.pop() {
            let pid = Pid::from_raw(process.try_into().unwrap()).unwrap();
            // A child may have ended by itself.
            if kill_process(pid, Signal::STOP).is_ok() {
                stopped.0.push(pid);
                left.extend(children(process));
            }
        }
        stopped
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        for process in &self.0 {
            kill_process(*process, Signal::CONT).ok();
        }
    }
}

fn children(process: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    children.unwrap_or_default().split_whitespace().map(|child| child.parse().unwrap()).collect()
}

/// Whether writers and streams of a worker have waited for their server a few dozen times.
fn is_beside(worker: &u32) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{worker}/task")) else { return false };
    // Threads may end during the iteration.
    let status =
        |thread: std::io::Result<DirEntry>| std::fs::read_to_string(thread.ok()?.path().join("status")).ok();
    let states: Vec<String> = threads.filter_map(status).collect();
    CLIENTS.iter().all(|name| {
        let mut clients =
            states.iter().filter(|state| state.starts_with(&format!("Name:\t{name}"))).peekable();
        clients.peek().is_some() && clients.all(|state| waits(state) >= LEAST_WAITS)
    })
}

/// How often a thread has waited for something, by its status.
fn waits(status: &str) -> u64 {
    let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    count.map_or(0, |count| count.trim().parse().unwrap())
}

/// Process id of the only server of this world that a command starts with this program.
fn server(world: &World, program: &str) -> u32 {
    let is_server = |command: &str| command.split(' ').next().unwrap_or_default().ends_with(program);
    let found: Vec<_> = world.processes().into_iter().filter(|(_, command)| is_server(command)).collect();
    let [(pid, _)] = found.as_slice() else { panic!("{found:?}") };
    *pid
}

/// The only trial of a step beside writers.
fn beside(trials: &[Trial], step: &str) -> Vec<TrialSecond> {
    let is_meant = |trial: &&Trial| trial.cell.phase == Phase::Both && trial.cell.step.word() == step;
    let found: Vec<&Trial> = trials.iter().filter(is_meant).collect();
    let [trial] = found.as_slice() else { panic!("{} trials of {step}", found.len()) };
    trial.per_second.clone()
}

#[test]
fn a_server_that_stands_still_beside_writers_is_seen_in_responses_and_in_every_second() {
    if excluded(&["postgresql"]) {
        return;
    }
    let world = World::new();
    let all = [LOAD.as_slice(), &["--variants", "generated"]].concat();
    let mut running = world.start_mixed("out", "postgresql", &all);
    // The server may have to be installed first.
    eventually_within(LIMIT, "writers are at work beside streams", || {
        running.has_ended() || world.workers().iter().any(is_beside)
    });
    assert!(!running.has_ended(), "{}", running.stderr());
    let stopped = Stopped::new(server(&world, "postgres"));
    assert!(stopped.0.len() > 4, "the server and its processes for writers and streams: {:?}", stopped.0);
    std::thread::sleep(STILLNESS);
    assert!(world.workers().iter().any(is_beside), "the phase ended while its server stood still");
    drop(stopped);
    let summary = running.end(LIMIT).expect(0).summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    // What stands still is late, and neither wrong nor stale.
    is_measured(&summary, "postgresql", Verdict::Exact);
    let questions = entry(&summary, "postgresql", Phase::Both, "all");
    assert!(questions.findings.is_empty(), "{:?}", questions.findings);
    let writers = &entry(&summary, "postgresql", Phase::Both, "ingest").metrics;
    assert!(writers["insert_response_max_us"] >= SHOWN_US, "{writers:?}");

    let trials = world.kept("out").trials();
    for (step, least_usual) in [("ingest", 100), ("all", 2)] {
        let seconds = beside(&trials, step);
        let operations: Vec<u64> = seconds.iter().map(|second| second.operations).collect();
        println!("{step}, second by second: {operations:?}");
        let has_dip = |pair: &[u64]| pair.contains(&0) && pair.iter().any(|count| *count >= least_usual);
        // The last second is cut short by the end of the phase.
        let whole = operations.split_last().map(|(_, whole)| whole).unwrap_or_default();
        assert!(has_dip(whole), "{step}: {operations:?}");
        let longest_us = seconds.iter().map(|second| second.longest_us).fold(0.0, f64::max);
        assert!(longest_us >= SHOWN_US, "{step}: {seconds:?}");
    }
    world.nothing_left();
}
