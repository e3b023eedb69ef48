//! Tests of answers about large documents and of their verification.

use jsonathlon_schema::record::{FailureKind, Trial, Verdict};
use serde_json::{Value, json};

use super::run;
use crate::support::{World, mock};

/// Indexes with queries whose plans are used, usable, in vain and impossible.
const INDEX: &str = r#"
used = ['Index']
hint = " forced"

[documents.index.plain]
title = "an index"
best = true
create = ["doc_index {{table}}"]
drop = ["doc_unindex {{table}}"]

[[documents.index.plain.ask]]
operation = "filter"
form = "column"
statement = "doc_filter {{table}}"

[documents.index.second]
title = "another"
create = ["doc_index {{table}}"]
drop = ["doc_unindex {{table}}"]

[[documents.ask]]
operation = "order"
form = "column"
statement = "doc_order {{table}}{{hint}}"

[[documents.ask]]
operation = "exists"
form = "?"
statement = "doc_has {{table}} rare"
vain = ['Full Index']

[[documents.ask]]
operation = "extract"
form = "expression"
statement = "doc_extract {{table}}"
"#;

fn plans() -> Value {
    json!({
        "doc_filter documents": "Index Scan",
        "doc_order documents forced": "Index Scan",
        "doc_has documents rare": "Full Index Scan",
    })
}

fn world(script: Value, more: &str) -> World {
    World::with(&[mock("ma", script).documents(&format!("{more}\n{INDEX}"))])
}

fn trials(world: &World) -> Vec<Trial> {
    world.kept("out").trials().into_iter().filter(|trial| trial.cell.step.is_workload_step()).collect()
}

/// Name of a trial: its step and everything that distinguishes it from other trials.
fn name(trial: &Trial) -> String {
    let words = ["index", "query", "form", "depth", "history"].map(|name| trial.cell.parameters.get(name));
    let words =
        words.into_iter().flatten().map(|value| value.as_str().map_or(value.to_string(), str::to_owned));
    [trial.cell.step.to_string()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

fn find<'a>(trials: &'a [Trial], wanted: &str) -> &'a Trial {
    let found = trials.iter().find(|trial| name(trial) == wanted);
    found.unwrap_or_else(|| panic!("{wanted}: {:?}", trials.iter().map(name).collect::<Vec<_>>()))
}

#[test]
fn every_test_is_timed_and_its_answer_proved() {
    let world = world(json!({"plans": plans()}), "");
    let ended =
        run(&world, "ma", &["--content", "identical,distinct", "--update-path", "--versions", "5"]).expect(0);
    let summary = ended.summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    let kept = world.kept("out");
    kept.is_complete();
    assert!(kept.work().is_empty());
    let trials = trials(&world);
    assert!(trials.iter().all(|trial| trial.verdict == Verdict::Exact), "{trials:?}");
    for wanted in [
        "import",
        "export",
        "copy",
        "extract",
        "filter",
        "order",
        "index plain",
        "filter plain",
        "order plain",
        "extract plain",
        "update_path 1",
        "update_path 3",
        "update_path 7",
    ] {
        // Two data sets in two rounds.
        assert_eq!(trials.iter().filter(|trial| name(trial) == wanted).count(), 4, "{wanted}");
        let trial = find(&trials, wanted);
        assert!(trial.seconds.is_some() && trial.metrics["source_bytes"] > 20_000.0, "{trial:?}");
    }
    let version = find(&trials, "version update");
    assert!(
        version.metrics["documents"] == 5.0 && version.metrics.contains_key("added_share"),
        "{version:?}"
    );
    let disk = find(&trials, "disk");
    // The mock writes the documents' text, and compact copies of them.
    let (source, added) = (disk.metrics["source_bytes"], disk.metrics["added_bytes"]);
    assert!(added > 0.5 * source && added < 1.5 * source, "{:?}", disk.metrics);
    assert!((disk.metrics["added_share"] - added / source).abs() < 1e-9);
    for (wanted, usage) in [
        ("use plain filter column", 3.0),
        ("use plain order column", 2.0),
        ("use plain exists ?", 1.0),
        ("use plain extract expression", 0.0),
    ] {
        assert_eq!(find(&trials, wanted).metrics["index_use"], usage, "{wanted}");
    }
    assert!(find(&trials, "index plain").metrics["index_bytes"] > 0.0);
    assert!(!trials.iter().any(|trial| name(trial).contains("second")), "a plain run builds the best alone");
}

#[test]
fn a_copy_that_changes_anything_else_is_wrong() {
    let world = world(
        json!({"faults": [{"statement": "doc_copy", "execution": 2, "action": "change_extra_value"}]}),
        "",
    );
    let summary = run(&world, "ma", &[]).expect(1).summary();
    assert!(summary.complete);
    let [failure] = summary.failures.as_slice() else { panic!("{:?}", summary.failures) };
    assert_eq!((failure.cell.step.word(), failure.kind, failure.round), ("copy", FailureKind::Wrong, 2));
    let copy = summary.results.iter().find(|entry| entry.cell.step.word() == "copy").unwrap();
    assert!(copy.verdict == Verdict::Wrong && copy.median_s.is_none(), "{copy:?}");
}

#[test]
fn wrong_answers_are_caught_wherever_they_are() {
    for (on, step) in [("doc_extract", "extract"), ("doc_filter", "filter"), ("doc_order", "order")] {
        let fault = json!({"statement": on, "execution": 2, "action": "wrong_value", "row": 0, "column": 0});
        let world = world(json!({"faults": [fault]}), "");
        let summary = run(&world, "ma", &["-r", "1"]).expect(1).summary();
        let [failure] = summary.failures.as_slice() else { panic!("{on}: {:?}", summary.failures) };
        assert_eq!((failure.cell.step.word(), failure.kind), (step, FailureKind::Wrong));
    }
    for (fault, words) in [
        (
            json!({"statement": "doc_export", "execution": 1, "action": "missing_row", "row": 3}),
            "19 documents came out, 20 went in",
        ),
        (
            json!({"statement": "doc_export", "execution": 2, "action": "missing_row", "row": 3}),
            "the texts that came out are not those",
        ),
        (
            json!({"statement": "doc_export", "execution": 1, "action": "wrong_value", "row": 0, "column": 0, "value": "{}"}),
            "not those that they should be",
        ),
    ] {
        let world = world(json!({"faults": [fault]}), "");
        let summary = run(&world, "ma", &["-r", "1"]).expect(1).summary();
        assert!(summary.complete);
        assert!(
            summary.failures.iter().any(|one| one.error.contains(words)),
            "{words}: {:?}",
            summary.failures
        );
    }
}

#[test]
fn a_document_that_is_refused_fails_its_table_and_others_go_on() {
    let script = json!({"rejections": [{"ordinal": 3, "reason": "larger than 1,000 bytes"}]});
    let world = World::with(&[
        mock("ma", script).documents(INDEX),
        mock("mb", json!({})).documents("not.copy = \"it copies nothing\"\n"),
    ]);
    let summary = run(&world, "ma,mb", &["-r", "1"]).expect(1).summary();
    assert!(summary.complete);
    assert!(summary.failures.iter().all(|failure| failure.cell.id.system == "ma"));
    let import = summary.failures.iter().find(|failure| failure.cell.step.word() == "import").unwrap();
    assert!(import.error.contains("larger than 1,000 bytes"), "{}", import.error);
    let of = |step: &str| {
        let of_mb = summary.results.iter().filter(|entry| entry.cell.id.system == "mb");
        of_mb.clone().find(|entry| entry.cell.step.word() == step).unwrap()
    };
    assert_eq!((of("import").verdict, of("export").verdict), (Verdict::Exact, Verdict::Exact));
    assert_eq!(of("copy").verdict, Verdict::NotApplicable);
    assert!(
        of("disk").metrics.contains_key("files_bytes") && !of("disk").metrics.contains_key("added_bytes")
    );
    let trials = trials(&world);
    let copy =
        trials.iter().find(|trial| trial.cell.id.system == "mb" && trial.cell.step.word() == "copy").unwrap();
    let why = copy.failure.as_ref().map(|failure| failure.error.as_str());
    assert_eq!(why, Some("it copies nothing"));
}

#[test]
fn a_statement_that_takes_too_long_costs_its_test_alone() {
    let world = world(json!({"faults": [{"statement": "doc_filter", "execution": 1, "action": "hang"}]}), "");
    let summary = run(&world, "ma", &["-r", "1", "--timeout", "2s"]).expect(1).summary();
    assert!(summary.complete);
    let [failure] = summary.failures.as_slice() else { panic!("{:?}", summary.failures) };
    assert_eq!((failure.cell.step.word(), failure.kind), ("filter", FailureKind::Timeout));
}

#[test]
fn a_system_that_dies_in_a_copy_is_started_again() {
    let world = world(json!({"faults": [{"statement": "doc_copy", "execution": 1, "action": "crash"}]}), "");
    let summary = run(&world, "ma", &[]).expect(1).summary();
    assert!(summary.complete);
    let [failure] = summary.failures.as_slice() else { panic!("{:?}", summary.failures) };
    assert_eq!((failure.cell.step.word(), failure.kind, failure.round), ("copy", FailureKind::Crash, 1));
}

#[test]
fn documents_beyond_a_limit_are_replaced_by_the_largest() {
    let world = world(json!({}), "largest = { n = 5, why = \"half a kilobyte is enough\" }\n");
    let summary = run(&world, "ma", &["-r", "1"]).expect(0).summary();
    let own: Vec<_> = summary.results.iter().filter(|entry| entry.cell.step.is_workload_step()).collect();
    assert!(!own.is_empty());
    for entry in own {
        let parameters = &entry.cell.parameters;
        assert_eq!((parameters["size"].as_str(), parameters["n"].as_u64()), (Some("1KiB"), Some(5)));
    }
}

#[test]
fn documents_far_beyond_a_limit_are_not_applicable() {
    let world = world(json!({}), "largest = { n = 6, why = \"a kilobyte is enough\" }\n");
    let summary = run(&world, "ma", &["-r", "1", "--sizes", "1KiB,4KiB"]).expect(0).summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    let of = |size: &'static str| {
        let own = summary.results.iter().filter(|entry| entry.cell.step.is_workload_step());
        own.filter(move |entry| entry.cell.parameters["size"].as_str() == Some(size))
    };
    assert!(of("1KiB").count() > 5 && of("4KiB").count() == of("1KiB").count());
    assert!(of("1KiB").all(|entry| entry.verdict == Verdict::Exact && entry.cell.parameters["n"] == 6));
    // Otherwise their reported size would be far from the real one.
    assert!(
        of("4KiB").all(|entry| entry.verdict == Verdict::NotApplicable && entry.cell.parameters["n"] == 8)
    );
    let trials = trials(&world);
    let one = trials.iter().find(|trial| trial.verdict == Verdict::NotApplicable).unwrap();
    let why = one.failure.as_ref().map(|failure| failure.error.as_str());
    assert_eq!(why, Some("a kilobyte is enough"));
}

#[test]
fn the_largest_document_is_looked_for_until_one_is_refused() {
    let world = world(json!({"max_keyed_document_bytes": 5000}), "");
    let ended = run(&world, "ma", &["-r", "1", "--max-size-search", "16KiB,2KiB,4KiB,8KiB"]).expect(0);
    assert!(ended.summary().complete && ended.summary().failures.is_empty());
    let trials = trials(&world);
    let limits: Vec<_> = trials.iter().filter(|trial| trial.cell.step.word() == "limit").collect();
    let told: Vec<(&str, Verdict, &str)> = limits
        .iter()
        .map(|trial| {
            let why = trial.failure.as_ref().map_or("", |failure| failure.error.as_str());
            (trial.cell.parameters["size"].as_str().unwrap(), trial.verdict, why)
        })
        .collect();
    assert_eq!(
        told,
        [
            ("2KiB", Verdict::Exact, ""),
            ("4KiB", Verdict::Exact, ""),
            ("8KiB", Verdict::NotApplicable, "a document has 5000 bytes at most"),
            ("16KiB", Verdict::NotApplicable, "not tried: 8KiB was refused"),
        ]
    );
    assert!(limits[0].seconds.is_some() && limits[0].metrics["source_bytes"] > 2000.0);
    // Exact to one object of these small documents: 16 bytes, plus or minus a few.
    let bytes = |of: &str| -> u64 {
        let found = limits[2].findings.iter().find(|finding| finding.subject == of).unwrap();
        found.state.as_str().parse().unwrap()
    };
    let (taken, refused) = (bytes("bytes taken"), bytes("bytes refused"));
    assert!(taken <= 5000 && refused > 5000 && refused - taken < 40, "{taken} {refused}");
    let text = world.run(&["export", "-f", "markdown", "--means", &world.text("out")]).expect(0).stdout;
    assert!(
        text.contains("refused: ma ") && text.contains("8KiB: a document has 5000 bytes at most"),
        "{text}"
    );
    assert!(text.contains("refused, as is all beyond "), "{text}");
    assert!(!text.contains("not tried") && text.contains("mean ± standard deviation"), "{text}");
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_begins() {
    let world = world(json!({}), "");
    for (more, words) in [
        (&["--content", "x.json"][..], "identical, distinct"),
        (&["-n", "5"], "unexpected argument '-n'"),
        (&["--malformed", "1"], "unexpected argument '--malformed'"),
        (&["--sizes", "65KiB"], "size of no document"),
        (&["--table-size", "8"], "is no size"),
        (&["-s", "duckdb"], "documents"),
    ] {
        let ended = run(&world, "ma", more).expect(2);
        assert!(ended.stderr.contains(words), "{more:?}: {}", ended.stderr);
        assert!(!world.path("out").exists());
    }
    let ended = run(&world, "ma", &["--table-size", "1048576GB"]).expect(3);
    assert!(ended.stderr.contains("smaller --table-size"), "{}", ended.stderr);
}
