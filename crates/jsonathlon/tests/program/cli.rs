//! Tests of the command line: rejected arguments, output, and output formats.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use jsonathlon_results::challenge::jsonbench::{parse_result_files, read_result_files};
use jsonathlon_results::summary::Run;
use jsonathlon_schema::record::Phase;
use serde_json::{Value, json};

use crate::support::process::{Ended, Running};
use crate::support::{LIMIT, Look, PROGRAM, QUESTIONS, World, mock};

/// A world with a finished run in `out`.
fn finished() -> World {
    let world = World::with(&[mock("ma", json!({})), mock("mb", json!({}))]);
    world.measure("ma,mb", &["-n", "300", "-r", "2"]).expect(0);
    world
}

#[test]
fn unknown_names_are_refused_with_the_nearest_ones() {
    let world = World::new();
    for (arguments, words) in [
        (&["-s", "duckbd"][..], &["no system `duckbd`", "did you mean `duckdb`", "sqlite"][..]),
        (&["-s", "sqlite@2.0"], &["sqlite has no version `2.0`"]),
        (&["-s", ","], &["is not a selection"]),
        (&["-s", "sqlite", "--variants", "indexd"], &["no variant `indexd`", "did you mean `indexed`"]),
        (&["-s", "sqlite", "--storage", "bset"], &["storage setting `bset`", "there is default"]),
        (&["-n", "ten"], &["\"ten\" is no count", "100k"]),
        (&["-n", "0"], &["at least one document"]),
        (&["-n", "-5"], &["unexpected argument"]),
        (&["--timeout", "soon"], &["\"soon\" is no time", "90s"]),
        (&["--timeout", "0"], &["is no time"]),
        (&["-r", "0"], &["0 is not in 1..=1000"]),
        (
            &["-s", "sqlite", "--memory", "900000GB"],
            &["--memory", "exceeds the memory of this machine or its container"],
        ),
        (
            &["-s", "sqlite", "--memory", "1MB"],
            &["sqlite needs", "of memory at least, and may have 1 MB here"],
        ),
        (&["--memory", "8"], &["is no size", "8GB"]),
        (&["--memory", "1GB", "--profile", "stock"], &["--memory sets the budget of the profile `sized`"]),
        (&["-s", "sqlite", "--variants", "extracted"], &["no variant `extracted`", "as-is", "prepared"]),
        (&["--precision", "0"], &["cannot be reached or says nothing", "5%"]),
        (&["--precision", "200%"], &["cannot be reached or says nothing"]),
        (&["--precision", "5%", "-r", "3"], &["cannot be used with"]),
        (&["--budget", "1m", "-r", "3"], &["cannot be used with"]),
        (&["--load-rounds", "0"], &["0 is not in 1..=1000"]),
        (&["-n", "10", "--malformed", "11"], &["11 malformed lines cannot be planted among 10"]),
        (&["-d", "x", "-n", "10"], &["cannot be used with"]),
        (&["--resume", "x", "-n", "10"], &["cannot be used with"]),
        (&["--resume", "x"], &["x holds no run"]),
        (&["graphs"], &["unrecognized subcommand 'graphs'", "there is analytics, serving", "WORKLOAD"]),
        (&["--systems-dir", "nowhere"], &["nowhere"]),
    ] {
        let out = world.text("out");
        let mut all = vec!["run"];
        all.extend(arguments);
        if !arguments.contains(&"--resume") {
            all.extend(["-o", &out]);
        }
        let ended = world.run(&all).expect(2).says(words);
        assert!(ended.stdout.is_empty(), "{arguments:?}: {}", ended.stdout);
        assert!(!world.path("out").exists(), "{arguments:?} began something");
    }
    world.run(&["frobnicate"]).expect(2).says(&[
        "unrecognized subcommand",
        "there is choose, run, ",
        "--help",
    ]);
    world.run(&["export", "nowhere"]).expect(2).says(&["nowhere holds no run"]);
}

#[test]
fn an_error_in_a_systems_folder_is_named_with_file_line_and_key() {
    let world = World::with(&[mock("ma", json!({}))]);
    let file = world.path("systems/ma/system.toml");
    let good = std::fs::read_to_string(&file).unwrap();
    for (from, to, words) in [
        ("load = \"rows\"", "load = \"rows\"\natomic = true", &["`analytics.atomic`", "unknown field"][..]),
        ("embedded = true", "embeded = true", &["`embeded`", "unknown field `embeded`"]),
        ("title = \"The system ma\"", "title = 7", &["`title`"]),
        ("[variants.plain]", "[variants.plain", &["system.toml:"]),
        ("load = \"rows\"", "load = \"rowz\"", &["`analytics.load`", "rowz"]),
    ] {
        assert!(good.contains(from));
        let bad = good.replacen(from, to, 1);
        std::fs::write(&file, &bad).unwrap();
        let wrong = to.lines().last().unwrap();
        let line = bad.lines().position(|line| line == wrong).unwrap() + 1;
        let place = format!("{}:{line}:", file.display());
        world.measure("ma", &["-n", "300"]).expect(2).says(words).says(&[&place]);
    }
    std::fs::write(&file, good).unwrap();
    let question = world.path("systems/ma/analytics/q3.sql");
    std::fs::write(&question, "q3\n{{tabel}};\n").unwrap();
    let place = format!("{}:2:", question.display());
    world.measure("ma", &["-n", "300"]).expect(2).says(&[&place, "{{tabel}}"]);
    std::fs::remove_file(&question).unwrap();
    world.measure("ma", &["-n", "300"]).expect(2).says(&["q3.sql", "is missing"]);
    assert!(!world.path("out").exists());
}

#[test]
fn a_run_prints_tables_or_json_and_exports_print_the_same_again() {
    let world = World::with(&[mock("ma", json!({})), mock("mb", json!({}))]);
    let printed = world.measure("ma,mb", &["-n", "300", "-r", "2"]).expect(0);
    let out = world.text("out");
    let export = |format: &str| world.run(&["export", &out, "-f", format]).expect(0).stdout;
    assert_eq!(export("json"), printed.stdout, "to the byte");
    let summary: Value = serde_json::from_str(&printed.stdout).unwrap();
    assert_eq!((&summary["schema"], &summary["complete"]), (&json!(2), &json!(true)));
    assert_eq!(summary["data"]["documents"], 300);
    assert!(summary["data"]["digest"].as_str().unwrap().starts_with("blake3:"));
    assert_eq!(summary["failures"], json!([]));
    let results = summary["results"].as_array().unwrap();
    for key in ["workload", "system", "version", "variant", "step", "phase", "parameters", "trials"] {
        assert!(results.iter().all(|result| result.get(key).is_some()), "{key}");
    }
    for key in ["median_s", "low_s", "high_s", "verdict", "metrics"] {
        assert!(results.iter().all(|result| result.get(key).is_some()), "{key}");
    }

    let rows = parse_csv(&export("csv"));
    assert_eq!(rows.len(), results.len() + 1);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "every line has every column");
    let column = |name: &str| rows[0].iter().position(|column| column == name).unwrap();
    let (system, step, verdict) = (column("system"), column("step"), column("verdict"));
    for (row, result) in rows[1..].iter().zip(results) {
        assert_eq!(
            [&row[system], &row[step], &row[verdict]],
            [&result["system"], &result["step"], &result["verdict"]].map(|value| value.as_str().unwrap())
        );
    }

    let published: Value = serde_json::from_str(&export("jsonbench")).unwrap();
    let files = published.as_array().unwrap();
    assert_eq!(files.len(), 2);
    for file in files {
        let times = file["result"].as_array().unwrap();
        assert_eq!(times.len(), 5);
        assert!(times.iter().all(|three| three.as_array().unwrap().len() == 3));
        assert!(
            times.iter().flat_map(|three| three.as_array().unwrap()).all(|time| time.as_f64() > Some(0.0))
        );
        assert_eq!((&file["dataset_size"], &file["num_loaded_documents"]), (&json!(300), &json!(300)));
        assert!(file["total_size"].as_u64() > Some(0) && file["load_time"].as_f64() > Some(0.0));
    }

    let tables = export("table");
    for words in [
        "300 documents",
        "ma 1.0",
        "mb 1.0",
        "Q1 ",
        "Q6 ",
        "exact",
        "published score",
        "how to read this",
        &out,
    ] {
        assert!(tables.contains(words), "{words} is not in\n{tables}");
    }
}

#[test]
fn result_files_hold_the_trials_of_the_journal_and_are_shown_below_published_ones() {
    let world = World::with(&[mock("ma", json!({})), mock("mb", json!({}))]);
    world.measure("ma,mb", &["-n", "300", "-r", "2"]).expect(0);
    let (out, files) = (world.text("out"), world.text("files"));
    let write = ["export", &out, "-f", "jsonbench", "-o", &files];
    let names = world.run(&write).expect(0).stdout;
    assert_eq!(names.lines().count(), 2, "{names}");
    let run = Run::read(&world.path("out")).unwrap();
    for name in names.lines() {
        let [file] = &read_result_files(Path::new(name)).unwrap()[..] else {
            panic!("{name} holds not one result")
        };
        let of = run.manifest.configurations.iter().find(|one| one.title == file.system).unwrap();
        for (question, times) in file.result.iter().enumerate() {
            for (place, time) in times.iter().enumerate() {
                let step = format!("q{}", question + 1);
                let trial = run.trials().find(|trial| {
                    of.contains_cell(&trial.cell)
                        && trial.cell.step.word() == step
                        && (trial.cell.phase == Phase::Hot) == (place > 0)
                        && (trial.round, trial.order) == (1, [0, 0, 1][place])
                });
                let seconds = trial.unwrap().seconds.unwrap();
                assert!((seconds - time.unwrap()).abs() < 1e-9, "{name} {step} {place}: {seconds} {time:?}");
            }
        }
        let load = run
            .trials()
            .find(|trial| of.contains_cell(&trial.cell) && trial.cell.step.word() == "load")
            .unwrap();
        assert!((load.seconds.unwrap() - file.load_time.unwrap()).abs() < 1e-9);
    }
    // No file is overwritten, and the list on standard output has the same content.
    world.run(&write).expect(2).says(&["is there already"]);
    let listed = world.run(&["export", &out, "-f", "jsonbench"]).expect(0).stdout;
    let listed = parse_result_files(Path::new("listed"), &listed).unwrap();
    assert_eq!(read_result_files(Path::new(&files)).unwrap(), listed);
    world.run(&["export", &out, "-f", "csv", "-o", &files]).expect(2).says(&["--format jsonbench"]);

    let shown = world.run(&["published", "-n", "1m", &out, &files]).expect(0).stdout;
    let tables: Vec<&str> = shown.split("\n\n").collect();
    assert!(tables[0].contains("m6i.8xlarge") && tables[0].contains("suspected, not confirmed"), "{shown}");
    for (table, path) in tables[1..].iter().zip([&out, &files]) {
        assert!(table.starts_with(path.as_str()), "{table}");
        assert!(!table.contains("m6i.8xlarge") && table.contains("1.00 ×"), "{table}");
    }
    for file in &listed {
        let row = format!("{} (", file.system);
        assert!(tables[1].lines().any(|line| line.trim_start().starts_with(&row)), "{shown}");
        assert!(!tables[0].lines().any(|line| line.trim_start().starts_with(&row)), "{shown}");
    }
}

#[test]
fn published_results_are_chosen_by_scale_month_and_system() {
    let world = World::new();
    let shown = world.run(&["published"]).expect(0).stdout;
    for words in ["1.08 ×", "1.85 ×", "14.63 ×", "5691.31 ×", "1000m documents"] {
        assert!(shown.contains(words), "{words} is not in\n{shown}");
    }
    let listed = |more: &[&str]| -> Vec<Value> {
        let text = world.run(&[&["published", "--json"], more].concat()).expect(0).stdout;
        serde_json::from_str(&text).unwrap()
    };
    assert_eq!(listed(&[]).len(), 8);
    assert_eq!(listed(&["--any-structure"]).len(), 11);
    assert_eq!(listed(&["--without-suspected"]).len(), 7);
    assert_eq!(listed(&["-n", "1m", "-s", "mongo,ClickHouse"]).len(), 2);
    assert!(listed(&["--snapshot", "2025-02"]).iter().all(|one| one["snapshot"] == "2025-02"));
    world.run(&["published", "-n", "7"]).expect(2).says(&["1000m", "2025-02 and 2025-11"]);
    world.run(&["published", "nowhere"]).expect(2).says(&["nowhere is not there"]);
    std::fs::write(world.path("broken.json"), "{").unwrap();
    world.run(&["published", &world.text("broken.json")]).expect(2).says(&["broken.json", "line 1"]);
}

/// Parses CSV as defined by RFC 4180.
fn parse_csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                field.push('"');
                characters.next();
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            other => field.push(other),
        }
    }
    assert!(!quoted && field.is_empty() && row.is_empty(), "the last line is whole");
    rows
}

#[test]
fn data_folders_stay_only_when_asked_for() {
    let world = World::with(&[mock("ma", json!({}))]);
    world.measure("ma", &["-n", "300", "-r", "1"]).expect(0);
    assert!(world.kept("out").work().is_empty());
    world.measure_into("kept", "ma", &["-n", "300", "-r", "1", "--keep-data"]).expect(0);
    let kept = world.path("kept/work/ma@1.0-plain-default/documents.ndjson");
    assert_eq!(std::fs::read_to_string(kept).unwrap().lines().count(), 300);
}

#[test]
fn shards_made_apart_are_the_whole() {
    let world = World::new();
    let read = |name: &str| std::fs::read(world.path(name)).unwrap();
    world.events("whole", &["-n", "3k", "--seed", "7"]);
    let mut joined = Vec::new();
    for (start, count) in [("0", "1"), ("1", "1499"), ("1500", "1k"), ("2500", "500")] {
        world.events(start, &["-n", count, "--start", start, "--seed", "7"]);
        joined.extend(read(start));
    }
    assert!(joined == read("whole"), "shards differ from the whole");
    assert_eq!(read("whole").iter().filter(|byte| **byte == b'\n').count(), 3000);
    let printed = world.run(&["data", "generate", "-n", "3k", "--seed", "7"]).expect(0);
    assert!(printed.stdout.as_bytes() == read("whole"));
    world.events("other", &["-n", "3k", "--seed", "8"]);
    assert!(read("other") != read("whole"));
    for name in ["whole.gz", "whole.zst"] {
        world.events(name, &["-n", "3k", "--seed", "7"]);
        let packed = read(name);
        let mut plain = Vec::new();
        if name.ends_with("gz") {
            std::io::copy(&mut flate2::read::GzDecoder::new(&packed[..]), &mut plain).unwrap();
        } else {
            plain = zstd::decode_all(&packed[..]).unwrap();
        }
        assert!(plain == read("whole"), "{name}");
        assert!(packed.len() < plain.len() / 2, "{name}");
    }
    let full = world.run(&["data", "generate", "-n", "10", "-o", "nowhere/events"]).expect(3);
    full.says(&["failed to write nowhere/events"]);
}

#[test]
fn data_sets_are_described() {
    let world = World::new();
    let data = world.events("events.json.gz", &["-n", "2k", "--malformed", "4"]);
    let text = world.run(&["data", "describe", &data]).expect(0).stdout;
    for words in
        ["1,996 documents", "no JSON, and so no document: ", "commit", "app.bsky.feed.post", "distinct users"]
    {
        assert!(text.contains(words), "{words} is not in\n{text}");
    }
    let profile: Value =
        serde_json::from_str(&world.run(&["data", "describe", "--json", &data]).expect(0).stdout).unwrap();
    assert_eq!(profile["documents"], 1996);
    let no_documents = profile["no_documents"].as_object().unwrap().values();
    assert_eq!(no_documents.map(|one| one["lines"].as_u64().unwrap()).sum::<u64>(), 4);
    let kinds = profile["kinds"].as_array().unwrap().iter();
    assert_eq!(kinds.map(|kind| kind["documents"].as_u64().unwrap()).sum::<u64>(), 1996);
    world.run(&["data", "describe", "nowhere"]).expect(2).says(&["nowhere", "no such file"]);
}

#[test]
fn documents_of_any_kind_are_described() {
    let world = World::new();
    let line = |n: u32| {
        let order = json!({
            "order_id": format!("o-{n}"), "customer.name": "x", "note": "nothing special", "n": 1_u64 << 60,
        });
        order.to_string()
    };
    let mut lines: Vec<String> = (0..2_000).map(line).collect();
    let data = world.file("orders.ndjson", lines.join("\n"));
    let text = world.run(&["data", "describe", &data]).expect(0).stdout;
    for words in [
        "2,000 documents",
        "different paths: 4",
        "proposed key: /order_id (text)",
        "proposed path for updates: /note (text)",
        "key with a dot",
        "integer beyond 2⁵³",
        "run fidelity",
    ] {
        assert!(text.contains(words), "{words} is not in\n{text}");
    }
    for words in ["(did)", "users", "kinds", "collections", "time_us"] {
        assert!(!text.contains(words), "{words} is in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    // The last document has the key of the first one.
    lines[1_999] = lines[0].clone();
    let data = world.file("orders.ndjson", lines.join("\n"));
    let profile: Value =
        serde_json::from_str(&world.run(&["data", "describe", "--json", &data]).expect(0).stdout).unwrap();
    assert_eq!((&profile["key"]["pointer"], &profile["key"]["type"]), (&Value::Null, &json!("integer")));
    let rejected = json!([{"pointer": "/order_id", "reason": "duplicate_value", "first": null}]);
    assert_eq!(profile["rejected_keys"], rejected);
    assert_eq!(profile["hazards"][0]["hazard"], "dotted_key");
    assert!(profile["hazards"][0]["first"].as_str().unwrap().ends_with("orders.ndjson, line 1"));
    assert_eq!(profile.get("kinds"), None);
}

/// Runs a command, reads up to `lines` lines of its output and closes the pipe.
fn read_one_line_of(world: &World, arguments: &[&str], lines: usize) -> Ended {
    // `Running` redirects output to files, but this test needs a pipe; therefore a shell creates one.
    let mut command = Command::new("bash");
    let script = format!(r#""$@" | head -n {lines} > /dev/null; exit "${{PIPESTATUS[0]}}""#);
    command.args(["-c", &script, "bash", PROGRAM]).args(arguments);
    command.current_dir(world.path("")).env(crate::support::MARK, world.path("")).stdin(Stdio::null());
    Running::start(command, &world.path("")).end(LIMIT)
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let world = finished();
    let out = world.text("out");
    for (arguments, lines) in [
        (&["data", "generate", "-n", "200k"][..], 1),
        (&["data", "describe", "--json"], 0),
        (&["export", &out, "-f", "json"], 0),
        (&["export", &out], 0),
        (&["systems", "list"], 0),
        (&["systems", "list", "--json"], 0),
        (&["systems", "install", "sqlite"], 0),
        (&["completions", "zsh"], 0),
        (&["man"], 0),
        (&["run", "--help"], 0),
        (&["run", "-s", "sqlite", "-n", "300", "-r", "1"], 0),
    ] {
        let ended = read_one_line_of(&world, arguments, lines).expect(0);
        assert!(!ended.stderr.contains("error"), "{arguments:?}: {}", ended.stderr);
    }
}

#[test]
fn an_output_that_cannot_be_written_is_told() {
    let world = World::with(&[mock("ma", json!({}))]);
    let (out, folder) = (world.text("out"), world.text("systems"));
    let run = ["run", "--systems-dir", &folder, "-s", "ma", "-n", "300", "-r", "1", "-o", &out];
    for arguments in [&run[..], &["export", &out], &["data", "generate", "-n", "10k"], &["man"]] {
        let mut command = Command::new("sh");
        command.args(["-c", r#"exec "$@" > /dev/full"#, "sh", PROGRAM]).args(arguments);
        command.current_dir(world.path("")).env(crate::support::MARK, world.path("")).stdin(Stdio::null());
        let ended = Running::start(command, &world.path("")).end(LIMIT).expect(3);
        ended.says(&["failed to write", "No space left on device"]);
    }
    world.kept("out").is_complete();
}

#[test]
fn colours_are_for_terminals_only() {
    let world = finished();
    let out = world.text("out");
    let print = |variables: &[(&str, &str)]| {
        let mut command = world.command(&["export", &out]);
        command.envs(variables.iter().copied());
        Running::start(command, &world.path("")).end(LIMIT).expect(0).stdout
    };
    assert!(print(&[("CLICOLOR_FORCE", "1")]).contains('\u{1b}'), "otherwise this test shows nothing");
    let plain = print(&[]);
    assert!(!plain.contains('\u{1b}'));
    assert_eq!(print(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), plain);
    for arguments in [
        &["systems", "list"][..],
        &["data", "describe", "-"],
        &["run", "--help"],
        &["run", "-s", "nothing"],
        &["run", "-n", "x"],
        &["run", "-s", "sqlite", "-n", "300", "-r", "1", "-o", "coloured"],
    ] {
        let ended = world.run(arguments);
        let text = ended.stdout + &ended.stderr;
        assert!(!text.is_empty() && !text.contains('\u{1b}'), "{arguments:?}: {text}");
    }
}

#[test]
fn completions_and_the_man_page_are_what_they_are_for() {
    let world = World::new();
    let script = world.run(&["completions", "bash"]).expect(0).stdout;
    let mut bash = Command::new("bash").arg("-n").stdin(Stdio::piped()).spawn().unwrap();
    bash.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    assert!(bash.wait().unwrap().success(), "bash does not understand it");
    for words in ["_jsonathlon", "--systems-dir", "--resume", "jsonbench"] {
        assert!(script.contains(words), "{words}");
    }
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        let script = world.run(&["completions", shell]).expect(0).stdout;
        assert!(script.contains("jsonathlon"), "{shell}");
    }
    let page = world.run(&["man"]).expect(0).stdout;
    for words in [".TH jsonathlon 1", ".SH NAME", "Exit codes", "JSONATHLON_CACHE"] {
        assert!(page.contains(words), "{words} is not in\n{page}");
    }
}

#[test]
fn help_mentions_what_matters() {
    let world = World::new();
    for (arguments, words) in [
        (
            &["--help"][..],
            &[
                "run",
                "study",
                "systems",
                "data",
                "report",
                "export",
                "compare",
                "published",
                "completions",
                "man",
                "Exit codes",
                "70",
            ][..],
        ),
        (
            &["run", "--help"],
            &[
                "--systems",
                "--variants",
                "--storage",
                "--scale",
                "--data",
                "--malformed",
                "--seed",
                "--rounds",
                "--data-state",
                "--timeout",
                "--load-timeout",
                "--cold-page-cache",
                "--out",
                "--resume",
                "--tables",
                "--keep-data",
                "--wait-quiet",
                "--json",
                "--systems-dir",
                "100k",
                "standard input",
            ],
        ),
        (&["systems", "--help"], &["list", "install", "check", "remove"]),
        (&["systems", "list", "--help"], &["--json", "--systems-dir"]),
        (&["systems", "install", "--help"], &["--all", "NAME@VERSION"]),
        (&["data", "--help"], &["generate", "describe"]),
        (&["data", "generate", "--help"], &["--scale", "--start", "--seed", "--malformed", "--out", ".zst"]),
        (&["data", "describe", "--help"], &["--json", "PATH|URL"]),
        (
            &["export", "--help"],
            &[
                "--format",
                "table",
                "markdown",
                "json",
                "csv",
                "jsonbench",
                "--out",
                "--tables",
                "compact",
                "full",
            ],
        ),
        (
            &["compare", "--help"],
            &[
                "--baseline",
                "--save-baseline",
                "--force",
                "--fail-on-regression",
                "--different-data",
                "markdown",
            ],
        ),
        (&["published", "--help"], &["--scale", "--by", "--snapshot", "--without-suspected", "PATH"]),
        (&["completions", "--help"], &["bash", "zsh", "fish"]),
    ] {
        let text = world.run(arguments).expect(0).unbroken();
        for word in words {
            assert!(text.contains(word), "{arguments:?}: {word} is not in\n{text}");
        }
        assert!(!text.contains("worker"), "{arguments:?} shows what is not for people");
    }
    assert!(world.run(&["--version"]).expect(0).stdout.starts_with("jsonathlon "));
}

#[test]
fn json_is_all_that_is_printed_on_standard_output() {
    let world = World::with(&[mock("bad", json!({"faults": [{"statement": "q2", "action": "crash"}]}))]);
    let ended = world.measure("bad", &["-n", "300", "-r", "1"]).expect(1);
    ended.summary().is_right_but_for("bad", "q2");
    assert!(ended.stdout.starts_with('{') && ended.stdout.ends_with("}\n"));
    assert!(ended.stderr.contains("bad 1.0 plain q2: crash: "), "{}", ended.stderr);
    assert_eq!(ended.stdout.lines().next(), Some("{"));
}

#[test]
fn both_states_and_the_published_cold_are_kept_apart() {
    let world = World::with(&[mock("ma", json!({}))]);
    let more = ["-n", "300", "-r", "1", "--data-state", "both", "--cold-page-cache"];
    let summary = world.measure("ma", &more).expect(0).summary();
    assert!(summary.complete && summary.failures.is_empty());
    for question in QUESTIONS {
        let entries = summary.entries("ma", question);
        let mut seen: Vec<(&str, &str)> = entries
            .iter()
            .map(|entry| (entry.cell.state.unwrap().word(), entry.cell.phase.word()))
            .map(|(state, phase)| (state, phase.trim_end_matches("-unverified")))
            .collect();
        seen.sort_unstable();
        let expected = ["compacted", "drained"]
            .map(|state| ["cold", "cold-os", "hot"].map(|phase| (state, phase)))
            .concat();
        assert_eq!(seen, expected, "{question}");
    }
}

#[test]
fn a_worker_started_by_hand_ends_with_its_input() {
    let mut command = Command::new(PROGRAM);
    command.arg("worker").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut worker = command.spawn().unwrap();
    let mut input = worker.stdin.take().unwrap();
    writeln!(input, r#"{{"id":1,"op":"close"}}"#).unwrap();
    let mut line = String::new();
    BufReader::new(worker.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with(r#"{"id":1,"ok":"#), "{line}");
    drop(input);
    assert!(worker.wait().unwrap().success());
}
