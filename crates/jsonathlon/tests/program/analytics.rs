//! Tests of the analytics workload on real engines: every configuration of every system fulfils its promises.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_schema::id::DataState;
use jsonathlon_schema::manifest::{Configuration, DataSetInfo};
use jsonathlon_schema::metric::MetricDef;
use jsonathlon_schema::record::{Phase, RecordBody, RoundTripOutcome, Verdict};

use crate::support::real::{self, SMALL};

/// Runs the program into `out` and reads the results.
fn run(out: &Path, arguments: &[&str]) -> (Run, Summary) {
    let output = Command::new(env!("CARGO_BIN_EXE_jsonathlon"))
        .args(["run", "--json", "--out"])
        .arg(out)
        .args(arguments)
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{log}");
    let printed: Summary = serde_json::from_slice(&output.stdout).unwrap();
    let run = Run::read(out).unwrap();
    assert_eq!(run.summary(), printed, "what was printed is not what the journal says");
    for name in run.trials().flat_map(|trial| trial.metrics.keys()) {
        assert!(MetricDef::find(name).is_some(), "{name}: register it in crates/schema/src/metric.rs");
    }
    (run, printed)
}

/// A folder that is accessible to a server's user, who is not root.
fn open_folder() -> tempfile::TempDir {
    let open = std::fs::Permissions::from_mode(0o755);
    tempfile::Builder::new().permissions(open).tempdir().unwrap()
}

fn questions(summary: &Summary) -> impl Iterator<Item = &CellSummary> {
    summary.results.iter().filter(|entry| entry.cell.step.is_workload_step())
}

/// All configurations of a system. One test per system, so that they can run in parallel.
fn every_configuration(system: &str) {
    keep_their_promises(system, &["--variants", "all", "--storage", "all", "--scale", "20k"], 20_000);
}

#[test]
fn clickhouse_answers_every_question_right() {
    every_configuration("clickhouse");
}

#[test]
fn duckdb_answers_every_question_right() {
    every_configuration("duckdb");
}

#[test]
fn sqlite_answers_every_question_right() {
    every_configuration("sqlite");
}

#[test]
fn postgresql_answers_every_question_right() {
    every_configuration("postgresql");
}

#[test]
fn mongodb_answers_every_question_right() {
    every_configuration("mongodb");
}

/// Each start takes some seconds, and there is one before every question; therefore only variants with an
/// index.
#[test]
fn an_index_on_expressions_and_one_on_generated_columns_keep_their_promises() {
    let few = [&["--variants", "json-only,generated", "--scale", "10k"][..], &SMALL].concat();
    keep_their_promises("mysql", &few, 10_000);
}

#[test]
fn mariadb_answers_every_question_right() {
    let all = [&["--variants", "all", "--scale", "10k"][..], &SMALL].concat();
    keep_their_promises("mariadb", &all, 10_000);
}

#[test]
fn dolt_answers_every_question_right() {
    keep_their_promises("dolt", &["--scale", "5k"], 5_000);
}

/// Runs a system once over generated documents; everything must be correct and as its folder promises.
fn keep_their_promises(system: &str, arguments: &[&str], documents: u64) {
    let folder = open_folder();
    let out = folder.path().join("run");
    if real::excluded(&[system]) {
        return;
    }
    let common = ["--systems", system, "--rounds", "1", "--trials", "3"];
    let (run, summary) = run(&out, &[&common, arguments].concat());
    assert!(run.manifest.configurations.iter().any(|configuration| configuration.id.system == system));
    // The reference configurations are in memory and have no cold phase.
    promises_are_kept(&run, &summary, documents, |configuration| if configuration.reference { 1 } else { 2 });
    assert_eq!(std::fs::read_dir(out.join("work")).unwrap().count(), 0, "data folders stayed");
}

/// Checks everything that a run of analytics over generated documents promises for each configuration.
/// `phases` returns in how many phases its questions were asked.
pub(crate) fn promises_are_kept(
    run: &Run,
    summary: &Summary,
    documents: u64,
    phases: impl Fn(&Configuration) -> usize,
) {
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    for configuration in &run.manifest.configurations {
        let of = |entry: &&CellSummary| configuration.contains_cell(&entry.cell);
        let asked: Vec<&CellSummary> = questions(summary).filter(of).collect();
        assert_eq!(asked.len(), 6 * phases(configuration), "{configuration:?}");
        for entry in asked {
            let estimates = configuration.id.variant == "uniq" || configuration.id.system == "elasticsearch";
            let declared = estimates && entry.cell.step.word() == "q2";
            let expected = if declared { Verdict::Approximate } else { Verdict::Exact };
            assert_eq!(entry.verdict, expected, "{entry:?}");
            assert!(entry.median_s.unwrap() > 0.0);
            if declared {
                assert!(entry.metrics["relative_error"] <= 0.01, "{entry:?}");
            }
        }
        let load = summary.results.iter().filter(of).find(|entry| entry.cell.step.word() == "load").unwrap();
        assert_eq!(load.metrics["documents_loaded"], documents as f64);
        assert_eq!(load.verdict, Verdict::Exact);
        for size in summary.results.iter().filter(of).filter(|entry| entry.cell.step.word() == "size") {
            // Files of a remote server are not visible to the program.
            let files = size.metrics.get("files_bytes").copied();
            assert_eq!(files.is_none(), configuration.id.version.ends_with("+address"), "{size:?}");
            // The catalogue of Dolt only estimates sizes, so it reports no total.
            let total = size.metrics.get("total_bytes").copied().or(files).unwrap();
            // The six columns of a reference configuration take less space than documents.
            let least = if configuration.reference { 1e5 } else { 1e6 };
            assert!(total > least && files.is_none_or(|files| files > least), "{size:?}");
        }
    }
    // Every plan was kept, and no plan broke a promise.
    let plans = run.records.iter().filter(|record| match &record.body {
        RecordBody::Plan(plan) => {
            assert_eq!(plan.violations, Vec::<String>::new(), "{}", plan.file);
            let text = std::fs::read_to_string(Path::new(&run.path).join(&plan.file)).unwrap();
            assert!(text.len() > 50, "{text}");
            true
        }
        _ => false,
    });
    assert_eq!(plans.count(), run.manifest.configurations.len() * 6);
    // The round trip was checked for every configuration; those that keep the text return the same bytes.
    let mut structures = 0;
    for record in &run.records {
        if let RecordBody::Structure(structure) = &record.body {
            structures += 1;
            assert_eq!(structure.compared, 1000);
            let expected = match (structure.cell.id.system.as_str(), structure.cell.id.variant.as_str()) {
                ("sqlite" | "elasticsearch" | "mariadb", _) | ("duckdb", "json") => RoundTripOutcome::Bytes,
                ("duckdb" | "postgresql" | "mongodb" | "mysql" | "dolt", _) | ("clickhouse", "plain") => {
                    RoundTripOutcome::Value
                }
                _ => RoundTripOutcome::Changed,
            };
            assert_eq!(structure.retains, expected, "{structure:?}");
        }
    }
    let keeping = run.manifest.configurations.iter().filter(|configuration| !configuration.reference).count();
    assert_eq!(structures, keeping);
}

#[test]
fn both_states_are_asked_and_never_mixed() {
    if real::excluded(&["clickhouse", "duckdb"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let (_, summary) =
        run(&out, &["--scale", "3k", "--rounds", "1", "--trials", "1", "--data-state", "both"]);
    for state in DataState::ALL {
        let in_state: Vec<&CellSummary> =
            questions(&summary).filter(|entry| entry.cell.state == Some(state)).collect();
        // Three systems in two classes, six questions, cold and hot, and two yardsticks that are only hot.
        assert_eq!(in_state.len(), 72 + 12);
        assert!(in_state.iter().all(|entry| entry.verdict == Verdict::Exact && entry.trials == 1));
    }
}

#[test]
fn planted_bad_lines_are_no_documents_and_listed_once() {
    if real::excluded(&["clickhouse", "duckdb"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let (run, summary) = run(&out, &["--scale", "20k", "--malformed", "16", "--rounds", "1"]);
    assert!(questions(&summary).all(|entry| entry.verdict == Verdict::Exact));
    let loads: Vec<&CellSummary> =
        summary.results.iter().filter(|entry| entry.cell.phase == Phase::Load).collect();
    assert_eq!(loads.len(), 8);
    // Invalid lines are not offered to any system, and are counted once.
    for load in loads {
        assert_eq!(load.metrics["documents_offered"], 19_984.0, "{load:?}");
        assert_eq!(load.metrics["documents_rejected"], 0.0, "{load:?}");
        assert_eq!(load.metrics["documents_loaded"], 19_984.0, "{load:?}");
    }
    assert!(!run.records.iter().any(|record| matches!(record.body, RecordBody::Rejects(_))));
    assert_eq!((run.manifest.data.documents, run.manifest.data.no_documents), (19_984, 16));
    let text = std::fs::read_to_string(out.join(DataSetInfo::NO_DOCUMENTS)).unwrap();
    let listed: Vec<u64> = text
        .lines()
        .map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            assert!(!line["reason"].as_str().unwrap().is_empty());
            line["line"].as_u64().unwrap() - 1
        })
        .collect();
    // The listed lines are the planted ones.
    let planted: Vec<u64> = jsonathlon_dataset::generate::Generator::new(1, 0..20_000)
        .with_malformed(16, 20_000)
        .malformed_ordinals()
        .iter()
        .map(|planted| planted.ordinal)
        .collect();
    assert_eq!(listed, planted);
}
