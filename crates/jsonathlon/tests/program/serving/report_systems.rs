//! Every system is asked reports of the user's own beside serving, at a tiny scale.

use std::fmt::Write;

use jsonathlon_results::summary::{CellSummary, Summary};
use jsonathlon_schema::record::{ExpectedAnswerSource, Phase, Verdict};

use crate::support::real::{SMALL, excluded, soon_up};
use crate::support::{LIMIT, World};

/// Documents with a key, a text that updates set, and values that questions are about.
fn documents() -> String {
    let mut text = String::new();
    for number in 0..600 {
        let country = ["at", "be", "ch", "dk"][number % 4];
        writeln!(
            text,
            r#"{{"_id":"order {number:04}","country":"{country}","price":{}.5,"note":"ordered on day {number}"}}"#,
            number % 37
        )
        .unwrap();
    }
    text
}

/// Serves the documents with the reports that `questions new` proposes for them.
fn serves_beside_reports(systems: &str, more: &[&str]) -> Option<(World, Summary)> {
    let names: Vec<&str> = systems.split(',').collect();
    if excluded(&names) {
        return None;
    }
    let world = World::new();
    if names.contains(&"elasticsearch") {
        soon_up(&world.path("systems"));
    }
    let data = world.file("data.ndjson", documents());
    let folder = world.text("q");
    world.run(&["questions", "new", &folder, "--data", &data]).expect(0);
    let mut all = vec!["--data", &data, "--key", "/_id", "--update", "/note", "--reports", &folder];
    // Long enough for a client that waits for the processor on a busy machine.
    for (option, value) in [("--mixes", "a,c"), ("-r", "2"), ("--clients", "2"), ("--duration", "1s")] {
        if !more.contains(&option) {
            all.extend([option, value]);
        }
    }
    all.extend(SMALL);
    all.extend(more);
    let summary = world.start_serving("out", systems, &all).end(LIMIT).expect(0).summary();
    assert!(summary.complete && summary.failures.is_empty(), "{systems}: {:?}", summary.failures);
    world.nothing_left();
    Some((world, summary))
}

/// Cells of reports of a system in a phase.
fn reports<'s>(summary: &'s Summary, system: &str, phase: Phase) -> Vec<&'s CellSummary> {
    let is_wanted = |entry: &&CellSummary| entry.cell.id.system == system && entry.cell.phase == phase;
    summary.results.iter().filter(is_wanted).collect()
}

/// Expects that a system answers all reports, at rest and beside both mixes. Its answers are those of the majority.
fn answers_all(summary: &Summary, system: &str) {
    let rest = reports(summary, system, Phase::Still);
    assert!(rest.len() > 3, "there are several questions: {rest:?}");
    let beside = reports(summary, system, Phase::Both);
    assert_eq!(beside.len(), 2 * rest.len());
    for entry in rest.iter().chain(&beside) {
        assert_eq!(entry.verdict, Verdict::Exact, "{system} {}", entry.cell.name());
        if entry.cell.step.word() != "all" {
            assert!(entry.metrics["question_p50_us"] > 0.0, "{system} {}", entry.cell.name());
        }
        // Updates set the note, which no number of orders depends on.
        let is_read = entry.cell.parameters.get("mix").is_none_or(|mix| mix == "c");
        if is_read && entry.cell.step.word() != "all" {
            assert_eq!(entry.metrics["exact"], entry.metrics["answers"], "{system} {}", entry.cell.name());
        }
    }
}

#[test]
fn postgresql_mongodb_and_sqlite_answer_beside_serving() {
    let Some((world, summary)) = serves_beside_reports("postgresql,mongodb,sqlite", &["--streams", "2"])
    else {
        return;
    };
    for agreement in &summary.agreements {
        assert_eq!(agreement.basis, ExpectedAnswerSource::Agreed, "{agreement:?}");
    }
    for system in ["postgresql", "mongodb", "sqlite"] {
        answers_all(&summary, system);
    }
    let shown = world.run(&["export", "--tables", "full", &world.text("out")]).expect(0).stdout;
    assert!(shown.contains("loads beside reports"), "{shown}");
}

#[test]
fn sqlite_and_duckdb_answer_beside_serving() {
    let more = ["--clients", "1", "--rates", "20"];
    let Some((_, summary)) = serves_beside_reports("sqlite,duckdb", &more) else { return };
    for system in ["sqlite", "duckdb"] {
        let rest = reports(&summary, system, Phase::Still);
        assert!(rest.iter().all(|entry| entry.verdict == Verdict::Exact), "{rest:?}");
        let beside = reports(&summary, system, Phase::Both);
        assert_eq!(beside.len(), 4 * rest.len(), "a closed loop and a rate for two mixes");
        assert!(beside.iter().all(|entry| entry.verdict == Verdict::Exact), "{beside:?}");
    }
}

#[test]
fn mysql_and_mariadb_answer_beside_serving() {
    let Some((_, summary)) = serves_beside_reports("mysql,mariadb", &[]) else { return };
    for system in ["mysql", "mariadb"] {
        answers_all(&summary, system);
    }
}

#[test]
fn postgresql_answers_over_json_that_is_text() {
    let more = ["--variants", "jsonb-key,json-key,jsonb-expression"];
    let Some((_, summary)) = serves_beside_reports("postgresql", &more) else { return };
    // Variants of one system have one vote, so nothing is agreed, but all of them are asked.
    let entries = reports(&summary, "postgresql", Phase::Both);
    assert!(entries.iter().all(|entry| entry.verdict == Verdict::Unverified), "{entries:?}");
    let same = summary.agreements.iter().flat_map(|agreement| &agreement.answers);
    for answer in same {
        assert!(answer.statement.is_some(), "{answer:?}");
    }
}

#[test]
fn clickhouse_answers_at_rest_and_has_no_connection_for_more() {
    let more = ["--mixes", "c", "--clients", "1"];
    let Some((world, summary)) = serves_beside_reports("clickhouse", &more) else { return };
    let rest = reports(&summary, "clickhouse", Phase::Still);
    assert!(rest.iter().all(|entry| entry.verdict == Verdict::Unverified), "{rest:?}");
    let beside = reports(&summary, "clickhouse", Phase::Both);
    assert!(beside.iter().all(|entry| entry.verdict == Verdict::NotApplicable), "{beside:?}");
    let shown = world.run(&["export", "--tables", "full", &world.text("out")]).expect(0).stdout;
    assert!(shown.contains("not_applicable"), "{shown}");
}
