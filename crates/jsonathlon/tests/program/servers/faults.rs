//! Faults of real servers during a run with a second, healthy system: the cell fails with the server's own
//! message, has no time, and the other system's results are not affected.

use jsonathlon_results::summary::Summary;
use jsonathlon_schema::record::{FailureKind, Verdict};
use rustix::process::{Signal, kill_process};

use super::server::{pid, process};
use crate::support::disk::with_small_disk;
use crate::support::real::excluded;
use crate::support::{LIMIT, Look, QUESTIONS, World, eventually};

/// Asserts that this system has a failed load with this message and no metrics, and that the other one is
/// correct.
fn lost_its_load(summary: &Summary, system: &str, kind: FailureKind, words: &str) {
    failed_alone(summary, system, &[words]);
    let load = summary.entry(system, "load");
    assert_eq!((load.verdict, load.median_s), (Verdict::Failed, None));
    assert!(!load.metrics.contains_key("documents_loaded"), "{load:?}");
    assert_eq!(summary.failures_of(system)[0].kind, kind);
}

/// Asserts that this system has no time for any question, that one of `words` is the reason, and that the
/// other system is correct.
fn failed_alone(summary: &Summary, system: &str, words: &[&str]) {
    assert!(summary.complete, "{:?}", summary.failures);
    summary.is_right("sqlite");
    for question in QUESTIONS {
        for entry in [summary.cold(system, question), summary.hot(system, question)] {
            assert_eq!((entry.verdict, entry.median_s), (Verdict::Failed, None), "{question}");
        }
    }
    let failures = summary.failures_of(system);
    assert!(words.iter().any(|words| failures[0].error.contains(words)), "{failures:?}");
}

/// Runs with a disk that fills up while a server loads `documents` documents; `ready` is the log line to wait
/// for. The documents must need far more space than is left, because otherwise the run's own records would
/// not fit either. The memory is little, because the logs of some systems are a part of it and are allocated
/// before they are ready: 2 GiB of them would fill the disk without the test.
fn disk_is_full(system: &str, ready: &str, documents: &str) -> Summary {
    let world = World::new();
    // One variant of each system, because the disk is small.
    let variants = if system == "mongodb" { "indexed" } else { "indexed,json-only" };
    let script = format!(
        r#"
$plain "$jsonathlon" run --systems-dir "$systems" -s sqlite,{system} --variants {variants} -n {documents} -r 1 -t 3 --json --no-yardstick --memory 1GB \
    -o "$small/out" 2> "$saved.log" &
run=$!
until grep -qs '{ready}' "$small"/out/logs/*.server.log; do
    kill -0 $run || {{ cat "$saved.log" >&2; exit 9; }}
    sleep 0.005
done
kill -STOP $run
free=$(df --output=avail -B1 "$small" | tail -1)
dd if=/dev/zero of="$small/ballast" bs=65536 count=$(( (free - 8000000) / 65536 )) 2>/dev/null || true
kill -CONT $run
set +e
wait $run
code=$?
cat "$saved.log" >&2
exit $code"#
    );
    let ended = with_small_disk(&world, 900, &script).expect(1);
    world.nothing_left();
    ended.summary()
}

/// One variant each of SQLite and PostgreSQL.
const ONE_EACH: [&str; 2] = ["--variants", "indexed,json-only"];

const FULL: &str = "No space left on device";

#[test]
fn a_disk_that_fills_up_under_a_server_fails_its_load_alone() {
    if excluded(&["postgresql"]) {
        return;
    }
    let summary = disk_is_full("postgresql", "ready to accept connections", "60k");
    lost_its_load(&summary, "postgresql", FailureKind::Environment, FULL);
}

#[test]
fn a_disk_that_fills_up_is_told_where_there_is_no_room_for_last_words() {
    if excluded(&["mongodb"]) {
        return;
    }
    // Its WAL has space for some suspects, so the full disk may be noticed only when the other documents are
    // written.
    let summary = disk_is_full("mongodb", "Waiting for connections", "200k");
    failed_alone(&summary, "mongodb", &[FULL, "bytes of disk space left"]);
}

#[test]
fn a_disk_that_fills_up_under_mysql_fails_its_load_alone() {
    if excluded(&["mysql"]) {
        return;
    }
    let summary = disk_is_full("mysql", "ready for connections", "60k");
    failed_alone(&summary, "mysql", &[FULL, "bytes of disk space left"]);
}

#[test]
fn a_server_killed_while_it_loads_fails_alone_and_the_next_run_works() {
    if excluded(&["postgresql"]) {
        return;
    }
    let world = World::new();
    // First one of the server's processes, as when memory is short: the server ends the others and restarts,
    // which must not count as the same session. Then the server itself.
    for (out, victim, words) in [
        ("backend", "", "terminated by signal 9"),
        ("server", "/bin/postgres", "the server ended (signal: 9"),
    ] {
        let running = world.start_measuring(
            out,
            "sqlite,postgresql",
            &[&ONE_EACH[..], &["-n", "60k", "-r", "1", "-t", "3"]].concat(),
        );
        let work = world.path(out).join("work");
        let mut found = None;
        eventually("documents are loaded", || {
            found = process(&work, " COPY").and_then(|loading| match victim {
                "" => Some(loading),
                words => process(&work, words),
            });
            found.is_some()
        });
        kill_process(pid(found.unwrap()), Signal::KILL).unwrap();
        let summary = running.end(LIMIT).expect(1).summary();
        lost_its_load(&summary, "postgresql", FailureKind::Crash, words);
        world.kept(out).is_complete();
        world.nothing_left();
    }
    let summary = world
        .measure_into("again", "sqlite,postgresql", &[&ONE_EACH[..], &["-n", "2k", "-r", "1"]].concat())
        .expect(0)
        .summary();
    summary.is_right("postgresql");
    world.nothing_left();
}
