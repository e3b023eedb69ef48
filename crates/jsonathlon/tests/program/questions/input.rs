//! Mistakes of users in questions, and unusual documents.

use jsonathlon_schema::record::{AnswerStatus, ExpectedAnswerSource};
use serde_json::json;

use super::{GROUPS, SUM, agreement, documents, folder, run};
use crate::support::{Look, World, mock};

const ASKS: &str = "SELECT count(*) AS n FROM {{table}};\n";

/// Checks a folder of questions, which must fail. Returns the error.
fn refused(files: &[(String, String)]) -> String {
    let world = World::new();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let folder = folder(&world, &files);
    world.run(&["questions", "check", &folder]).expect(2).stderr
}

#[test]
fn what_is_misspelt_is_named_with_file_line_and_what_is_allowed() {
    let sum = "sqlite/sum.sql";
    let file = |path: &str, text: &dyn ToString| (path.to_owned(), text.to_string());
    for (files, words) in [
        (
            vec![file("questions.toml", &format!("titel = \"x\"\n{SUM}"))],
            vec!["questions.toml:1", "titel", "title"],
        ),
        (vec![file("questions.toml", &"title = \"x\"\n")], vec!["questions.toml", "[[question]]"]),
        (
            vec![file("questions.toml", &SUM.replace("number", "numbr"))],
            vec!["questions.toml:5", "numbr", "number"],
        ),
        (
            vec![file("questions.toml", &format!("{SUM}scale = {{ total = \"size\" }}\n"))],
            vec!["questions.toml:6", "`size` is no column", "total"],
        ),
        (
            vec![file("questions.toml", &format!("{GROUPS}scale = {{ n = \"n / x\" }}\n"))],
            vec!["questions.toml:7", "are numbers"],
        ),
        (
            vec![file("questions.toml", &SUM.replace("\"sum\"", "\"Sum of\""))],
            vec!["questions.toml:3", "a-z"],
        ),
        (
            vec![file("questions.toml", &SUM.replace("\"sum\"", "\"load\""))],
            vec!["questions.toml:3", "another name"],
        ),
        (
            vec![file("questions.toml", &GROUPS.replace("n desc", "m desc"))],
            vec!["questions.toml:6", "`m` is no column", "x and n"],
        ),
        (
            vec![file("questions.toml", &format!("{SUM}limit = 3\n"))],
            vec!["questions.toml:6", "has no order"],
        ),
        (vec![file("questions.toml", &format!("{SUM}{SUM}"))], vec!["questions.toml:8", "two questions"]),
        (
            vec![file("questions.toml", &format!("reference = \"duckbd\"\n{SUM}")), file(sum, &ASKS)],
            vec!["questions.toml:1", "duckbd", "sqlite"],
        ),
        (
            vec![file("questions.toml", &SUM), file("sqlite/sun.sql", &ASKS)],
            vec!["sqlite/sun.sql", "did you mean `sum`", "schema, load, index"],
        ),
        (vec![file("questions.toml", &SUM), file("sqlite/sum.txt", &ASKS)], vec!["sqlite/sum.txt", ".sql"]),
        (
            vec![file("questions.toml", &SUM), file("sqllite/sum.sql", &ASKS)],
            vec!["sqllite", "did you mean `sqlite`"],
        ),
        (vec![file("questions.toml", &SUM), file("Sqlite/sum.sql", &ASKS)], vec!["Sqlite", "SYSTEM+VARIANT"]),
        (
            vec![file("questions.toml", &SUM), file(sum, &"SELECT 1;\n")],
            vec!["sqlite/sum.sql:1", "{{table}}"],
        ),
        (
            vec![file("questions.toml", &SUM), file(sum, &"SELECT 1\nFROM {{tabel}};\n")],
            vec!["sqlite/sum.sql:2", "did you mean `table`"],
        ),
        (
            vec![
                file("questions.toml", &SUM),
                file(sum, &"SELECT 1 FROM {{table}};\nSELECT 2 FROM {{table}};\n"),
            ],
            vec!["sqlite/sum.sql", "holds 2 statements"],
        ),
        (
            vec![file("questions.toml", &SUM), file("mongodb/sum.json", &"{\"a\":\n x}")],
            vec!["mongodb/sum.json:2", "JSON"],
        ),
        (
            vec![file("questions.toml", &SUM), file(sum, &ASKS), file("expected.json", &"{\"sun\": [[1]]}")],
            vec!["expected.json:1", "did you mean `sum`"],
        ),
        (
            vec![
                file("questions.toml", &SUM),
                file(sum, &ASKS),
                file("expected.json", &"{\"sum\": [[1, 2]]}"),
            ],
            vec!["expected.json:1", "2 cells", "1 columns"],
        ),
        (
            vec![file("questions.toml", &SUM), file(sum, &ASKS), file("notes.txt", &"x")],
            vec!["notes.txt", "belongs to nothing"],
        ),
        (vec![file("readme", &"x")], vec!["questions.toml", "questions new"]),
    ] {
        let error = refused(&files);
        for word in words {
            assert!(error.contains(word), "{word}: {error}");
        }
    }
}

#[test]
fn a_system_that_cannot_be_asked_a_kind_says_why() {
    let world = World::new();
    let line = |n: usize| format!("{{\"country\":\"c{}\",\"plan\":\"p{}\"}}\n", n % 5, n % 3);
    let data = world.file("data.ndjson", (0..100).map(line).collect::<String>());
    let folder = world.text("q");
    let said = world.run(&["questions", "new", &folder, "-d", &data]).expect(0).stdout;
    let name = said.split_whitespace().find(|word| word.starts_with("pairs-")).unwrap();
    let why = format!("elasticsearch is not asked `{name}`: it counts by one field: `multi_terms`");
    assert!(said.contains(&why), "{said}");
    let toml = std::fs::read_to_string(world.path("q/questions.toml")).unwrap();
    assert!(toml.contains("# elasticsearch is not asked: it counts by one field"), "{toml}");
    assert!(world.path(&format!("q/postgresql/{name}.sql")).exists());
}

#[test]
fn a_question_that_no_system_has_a_statement_for_is_told() {
    let world = World::new();
    let folder = folder(&world, &[("questions.toml", &format!("{SUM}{GROUPS}")), ("sqlite/sum.sql", ASKS)]);
    let ended = world.run(&["questions", "check", &folder]).expect(1);
    assert!(
        ended.stdout.contains("questions.toml:7") && ended.stdout.contains("no system has a statement"),
        "{}",
        ended.stdout
    );
    let data = documents(&world);
    // No chosen system has a statement for one question: the run continues with the other one and reports
    // that.
    let ended = run(&world, "sqlite", &data, &[]).expect(0);
    assert_eq!(agreement(&ended.summary(), "groups").basis, ExpectedAnswerSource::Unanswered);
    let error = world.run(&["run", "questions", "-q", &folder, "-d", &data, "-s", "duckdb"]).expect(2).stderr;
    assert!(error.contains("no folder duckdb/"), "{error}");
}

#[test]
fn the_next_command_names_the_folders_of_own_systems() {
    let world = World::new();
    let (data, folders) = (documents(&world), world.text("systems"));
    let asked = ["questions", "new", &world.text("n"), "-d", &data, "--systems-dir", &folders];
    let told = world.run(&asked).expect(0).stdout;
    assert!(told.contains(&format!(" --systems-dir {folders}\n")), "{told}");
}

#[test]
fn documents_are_needed_and_generated_ones_are_not_taken() {
    let world = World::new();
    let folder = folder(&world, &[("questions.toml", SUM), ("sqlite/sum.sql", ASKS)]);
    let error = world.run(&["run", "questions", "-q", &folder]).expect(2).stderr;
    assert!(error.contains("--data <PATH|URL>"), "{error}");
    std::fs::create_dir(world.path("empty")).unwrap();
    let error = run(&world, "sqlite", &world.text("empty"), &[]).stderr;
    assert!(error.contains("empty"), "{error}");
    let error = world.run(&["questions", "new", &world.text("n"), "-d", &world.text("empty")]).stderr;
    assert!(error.contains("empty"), "{error}");
    let csv = world.file("table.csv", "a,b\n1,2\n3,4\n");
    let error = run(&world, "sqlite", &csv, &[]).stderr;
    assert!(error.contains("table.csv") && error.contains("JSON"), "{error}");
}

#[test]
fn a_statement_that_fails_or_changes_data_has_no_answer() {
    let world = World::new();
    let data = documents(&world);
    let both = format!("{SUM}{}", SUM.replace("\"sum\"", "\"bad\"").replace("Sum of", "Nothing of"));
    for bad in ["SELECT missing FROM {{table}};\n", "DELETE FROM {{table}} RETURNING 1;\n"] {
        let _ = std::fs::remove_dir_all(world.path("out"));
        folder(&world, &[("questions.toml", &both), ("sqlite/sum.sql", ASKS), ("sqlite/bad.sql", bad)]);
        let summary = run(&world, "sqlite", &data, &[]).expect(1).summary();
        let standing = &agreement(&summary, "bad").answers[0];
        assert_eq!(standing.answer, AnswerStatus::Failed, "{bad}");
        let words = standing.why.as_deref().unwrap_or_default();
        assert!(words.contains("no such column") || words.contains("readonly"), "{words}");
        // The other question is still asked over all documents.
        let rows = world.kept("out").path("answers/fixed-sum.json");
        assert!(std::fs::read_to_string(rows).unwrap().contains("[[50]]"));
    }
}

#[test]
fn an_answer_of_too_many_rows_is_refused() {
    let world = World::with(&[mock("one", json!({})).questions()]);
    let data = documents(&world);
    folder(&world, &[("questions.toml", SUM), ("one/sum.sql", "rows {{table}} 1000001;\n")]);
    let summary = run(&world, "one", &data, &["-r", "1"]).expect(1).summary();
    let standing = &agreement(&summary, "sum").answers[0];
    assert!(
        standing.why.as_deref().is_some_and(|why| why.contains("more than 1000000 rows")),
        "{standing:?}"
    );
}

#[test]
fn documents_that_are_no_objects_or_hold_large_numbers_are_taken_where_a_system_takes_them() {
    let world = World::new();
    let lines = [
        r#"{"a":1}"#,
        "[1,2]",
        "3",
        r#""text""#,
        "null",
        r#"{"a":123456789012345678901234567890}"#,
        r#"{"a":18446744073709551615}"#,
        r#"{"a":"mixed"}"#,
        "not json",
    ];
    let data = world.file("data.ndjson", lines.join("\n"));
    folder(&world, &[("questions.toml", SUM), ("sqlite/sum.sql", ASKS), ("duckdb/sum.sql", ASKS)]);
    if crate::support::real::excluded(&["duckdb"]) {
        return;
    }
    let summary = run(&world, "sqlite,duckdb", &data, &["-r", "1"]).summary();
    let one = agreement(&summary, "sum");
    assert_eq!(one.basis, ExpectedAnswerSource::Agreed, "{one:?}");
    for system in ["sqlite", "duckdb"] {
        let rejects = world.kept("out").rejects(system);
        assert!(rejects.is_empty(), "{system}: what is no JSON is no document: {rejects:?}");
    }
}

/// Arrays and scalars among objects: each line is one document, even for formats that read rows.
#[test]
fn what_is_no_object_is_never_taken_apart() {
    if crate::support::real::excluded(&["clickhouse", "duckdb"]) {
        return;
    }
    let world = World::new();
    let mut lines: Vec<String> = (0..50).map(|number| format!(r#"{{"n":{number}}}"#)).collect();
    for odd in [r#"[{"n":1},{"n":2}]"#, "[]", r#"[{"n":3}]"#, "7"] {
        lines.insert(20, odd.to_owned());
    }
    let data = world.file("data.ndjson", lines.join("\n"));
    let systems = ["clickhouse", "duckdb", "sqlite"];
    let files: Vec<(String, &str)> = systems.iter().map(|name| (format!("{name}/sum.sql"), ASKS)).collect();
    let mut all = vec![("questions.toml", SUM)];
    all.extend(files.iter().map(|(path, text)| (path.as_str(), *text)));
    folder(&world, &all);
    let summary = run(&world, &systems.join(","), &data, &["-r", "1"]).summary();
    let of = |system: &str| {
        let load = &summary.entry(system, "load").metrics;
        (load["documents_offered"], load["documents_loaded"], load["documents_rejected"])
    };
    assert_eq!(of("clickhouse"), (54.0, 50.0, 4.0), "a column of its JSON holds objects alone");
    assert_eq!(of("duckdb"), (54.0, 54.0, 0.0));
    assert_eq!(of("sqlite"), (54.0, 54.0, 0.0));
    let rejects = world.kept("out").rejects("clickhouse");
    assert_eq!(rejects.iter().map(|(ordinal, _)| *ordinal).collect::<Vec<_>>(), [20, 21, 22, 23]);
}

/// Documents that are all suspects: large ones, duplicate keys, numbers beyond 64 bits.
#[test]
fn a_set_of_nothing_but_suspects_loads_and_their_time_is_part_of_it() {
    let world = World::new();
    let large = format!(r#"{{"n":1,"text":"{}"}}"#, "x".repeat(1 << 20));
    let text = [&large, r#"{"n":2,"n":3}"#, r#"{"n":123456789012345678901234567890}"#, &large].join("\n");
    let data = world.file("data.ndjson", &text);
    folder(&world, &[("questions.toml", SUM), ("sqlite/sum.sql", ASKS)]);
    let summary = run(&world, "sqlite", &data, &["-r", "1"]).expect(0).summary();
    let load = summary.entry("sqlite", "load");
    let metrics = &load.metrics;
    assert_eq!((metrics["documents_loaded"], metrics["suspect_documents_accepted"]), (4.0, 4.0));
    let seconds = load.median_s.unwrap();
    assert!(seconds > 0.0);
    let near = |rate: f64, amount: f64| (rate * seconds / amount - 1.0).abs() < 1e-6;
    assert!(near(metrics["documents_per_s"], 4.0), "{metrics:?}");
    assert!(near(metrics["bytes_per_s"], text.len() as f64 + 1.0), "{metrics:?}");
    assert!(
        std::fs::read_to_string(world.kept("out").path("answers/fixed-sum.json")).unwrap().contains("[[4]]")
    );
    let tables = world.run(&["export", "--tables", "full", &world.text("out")]).expect(0).stdout;
    assert!(tables.contains("same bytes"), "they are read back as any other: {tables}");
}

#[test]
fn documents_without_objects_are_counted_as_they_are() {
    let world = World::new();
    let lines: String = (0..20_000)
        .map(|number| if number % 4 == 0 { format!("[{number}]\n") } else { "{\"a\":[1]}\n".to_owned() })
        .collect();
    let data = world.file("data.ndjson", lines + "cut\n");
    let error = world.run(&["questions", "new", &world.text("n"), "-d", &data]).expect(2).stderr;
    let words =
        format!("of 20,001 lines looked at, 5,000 are JSON and no objects, 1 is no JSON ({data}, line 20001");
    assert!(error.contains(&words), "{error}");
}
