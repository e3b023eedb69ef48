//! Every system serves a user's own documents at a tiny scale, with names that statements must quote.

use jsonathlon_results::summary::Summary;
use jsonathlon_schema::record::Verdict;

use super::own_documents::{HOSTILE_PATH, NAMED_PATH, hostile_documents, without_empty_names};
use super::systems::TOGETHER;
use crate::support::real::{SMALL, excluded, soon_up};
use crate::support::{LIMIT, World};

const DOCUMENTS: usize = 1000;

/// Whether a system takes no document with an empty name.
fn rejects_empty_names(system: &str) -> bool {
    system == "elasticsearch"
}

/// Runs a system over hostile documents, and returns the steps with their verdicts.
fn serves(system: &str, key: &str, update: &str, mixes: &str, more: &[&str]) -> Vec<(String, Verdict)> {
    let world = World::new();
    if system == "elasticsearch" {
        soon_up(&world.path("systems"));
    }
    let documents = hostile_documents(DOCUMENTS);
    let (documents, update) = match rejects_empty_names(system) {
        true if update == HOSTILE_PATH => (without_empty_names(&documents), NAMED_PATH),
        true => (without_empty_names(&documents), update),
        false => (documents, update),
    };
    let summary = serves_data(&world, system, &documents, &["--key", key, "--update", update], mixes, more);
    world.nothing_left();
    let steps = summary.results.iter().filter(|entry| entry.cell.step.is_workload_step());
    steps.map(|entry| (entry.cell.step.word().to_owned(), entry.verdict)).collect()
}

/// Runs a system over documents in lines, and returns its complete results.
fn serves_data(
    world: &World,
    system: &str,
    documents: &str,
    paths: &[&str],
    mixes: &str,
    more: &[&str],
) -> Summary {
    let data = world.file("data.ndjson", documents);
    let mixes = mixes.replace("TOGETHER", &world.file("together.toml", TOGETHER));
    let mut all = vec!["--data", &data, "--mixes", &mixes, "-r", "1"];
    all.extend(paths);
    all.extend(["--warmup", "100ms", "--batch-size", "20", "--scan-length", "20"]);
    if !more.contains(&"--operation-count") {
        all.extend(["--operation-count", "200"]);
    }
    all.extend(SMALL);
    all.extend(more);
    let summary: Summary = world.start_serving("out", system, &all).end(LIMIT).expect(0).summary();
    assert!(summary.complete && summary.failures.is_empty(), "{system}: {:?}", summary.failures);
    summary
}

/// Paths of key and updated value: text and integer keys, and hostile paths or those of plain names.
const KINDS: [(&str, &str); 4] =
    [("/id", HOSTILE_PATH), ("/id", "/count"), ("/count", HOSTILE_PATH), ("line", "/id")];

/// Expects right answers for all kinds of keys and updated values.
fn serves_documents(system: &str, can_name: bool, mixes: &str, more: &[&str]) {
    if excluded(&[system]) {
        return;
    }
    for kind in KINDS {
        serves_kind(system, can_name, kind, mixes, more);
    }
}

fn serves_kind(system: &str, can_name: bool, (key, update): (&str, &str), mixes: &str, more: &[&str]) {
    let steps = serves(system, key, update, mixes, more);
    assert!(steps.iter().any(|(_, verdict)| *verdict == Verdict::Exact), "{system} {key}: {steps:?}");
    for (step, verdict) in steps {
        let is_hostile = update == HOSTILE_PATH && !can_name;
        let is_right = verdict == Verdict::Exact || (is_hostile && verdict == Verdict::NotApplicable);
        // Names of the paths that are read are those that most documents have, hostile ones among them.
        assert!(is_right || step == "paths", "{system} {key} {update} {step}: {verdict:?}");
    }
}

#[test]
fn postgresql_serves_own_documents() {
    serves_documents("postgresql", true, "TOGETHER,paths,update-path,update-all,churn", &[]);
}

#[test]
fn postgresql_serves_own_documents_with_keys_inside() {
    let variants = ["--variants", "jsonb-expression,jsonb-path-ops,json-key"];
    serves_documents("postgresql", true, "a,f,insert", &variants);
}

#[test]
fn mysql_serves_own_documents() {
    serves_documents("mysql", true, "TOGETHER,paths,update-path,update-all,churn", &[]);
}

#[test]
fn mysql_serves_own_documents_with_generated_columns() {
    serves_documents("mysql", true, "a,e,insert", &["--variants", "generated-stored,generated-virtual"]);
}

#[test]
fn mariadb_serves_own_documents() {
    serves_documents("mariadb", false, "TOGETHER,c,paths,update-path,update-all,churn", &[]);
}

#[test]
fn mongodb_serves_own_documents() {
    serves_documents("mongodb", false, "TOGETHER,c,paths,update-path,update-all,churn", &[]);
}

#[test]
fn sqlite_serves_own_documents() {
    serves_documents("sqlite", true, "TOGETHER,paths,update-path,update-all,churn", &[]);
}

#[test]
fn dolt_serves_own_documents() {
    serves_documents("dolt", false, "TOGETHER,c,paths,update-path,update-all,churn", &[]);
}

#[test]
fn elasticsearch_serves_own_documents() {
    if excluded(&["elasticsearch"]) {
        return;
    }
    // It starts twice for a load and once for each mix that writes, about ten seconds each time. With all mixes
    // for all kinds, the starts alone would take minutes.
    let [first, others @ ..] = KINDS;
    serves_kind("elasticsearch", true, first, "TOGETHER,c,paths,update-path,update-all,churn", &[]);
    for kind in others {
        serves_kind("elasticsearch", true, kind, "TOGETHER", &[]);
    }
}

#[test]
fn duckdb_serves_own_documents() {
    serves_documents("duckdb", true, "a,c,insert", &["--clients", "1", "--operation-count", "60"]);
}

#[test]
fn clickhouse_serves_own_documents() {
    serves_documents("clickhouse", true, "a,c,insert", &["--clients", "1", "--operation-count", "20"]);
}

/// Documents that a load tries one by one first, because some systems refuse or change them, among others: one of
/// nearly 16 MiB, which is MongoDB's limit, one with a number beyond 64 bits, and one with a NUL if the system holds
/// that.
fn large_and_odd_documents(holds_nul: bool) -> String {
    let document = |index: usize| match index {
        7 => format!(r#"{{"id":{index},"text":"value {index:04}","blob":"{}"}}"#, "abcd".repeat(4_190_000)),
        8 => format!(r#"{{"id":{index},"text":"value {index:04}","number":123456789012345678901234567890}}"#),
        9 if holds_nul => format!(r#"{{"id":{index},"text":"value {index:04}","nul":"\u0000"}}"#),
        _ => format!(r#"{{"id":{index},"text":"value {index:04}"}}"#),
    };
    (0..DOCUMENTS).map(document).collect::<Vec<_>>().join("\n")
}

/// Expects that a system loads all of them, and serves them.
fn serves_large_documents(system: &str, holds_nul: bool) {
    if excluded(&[system]) {
        return;
    }
    let world = World::new();
    let paths = ["--key", "/id", "--update", "/text"];
    let summary = serves_data(&world, system, &large_and_odd_documents(holds_nul), &paths, "a", &[]);
    let load = summary.results.iter().find(|entry| entry.cell.step.word() == "load").unwrap();
    assert!((load.metrics["documents_loaded"] - DOCUMENTS as f64).abs() < 0.5, "{system}: {load:?}");
    world.nothing_left();
}

#[test]
fn postgresql_serves_documents_of_16_mib() {
    serves_large_documents("postgresql", false);
}

#[test]
fn mongodb_serves_documents_of_16_mib() {
    serves_large_documents("mongodb", true);
}

#[test]
fn sqlite_serves_documents_of_16_mib() {
    serves_large_documents("sqlite", true);
}
