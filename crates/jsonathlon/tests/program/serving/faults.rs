//! Real servers that are killed while clients are running, or that get more requests than they accept.

use std::time::{Duration, Instant};

use jsonathlon_schema::record::{FailureKind, Trial, TrialSecond, Verdict};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::real::excluded;
use crate::support::{LIMIT, World};

/// Number of clients of each trial.
const CLIENTS: f64 = 4.0;

/// Returns `true` if a worker has client threads.
fn are_at_work(world: &World) -> bool {
    let is_of_clients = |thread: std::io::Result<std::fs::DirEntry>| {
        let name = thread.and_then(|thread| std::fs::read_to_string(thread.path().join("comm")));
        name.is_ok_and(|name| name.starts_with("clients-"))
    };
    world.workers().iter().any(|worker| {
        std::fs::read_dir(format!("/proc/{worker}/task"))
            .is_ok_and(|threads| threads.into_iter().any(is_of_clients))
    })
}

/// The trials of mixes as a whole, without those of single operations.
fn whole(world: &World) -> Vec<Trial> {
    let is_whole = |trial: &Trial| {
        trial.cell.step.is_workload_step() && !trial.cell.parameters.contains_key("operation")
    };
    world.kept("out").trials().into_iter().filter(is_whole).collect()
}

/// Kills the server in the middle of the first of two trials.
fn survives(system: &str, program: &str) {
    if excluded(&[system]) {
        return;
    }
    let world = World::new();
    let clients = CLIENTS.to_string();
    let mut running = world.start_serving(
        "out",
        system,
        &["--mixes", "churn", "-n", "2k", "--clients", &clients, "--warmup", "200ms", "--duration", "12s"],
    );
    // The clients run first for the warm-up.
    for expected in [true, false, true] {
        let begun = Instant::now();
        while are_at_work(&world) != expected {
            assert!(begun.elapsed() < LIMIT && !running.has_ended(), "no trial begins\n{}", running.stderr());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    // Long enough for writes, even on a busy machine.
    std::thread::sleep(Duration::from_secs(2));
    let is_server = |command: &str| {
        command.split(' ').next().is_some_and(|first| first.ends_with(program))
            && !command.contains("server-")
    };
    // Children of a server usually have higher process ids than the server, so the first match is the process
    // that the guard started.
    let server = world.processes().into_iter().find(|(_, command)| is_server(command));
    let (server, _) = server.unwrap_or_else(|| panic!("no {program} in {:?}", world.processes()));
    kill_process(Pid::from_raw(server.try_into().unwrap()).unwrap(), Signal::KILL).unwrap();

    let summary = running.end(LIMIT).expect(1).says(&["the server ended (signal: 9 (SIGKILL))"]).summary();
    assert!(summary.complete);
    world.nothing_left();
    let is_whole = |trial: &Trial| {
        trial.cell.step.is_workload_step() && !trial.cell.parameters.contains_key("operation")
    };
    let trials: Vec<_> = world.kept("out").trials().into_iter().filter(is_whole).collect();
    let [killed, other] = trials.as_slice() else { panic!("{} trials", trials.len()) };

    assert_eq!(killed.verdict, Verdict::Partial, "{:?}", killed.failure);
    let failure = killed.failure.as_ref().unwrap();
    assert_eq!(failure.kind, FailureKind::Crash);
    assert!(failure.error.contains("and was started again"), "{}", failure.error);
    // All acknowledged writes are still there and correct.
    let (_, read_back) = failure.error.split_once("; ").unwrap();
    let [read, "of", written, ..] = read_back.split(' ').collect::<Vec<_>>()[..] else {
        panic!("{read_back}")
    };
    assert!(read == written && read.parse::<u64>().unwrap() > 0, "{read_back}");
    assert_eq!(killed.metrics["reconnects"], CLIENTS);
    assert_eq!((killed.metrics["wrong_answers"], killed.metrics["unknown_writes"]), (0.0, 0.0));
    assert!(killed.metrics["errors"] >= CLIENTS, "{:?}", killed.metrics);
    // The counters of its first process are lost, so there are no metrics based on them.
    for gone in ["server_cpu_us_per_op", "wal_bytes_per_op", "client_cpu_share"] {
        assert!(!killed.metrics.contains_key(gone), "{gone}: {:?}", killed.metrics);
    }
    // The per-second data shows the interruption, and operations after it.
    let with_errors = |second: &TrialSecond| second.errors > 0;
    let first = killed.per_second.iter().position(with_errors).unwrap();
    let last = killed.per_second.iter().rposition(with_errors).unwrap();
    let operations =
        |seconds: &[TrialSecond]| -> u64 { seconds.iter().map(|second| second.operations).sum() };
    assert!(first >= 1 && operations(&killed.per_second[..first]) > 0, "{:?}", killed.per_second);
    assert!(operations(&killed.per_second[last + 1..]) > 0, "{:?}", killed.per_second);

    assert_eq!((other.verdict, other.metrics["errors"]), (Verdict::Exact, 0.0), "{:?}", other.failure);
    let entry = summary.results.iter().find(|entry| entry.cell == killed.cell).unwrap();
    assert_eq!(entry.verdict, Verdict::Partial, "such a cell is not ranked");
}

#[test]
fn a_killed_postgresql_is_started_again() {
    survives("postgresql", "/postgres");
}

#[test]
fn a_killed_mongodb_is_started_again() {
    survives("mongodb", "/mongod");
}

#[test]
fn more_clients_than_the_server_takes_fail_alone() {
    if excluded(&["postgresql"]) {
        return;
    }
    let world = World::new();
    // By default PostgreSQL accepts 100 connections.
    let ended = world
        .start_serving("out", "postgresql", &["--clients", "2,120", "-r", "2", "-n", "1k", "--mixes", "a"])
        .end(LIMIT)
        .expect(1);
    let summary = ended.says(&["too many clients already", "use fewer clients"]).summary();
    assert!(summary.complete);
    let trials = whole(&world);
    let of = |clients: u64| -> Vec<&Trial> {
        trials.iter().filter(|trial| trial.cell.parameters["clients"] == clients).collect()
    };
    assert_eq!((of(2).len(), of(120).len()), (2, 2));
    for trial in of(2) {
        assert_eq!((trial.verdict, trial.metrics["errors"]), (Verdict::Exact, 0.0), "{:?}", trial.failure);
    }
    for trial in of(120) {
        assert_eq!(trial.verdict, Verdict::Failed);
        let words = &trial.failure.as_ref().unwrap().error;
        assert!(words.contains(" of 120: ") && words.contains("too many clients already"), "{words}");
    }
    world.nothing_left();
}

#[test]
fn what_is_larger_than_the_server_takes_is_an_error_in_its_words() {
    if excluded(&["mongodb"]) {
        return;
    }
    let world = World::new();
    // One command holds a whole batch, and a MongoDB command must not exceed 16 MB.
    let mix = "requests = \"uniform\"\n[operations]\nread = 0.5\ninsert-batch = 0.5\n";
    let mix = world.file("large.toml", mix);
    let large = ["--documents", "size", "--document-size", "64", "--batch-size", "300"];
    let ended = world
        .start_serving(
            "out",
            "mongodb",
            &[&["--mixes", &mix, "-r", "1", "--duration", "5s"], &large[..]].concat(),
        )
        .end(LIMIT);
    let ended = ended.says(&["Size must be between"]);
    assert!(ended.code() <= 1);
    let trial = whole(&world).remove(0);
    assert_eq!(trial.verdict, Verdict::Partial, "{:?}", trial.failure);
    assert!(trial.metrics["errors"] > 0.0 && trial.metrics["operations"] > 0.0, "{:?}", trial.metrics);
    assert_eq!((trial.metrics["wrong_answers"], trial.metrics["records_at_end"]), (0.0, 200.0));
    world.nothing_left();
}
