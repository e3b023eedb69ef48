//! Every system with a table of 1 MiB per data set: all its tests and indexes, verified.

use std::time::Duration;

use jsonathlon_results::summary::Summary;
use jsonathlon_schema::record::Verdict;

use super::start;
use crate::support::World;
use crate::support::real::excluded;

/// Options for all tests of a run, with small tables.
const ALL: [&str; 10] =
    ["--full", "--sizes", "64KiB", "--table-size", "1MiB", "-r", "1", "--update-path", "--versions", "3"];

fn keeps(system: &str) -> Option<Summary> {
    if excluded(&[system]) {
        return None;
    }
    let world = World::new();
    let summary = start(&world, system, &ALL).end(Duration::from_secs(900)).expect(0).summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    for entry in summary.results.iter().filter(|entry| entry.cell.step.is_workload_step()) {
        assert!(matches!(entry.verdict, Verdict::Exact | Verdict::NotApplicable), "{entry:?}");
    }
    let right = |step: &str| {
        let of = summary.results.iter().filter(|entry| entry.cell.step.word() == step);
        of.filter(|entry| entry.verdict == Verdict::Exact).count()
    };
    for step in ["import", "export", "extract", "filter", "order", "disk"] {
        assert!(right(step) >= 2, "{step}: of two data sets");
    }
    // With so few rows a planner may scan them all unless it is forced to use an index.
    let uses = |entry: &jsonathlon_results::summary::CellSummary| {
        entry.metrics.get("index_use").is_some_and(|usage| *usage >= 2.0)
    };
    let has_index = right("index") > 0;
    assert!(!has_index || summary.results.iter().any(uses), "no index can be used");
    world.nothing_left();
    Some(summary)
}

#[test]
fn sqlite_keeps_documents() {
    let Some(summary) = keeps("sqlite") else { return };
    let used = summary.results.iter().filter(|entry| entry.metrics.get("index_use") == Some(&3.0));
    assert!(used.count() > 0, "its planner knows no number of rows below which an index is not worth it");
}

#[test]
fn postgresql_keeps_documents() {
    keeps("postgresql");
}

#[test]
fn mysql_keeps_documents() {
    keeps("mysql");
}

#[test]
fn mongodb_keeps_documents() {
    keeps("mongodb");
}

#[test]
fn dolt_keeps_documents() {
    keeps("dolt");
}

#[test]
fn mariadb_keeps_documents() {
    keeps("mariadb");
}

#[test]
fn duckdb_keeps_documents() {
    keeps("duckdb");
}

#[test]
fn clickhouse_keeps_documents() {
    keeps("clickhouse");
}
