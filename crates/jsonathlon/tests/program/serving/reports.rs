//! Reports of the user's own beside serving, with the mock: what is asked, compared, refused and resumed.

use jsonathlon_results::summary::{CellSummary, Summary};
use jsonathlon_schema::record::{
    ExpectedAnswerSource, FAULTY_LOAD, FEWER_REPORTS, FailureKind, JUDGED_AT_REST, Phase, Verdict,
};
use serde_json::{Value, json};

use super::own_documents::{HOSTILE_PATH, hostile_documents};
use crate::support::{Ended, LIMIT, Running, World, eventually, mock};

/// A question with a single number as answer.
const SUM: &str = r#"
[[question]]
name = "sum"
title = "Sum of everything"
columns = [{ name = "total", type = "number" }]
"#;

/// A second question.
const COUNT: &str = r#"
[[question]]
name = "count"
title = "Number of documents"
columns = [{ name = "n", type = "number" }]
"#;

/// Lines of a folder whose records are asked as they are.
const AS_IS: &str = "reports = { table = \"{{table}}\" }";

/// A world with systems of these names and scripts, whose records can be asked.
fn world(systems: &[(&str, Value)]) -> World {
    let systems: Vec<_> = systems
        .iter()
        .map(|(name, script)| mock(name, script.clone()).serving_documents(AS_IS).questions())
        .collect();
    World::with(&systems)
}

/// Writes the user's folder of questions: its definition, and statements by their path below it.
fn questions(world: &World, definition: &str, statements: &[(&str, &str)]) -> String {
    let folder = world.path("q");
    for (path, text) in [&[("questions.toml", definition)], statements].concat() {
        let file = folder.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    world.text("q")
}

/// Starts serving documents with the reports in `q` beside it.
fn start(world: &World, names: &str, more: &[&str]) -> Running {
    start_into(world, "out", names, more)
}

/// Starts serving as [`start`] does, with this run folder.
fn start_into(world: &World, out: &str, names: &str, more: &[&str]) -> Running {
    let data = world.file("data.ndjson", hostile_documents(200));
    let folder = world.text("q");
    let mut all = vec!["--data", &data, "--update", HOSTILE_PATH, "--reports", &folder];
    all.extend(more);
    world.start_serving(out, names, &all)
}

fn serve(world: &World, names: &str, more: &[&str]) -> Ended {
    start(world, names, more).end(LIMIT)
}

/// Cells of a step in a phase on a system.
fn cells<'s>(summary: &'s Summary, system: &str, step: &str, phase: Phase) -> Vec<&'s CellSummary> {
    let is_wanted = |entry: &&CellSummary| {
        let cell = &entry.cell;
        cell.id.system == system
            && cell.step.word() == step
            && cell.phase == phase
            && !cell.is_single_operation()
    };
    summary.results.iter().filter(is_wanted).collect()
}

/// Loads of a system with and without reports beside them.
fn loads<'s>(summary: &'s Summary, system: &str, mix: &str) -> [Vec<&'s CellSummary>; 2] {
    let all = cells(summary, system, mix, Phase::Measured);
    all.into_iter().partition::<Vec<_>, _>(|entry| entry.cell.parameters.contains_key("streams")).into()
}

#[test]
fn reports_are_asked_at_rest_and_beside_every_load() {
    let world = world(&[("ma", json!({})), ("mb", json!({}))]);
    let both = [
        ("ma/sum.sql", "answer {{table}} [[3.0]];\n"),
        ("mb/sum.sql", "answer {{table}} [[3]];\n"),
        ("ma/count.sql", "count {{table}};\n"),
        ("mb/count.sql", "count {{table}};\n"),
    ];
    questions(&world, &format!("{SUM}{COUNT}"), &both);
    let more = ["--streams", "2", "--mixes", "a,c", "--clients", "2,3", "--rates", "300,50%"];
    let summary = serve(&world, "ma,mb", &more).expect(0).summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    for agreement in &summary.agreements {
        assert_eq!(agreement.basis, ExpectedAnswerSource::Agreed, "{agreement:?}");
        assert_eq!(agreement.workload.as_str(), "serving");
    }
    for system in ["ma", "mb"] {
        for step in ["sum", "count", "all"] {
            let [rest] = cells(&summary, system, step, Phase::Still)[..] else { panic!("{step} at rest") };
            assert_eq!((rest.verdict, &rest.cell.parameters["streams"]), (Verdict::Exact, &2.into()));
            assert!(rest.metrics["questions_per_h"] > 0.0, "{:?}", rest.metrics);
            let beside = cells(&summary, system, step, Phase::Both);
            assert_eq!(beside.len(), 8, "two mixes, two numbers of clients and two rates each");
            for entry in beside {
                let parameters = &entry.cell.parameters;
                assert_eq!(entry.verdict, Verdict::Exact, "{}", entry.cell.name());
                let is_changed = parameters["mix"] == "a";
                assert_eq!(entry.finding(JUDGED_AT_REST).is_some(), is_changed, "{}", entry.cell.name());
                assert_eq!(entry.finding(FAULTY_LOAD), None, "{}", entry.cell.name());
                assert!(["a", "c"].contains(&parameters["mix"].as_str().unwrap()), "{parameters:?}");
                assert_eq!(entry.metrics.contains_key("kept_share"), parameters["arrival"] != "closed");
                assert_eq!(entry.metrics.contains_key("question_p95_us"), step != "all");
            }
        }
        for mix in ["a", "c"] {
            let [beside, alone] = loads(&summary, system, mix);
            assert_eq!((beside.len(), alone.len()), (4, 4));
            assert!(beside.iter().chain(&alone).all(|entry| entry.verdict == Verdict::Exact));
            // Its processor time cannot be told from that of the reports.
            assert!(beside.iter().all(|entry| !entry.metrics.contains_key("client_cpu_us_per_op")));
        }
    }
    // One ratio of throughput for each load beside reports, over two rounds.
    let losses = summary.load_losses.iter().filter(|loss| loss.metric == "throughput_ops_per_s");
    let losses: Vec<_> = losses.filter(|loss| !loss.cell.is_single_operation()).collect();
    assert_eq!(losses.len(), 16);
    assert!(losses.iter().all(|loss| loss.ratio > 0.0 && loss.low.is_some()), "{losses:?}");
    // Reports beside a closed loop are under the system's own load, and no ranking mixes loads with and without.
    for comparison in summary.comparisons.iter().filter(|one| one.cell.phase == Phase::Both) {
        assert_eq!(comparison.cell.parameters.get("rate_per_s"), Some(&json!(300.0)), "{comparison:?}");
    }
    let shown = world.run(&["export", "--tables", "full", &world.text("out")]).expect(0).stdout;
    for text in [
        "reports: times at rest",
        "exact at rest",
        "loads beside reports",
        "answers of reports at rest",
        "agreed: 2 of 2",
    ] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    world.kept("out").is_complete();
    world.nothing_left();
}

#[test]
fn another_answer_is_wrong_and_the_load_beside_it_right() {
    let world = world(&[("ma", json!({})), ("mb", json!({})), ("mc", json!({}))]);
    let answers = [
        ("ma/sum.sql", "answer {{table}} [[3]];\n"),
        ("mb/sum.sql", "answer {{table}} [[4]];\n"),
        ("mc/sum.sql", "answer {{table}} [[3]];\n"),
    ];
    questions(&world, SUM, &answers);
    let summary = serve(&world, "ma,mb,mc", &["--mixes", "a,c"]).expect(1).summary();
    assert!(summary.complete);
    for phase in [Phase::Still, Phase::Both] {
        for entry in cells(&summary, "mb", "sum", phase) {
            assert_eq!(entry.verdict, Verdict::Wrong, "{}", entry.cell.name());
            assert!(!entry.metrics.contains_key("question_p50_us"), "a wrong report has no time");
        }
        assert!(cells(&summary, "ma", "sum", phase).iter().all(|entry| entry.verdict == Verdict::Exact));
    }
    for mix in ["a", "c"] {
        let [beside, alone] = loads(&summary, "mb", mix);
        assert!(beside.iter().chain(&alone).all(|entry| entry.verdict == Verdict::Exact));
        assert!(beside.iter().all(|entry| entry.finding(FEWER_REPORTS).is_some()));
    }
    assert!(
        summary.failures.iter().all(|failure| failure.kind == FailureKind::Wrong),
        "{:?}",
        summary.failures
    );
}

#[test]
fn systems_that_differ_without_a_majority_are_disputed() {
    let world = world(&[("ma", json!({})), ("mb", json!({}))]);
    let answers = [("ma/sum.sql", "answer {{table}} [[3]];\n"), ("mb/sum.sql", "answer {{table}} [[4]];\n")];
    questions(&world, SUM, &answers);
    let summary = serve(&world, "ma,mb", &["--mixes", "a", "-r", "1"]).expect(1).summary();
    assert_eq!(summary.agreements[0].basis, ExpectedAnswerSource::Disputed);
    for (system, phase) in
        [("ma", Phase::Still), ("mb", Phase::Still), ("ma", Phase::Both), ("mb", Phase::Both)]
    {
        for entry in cells(&summary, system, "sum", phase) {
            assert_eq!(entry.verdict, Verdict::Disputed, "{}", entry.cell.name());
        }
    }
}

#[test]
fn an_answer_that_changes_without_a_change_of_documents_is_wrong() {
    // The third execution is one of the trials: the first is asked when answers are compared, the second and third
    // at rest.
    let fault = json!({"statement": "answer", "execution": 3, "action": "wrong_value", "row": 0, "column": 0, "value": 9});
    let world = world(&[("ma", json!({"faults": [fault]})), ("mb", json!({}))]);
    let answers = [("ma/sum.sql", "answer {{table}} [[3]];\n"), ("mb/sum.sql", "answer {{table}} [[3]];\n")];
    questions(&world, SUM, &answers);
    let summary = serve(&world, "ma,mb", &["--mixes", "c", "-r", "1"]).expect(1).summary();
    let [rest] = cells(&summary, "ma", "sum", Phase::Still)[..] else { panic!("one cell at rest") };
    assert_eq!(rest.verdict, Verdict::Wrong);
    let [beside] = cells(&summary, "ma", "sum", Phase::Both)[..] else { panic!("one cell beside the load") };
    assert_eq!(beside.verdict, Verdict::Exact);
}

#[test]
fn a_report_that_fails_costs_itself_and_is_shown() {
    let world = world(&[("ma", json!({})), ("mb", json!({}))]);
    let statements = [
        ("ma/sum.sql", "answer {{table}} [[3]];\n"),
        ("mb/sum.sql", "no_such_statement {{table}};\n"),
        ("ma/count.sql", "count {{table}};\n"),
        ("mb/count.sql", "count {{table}};\n"),
    ];
    questions(&world, &format!("{SUM}{COUNT}"), &statements);
    let ended = serve(&world, "ma,mb", &["--mixes", "a"]).expect(1);
    let summary = ended.summary();
    assert!(summary.complete);
    assert!(
        summary.failures.iter().all(|failure| failure.cell.id.system == "mb"
            && ["sum", "all"].contains(&failure.cell.step.word())
            && failure.error.contains("unknown statement")),
        "{:?}",
        summary.failures
    );
    for phase in [Phase::Still, Phase::Both] {
        assert!(cells(&summary, "mb", "sum", phase).iter().all(|entry| entry.verdict == Verdict::Failed));
        assert!(cells(&summary, "mb", "count", phase).iter().all(|entry| entry.verdict == Verdict::Exact));
        assert!(cells(&summary, "mb", "all", phase).iter().all(|entry| entry.verdict == Verdict::Partial));
    }
    let [beside, alone] = loads(&summary, "mb", "a");
    assert!(beside.iter().chain(&alone).all(|entry| entry.verdict == Verdict::Exact));
    // It had an easier time than the load of the other system.
    assert!(beside.iter().all(|entry| entry.finding(FEWER_REPORTS).is_some()));
    assert!(loads(&summary, "ma", "a")[0].iter().all(|entry| entry.finding(FEWER_REPORTS).is_none()));
    let is_beside = |cell: &jsonathlon_schema::record::Cell| cell.parameters.contains_key("streams");
    assert!(summary.load_losses.iter().all(|loss| loss.cell.id.system == "ma"), "{:?}", summary.load_losses);
    let loads =
        summary.comparisons.iter().filter(|one| one.cell.phase == Phase::Measured && is_beside(&one.cell));
    assert!(loads.clone().all(|one| one.cell.id.system == "ma"), "{:?}", loads.collect::<Vec<_>>());
}

#[test]
fn reports_beside_a_load_that_was_refused_in_part_have_no_rank() {
    let refuse = json!({"statement": "kv_update", "action": "refuse", "message": "no change today"});
    let world = world(&[("ma", json!({})), ("mb", json!({"faults": [refuse]}))]);
    let answers = [("ma/sum.sql", "answer {{table}} [[3]];\n"), ("mb/sum.sql", "answer {{table}} [[3]];\n")];
    questions(&world, SUM, &answers);
    let more = ["--mixes", "a", "-r", "2", "--rates", "300"];
    let summary = serve(&world, "ma,mb", &more).summary();
    for (system, is_faulty) in [("ma", false), ("mb", true)] {
        for entry in cells(&summary, system, "sum", Phase::Both) {
            assert_eq!(entry.verdict, Verdict::Exact, "the answers are right");
            assert_eq!(entry.finding(FAULTY_LOAD).is_some(), is_faulty, "{}", entry.cell.name());
            if let Some(kept) = entry.metrics.get("kept_share") {
                assert_eq!(*kept < 0.9, is_faulty, "half of all operations are updates: {kept}");
            }
        }
    }
    let beside = summary.comparisons.iter().filter(|one| one.cell.phase == Phase::Both);
    assert!(beside.clone().all(|one| one.cell.id.system == "ma"), "{:?}", beside.collect::<Vec<_>>());
}

#[test]
fn a_report_that_never_ends_is_given_up_and_the_trials_go_on() {
    // The first execution is asked when answers are compared, the others at rest.
    let script = json!({
        "delay_ms": {"answer": 60},
        "faults": [{"statement": "answer", "execution": 3, "action": "hang"}],
    });
    let world = world(&[("ma", script), ("mb", json!({}))]);
    let answers = [("ma/sum.sql", "answer {{table}} [[3]];\n"), ("mb/sum.sql", "answer {{table}} [[3]];\n")];
    questions(&world, SUM, &answers);
    // What the mock has counted is part of its data: the restored data of a second mix would let it hang again.
    for (out, mixes) in [("one", "c"), ("two", "a,c")] {
        let more = ["--mixes", mixes, "-r", "1", "--timeout", "5s"];
        let summary = start_into(&world, out, "ma,mb", &more).end(LIMIT).expect(1).summary();
        assert!(summary.complete);
        let [rest] = cells(&summary, "ma", "sum", Phase::Still)[..] else { panic!("one cell at rest") };
        assert!(matches!(rest.verdict, Verdict::Timeout | Verdict::Partial), "{:?}", rest.verdict);
        if out == "one" {
            let [both] = cells(&summary, "ma", "sum", Phase::Both)[..] else {
                panic!("one cell beside a load")
            };
            assert_eq!(both.verdict, Verdict::Exact);
        }
        for mix in mixes.split(',') {
            let [beside, alone] = loads(&summary, "ma", mix);
            assert!(beside.iter().chain(&alone).all(|entry| entry.verdict == Verdict::Exact));
        }
    }
    world.nothing_left();
}

#[test]
fn systems_that_hold_other_documents_are_compared_over_those_that_both_hold() {
    let rejecting = json!({"rejections": [{"ordinal": 7, "reason": "not this one"}]});
    let world = world(&[("ma", json!({})), ("mb", rejecting)]);
    questions(
        &world,
        COUNT,
        &[("ma/count.sql", "count {{table}};\n"), ("mb/count.sql", "count {{table}};\n")],
    );
    let summary = serve(&world, "ma,mb", &["--mixes", "c", "-r", "1"]).expect(0).summary();
    let [agreement] = &summary.agreements[..] else { panic!("one question") };
    assert_eq!((agreement.basis, agreement.documents), (ExpectedAnswerSource::Agreed, 199));
    // One of 200 documents is more than a thousandth, so all that is measured over the others is partial.
    for (system, verdict) in [("ma", Verdict::Exact), ("mb", Verdict::Partial)] {
        for phase in [Phase::Still, Phase::Both] {
            let [entry] = cells(&summary, system, "count", phase)[..] else { panic!("one cell") };
            assert_eq!(entry.verdict, verdict, "{system} {}", entry.cell.name());
            assert_eq!(entry.metrics["exact"], entry.metrics["answers"], "{system}");
        }
    }
}

#[test]
fn systems_that_cannot_be_asked_say_why() {
    let layouts = [
        ("ma", AS_IS),
        ("mb", "reports = { not = \"its records are not documents\" }"),
        ("mc", ""),
        ("md", AS_IS),
        ("me", AS_IS),
        ("mf", "clients = 3\nreports = { table = \"{{table}}\" }"),
    ];
    let systems = layouts.map(|(name, lines)| mock(name, json!({})).serving_documents(lines).questions());
    let world = World::with(&systems);
    let statements = [
        ("ma/sum.sql", "answer {{table}} [[3]];\n"),
        ("mb/sum.sql", "answer {{table}} [[3]];\n"),
        ("mc/sum.sql", "answer {{table}} [[3]];\n"),
        ("md/sum.sql", "answer {{table}} [[3]];\n"),
        ("md/schema.sql", "create {{table}};\n"),
        ("mf/sum.sql", "answer {{table}} [[3]];\n"),
    ];
    questions(&world, SUM, &statements);
    let summary = serve(&world, "ma,mb,mc,md,me,mf", &["--mixes", "a", "-r", "1"]).expect(0).summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    let reason = |system: &str, phase: Phase| {
        let trials = world.kept("out").trials();
        let trial = trials.into_iter().find(|trial| {
            trial.cell.id.system == system && trial.cell.step.word() == "sum" && trial.cell.phase == phase
        });
        let trial = trial.unwrap();
        (trial.verdict, trial.failure.map(|failure| failure.error).unwrap_or_default())
    };
    for (system, words) in [
        ("mb", "its records are not documents"),
        ("mc", "[serving.reports]"),
        ("md", "makes a table of its own (schema)"),
        ("me", "has no folder me/"),
    ] {
        for phase in [Phase::Still, Phase::Both] {
            let (verdict, error) = reason(system, phase);
            assert_eq!(verdict, Verdict::NotApplicable, "{system}");
            assert!(error.contains(words), "{system}: {error}");
        }
        let [beside, alone] = loads(&summary, system, "a");
        assert!(beside.iter().all(|entry| entry.verdict == Verdict::NotApplicable), "{system}");
        assert!(alone.iter().all(|entry| entry.verdict == Verdict::Exact), "{system}");
    }
    // Three clients leave no connection for a stream.
    assert_eq!(reason("mf", Phase::Still).0, Verdict::Exact);
    let (verdict, error) = reason("mf", Phase::Both);
    assert_eq!((verdict, error.as_str()), (Verdict::NotApplicable, "the engine takes 3 client at a time"));
}

#[test]
fn options_that_say_nothing_together_are_refused() {
    let world = world(&[("ma", json!({}))]);
    let data = world.file("data.ndjson", hostile_documents(20));
    let folder = questions(&world, SUM, &[("ma/sum.sql", "answer {{table}} [[3]];\n")]);
    let refused = |options: &[&str], words: &str| {
        let stderr = world.serve("ma", options).expect(2).stderr;
        assert!(stderr.contains(words), "{options:?}: {stderr}");
    };
    refused(&["--data", &data, "--streams", "2"], "--reports");
    refused(&["--reports", &folder], "--data");
    refused(&["--data", &data, "--reports", &folder, "--operation-count", "100"], "--operation-count");
    refused(&["--data", &data, "--reports", &folder, "--streams", "0"], "--streams");
    refused(&["--data", &data, "--reports", &world.text("nowhere")], "nowhere");
    questions(&world, &SUM.replace("\"sum\"", "\"all\""), &[("ma/all.sql", "answer {{table}} [[3]];\n")]);
    std::fs::remove_file(world.path("q").join("ma/sum.sql")).unwrap();
    refused(&["--data", &data, "--reports", &folder], "the question `all`");
}

#[test]
fn a_run_goes_on_where_it_was_interrupted() {
    let world = world(&[("ma", json!({})), ("mb", json!({}))]);
    let answers = [("ma/sum.sql", "answer {{table}} [[3]];\n"), ("mb/sum.sql", "answer {{table}} [[3]];\n")];
    questions(&world, SUM, &answers);
    let mut running = start(&world, "ma,mb", &["--mixes", "a,c", "-r", "3", "--streams", "2"]);
    let has_asked = || {
        let trials = world.kept("out").trials();
        trials.iter().any(|trial| trial.cell.phase == Phase::Both)
    };
    eventually("a report was asked beside a load", || running.has_ended() || has_asked());
    running.kill();
    let before = world.kept("out").recorded();
    let summary = world.resume("out").expect(0).summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    assert!(world.kept("out").recorded() > before);
    assert_eq!(summary.agreements.len(), 1, "it was not asked again to compare answers");
    for system in ["ma", "mb"] {
        for phase in [Phase::Still, Phase::Both] {
            for entry in cells(&summary, system, "sum", phase) {
                assert_eq!((entry.verdict, entry.trials), (Verdict::Exact, 3), "{}", entry.cell.name());
            }
        }
    }
    world.kept("out").is_complete();
    // Changed questions make it a different run.
    questions(&world, &SUM.replace("Sum of", "Total of"), &[]);
    let error = world.resume("out").expect(2).stderr;
    assert!(error.contains("were changed"), "{error}");
}
