//! Tests of `jsonathlon compare`: comparing two runs, baselines, and the regression gate. Times are not
//! measured: those of one run's journal are rewritten by fixed rules.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

mod support;

use jsonathlon_results::control::CONTROL;
use jsonathlon_schema::record::{Failure, FailureKind, JournalRecord, Phase, RecordBody, Trial, Verdict};
use serde_json::{Value, json};

use support::process::{Ended, Running};
use support::{LIMIT, World, mock, names_in};

/// A world with a run in `a` of comma-separated systems. Every trial gets a fixed time; rounds are 1 % apart.
fn measured(systems: &str) -> World {
    let all: Vec<_> = systems.split(',').map(|system| mock(system, json!({}))).collect();
    let world = World::with(&all);
    world.measure_into("a", systems, &["-n", "200", "-r", "5", "-t", "2", "--load-rounds", "3"]).expect(0);
    rewrite(&world, "a", |trial| {
        let question = trial.cell.step.word().trim_start_matches('q').parse().unwrap_or(7.0);
        let shared = 1.0 + 0.01 * f64::from(trial.round);
        trial.seconds = trial.seconds.map(|_| 0.01 * question * shared);
        if trial.cell.id.system == CONTROL {
            trial.metrics.values_mut().for_each(|seconds| *seconds = 0.015 * shared);
        }
    });
    world
}

/// Applies a change to every trial of a run's journal.
fn rewrite(world: &World, run: &str, change: impl Fn(&mut Trial)) {
    let kept = world.kept(run);
    let line = |mut record: JournalRecord| {
        if let RecordBody::Trial(trial) = &mut record.body {
            change(trial);
        }
        serde_json::to_string(&record).unwrap() + "\n"
    };
    let text: String = kept.records().into_iter().map(line).collect();
    std::fs::write(kept.path("journal.ndjson"), text).unwrap();
}

/// Copies the files of a run that `compare` reads.
fn copy(world: &World, from: &str, to: &str) {
    std::fs::create_dir(world.path(to)).unwrap();
    for file in ["manifest.json", "journal.ndjson"] {
        std::fs::copy(world.path(from).join(file), world.path(to).join(file)).unwrap();
    }
}

/// Copies run `a` and changes all trials that match `wanted`.
fn planted(world: &World, to: &str, wanted: impl Fn(&Trial) -> bool, change: impl Fn(&mut Trial)) {
    copy(world, "a", to);
    rewrite(world, to, |trial| {
        if wanted(trial) {
            change(trial);
        }
    });
}

/// Copies run `a` without the trials that match `unwanted`, neither recorded nor planned.
fn smaller(world: &World, to: &str, unwanted: impl Fn(&str) -> bool) {
    copy(world, "a", to);
    let kept = world.kept(to);
    let records = kept.records().into_iter().filter(|record| !unwanted(&record.key));
    let text: String = records.map(|record| serde_json::to_string(&record).unwrap() + "\n").collect();
    std::fs::write(kept.path("journal.ndjson"), text).unwrap();
    kept.edit_manifest(|manifest| {
        let trials = manifest["plan"]["trials"].as_array_mut().unwrap();
        trials.retain(|key| !unwanted(key.as_str().unwrap()));
    });
}

fn is(trial: &Trial, step: &str, phase: Phase) -> bool {
    trial.cell.step.word() == step && trial.cell.phase == phase
}

fn fail(trial: &mut Trial) {
    trial.seconds = None;
    trial.verdict = Verdict::Failed;
    trial.failure = Some(Failure::new(FailureKind::Crash, "gone"));
}

/// Runs `compare` with the baselines of this world.
fn compare(world: &World, arguments: &[&str]) -> Ended {
    let mut command = world.command(&[&["compare"], arguments].concat());
    command.env("JSONATHLON_BASELINES", world.path("baselines"));
    Running::start(command, &world.path("")).end(LIMIT)
}

fn json_of(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap()
}

fn outcome<'a>(comparison: &'a Value, step: &str, phase: &str) -> &'a str {
    let cells = comparison["cells"].as_array().unwrap();
    let cell = cells.iter().find(|cell| cell["step"] == step && cell["phase"] == phase).unwrap();
    cell["outcome"].as_str().unwrap()
}

#[test]
fn two_equal_runs_show_no_difference_anywhere() {
    let world = measured("ma");
    planted(
        &world,
        "b",
        |_| true,
        |trial| {
            // Jitter of ±0.1 %, alternating by round.
            let jitter = if trial.round % 2 == 0 { 1.001 } else { 0.999 };
            trial.seconds = trial.seconds.map(|seconds| seconds * jitter);
        },
    );
    let ended = compare(&world, &["a", "b", "--json", "--fail-on-regression", "0"]).expect(0);
    let comparison = json_of(&ended);
    let cells = comparison["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 15, "a load, its size drained and compacted, and six questions cold and hot");
    let (sizes, times): (Vec<&Value>, Vec<&Value>) = cells.iter().partition(|cell| cell["step"] == "size");
    assert!(times.iter().all(|cell| cell["outcome"] == "no difference shown"), "{}", ended.stdout);
    assert!(sizes.iter().all(|cell| cell["outcome"] == "same size"), "{}", ended.stdout);
    assert_eq!(comparison["differences"], json!([]));
    let text = compare(&world, &["a", "b"]).expect(0).stdout;
    assert!(
        text.contains("0 of 13 cells slower, 0 faster, 13 no difference shown; 13 comparisons"),
        "{text}"
    );
    assert!(text.contains("size, drained") && !text.contains("NOT THE SAME MACHINE"), "{text}");
}

#[test]
fn a_planted_slow_down_by_a_fifth_is_slower_and_fails() {
    let world = measured("ma");
    planted(
        &world,
        "b",
        |trial| is(trial, "q2", Phase::Hot),
        |trial| {
            trial.seconds = trial.seconds.map(|seconds| 1.2 * seconds);
        },
    );
    let text = compare(&world, &["a", "b"]).expect(0).stdout;
    assert!(text.contains("1 slower, 0 faster, 12 no difference shown, 0 now fail"), "{text}");
    for (allowed, code) in [("5%", 1), ("5", 1), ("0", 1), ("19%", 1), ("21%", 0), ("50%", 0)] {
        let ended = compare(&world, &["a", "b", "--json", "--fail-on-regression", allowed]).expect(code);
        let comparison = json_of(&ended);
        assert_eq!(outcome(&comparison, "q2", "hot"), "slower");
        assert_eq!(comparison["gate"]["passed"], code == 0, "{allowed}");
    }
    let text = compare(&world, &["a", "b", "--fail-on-regression", "5%"]).expect(1).stdout;
    let verdict = "NOT PASSED: 1 cell is slower by more than 5 %; 7 cells tested (loads and hot questions), together \
                   at 5 %; 2 sizes compared as counted\n";
    assert!(text.contains(verdict), "{text}");
    let regression = "regression: ma 1.0 plain default: q2 hot takes 1.20 times as long";
    assert!(text.contains(regression), "{text}");
    // Compared the other way round, the regression is an improvement.
    let comparison = json_of(&compare(&world, &["b", "a", "--json", "--fail-on-regression", "5"]).expect(0));
    assert_eq!(outcome(&comparison, "q2", "hot"), "faster");
    compare(&world, &["a", "b", "--fail-on-regression", "much"]).expect(2).says(&["no percentage", "5%"]);
}

#[test]
fn two_sides_of_one_run_are_gated() {
    let world = measured("ma,mb");
    let arguments = ["a", "--between", "ma,mb", "--fail-on-regression", "5%"];
    let refused = compare(&world, &arguments).expect(0).stdout;
    assert!(refused.contains("compared with ma: 0 slower, 0 faster, 13 no difference shown"), "{refused}");
    rewrite(&world, "a", |trial| {
        if trial.cell.id.system == "mb" && is(trial, "q2", Phase::Hot) {
            trial.seconds = trial.seconds.map(|seconds| 1.25 * seconds);
        }
    });
    let text = compare(&world, &arguments).expect(1).stdout;
    assert!(text.contains("regression: mb 1.0 plain default: q2 hot takes 1.25 times as long"), "{text}");
    compare(&world, &["a", "--between", "mb,ma", "--fail-on-regression", "5%"]).expect(0);
    let comparison = json_of(&compare(&world, &["a", "--between", "ma@1.0/plain,mb", "--json"]).expect(0));
    assert_eq!(comparison["within_one_run"], true);
    assert_eq!((&comparison["a"]["part"], &comparison["b"]["part"]), (&json!("ma@1.0/plain"), &json!("mb")));
    let markdown = compare(&world, &["a", "--between", "ma,mb", "--format", "markdown"]).expect(0).stdout;
    assert!(markdown.starts_with("## compared with ma: 1 slower"), "{markdown}");
    compare(&world, &["a", "--between", "ma,mc"]).expect(2).says(&["the run has no mc; it has ma@1.0/plain"]);
    compare(&world, &["a", "--between", "ma"]).expect(2).says(&["separated by a comma"]);
    compare(&world, &["a", "a", "--between", "ma,mb"]).expect(2).says(&["give one folder"]);
    compare(&world, &["a", "--between", "ma,mb", "--baseline", "x"]).expect(2).says(&["cannot be used with"]);
}

#[test]
fn a_cell_that_fails_now_is_a_regression_whatever_is_allowed() {
    let world = measured("ma");
    planted(&world, "b", |trial| is(trial, "q3", Phase::Hot) && trial.round == 2, fail);
    let ended = compare(&world, &["a", "b", "--json", "--fail-on-regression", "1000"]).expect(1);
    assert_eq!(outcome(&json_of(&ended), "q3", "hot"), "now fails");
    let text = compare(&world, &["a", "b"]).expect(0).stdout;
    assert!(text.contains("1 now fail") && text.contains("q3 hot"), "{text}");
    let row = text.lines().find(|line| line.contains("q3 hot")).unwrap();
    assert!(row.contains("failed") && row.contains("now fails") && !row.contains('×'), "{row}");
}

#[test]
fn other_documents_are_refused_unless_asked_for() {
    let world = measured("ma");
    copy(&world, "a", "b");
    world.kept("b").edit_manifest(|manifest| manifest["data"]["digest"] = "blake3:00".into());
    compare(&world, &["a", "b"]).expect(2).says(&["are of different documents", "--different-data"]);
    let text = compare(&world, &["a", "b", "--different-data"]).expect(0).stdout;
    assert!(text.contains("DIFFERENT DOCUMENTS: 200 documents each"), "{text}");
    world.kept("b").edit_manifest(|manifest| manifest["data"]["documents"] = 300.into());
    compare(&world, &["a", "b", "--different-data"]).expect(2).says(&["check growth"]);
}

#[test]
fn what_differs_beside_the_systems_is_said_first() {
    let world = measured("ma");
    copy(&world, "a", "b");
    world.kept("b").edit_manifest(|manifest| {
        manifest["machine"]["processor"] = "Another one".into();
        manifest["configurations"][0]["configuration_digest"] = "blake3:11".into();
    });
    let text = compare(&world, &["a", "b"]).expect(0).stdout;
    assert!(text.contains("NOT THE SAME MACHINE (processor): what differs"), "{text}");
    let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words} is not in\n{text}"));
    assert!(at("NOT THE SAME MACHINE") < at("Another one") && at("Another one") < at("q1 hot"));
    assert!(text.contains("ma plain default: configuration"), "{text}");
}

#[test]
fn baselines_are_saved_used_and_never_lost_by_mistake() {
    let world = measured("ma");
    planted(
        &world,
        "b",
        |trial| is(trial, "q1", Phase::Hot),
        |trial| {
            trial.seconds = trial.seconds.map(|seconds| 2.0 * seconds);
        },
    );
    compare(&world, &["--baseline", "main", "b"])
        .expect(2)
        .says(&["no baseline \"main\"", "none is saved yet"]);
    let said = compare(&world, &["--save-baseline", "main", "a"]).expect(0).stdout;
    assert!(said.contains("a is the baseline main now, in"), "{said}");
    assert_eq!(names_in(&world.path("baselines")), ["main"]);
    assert_eq!(names_in(&world.path("baselines/main")), ["journal.ndjson", "manifest.json"]);
    // A baseline can be named by its option or by its bare name.
    for arguments in [["--baseline", "main", "b"].as_slice(), &["main", "b"]] {
        let text = compare(&world, arguments).expect(0).stdout;
        assert!(text.contains("1 slower, 0 faster"), "{text}");
    }
    compare(&world, &["--baseline", "man", "b"]).expect(2).says(&["no baseline \"man\"", "there is main;"]);
    compare(&world, &["man", "b"]).expect(2).says(&["there is no folder man, and", "there is main;"]);
    compare(&world, &["systems", "b"]).expect(2).says(&["systems holds no run"]);
    compare(&world, &["--save-baseline", "main", "b"]).expect(2).says(&["is there already", "--force"]);
    let same = compare(&world, &["main", "a"]).expect(0).stdout;
    assert!(same.contains("0 slower, 0 faster"), "the first one stands: {same}");
    compare(&world, &["--save-baseline", "main", "b", "--force"]).expect(0);
    assert!(compare(&world, &["main", "b"]).expect(0).stdout.contains("0 slower, 0 faster"));
    for name in ["../x", "a b", ".x", ""] {
        let words = ["is no name for a baseline", "letters, digits"];
        compare(&world, &["--save-baseline", name, "a"]).expect(2).says(&words);
    }
    compare(&world, &["--save-baseline", "x", "nowhere"]).expect(2).says(&["no folder nowhere"]);
    compare(&world, &["--save-baseline", "x", "a", "b"]).expect(2).says(&["give its folder alone"]);
    compare(&world, &["--baseline", "main", "a", "b"]).expect(2).says(&["the place of A: give one run"]);
    compare(&world, &["a"]).expect(2).says(&["give two folders", "--baseline NAME"]);
    compare(&world, &["a", "b", "--force"]).expect(2).says(&["--save-baseline"]);
    compare(&world, &[]).expect(2);
}

#[test]
fn an_incomplete_run_is_compared_with_a_warning_and_does_not_pass() {
    let world = measured("ma");
    copy(&world, "a", "b");
    let journal = world.kept("b").path("journal.ndjson");
    let text = std::fs::read_to_string(&journal).unwrap();
    let kept: String =
        text.lines().filter(|line| !line.contains("/q6/hot;")).flat_map(|line| [line, "\n"]).collect();
    std::fs::write(journal, kept).unwrap();
    let text = compare(&world, &["a", "b"]).expect(0).stdout;
    assert!(text.contains("INCOMPLETE: B has no record yet of 10 planned trials"), "{text}");
    assert!(text.contains("only in A: ma 1.0 plain default: q6 hot"), "{text}");
    let text = compare(&world, &["a", "b", "--fail-on-regression", "5%"]).expect(1).stdout;
    assert!(text.contains("planned trials have no record"), "{text}");
    compare(&world, &["--save-baseline", "half", "b"]).expect(0).says(&["half", "not complete"][1..]);
}

#[test]
fn what_is_gone_from_a_run_does_not_pass_unless_it_may_be_missing() {
    let world = measured("ma,mb");
    smaller(&world, "b", |key| key.contains("/mb@") || key.contains("/ma@1.0/plain/q6/hot;"));
    world.kept("b").edit_manifest(|manifest| {
        manifest["configurations"].as_array_mut().unwrap().retain(|one| one["system"] != "mb");
    });
    compare(&world, &["a", "b"]).expect(0);
    let text = compare(&world, &["a", "b", "--fail-on-regression", "5%"]).expect(1).stdout;
    assert!(
        text.contains("NOT PASSED: 2 configurations have cells that are missing or not comparable"),
        "{text}"
    );
    assert!(text.contains("not passed: mb 1.0 plain default: all 1"), "{text}");
    assert!(
        text.contains("not passed: ma 1.0 plain default: 1 cell that was right in A is missing"),
        "{text}"
    );
    assert!(!text.contains("regression:"), "nothing of it is called so: {text}");
    let arguments = ["a", "b", "--fail-on-regression", "5%", "--allow-missing"];
    let text = compare(&world, &arguments).expect(0).stdout;
    let verdict = text.lines().find(|line| line.contains("PASSED: nothing is slower or larger")).unwrap();
    assert!(verdict.contains("cells that were right in A were not compared"), "{verdict}");
    compare(&world, &["b", "a", "--fail-on-regression", "5%"]).expect(0);
    compare(&world, &["a", "b", "--allow-missing"]).expect(2).says(&["--fail-on-regression"]);
}

#[test]
fn what_cannot_be_compared_any_more_does_not_pass() {
    let world = measured("ma");
    let cold = |trial: &Trial| matches!(trial.cell.phase, Phase::Cold | Phase::ColdUnverified);
    let other = |trial: &mut Trial| {
        let verified = trial.cell.phase == Phase::Cold;
        trial.cell.phase = if verified { Phase::ColdUnverified } else { Phase::Cold };
    };
    planted(&world, "b", cold, other);
    let text = compare(&world, &["a", "b", "--fail-on-regression", "5%"]).expect(1).stdout;
    assert!(text.contains("6 cells that were right in A are missing or not comparable in B"), "{text}");
    // A size that could not be measured, and answers that were compared with nothing.
    planted(&world, "c", |trial| trial.cell.step.word() == "size", fail);
    let text = compare(&world, &["a", "c", "--fail-on-regression", "1000%"]).expect(1).stdout;
    assert!(text.contains("regression: ma 1.0 plain default: size, drained now fails"), "{text}");
    planted(
        &world,
        "d",
        |trial| is(trial, "q1", Phase::Hot),
        |trial| {
            trial.verdict = Verdict::Unverified;
            trial.seconds = trial.seconds.map(|seconds| 0.1 * seconds);
        },
    );
    let text = compare(&world, &["a", "d", "--fail-on-regression", "1000%"]).expect(1).stdout;
    assert!(text.contains("0 faster") && text.contains("now fails, exact in A, unverified in B"), "{text}");
}

#[test]
fn a_gate_that_tested_nothing_does_not_pass() {
    let world = measured("ma");
    smaller(&world, "b", |key| !key.ends_with("#1.0"));
    for runs in [["a", "b"], ["b", "a"], ["b", "b"]] {
        let arguments = [runs.as_slice(), &["--fail-on-regression", "1000%", "--allow-missing"]].concat();
        let text = compare(&world, &arguments).expect(1).stdout;
        assert!(
            text.contains(
                "NOT PASSED: no time could be tested; 2 sizes compared as counted; 13 cells have no interval"
            ),
            "{text}"
        );
    }
    // A load that takes five times as long is shown. One round is not enough for a difference, three are.
    let five = |trial: &mut Trial| trial.seconds = trial.seconds.map(|seconds| 5.0 * seconds);
    planted(&world, "c", |trial| trial.cell.step.word() == "load", five);
    let text = compare(&world, &["a", "c", "--fail-on-regression", "5%"]).expect(1).stdout;
    assert!(text.contains("regression: ma 1.0 plain default: load takes 5.00 times as long"), "{text}");
    smaller(&world, "d", |key| key.contains("/load/") && !key.ends_with("#1.0"));
    rewrite(&world, "d", |trial| {
        if trial.cell.step.word() == "load" {
            five(trial)
        }
    });
    let text = compare(&world, &["a", "d", "--fail-on-regression", "5%"]).expect(0).stdout;
    let (differs, folded) = text.split_once("\nno difference shown\n").unwrap();
    assert!(
        differs.contains("difference not shown (too few rounds)") && !folded.contains("load  "),
        "{text}"
    );
}

#[test]
fn the_verdict_alone_decides_its_colour() {
    let world = measured("ma");
    planted(&world, "b", |trial| is(trial, "q3", Phase::Hot), fail);
    let coloured = |runs: [&str; 2], code: i32| {
        let mut command =
            world.command(&[&["compare"], runs.as_slice(), &["--fail-on-regression", "5%"]].concat());
        command.env("CLICOLOR_FORCE", "1");
        let text = Running::start(command, &world.path("")).end(LIMIT).expect(code).stdout;
        let lines = text.lines().filter(|line| line.contains("PASSED: "));
        let red: Vec<bool> = lines.map(|line| line.contains("\u{1b}[31m")).collect();
        assert!(text.contains("\u{1b}[1m"), "{text}");
        red
    };
    assert_eq!(coloured(["a", "a"], 0), [false, false]);
    assert_eq!(coloured(["a", "b"], 1), [true, true]);
}

#[test]
fn runs_of_others_write_nothing_but_text_on_the_terminal() {
    let world = measured("ma");
    copy(&world, "a", "b");
    world.kept("b").edit_manifest(|manifest| {
        manifest["data"]["source"] = "\u{1b}[2J\u{9b}1m\nPASSED: all of it".into();
        manifest["data"]["digest"] = "blake3:\u{1b}]0;x\u{7}".into();
    });
    let still = |text: &str| !text.chars().any(|c| c.is_control() && c != '\n');
    let refused = compare(&world, &["a", "b"]).expect(2).says(&["are of different documents"]);
    assert!(still(&refused.stderr), "{:?}", refused.stderr);
    assert!(!refused.stderr.contains("\nPASSED"), "{}", refused.stderr);
    let text = compare(&world, &["a", "b", "--different-data"]).expect(0).stdout;
    assert!(still(&text), "{text:?}");
}

#[test]
fn without_a_home_a_missing_run_is_spoken_of() {
    let world = measured("ma");
    let homeless = |arguments: &[&str]| {
        let mut command = world.command(&[&["compare"], arguments].concat());
        for name in ["HOME", "XDG_DATA_HOME", "JSONATHLON_BASELINES"] {
            command.env_remove(name);
        }
        Running::start(command, &world.path("")).end(LIMIT)
    };
    homeless(&["typo", "a"]).expect(2).says(&["there is no folder typo, and", "no folder for baselines"]);
    homeless(&["systems", "a"]).expect(2).says(&["systems holds no run"]);
    homeless(&["--baseline", "main", "a"]).expect(3).says(&["no folder for baselines"]);
    homeless(&["a", "a"]).expect(0);
}

#[test]
fn force_replaces_baselines_and_nothing_else() {
    let world = measured("ma");
    compare(&world, &["--save-baseline", "main", "a"]).expect(0);
    let note = world.path("baselines/main/note.txt");
    std::fs::write(&note, "mine").unwrap();
    let refused = compare(&world, &["--save-baseline", "main", "a", "--force"]).expect(2);
    refused.says(&["is no baseline", "choose another name"]);
    assert_eq!(names_in(&world.path("baselines/main")), ["journal.ndjson", "manifest.json", "note.txt"]);
    std::fs::remove_file(note).unwrap();
    compare(&world, &["--save-baseline", "main", "a", "--force"]).expect(0);
    assert_eq!(names_in(&world.path("baselines")), ["main"]);
    assert_eq!(names_in(&world.path("baselines/main")), ["journal.ndjson", "manifest.json"]);
}

#[test]
fn markdown_is_for_pull_requests_and_hostile_names_are_text() {
    let world = measured("ma");
    planted(
        &world,
        "b",
        |trial| is(trial, "q1", Phase::Cold) || is(trial, "q1", Phase::ColdUnverified),
        |trial| {
            trial.seconds = trial.seconds.map(|seconds| 3.0 * seconds);
        },
    );
    world.kept("b").edit_manifest(|manifest| {
        manifest["machine"]["os"] = "<img src=x> | `rm` @all\n# heading".into();
    });
    let text = compare(&world, &["a", "b", "--format", "markdown"]).expect(0).stdout;
    assert!(
        text.starts_with("## compared with the baseline: 1 slower, 0 faster, 12 no difference shown"),
        "{text}"
    );
    assert!(text.contains("| &lt;img src=x&gt; \\| \\`rm\\` @<!-- -->all # heading |"), "{text}");
    assert!(text.contains("<details>\n<summary>all 15 cells</summary>"), "{text}");
    assert!(!text.contains("<img") && !text.contains("\n# heading"), "{text}");
    compare(&world, &["a", "b", "--format", "markdown", "--json"]).expect(2).says(&["cannot be used with"]);
    // The tables of a whole run can be exported as Markdown too.
    let text = world.run(&["export", &world.text("b"), "--format", "markdown"]).expect(0).stdout;
    assert!(
        text.contains("## loading, until durable and visible") && text.contains("| ma 1.0 | plain |"),
        "{text}"
    );
    assert!(!text.contains("<img"), "{text}");
}
