//! Every system at a tiny scale: all phases, with every answer verified.

use jsonathlon_schema::record::{Phase, Verdict};

use crate::mixed::{ASKED, ASKING, entries};
use crate::support::real::{SMALL, excluded, soon_up};
use crate::support::{LIMIT, World};

/// Answers of one moment each; some systems only approximate numbers of users.
const VERIFIED: [Verdict; 2] = [Verdict::Exact, Verdict::Approximate];

/// Load under which all systems but the slowest can answer a set of questions before the pool is used up.
const QUICK: [&str; 6] = ["-n", "5000", "--growth", "50%", "--rate", "1000"];
/// Load for systems whose questions take seconds each.
const SLOW: [&str; 6] = ["-n", "2000", "--growth", "100%", "--rate", "100"];

/// Runs a system and asserts that all of its answers are verified, and that its folder declares them rightly.
fn mixes(system: &str, load: [&str; 6]) {
    if excluded(&[system]) {
        return;
    }
    let world = World::new();
    if system == "elasticsearch" {
        soon_up(&world.path("systems"));
    }
    let mut all = load.to_vec();
    all.extend(["--batch", "100", "--measure", "2s", "--variants", "default"]);
    all.extend(SMALL);
    let summary = world.start_mixed("out", system, &all).end(LIMIT).expect(0).summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    let configurations = entries(&summary, system, Phase::Both, "ingest").len();
    assert!(configurations > 0, "{:?}", summary.results);
    for phase in ASKING {
        for step in ASKED {
            let all = entries(&summary, system, phase, step);
            assert_eq!(all.len(), configurations, "{step} {}", phase.word());
            for entry in all {
                assert!(VERIFIED.contains(&entry.verdict), "{step} {}: {entry:?}", phase.word());
                assert!(entry.findings.is_empty(), "{step} {}: {entry:?}", phase.word());
                assert!(entry.metrics["questions_per_h"] > 0.0, "{step} {}", phase.word());
            }
        }
    }
    for phase in [Phase::Both, Phase::Alone] {
        for writers in entries(&summary, system, phase, "ingest") {
            assert!(writers.metrics["documents_per_s"] > 0.0, "{writers:?}");
        }
    }
    world.kept("out").is_complete();
    world.nothing_left();
}

#[test]
fn postgresql_mixes() {
    mixes("postgresql", QUICK);
}

#[test]
fn sqlite_mixes() {
    mixes("sqlite", QUICK);
}

#[test]
fn duckdb_mixes() {
    mixes("duckdb", QUICK);
}

#[test]
fn mysql_mixes() {
    mixes("mysql", QUICK);
}

#[test]
fn mariadb_mixes() {
    mixes("mariadb", QUICK);
}

#[test]
fn dolt_mixes() {
    mixes("dolt", SLOW);
}

#[test]
fn mongodb_mixes() {
    mixes("mongodb", QUICK);
}

#[test]
fn clickhouse_mixes() {
    mixes("clickhouse", QUICK);
}

#[test]
fn elasticsearch_mixes() {
    mixes("elasticsearch", QUICK);
}
