//! Tests of the page: the content of the file, and its behaviour in a real browser.

use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::sync::Once;
use std::time::Duration;

use crate::support::made_choice::{write_choice, write_run};
use crate::support::made_runs::{HOSTILE_NAME, HOSTILE_TEXT, Made};
use crate::support::process::{Ended, Running};
use crate::support::real::{BROWSER, excluded};
use crate::support::{World, mock};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use jsonathlon_report::study::StudyResult;
use jsonathlon_results::summary::Run;
use jsonathlon_results::test_fixtures::frontier::{FrontierFixture, frontier_run};
use jsonathlon_results::test_fixtures::serving::ServingFixture;
use jsonathlon_studies::built_in;
use jsonathlon_studies::definition::Study;
use jsonathlon_studies::published::published_results;
use jsonathlon_studies::runs::{StudyRun, StudySelection};
use serde_json::{Value, json};

/// Timeout for scripts that start a browser a few dozen times.
const BROWSER_LIMIT: Duration = Duration::from_secs(1800);

/// Unpacks one data part of a page.
fn data(page: &str, part: &str) -> Value {
    let begin = format!(r#"<script type="text/plain" id="{part}">"#);
    let (_, rest) = page.split_once(&begin).unwrap();
    let (packed, _) = rest.split_once("</script>").unwrap();
    let packed = STANDARD.decode(packed).unwrap();
    let mut text = String::new();
    GzDecoder::new(packed.as_slice()).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn made(world: &World, name: &str, made: &Made) -> String {
    made.write(&world.path(name));
    world.text(name)
}

fn near(one: &Value, other: Option<f64>) -> bool {
    match (one.as_f64(), other) {
        (Some(one), Some(other)) => (one - other).abs() <= 1e-5 * other.abs(),
        (None, None) => one.is_null(),
        _ => false,
    }
}

#[test]
fn every_figure_of_a_page_is_the_summarys_and_has_its_trials_behind_it() {
    let world = World::new();
    let run = made(&world, "run", &Made::default());
    let told = world.run(&["report", &run]).expect(0).stdout;
    let file = world.path("run").join("report.html");
    assert_eq!(told.trim(), file.to_str().unwrap());
    let page = std::fs::read_to_string(file).unwrap();
    let (figures, evidence) = (data(&page, "figures"), data(&page, "evidence"));
    let run = Run::read(Path::new(&run)).unwrap();
    let summary = run.summary();
    let cells = figures["runs"][0]["cells"].as_array().unwrap();
    let behind = evidence["runs"][0]["cells"].as_array().unwrap();
    let entries: Vec<_> = summary.results.iter().filter(|entry| entry.cell.id.system != "files").collect();
    assert_eq!((cells.len(), behind.len()), (entries.len(), entries.len()));
    let texts = &evidence["runs"][0]["texts"];
    for ((entry, cell), behind) in entries.into_iter().zip(cells).zip(behind) {
        let configuration =
            &figures["runs"][0]["configurations"][cell["configuration"].as_u64().unwrap() as usize];
        assert_eq!(configuration["system"], entry.cell.id.system);
        assert_eq!(
            (&cell["step"], &cell["verdict"]),
            (&entry.cell.step.word().into(), &entry.verdict.word().into())
        );
        for (shown, known) in [("median_s", entry.median_s), ("low_s", entry.low_s), ("high_s", entry.high_s)]
        {
            assert!(
                near(&cell[shown], known),
                "{shown} of {}: {} and {known:?}",
                entry.cell.key(),
                cell[shown]
            );
        }
        for (name, value) in &entry.metrics {
            // Metrics that a server reports itself are stored with each trial.
            assert!(near(&cell["metrics"][name], Some(*value)), "{name} of {}", entry.cell.key());
        }
        let trials: Vec<_> = run.trials().filter(|trial| trial.cell.key() == entry.cell.key()).collect();
        assert_eq!(behind["key"], entry.cell.key());
        let seconds = behind["trials"]["seconds"].as_array().unwrap();
        assert_eq!(seconds.len(), trials.len());
        assert!(seconds.iter().zip(&trials).all(|(shown, trial)| near(shown, trial.seconds)));
        if entry.cell.step.is_workload_step() && entry.cell.id.system != "yardstick" {
            let text = |at: &Value| texts[at.as_u64().unwrap() as usize].as_str().unwrap().to_owned();
            assert!(text(&behind["statement"]).starts_with("SELECT"), "{behind}");
            assert!(text(&behind["plan"]["text"]).contains("-> node 3 of"), "{behind}");
            assert!(text(&behind["answers"][0]["text"]).contains("12345"), "{behind}");
        }
    }
    assert_eq!(figures["runs"][0]["failures"].as_array().unwrap().len(), summary.failures.len());
    assert!(figures["published"].as_array().unwrap().len() > 50);
    assert_eq!(evidence["runs"][0]["series"]["elapsed_s"].as_array().unwrap().len(), 60);
}

#[test]
fn a_page_states_classes_profiles_and_what_was_set() {
    let world = World::new();
    let page = |name: &str, shape: &Made| {
        let run = made(&world, name, shape);
        let out = world.text(&format!("{name}.html"));
        world.run(&["report", &run, "-o", &out]).expect(0);
        data(&std::fs::read_to_string(&out).unwrap(), "figures")["runs"][0].clone()
    };
    let run = page("run", &Made { systems: 8, classes: true, ..Made::default() });
    let rankings: Vec<_> = run["configurations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["ranking"].as_str().unwrap())
        .collect();
    assert_eq!(
        rankings,
        [
            "as-is",
            "prepared",
            "as-is",
            "prepared",
            "as-is",
            "prepared, stock",
            "as-is",
            "prepared, not ranked",
            "as-is"
        ]
    );
    let one = &run["configurations"][0];
    assert_eq!((&one["preparation"], &one["profile"]), (&json!("as-is"), &json!("sized")));
    assert_eq!((&one["memory_bytes"], &one["parallel_unit"]), (&json!(12_u64 << 30), &json!(100_000)));
    assert_eq!(
        one["settings"],
        json!([{ "name": "buffers", "value": "3GB", "stock": "128MB", "source": "its documentation" }])
    );
    let last = &run["configurations"][7];
    assert_eq!(
        (&last["ranked"], &last["other_questions"]["q4"]),
        (&json!(false), &json!("It counts replies too."))
    );
    let cells = run["cells"].as_array().unwrap();
    // The memory settings are stored with the configuration only.
    assert!(cells.iter().all(|cell| cell["parameters"] == json!({})));
    let of = |configuration: u64, step: &str| {
        let found = |cell: &&Value| {
            cell["configuration"] == configuration
                && cell["step"] == step
                && !["cold"].contains(&cell["phase"].as_str().unwrap())
        };
        cells.iter().find(found).unwrap()
    };
    let read = of(5, "q2");
    assert_eq!(read["phase"], "hot-not-in-memory");
    assert_eq!((&read["metrics"]["read_bytes"], &read["ratio_to_best"]), (&json!(500_000_000), &Value::Null));
    assert_eq!(of(7, "q4")["verdict"], "unverified");
    assert!(of(7, "q1")["ratio_to_best"].is_null() && of(4, "q1")["ratio_to_best"]["other"] == 0);
    let (load, size) = (of(0, "load"), of(0, "size"));
    assert!(load["trials"] == 3 && load["low_s"].as_f64() < load["high_s"].as_f64());
    assert!(size["metrics"]["least_total_bytes"].as_f64() < size["metrics"]["most_total_bytes"].as_f64());

    let uniform = page("uniform", &Made::default());
    let one = &uniform["configurations"][0];
    assert_eq!((&one["preparation"], &one["profile"]), (&json!("as-is"), &json!("sized")));
    assert_eq!((&one["ranking"], &one["ranked"]), (&json!("as-is, json-only"), &json!(true)));
}

#[test]
fn what_data_holds_is_nowhere_in_the_pages_own_text() {
    let world = World::new();
    let name = format!("run{}", HOSTILE_NAME.replace('/', ""));
    let run = made(&world, &name, &Made { hostile: true, ..Made::default() });
    let out = world.text("page.html");
    world.run(&["report", &run, "-o", &out]).expect(0);
    let page = std::fs::read_to_string(&out).unwrap();
    assert!(!page.contains(HOSTILE_NAME) && !page.contains(HOSTILE_TEXT) && !page.contains("alert(1)</"));
    // The hostile name is contained as data.
    assert_eq!(data(&page, "figures")["runs"][0]["configurations"][1]["title"], HOSTILE_NAME);
}

#[test]
fn a_run_from_somewhere_cannot_bring_other_files_into_a_page() {
    let world = World::new();
    let run = made(&world, "run", &Made::default());
    world.file("secret", "do not show this");
    let journal = world.path("run").join("journal.ndjson");
    let text = std::fs::read_to_string(&journal).unwrap();
    let outside =
        text.replace("\"file\":\"plans/", "\"file\":\"../secret?plans/").replace("?plans/", "\",\"was\":\"");
    assert_ne!(text, outside);
    std::fs::write(&journal, outside).unwrap();
    let out = world.text("page.html");
    world.run(&["report", &run, "-o", &out]).expect(0);
    let evidence = data(&std::fs::read_to_string(&out).unwrap(), "evidence").to_string();
    assert!(evidence.contains("../secret") && !evidence.contains("do not show this"));
}

#[test]
fn a_page_holds_no_path_of_the_machine_unless_it_is_asked_for() {
    let world = World::new();
    let run = made(&world, "run", &Made::default());
    let manifest = world.path("run").join("manifest.json");
    let mut changed: Value = serde_json::from_str(&std::fs::read_to_string(&manifest).unwrap()).unwrap();
    changed["data"]["source"] = json!("/home/alice/private/events.ndjson");
    std::fs::write(&manifest, changed.to_string()).unwrap();
    let out = world.text("page.html");
    let source = |options: &[&str]| {
        let mut arguments = vec!["report", &run, "-o", &out];
        arguments.extend(options);
        world.run(&arguments).expect(0);
        data(&std::fs::read_to_string(&out).unwrap(), "figures")["runs"][0]["data"]["source"].clone()
    };
    assert_eq!(source(&[]), "…/events.ndjson");
    assert_eq!(source(&["--show-paths"]), "/home/alice/private/events.ndjson");
}

#[test]
fn a_page_needs_runs_and_a_place() {
    let world = World::new();
    let run = made(&world, "run", &Made::default());
    let told = world.run(&["report", &world.text("nothing")]).expect(2).stderr;
    assert!(told.contains("holds no run"), "{told}");
    world.run(&["report"]).expect(2);
    let told = world.run(&["report", &run, "-o", &world.text("no/such/folder/page.html")]).expect(3).stderr;
    assert!(told.contains("failed to write"), "{told}");
    // A link that the user names is followed and stays.
    let (link, target) = (world.path("link"), world.file("target", ""));
    std::os::unix::fs::symlink(&target, &link).unwrap();
    world.run(&["report", &run, "-o", link.to_str().unwrap()]).expect(0);
    assert!(link.is_symlink() && std::fs::read_to_string(&target).unwrap().starts_with("<!doctype html>"));
    // The same run named twice is shown once.
    let out = world.text("page.html");
    world.run(&["report", &run, &format!("{run}/../run"), "-o", &out]).expect(0);
    assert_eq!(data(&std::fs::read_to_string(&out).unwrap(), "figures")["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn a_run_ends_with_the_path_of_its_page() {
    let world = World::with(&[mock("one", json!({})), mock("two", json!({}))]);
    let ended = world.measure_into("out", "one,two", &["-n", "500", "-r", "2"]);
    let page = world.path("out").join("report.html");
    let told = ended.expect(0);
    assert!(told.stderr.trim_end().ends_with(page.to_str().unwrap()), "{}", told.stderr);
    let figures = data(&std::fs::read_to_string(page).unwrap(), "figures");
    assert_eq!(figures["runs"][0]["complete"], true);
}

/// Writes a synthetic serving run as a run folder.
fn serving(world: &World) -> String {
    let run = ServingFixture { rates: vec![0.3, 0.6, 0.9], ..ServingFixture::default() }.run("serving");
    write_run(&run, &world.path("serving"));
    world.text("serving")
}

#[test]
fn a_serving_run_has_distributions_peaks_and_seconds() {
    let world = World::new();
    let out = world.text("page.html");
    world.run(&["report", &serving(&world), "-o", &out]).expect(0);
    let page = std::fs::read_to_string(&out).unwrap();
    let (figures, evidence) = (data(&page, "figures"), data(&page, "evidence"));
    let run = &figures["runs"][0];
    let cells = run["cells"].as_array().unwrap();
    let of = |cell: &&Value| {
        cell["step"] == "c" && cell["parameters"]["clients"] == 8 && cell["configuration"] == 0
    };
    let place = cells.iter().position(|cell| of(&cell)).unwrap();
    let points = cells[place]["distributions"]["service"].as_array().unwrap();
    assert!(points.first().unwrap()[0] == 0.01 && points.last().unwrap()[0] == 1);
    assert!(points.windows(2).all(|two| two[0][1].as_f64() <= two[1][1].as_f64()));
    // The p99 is that of all rounds together, and the table of the distribution contains it.
    let p99 = points.iter().find(|point| point[0] == 0.99).unwrap();
    assert_eq!(p99[1], cells[place]["metrics"]["service_p99_us"]);
    let peaks = run["peaks"].as_array().unwrap();
    assert_eq!(peaks.len(), 6);
    assert_eq!(run["configurations"][0]["durability"]["tier"], "synced");
    let seconds = &evidence["runs"][0]["cells"][place]["seconds"];
    assert_eq!(seconds.as_array().unwrap().len(), 4);
    assert_eq!((&seconds[0]["ramp"], seconds[0]["operations"].as_array().unwrap().len()), (&json!(1), 3));
    assert_eq!(seconds[1]["checkpoints"], json!([2]));
}

/// Definition of a study of synthetic runs, whose page has a chart for each mix and kind of values.
const STUDY: &str = r#"
question = "Does <the kind> of values matter?"
claim = "It was said to."
minutes = 1
systems = ["postgresql"]
experiments = ["size"]
[still]
mixes = "a,c"
clients = "1,8,32"
[[vary]]
option = "value-content"
values = ["text", "random"]
[chart]
axis = "clients"
[[verdict]]
mix = "c"
of = { value-content = "random" }
than = { value-content = "text" }
says = "with random values {system} does {change} reads at {clients} clients"
claim = "less"
published = "36 % fewer"
"#;

/// Writes the pages of studies of synthetic runs.
fn write_study_page(folder: &Path) {
    let study = Study::parse("mine", "mine.toml", STUDY).unwrap();
    let parts = study.runs(&StudySelection::default()).unwrap();
    let runs: Vec<(StudyRun, Run)> = parts
        .into_iter()
        .enumerate()
        .map(|(index, part)| {
            let fixture = ServingFixture { seed: 7 + index as u64, ..ServingFixture::default() };
            (part, fixture.run(if index == 0 { "text" } else { "random" }))
        })
        .collect();
    let page = StudyResult::new(&study, &runs, &published_results().unwrap()).page();
    std::fs::write(folder.join("study.html"), page).unwrap();
    let study = built_in("frontier").unwrap().unwrap();
    let part = study.runs(&StudySelection::default()).unwrap().remove(0);
    let tried = FrontierFixture::tried();
    let run = frontier_run("frontier", &[tried.clone(), FrontierFixture { system: "sqlite", ..tried }]);
    let page = StudyResult::new(&study, &[(part, run)], &[]).page();
    std::fs::write(folder.join("study-frontier.html"), page).unwrap();
}

/// Writes the pages that the tests of `web/tests/browser` open: a small hostile one, two runs, a large one, that
/// of a study, and that of a choice beside its run.
fn pages(world: &World, folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    let report = |name: &str, runs: &[&str]| {
        let file = folder.join(name);
        let mut arguments = vec!["report", "-o", file.to_str().unwrap()];
        arguments.extend(runs);
        world.run(&arguments).expect(0);
    };
    let small = made(world, "small", &Made { hostile: true, systems: 8, classes: true, ..Made::default() });
    report("small.html", &[&small]);
    report("serving.html", &[&serving(world)]);
    let other = made(world, "other", &Made { slower: 1.2, ..Made::default() });
    report("two.html", &[&made(world, "one", &Made::default()), &other]);
    let large = [100_000, 1_000_000, 10_000_000, 100_000_000].map(|documents| {
        let shape = Made {
            systems: 50,
            documents,
            rounds: 4,
            hot: 1,
            seconds: 3_600,
            classes: true,
            ..Made::default()
        };
        made(world, &format!("large-{documents}"), &shape)
    });
    report("large.html", &large.each_ref().map(String::as_str));
    write_study_page(folder);
    write_choice(folder);
}

/// Runs a script of `web/package.json`; installs its packages first if they are missing.
fn npm(arguments: &[&str], pages: &Path) -> Ended {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web");
    let run = |arguments: &[&str]| {
        let mut command = Command::new("npm");
        command.args(arguments).current_dir(&web).env("JSONATHLON_PAGES", pages);
        Running::start(command, &web).end(BROWSER_LIMIT).expect(0)
    };
    assert!(
        Command::new("npm").arg("--version").output().is_ok(),
        "the page's tests need npm, of Node 20 or newer"
    );
    // Two tests may call this at the same time.
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        if !web.join("node_modules").exists() {
            run(&["ci", "--no-audit", "--no-fund"]);
        }
    });
    run(arguments)
}

#[test]
fn the_pages_own_computations_are_right() {
    let nothing = tempfile::tempdir().unwrap();
    npm(&["test"], nothing.path());
}

#[test]
fn a_real_browser_shows_it() {
    if excluded(&[BROWSER]) {
        return;
    }
    let world = World::new();
    let folder = world.path("pages");
    pages(&world, &folder);
    println!("{}", npm(&["run", "test:browser"], &folder).stdout);
}
