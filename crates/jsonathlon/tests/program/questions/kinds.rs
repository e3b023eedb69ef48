//! From unknown documents to agreed answers without editing a file: three kinds of JSON on all embedded
//! engines and two servers, and plain numbers on a server that restarts slowly before each question.

use std::collections::BTreeSet;

use jsonathlon_results::summary::Summary;
use jsonathlon_schema::record::{AnswerStatus, ExpectedAnswerSource, Phase, Verdict};

use super::{made, run};
use crate::support::World;
use crate::support::real::{SMALL, included, soon_up};

const EMBEDDED: [&str; 3] = ["sqlite", "duckdb", "clickhouse"];

/// Writes questions about `text` by `questions new`, and runs them.
fn asked(text: &str, systems: &[&str]) -> Option<(World, Summary)> {
    let systems = included(systems);
    if systems.len() < 2 {
        return None;
    }
    let world = World::new();
    let data = world.file("data.ndjson", text);
    let questions = world.text("q");
    let told = world.run(&["questions", "new", &questions, "-d", &data]).expect(0).stdout;
    assert!(told.contains("all of them") && told.contains("jsonathlon run questions"), "{told}");
    world.run(&["questions", "check", &questions]).expect(0);
    let mut more = vec!["-r", "1"];
    if systems.contains(&"elasticsearch") {
        soon_up(&world.path("systems"));
        more.extend(SMALL);
    }
    let ended = run(&world, &systems.join(","), &data, &more);
    let summary = ended.summary();
    for one in &summary.agreements {
        assert_eq!(one.basis, ExpectedAnswerSource::Agreed, "{one:#?}");
        assert!(one.answers.iter().all(|standing| standing.answer == AnswerStatus::Same), "{one:#?}");
        assert_eq!(one.answers.len(), systems.len());
    }
    assert!(summary.failures.is_empty() && summary.complete, "{:?}", summary.failures);
    let hot: BTreeSet<Verdict> = summary
        .results
        .iter()
        .filter(|entry| entry.cell.step.is_workload_step())
        .map(|entry| entry.verdict)
        .collect();
    assert_eq!(hot, BTreeSet::from([Verdict::Exact]));
    world.nothing_left();
    Some((world, summary))
}

fn with<'a>(servers: &[&'a str]) -> Vec<&'a str> {
    EMBEDDED.iter().chain(servers).copied().collect()
}

#[test]
fn logs_of_a_web_server_are_asked_about() {
    let Some((world, summary)) = asked(&made::weblogs(400), &with(&["postgresql"])) else { return };
    let asked = |name: &str| summary.agreements.iter().any(|one| one.question == name);
    assert!(asked("dates-time") && asked("pairs-user-agent-method"), "{:?}", summary.agreements);
    assert_eq!(summary.agreements.len(), 7);
    // Documents located by their position were read back.
    let retained = world.kept("out").records().into_iter().filter_map(|record| match record.body {
        jsonathlon_schema::record::RecordBody::Structure(found) => {
            Some((found.cell.id.system, found.compared))
        }
        _ => None,
    });
    for (system, compared) in retained {
        assert_eq!(compared, 400, "{system}");
    }
    let page = std::fs::read_to_string(world.path("out").join("report.html")).unwrap();
    assert!(page.len() > 10_000);
    let out = world.text("out");
    let tables = world.run(&["export", "-f", "markdown", &out]).expect(0).stdout;
    assert!(tables.contains("agreed: 4 of 4") && tables.contains("sum and mean of bytes"), "{tables}");
    world.run(&["compare", &out, &out]).expect(0);
}

#[test]
fn orders_with_hostile_keys_are_asked_about() {
    let Some((_, summary)) = asked(&made::orders(300), &with(&["postgresql", "mongodb"])) else { return };
    assert!(summary.agreements.iter().any(|one| one.question == "elements-items-sku"));
    assert_eq!(summary.agreements.len(), 7, "{:?}", summary.agreements);
}

#[test]
fn readings_of_mixed_types_are_asked_about() {
    let Some((world, summary)) = asked(&made::sensors(500), &with(&["mongodb"])) else { return };
    assert!(summary.agreements.len() >= 4, "{:?}", summary.agreements);
    let text = std::fs::read_to_string(world.path("q").join("questions.toml")).unwrap();
    assert!(text.contains("others are left out"), "{text}");
    assert!(
        summary.agreements.iter().any(|one| one.question.ends_with("-state")),
        "{:?}",
        summary.agreements
    );
}

#[test]
fn bare_numbers_are_asked_about_cold_and_hot() {
    let text: String = (0..200).map(|n| format!("{{\"value\":{}.25}}\n", n % 11)).collect();
    let Some((_, summary)) = asked(&text, &["sqlite", "elasticsearch"]) else { return };
    assert_eq!(summary.agreements.len(), 2, "{:?}", summary.agreements);
    for system in ["sqlite", "elasticsearch"] {
        let phases = summary
            .results
            .iter()
            .filter(|entry| entry.cell.id.system == system && entry.cell.step.is_workload_step());
        let phases: BTreeSet<Phase> = phases.map(|entry| entry.cell.phase).collect();
        // A server of another test may keep the same files in memory; the cold phase is then unverified.
        let cold = phases.contains(&Phase::Cold) || phases.contains(&Phase::ColdUnverified);
        assert!(cold && phases.contains(&Phase::Hot), "{system}: {phases:?}");
    }
}

#[test]
fn events_with_tags_and_times_are_asked_about() {
    let Some((world, summary)) = asked(&made::tagged(300), &with(&["mysql", "mariadb"])) else {
        return;
    };
    let names: Vec<&str> = summary.agreements.iter().map(|one| one.question.as_str()).collect();
    for name in
        ["elements-labels", "elements-actors-role", "dates-day", "epochs-created-ms", "pairs-kind-place"]
    {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let text = std::fs::read_to_string(world.path("q").join("questions.toml")).unwrap();
    assert!(text.contains("type = \"time\"") && text.contains("limit = 100"), "{text}");
}
