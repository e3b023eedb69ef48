//! Documents that a system rejects.

use jsonathlon_schema::manifest::DataSetInfo;
use jsonathlon_schema::record::Verdict;
use serde_json::{Value, json};

use crate::support::{Look, QUESTIONS, World, mock};

fn refusing(ordinals: &[u64]) -> Value {
    let refusals: Vec<Value> = ordinals
        .iter()
        .map(|ordinal| json!({"ordinal": ordinal, "reason": format!("no room for {ordinal}")}))
        .collect();
    json!({"rejections": refusals})
}

#[test]
fn documents_refused_by_row_are_listed_and_the_answers_are_over_the_rest() {
    let world = World::with(&[mock("picky", refusing(&[3, 1500])), mock("good", json!({}))]);
    let ended = world.measure("picky,good", &["-n", "2k", "-r", "1"]).expect(0);
    let summary = ended.summary();
    summary.is_right("picky");
    summary.is_right("good");
    let load = &summary.entry("picky", "load").metrics;
    assert_eq!(
        [load["documents_offered"], load["documents_loaded"], load["documents_rejected"]],
        [2000.0, 1998.0, 2.0]
    );
    let expected = [3, 1500].map(|ordinal| (ordinal, format!("no room for {ordinal}")));
    assert_eq!(world.kept("out").rejects("picky"), expected);
    assert!(world.kept("out").rejects("good").is_empty());
    assert!(ended.stderr.contains("picky 1.0 plain: 2 documents rejected"), "{}", ended.stderr);
    // The two systems hold different documents, so their expected answers differ.
    let counted = |system: &str| {
        let trials = world.kept("out").trials();
        let trial =
            trials.into_iter().find(|trial| trial.cell.id.system == system && trial.cell.step.word() == "q1");
        trial.unwrap().answer_digest.unwrap()
    };
    assert_ne!(counted("picky"), counted("good"));
}

#[test]
fn below_999_of_a_thousand_a_system_is_not_compared() {
    let world = World::with(&[mock("picky", refusing(&[7])), mock("good", json!({}))]);
    let ended = world.measure("picky,good", &["-n", "300", "-r", "1"]);
    let summary = ended.expect(0).summary();
    summary.is_right("good");
    let load = summary.entry("picky", "load");
    assert_eq!(load.verdict, Verdict::Partial);
    assert_eq!(load.metrics["documents_loaded"], 299.0);
    for question in QUESTIONS {
        // The answer is correct for the stored documents, but not for all documents.
        assert_eq!(summary.hot("picky", question).verdict, Verdict::Partial);
    }
    let tables = world.run(&["export", "--tables", "full", &world.text("out")]).expect(0).stdout;
    let (tables, _) = tables.split_once("\nanswer\n").unwrap();
    for line in tables.lines().filter(|line| line.trim_start().starts_with("picky 1.0")) {
        assert!(!line.contains("exact"), "{line}");
    }
    assert_eq!(tables.matches("partial, not comparable").count(), 6, "{tables}");
    assert_eq!(tables.matches("partial").count(), 7, "{tables}");
    assert!(tables.contains("picky rejected 1: no room for 7"), "{tables}");
}

#[test]
fn what_is_no_json_is_no_document_and_ranks_nobody_down() {
    let world = World::with(&[mock("one", json!({})), mock("other", json!({}))]);
    let lines = std::fs::read_to_string(world.events("events.ndjson", &["-n", "500"])).unwrap();
    let data = world.file("spoilt.ndjson", lines.replacen('\n', "\n{\"cut\": \n", 1));
    let ended = world.measure("one,other", &["-d", &data, "-r", "1"]).expect(0);
    let words = ["1 line is no JSON, and no document", &format!("{data}, line 2: ends inside")];
    let summary = ended.says(&words).summary();
    for system in ["one", "other"] {
        summary.is_right(system);
        let load = summary.entry(system, "load");
        assert_eq!(load.verdict, Verdict::Exact);
        assert_eq!((load.metrics["documents_offered"], load.metrics["documents_rejected"]), (500.0, 0.0));
    }
    let kept = world.kept("out");
    let of_data = kept.manifest().data;
    assert_eq!((of_data.documents, of_data.no_documents), (500, 1));
    let listed = std::fs::read_to_string(kept.path(DataSetInfo::NO_DOCUMENTS)).unwrap();
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!((&listed["input"], &listed["line"]), (&json!(data), &json!(2)));
    let tables = world.run(&["export", "--tables", "full", &world.text("out")]).expect(0).stdout;
    let (tables, _) = tables.split_once("\nanswer\n").unwrap();
    assert!(!tables.contains("partial"), "{tables}");
    assert!(tables.contains("1 line is no JSON, and no document"), "{tables}");
}

#[test]
fn malformed_lines_are_counted_and_listed_and_the_answers_stay_exact() {
    let world = World::new();
    let arguments = ["run", "--json", "-s", "sqlite", "-n", "8k", "--malformed", "8", "-r", "1"];
    let out = world.text("out");
    let ended = world.run(&[&arguments[..], &["-o", &out]].concat()).expect(0);
    let summary = ended.summary();
    let loads = summary.entries("sqlite", "load");
    assert!(!loads.is_empty());
    for load in loads {
        assert_eq!(load.verdict, Verdict::Exact);
        let metrics = &load.metrics;
        assert_eq!(
            [metrics["documents_offered"], metrics["documents_loaded"], metrics["documents_rejected"]],
            [7992.0, 7992.0, 0.0],
            "{}",
            load.cell.id.variant
        );
    }
    for question in QUESTIONS {
        for entry in summary.entries("sqlite", question) {
            assert_eq!(entry.verdict, Verdict::Exact, "{question} {}", entry.cell.id.variant);
        }
    }
    // The listed lines are the invalid lines of the data itself.
    let data = world.events("events.ndjson", &["-n", "8k", "--malformed", "8"]);
    let lines = std::fs::read(data).unwrap();
    let bad: Vec<u64> = (1..)
        .zip(lines.split(|byte| *byte == b'\n'))
        .filter(|(_, line)| !line.is_empty() && serde_json::from_slice::<Value>(line).is_err())
        .map(|(number, _)| number)
        .collect();
    let listed = std::fs::read_to_string(world.kept("out").path(DataSetInfo::NO_DOCUMENTS)).unwrap();
    let listed: Vec<u64> = listed
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["line"].as_u64().unwrap())
        .collect();
    assert_eq!(listed, bad);
    assert_eq!(world.kept("out").manifest().data.no_documents, 8);
}

#[test]
fn refused_documents_are_told_by_file_and_line_and_summed_up_by_reason() {
    let quoting = |ordinal: u64, row: u64| {
        let reason = format!("cannot parse row {row}: '<document>'");
        json!({"ordinal": ordinal, "reason": reason})
    };
    let refuse = json!({"rejections": [quoting(2, 1), quoting(250, 7), quoting(299, 8)]});
    let world = World::with(&[mock("picky", refuse)]);
    std::fs::create_dir(world.path("data")).unwrap();
    // Two files with blank lines and an invalid line between the documents.
    let text = std::fs::read_to_string(world.events("data/a.ndjson", &["-n", "100"])).unwrap();
    world.file("data/a.ndjson", text.replace('\n', "\n\n"));
    let second =
        std::fs::read_to_string(world.events("data/b.ndjson", &["-n", "200", "--start", "100"])).unwrap();
    world.file("data/b.ndjson", format!("no json\n{second}"));
    let data = world.text("data");
    let summary = world.measure("picky", &["-d", &data, "-r", "1"]).expect(0).summary();
    assert_eq!(summary.entry("picky", "load").metrics["documents_rejected"], 3.0);
    let kept = world.kept("out");
    let text = std::fs::read_to_string(kept.path("rejects/picky@1.0-plain-default.ndjson")).unwrap();
    let places: Vec<(String, u64)> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|line| {
            assert_eq!(line["reason"].as_str().unwrap().matches("did:plc").count(), 0, "{line}");
            (line["input"].as_str().unwrap().to_owned(), line["line"].as_u64().unwrap())
        })
        .collect();
    let (a, b) = (format!("{data}/a.ndjson"), format!("{data}/b.ndjson"));
    assert_eq!(places, [(a.clone(), 5), (b.clone(), 152), (b, 201)]);
    let tables = world.run(&["export", "--tables", "full", &world.text("out")]).expect(0).stdout;
    let words = format!("picky rejected 3: cannot parse row …: … (the first: {a}, line 5)");
    assert!(tables.contains(&words), "{tables}");
}

#[test]
fn a_system_that_takes_no_document_has_failed_to_load() {
    let refuse: Vec<Value> =
        (0..50).map(|ordinal| json!({"ordinal": ordinal, "reason": "no such type"})).collect();
    let world = World::with(&[mock("none", json!({"rejections": refuse})), mock("good", json!({}))]);
    let data = world.events("events.ndjson", &["-n", "50"]);
    let ended = world.measure("none,good", &["-d", &data, "-r", "1"]).expect(1);
    let words = format!("it refused all 50 documents: no such type (the first: {data}, line 1)");
    let summary = ended.says(&[&words]).summary();
    summary.is_right("good");
    assert_eq!(summary.entry("none", "load").verdict, Verdict::Failed);
    world.kept("out").is_complete();
}

#[test]
fn a_file_refused_as_a_whole_for_no_document_in_it_fails_the_load() {
    // Refused once but accepted in parts, so no single document can be blamed.
    let script = json!({"rejections": [{"ordinal": 7, "reason": "moon in the wrong house", "load": 1}]});
    let world = World::with(&[mock("moody", script).by_file(), mock("good", json!({})).by_file()]);
    let ended = world.measure("moody,good", &["-n", "300", "-r", "1"]).expect(1);
    let summary = ended.summary();
    summary.is_right("good");
    assert_eq!(summary.entry("moody", "load").verdict, Verdict::Failed);
    let words = "refused the documents as a whole (document 7 of ";
    assert!(ended.stderr.contains(words), "{}", ended.stderr);
    assert!(ended.stderr.contains("moon in the wrong house"), "{}", ended.stderr);
    world.kept("out").is_complete();
}
